//! Names of indexes, keys and constraints: declared ones as they are, derived ones by one pattern, all within the engine's
//! limit and unique where the engine asks for it.

use std::collections::BTreeSet;

use crate::engine::{Engine, Limit, NameScope};

use super::load::fnv;
use super::{Catalog, Index, Table};

/// The names of one table's objects on one engine.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableNames {
    /// The primary key's constraint.
    pub primary_key: String,
    /// In the order of [`Table::indexes`].
    pub indexes: Vec<String>,
    /// In the order of [`Table::foreign_keys`].
    pub foreign_keys: Vec<String>,
    /// A check of each column, in the order of [`Table::columns`]; used where the engine needs one.
    pub checks: Vec<String>,
}

/// The names of all objects on `engine`, in the order of [`Catalog::tables`].
pub fn assign(catalog: &Catalog, engine: &Engine) -> Vec<TableNames> {
    let mut indexes = Taken::new(engine, engine.index_names);
    // MySQL and MariaDB want foreign keys and checks unique in the database; elsewhere it does no harm.
    let mut constraints = Taken::new(engine, NameScope::Schema);
    for table in &catalog.tables {
        if engine.index_names == NameScope::Schema {
            indexes.reserve(table, &table.name.name);
        }
        table.indexes.iter().filter_map(|index| index.name.as_deref()).for_each(|name| indexes.reserve(table, name));
        table
            .foreign_keys
            .iter()
            .filter_map(|key| key.name.as_deref())
            .for_each(|name| constraints.reserve(table, name));
    }
    catalog.tables.iter().map(|table| table_names(table, engine, &mut indexes, &mut constraints)).collect()
}

fn table_names(table: &Table, engine: &Engine, indexes: &mut Taken<'_>, constraints: &mut Taken<'_>) -> TableNames {
    let name = &table.name.name;
    TableNames {
        primary_key: indexes.derive(table, format!("{name}_pkey")),
        indexes: table
            .indexes
            .iter()
            .map(|index| match &index.name {
                Some(declared) => shorten(declared, engine.identifier),
                None => indexes.derive(table, derived(table, index)),
            })
            .collect(),
        foreign_keys: table
            .foreign_keys
            .iter()
            .map(|key| match &key.name {
                Some(declared) => shorten(declared, engine.identifier),
                None => constraints.derive(table, pattern("fk", table, &key.columns)),
            })
            .collect(),
        checks: (0..table.columns.len())
            .map(|column| constraints.derive(table, pattern("ck", table, &[column])))
            .collect(),
    }
}

/// The name of an index that declares none, before it is shortened.
pub fn derived(table: &Table, index: &Index) -> String {
    pattern(if index.of_column { "uq" } else { "idx" }, table, &index.columns)
}

fn pattern(prefix: &str, table: &Table, columns: &[usize]) -> String {
    let columns: Vec<&str> = table.names(columns).collect();
    format!("{prefix}_{}_{}", table.name.name, columns.join("_"))
}

/// `name` within the limit: the start of it, `_`, and 8 hexadecimal digits of its FNV-1a, the same on every machine.
pub fn shorten(name: &str, limit: Limit) -> String {
    if limit.allows(name) {
        return name.to_owned();
    }
    with_hash(name, name, limit)
}

fn with_hash(name: &str, identity: &str, limit: Limit) -> String {
    let hash = fnv(identity);
    let suffix = format!("_{:08x}", (hash >> 32) as u32 ^ hash as u32);
    let mut start = name.to_owned();
    while !limit.allows(&format!("{start}{suffix}")) && start.pop().is_some() {}
    start + &suffix
}

/// Names in use, by the space in which they must be unique.
struct Taken<'a> {
    engine: &'a Engine,
    scope: NameScope,
    names: BTreeSet<(String, String)>,
}

impl<'a> Taken<'a> {
    fn new(engine: &'a Engine, scope: NameScope) -> Self {
        Taken { engine, scope, names: BTreeSet::new() }
    }

    fn space(&self, table: &Table) -> String {
        match self.scope {
            NameScope::Table => table.name.to_string(),
            NameScope::Schema => table.name.database.clone().unwrap_or_default(),
        }
    }

    fn reserve(&mut self, table: &Table, name: &str) {
        let name = shorten(name, self.engine.identifier);
        self.names.insert((self.space(table), name.to_lowercase()));
    }

    /// The derived name, shortened; told apart by a hash if another object has it. Every further try hashes one more
    /// mark, so that the loop ends as soon as a name is free.
    fn derive(&mut self, table: &Table, name: String) -> String {
        let limit = self.engine.identifier;
        let mut identity = format!("{}\u{0}{name}", table.name);
        let mut chosen = shorten(&name, limit);
        while !self.names.insert((self.space(table), chosen.to_lowercase())) {
            chosen = with_hash(&name, &identity, limit);
            identity.push('\u{0}');
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, shorten};

    #[test]
    fn shortens_on_character_boundaries_and_tells_names_apart() {
        let limit = Limit::Bytes(63);
        assert_eq!(shorten("idx_a_b", limit), "idx_a_b");
        let long = "idx_".to_owned() + &"ü".repeat(40);
        let short = shorten(&long, limit);
        assert!(short.len() <= 63 && short.starts_with("idx_ü"), "{short}");
        assert_ne!(short, shorten(&(long + "x"), limit));
        assert_eq!(shorten(&"名".repeat(64), Limit::Chars(64)).chars().count(), 64);
    }
}
