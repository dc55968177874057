//! Names of indexes, keys and constraints: declared ones as they are, derived ones by one pattern, all within the engine's
//! limit and unique where the engine asks for it.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Engine, Limit, NameScope};

use super::load::fnv;
use super::{Catalog, Index, IndexOrigin, Table};

/// The names of one table's objects on one engine.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableNames {
    /// The primary key's constraint.
    pub primary_key: String,
    /// In the order of [`Table::indexes`].
    pub indexes: Vec<String>,
    /// In the order of [`Table::foreign_keys`].
    pub foreign_keys: Vec<String>,
    /// The sequence of a numbered column, where the name that it would get is taken.
    pub sequence: Option<String>,
}

/// The names of all objects on `engine`, in the order of [`Catalog::tables`].
pub fn assign(catalog: &Catalog, engine: &Engine) -> Vec<TableNames> {
    let mut indexes = Taken::new(engine.identifier, engine.index_names);
    // MySQL and MariaDB want foreign keys unique in the database; elsewhere it does no harm.
    let mut foreign_keys = Taken::new(engine.identifier, NameScope::Schema);
    for table in &catalog.tables {
        if engine.index_names == NameScope::Schema {
            indexes.reserve(table, &table.name.name);
        }
        table.indexes.iter().filter_map(|index| index.name.as_deref()).for_each(|name| indexes.reserve(table, name));
        let keys = table.foreign_keys.iter().filter_map(|key| key.name.as_deref());
        keys.for_each(|name| {
            foreign_keys.reserve(table, name);
            // MySQL and MariaDB name the index of a foreign key like it; on PostgreSQL a unique key is a constraint too.
            indexes.reserve(table, name);
        });
        let declared = table.indexes.iter().filter_map(|index| index.name.as_deref());
        declared.for_each(|name| foreign_keys.reserve(table, name));
    }
    let mut names = Vec::new();
    for table in &catalog.tables {
        names.push(TableNames {
            primary_key: indexes.derive(table, format!("{}_pkey", table.name.name)),
            indexes: table
                .indexes
                .iter()
                .map(|index| match &index.name {
                    Some(declared) => shorten(declared, engine.identifier),
                    None => indexes.derive(table, derived(table, index)),
                })
                .collect(),
            sequence: sequence(table, &mut indexes),
            foreign_keys: table
                .foreign_keys
                .iter()
                .map(|key| match &key.name {
                    Some(declared) => shorten(declared, engine.identifier),
                    None => foreign_keys.derive(table, pattern("fk", table, &key.columns)),
                })
                .collect(),
        });
    }
    names
}

/// The sequence of a table's numbered column: its usual name, told apart if that is taken.
fn sequence(table: &Table, indexes: &mut Taken) -> Option<String> {
    let column = table.columns.iter().find(|column| column.auto_increment)?;
    let usual = format!("{}_{}_seq", table.name.name, column.name);
    let chosen = indexes.derive(table, usual.clone());
    // A long name is shortened by the database in its own way.
    (chosen != shorten(&usual, indexes.limit)).then_some(chosen)
}

/// The name of a column's check, unique among the constraints of its table, which is all that the engines with such checks
/// ask for.
pub fn check(table: &Table, names: &TableNames, column: usize, engine: &Engine) -> String {
    let name = pattern("ck", table, &[column]);
    let others = || names.indexes.iter().chain(&names.foreign_keys).chain([&names.primary_key]);
    let mut chosen = shorten(&name, engine.identifier);
    let mut identity = name.clone();
    while others().any(|other| fold(other) == fold(&chosen)) {
        chosen = with_hash(&name, &identity, engine.identifier);
        identity.push('\u{0}');
    }
    chosen
}

/// What the engines that fold names compare them by: MySQL and MariaDB take `İ` for an `i`.
pub fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.chars().flat_map(char::to_lowercase).filter(|c| *c != '\u{307}').collect()
}

/// The name of an index that declares none, before it is shortened.
pub fn derived(table: &Table, index: &Index) -> String {
    match &index.origin {
        IndexOrigin::Declared => pattern("idx", table, &index.columns),
        IndexOrigin::Column => pattern("uq", table, &index.columns),
        IndexOrigin::Workload(purpose) => format!("idx_{}_{purpose}", table.name.name),
    }
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
    let whole = format!("{name}{suffix}");
    if limit.allows(&whole) {
        return whole;
    }
    // From the start, since a hostile name may be of any length.
    let mut start = String::new();
    for c in name.chars() {
        start.push(c);
        if !limit.allows(&format!("{start}{suffix}")) {
            start.pop();
            break;
        }
    }
    start + &suffix
}

/// Names in use, folded to lower case, by the space in which they must be unique.
struct Taken {
    limit: Limit,
    scope: NameScope,
    spaces: BTreeMap<String, BTreeSet<String>>,
}

impl Taken {
    fn new(limit: Limit, scope: NameScope) -> Self {
        Taken { limit, scope, spaces: BTreeMap::new() }
    }

    fn space(&mut self, table: &Table) -> &mut BTreeSet<String> {
        self.spaces.entry(space(table, self.scope)).or_default()
    }

    fn reserve(&mut self, table: &Table, name: &str) {
        let name = fold(&shorten(name, self.limit));
        self.space(table).insert(name);
    }

    /// The derived name, shortened; told apart by a hash if another object has it. Every further try hashes one more
    /// mark, so that the loop ends as soon as a name is free.
    fn derive(&mut self, table: &Table, name: String) -> String {
        let limit = self.limit;
        let space = self.space(table);
        let mut chosen = shorten(&name, limit);
        let mut identity = format!("{}\u{0}{name}", table.name);
        while !space.insert(fold(&chosen)) {
            chosen = with_hash(&name, &identity, limit);
            identity.push('\u{0}');
        }
        chosen
    }
}

/// The space in which a name of the table's objects must be unique.
pub fn space(table: &Table, scope: NameScope) -> String {
    match scope {
        NameScope::Table => table.name.to_string(),
        NameScope::Schema => table.name.database.clone().unwrap_or_default(),
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
