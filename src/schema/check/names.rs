//! Names: usable, within the engines' limits, and told apart where the engines want it.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use crate::diagnostic::{Diagnostic, Level, Place, render::is_reordering};
use crate::engine::{Engine, NameScope, titles};

use super::super::names::{self, TableNames, derived, shorten};
use super::super::{Catalog, ForeignKey, Index, Site, Table, rules};
use super::{failing, keep};

/// Table names.
pub fn tables(catalog: &Catalog, engines: &[&Engine], all: &mut Vec<Diagnostic>) {
    let folding = failing(engines, |engine| engine.folds_tables);
    let mut seen = Firsts::default();
    for table in &catalog.tables {
        let mut found = Vec::new();
        let findings = &mut found;
        let place = || table.site.at(if table.archive_of.is_some() { "into" } else { "tableName" });
        let name = table.name.to_string();
        for part in table.name.database.iter().chain([&table.name.name]) {
            usable(part, "table", &place, engines, findings);
        }
        if table.name.name.contains('.') {
            let finding = Diagnostic::new(
                &rules::UNUSABLE_NAME,
                place(),
                format!("the table name `{name}` has more than one point"),
            );
            findings.push(finding.help("write `table`, or `database.table`"));
        }
        file_name(table, &place, engines, findings);
        kept("table", &table.name.name, &place, engines, findings, |engine| engine.reserved_prefix);
        if let Some(database) = &table.name.database {
            kept("database", database, &place, engines, findings, |engine| engine.reserved_database_prefix);
            attached(database, &place, engines, findings);
        }
        if let Some(first) = seen.first(&name, !folding.is_empty(), table) {
            let what = if first.name == table.name { "twice" } else { "twice, but for upper and lower case" };
            let mut finding =
                Diagnostic::new(&rules::DUPLICATE_NAME, place(), format!("the table `{name}` is defined {what}"));
            finding = finding.related(first.site.at("tableName"), "first here");
            if first.name != table.name {
                finding = finding.help(format!("the two are or may be one table on {}", titles(&folding)));
            }
            findings.push(finding);
        }
        keep(table, found, all);
    }
}

/// Where databases cannot be created, one that is named must be there.
fn attached(database: &str, place: &dyn Fn() -> Option<Place>, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let without = failing(engines, |engine| !engine.databases);
    if !without.is_empty() {
        let message = format!("`{database}` must be an attached database on {}", titles(&without));
        let finding = Diagnostic::new(&rules::ENGINE_DIFFERENCE, place(), message);
        findings.push(finding.help(format!("run `ATTACH DATABASE … AS \"{database}\"` before the script")));
    }
}

/// The first of each name.
struct Firsts<T> {
    exact: BTreeMap<String, T>,
    folded: BTreeMap<String, T>,
}

impl<T> Default for Firsts<T> {
    fn default() -> Self {
        Firsts { exact: BTreeMap::new(), folded: BTreeMap::new() }
    }
}

impl<T: Copy> Firsts<T> {
    /// What had the name before, or one that only `folds` takes for the same.
    fn first(&mut self, name: &str, folds: bool, new: T) -> Option<T> {
        let key = if folds { names::fold(name) } else { name.to_owned() };
        let folded = first(&mut self.folded, key, new);
        first(&mut self.exact, name.to_owned(), new).or(folded)
    }
}

/// What is there under the key already; otherwise `new` is, from now on.
fn first<K: Ord, T: Copy>(seen: &mut BTreeMap<K, T>, key: K, new: T) -> Option<T> {
    match seen.entry(key) {
        Entry::Occupied(first) => Some(*first.get()),
        Entry::Vacant(entry) => {
            entry.insert(new);
            None
        }
    }
}

/// Column names of one table.
pub fn columns(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let folding = failing(engines, |engine| engine.folds_columns);
    let mut seen = Firsts::default();
    for column in &table.columns {
        let place = || column.site.at("name");
        usable(&column.name, "column", &place, engines, findings);
        let keeping = failing(engines, |engine| engine.reserved_columns.contains(&&*names::fold(&column.name)));
        if !keeping.is_empty() {
            let message = format!("{} keep the column name `{}` for themselves", titles(&keeping), column.name);
            findings.push(Diagnostic::new(&rules::UNUSABLE_NAME, place(), message).help("choose another name"));
        }
        let has_statements = table.claim.is_some() || table.retention.is_some();
        let hiding = failing(engines, |engine| has_statements && engine.row_number == Some(&names::fold(&column.name)));
        if !hiding.is_empty() {
            let message = format!(
                "statements for {} find rows by their `{}`, which this column hides",
                titles(&hiding),
                column.name
            );
            findings.push(Diagnostic::new(&rules::UNUSABLE_NAME, place(), message).help("choose another name"));
        }
        if let Some(first) = seen.first(&column.name, !folding.is_empty(), column) {
            let same = first.name == column.name;
            let how = if same { "twice" } else { "twice, but for upper and lower case" };
            let message = format!("the column `{}` of `{}` is defined {how}", column.name, table.name);
            let finding =
                Diagnostic::new(&rules::DUPLICATE_NAME, place(), message).related(first.site.at("name"), "first here");
            findings.push(match same {
                true => finding,
                false => finding.help(format!("the two are one column on {}", titles(&folding))),
            });
        }
    }
}

/// Names of indexes and foreign keys: their limits, and their spaces.
pub fn indexes(catalog: &Catalog, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    for table in catalog.tables.iter().filter(|table| table.archive_of.is_none()) {
        let indexes = table.indexes.iter().filter_map(|index| Some((index.name.as_ref()?, &index.site, "index")));
        let keys = table.foreign_keys.iter().filter_map(|key| Some((key.name.as_ref()?, &key.site, "foreign key")));
        let mut found = Vec::new();
        for (name, site, what) in indexes.chain(keys) {
            declared(name, what, site, table, engines, &mut found);
        }
        same_columns(table, &mut found);
        constraints(table, engines, &mut found);
        indexes_of_keys(table, engines, &mut found);
        keep(table, found, findings);
    }
    let mut found = Vec::new();
    for engine in engines {
        let assigned = names::assign(catalog, engine);
        duplicates(catalog, engine, &assigned, &mut found);
        duplicate_keys(catalog, engine, &assigned, &mut found);
    }
    // The same fault on a further engine is the same fault.
    let mut known = BTreeSet::new();
    found.retain(|finding| known.insert(finding.message.clone()));
    findings.extend(found);
}

/// A declared name: usable, and shortened with a warning.
fn declared(name: &str, what: &str, site: &Site, table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let place = || site.at("name");
    let long = failing(engines, |engine| !engine.identifier.allows(name));
    if !long.is_empty() {
        let message = format!("the {what} name `{name}` of `{}` is over the limit of {}", table.name, limits(&long));
        let mut finding = Diagnostic::new(&rules::IDENTIFIER_TOO_LONG, place(), message);
        finding.level = Level::Warning;
        let short = by(&long, |engine| shorten(name, engine.identifier));
        findings.push(finding.help(match short.as_slice() {
            [(short, _)] => format!("it is shortened to `{short}`"),
            all => {
                let each = all.iter().map(|(short, engines)| format!("to `{short}` on {}", titles(engines)));
                format!("it is shortened {}", each.collect::<Vec<_>>().join(", "))
            }
        }));
    }
    usable_characters(name, what, &place, engines, findings);
    kept(what, name, &place, engines, findings, |engine| engine.reserved_prefix);
    if name.eq_ignore_ascii_case("PRIMARY") || name.eq_ignore_ascii_case("GEN_CLUST_INDEX") {
        findings.push(Diagnostic::new(
            &rules::UNUSABLE_NAME,
            place(),
            format!("`{name}` is reserved: an {what} cannot have this name"),
        ));
    }
}

/// Two declared indexes on the same columns: kept, because declared ones are never dropped, but said.
fn same_columns(table: &Table, findings: &mut Vec<Diagnostic>) {
    let mut seen = BTreeMap::new();
    for index in &table.indexes {
        let first = first(&mut seen, (&index.columns, index.unique), index);
        if let Some(first) = first.filter(|first| first.name == index.name || index.name.is_none()) {
            let message = format!("`{}` has two indexes on the same columns", table.name);
            let mut finding = Diagnostic::new(&rules::DUPLICATE_NAME, index.site.place(), message);
            finding.level = Level::Warning;
            findings.push(finding.related(first.site.place(), "first here").help("remove one of the two"));
        }
    }
}

/// Where unique keys are constraints, a foreign key of their table cannot have the name of one.
fn constraints(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let engines = failing(engines, |engine| engine.unique_is_constraint);
    if engines.is_empty() {
        return;
    }
    let unique: BTreeMap<String, &Index> = table
        .indexes
        .iter()
        .filter(|index| index.unique)
        .filter_map(|index| Some((names::fold(index.name.as_ref()?), index)))
        .collect();
    let primary = names::fold(&format!("{}_pkey", table.name.name));
    for (key, name) in named(table) {
        let folded = names::fold(name);
        let finding = |message: String| Diagnostic::new(&rules::DUPLICATE_NAME, key.site.at("name"), message);
        if let Some(index) = unique.get(&folded) {
            let message = format!("a unique index and a foreign key of `{}` are both called `{name}`", table.name);
            let finding = finding(message).related(index.site.at("name"), "the index");
            findings.push(finding.help(format!("on {} both are constraints: rename one of the two", titles(&engines))));
        } else if folded == primary && !table.primary_key.is_empty() {
            let message = format!("a foreign key of `{}` is called `{name}`, like its primary key", table.name);
            let help = format!("on {} both are constraints: rename the foreign key", titles(&engines));
            findings.push(finding(message).help(help));
        }
    }
}

/// Where a foreign key makes the index that it needs, none of its table can have its name.
fn indexes_of_keys(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let engines = failing(engines, |engine| engine.foreign_key_makes_index);
    if engines.is_empty() || table.foreign_keys.is_empty() {
        return;
    }
    let indexes = table.indexes.iter().filter_map(|index| Some((names::fold(index.name.as_ref()?), index)));
    let indexes: BTreeMap<String, &Index> = indexes.collect();
    let keys = || table.indexes.iter().map(|index| &index.columns).chain([&table.primary_key]);
    for (key, name) in named(table) {
        let Some(index) = indexes.get(&names::fold(name)) else { continue };
        if !keys().any(|columns| columns.starts_with(&key.columns)) {
            let message = format!("an index and a foreign key of `{}` are both called `{name}`", table.name);
            let finding = Diagnostic::new(&rules::DUPLICATE_NAME, key.site.at("name"), message);
            let finding = finding.related(index.site.at("name"), "the index");
            let help = format!("on {} the foreign key makes an index of its name: rename one", titles(&engines));
            findings.push(finding.help(help));
        }
    }
}

/// The foreign keys that have a declared name.
fn named(table: &Table) -> impl Iterator<Item = (&ForeignKey, &str)> {
    table.foreign_keys.iter().filter_map(|key| Some((key, key.name.as_deref()?)))
}

/// Names that an engine keeps for itself by their beginning.
fn kept(
    what: &str,
    name: &str,
    place: &dyn Fn() -> Option<Place>,
    engines: &[&Engine],
    findings: &mut Vec<Diagnostic>,
    reserved: impl Fn(&Engine) -> Option<&'static str>,
) {
    let folded = name.to_lowercase();
    let keeping = failing(engines, |engine| reserved(engine).is_some_and(|prefix| folded.starts_with(prefix)));
    if let Some(prefix) = keeping.first().and_then(|engine| reserved(engine)) {
        let message =
            format!("{} keeps names that begin with `{prefix}` for itself: the {what} `{name}`", titles(&keeping));
        findings.push(Diagnostic::new(&rules::UNUSABLE_NAME, place(), message).help("choose another name"));
    }
}

/// What `value` is for the engines, each value with those for which it is so.
fn by<'a, T: PartialEq>(engines: &[&'a Engine], value: impl Fn(&Engine) -> T) -> Vec<(T, Vec<&'a Engine>)> {
    let mut groups: Vec<(T, Vec<&'a Engine>)> = Vec::new();
    for engine in engines {
        let value = value(engine);
        match groups.iter_mut().find(|(other, _)| *other == value) {
            Some((_, engines)) => engines.push(engine),
            None => groups.push((value, vec![engine])),
        }
    }
    groups
}

/// "MySQL and MariaDB (64 characters) and of PostgreSQL (63 bytes)".
fn limits(engines: &[&Engine]) -> String {
    let groups = by(engines, |engine| engine.identifier);
    let texts = groups.iter().map(|(limit, engines)| format!("{} ({limit})", titles(engines)));
    texts.collect::<Vec<_>>().join(" and of ")
}

/// MySQL and MariaDB keep a table in a file of its name, with every character beyond ASCII spelt out.
fn file_name(table: &Table, place: &dyn Fn() -> Option<Place>, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let spelt = |c: char| match c {
        _ if c.is_ascii_alphanumeric() || c == '_' => 1,
        '\u{C0}'..='\u{2AF}'
        | '\u{370}'..='\u{58F}'
        | '\u{1E00}'..='\u{1FFF}'
        | '\u{2160}'..='\u{217F}'
        | '\u{24B6}'..='\u{24E9}'
        | '\u{FF21}'..='\u{FF5A}' => 3,
        _ => 5,
    };
    let bytes: usize = table.name.name.chars().map(spelt).sum();
    let short = failing(engines, |engine| engine.table_file_bytes.is_some_and(|most| bytes > most));
    if let Some(most) = short.first().and_then(|engine| engine.table_file_bytes) {
        let message = format!(
            "the table name `{}` makes a file name of {bytes} bytes, on {} at most {most}",
            table.name,
            titles(&short)
        );
        findings.push(Diagnostic::new(&rules::IDENTIFIER_TOO_LONG, place(), message).help("choose a shorter name"));
    }
}

fn duplicates(catalog: &Catalog, engine: &Engine, assigned: &[TableNames], findings: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<(String, String), (&str, &Table, Option<&Index>)> = BTreeMap::new();
    let space = |table: &Table| names::space(table, engine.index_names);
    if engine.index_names == NameScope::Schema {
        for table in &catalog.tables {
            first(&mut seen, (space(table), names::fold(&table.name.name)), ("the table", table, None));
        }
    }
    let place = |index: &Index| if index.name.is_some() { index.site.at("name") } else { index.site.place() };
    for (table, names) in catalog.tables.iter().zip(assigned) {
        for (index, name) in table.indexes.iter().zip(&names.indexes) {
            let key = (space(table), names::fold(name));
            let Some((what, of, other)) = first(&mut seen, key, ("an index of", table, Some(index))) else { continue };
            let declared = index.name.clone().unwrap_or_else(|| derived(table, index));
            let message =
                format!("the index name `{declared}` of `{}` is already that of {what} `{}`", table.name, of.name);
            let scope = match engine.index_names {
                NameScope::Table => "within its table",
                NameScope::Schema => "across all tables, and none may be the name of a table",
            };
            let first_place = other.map_or_else(|| of.site.at("tableName"), place);
            let finding =
                Diagnostic::new(&rules::DUPLICATE_NAME, place(index), message).related(first_place, "first here");
            findings.push(finding.help(format!("on {} an index name must be unique {scope}", engine.title)));
        }
    }
}

/// Foreign keys of one name. Derived names avoid all others.
fn duplicate_keys(catalog: &Catalog, engine: &Engine, assigned: &[TableNames], findings: &mut Vec<Diagnostic>) {
    let Some(scope) = engine.foreign_key_names else { return };
    let mut seen: BTreeMap<(String, String), (&Table, &ForeignKey)> = BTreeMap::new();
    for (table, names) in catalog.tables.iter().zip(assigned) {
        let keys = table.foreign_keys.iter().zip(&names.foreign_keys);
        for (key, name) in keys.filter(|(key, _)| key.name.is_some()) {
            let space = (names::space(table, scope), names::fold(name));
            let Some((of, other)) = first(&mut seen, space, (table, key)) else { continue };
            let declared = key.name.as_deref().unwrap_or_default();
            let message = format!(
                "the foreign key name `{declared}` of `{}` is already that of a foreign key of `{}`",
                table.name, of.name
            );
            let scope = match scope {
                NameScope::Table => "within its table",
                NameScope::Schema => "across all tables",
            };
            let finding = Diagnostic::new(&rules::DUPLICATE_NAME, key.site.at("name"), message)
                .related(other.site.at("name"), "first here");
            findings
                .push(finding.help(format!("on {} the name of a foreign key must be unique {scope}", engine.title)));
        }
    }
}

fn usable(
    name: &str,
    what: &str,
    place: &dyn Fn() -> Option<Place>,
    engines: &[&Engine],
    findings: &mut Vec<Diagnostic>,
) {
    usable_characters(name, what, place, engines, findings);
    let long = failing(engines, |engine| !engine.identifier.allows(name));
    if !long.is_empty() {
        let message = format!("the {what} name `{name}` is over the limit of {}", limits(&long));
        findings.push(Diagnostic::new(&rules::IDENTIFIER_TOO_LONG, place(), message).help("choose a shorter name"));
    }
}

fn usable_characters(
    name: &str,
    what: &str,
    place: &dyn Fn() -> Option<Place>,
    engines: &[&Engine],
    findings: &mut Vec<Diagnostic>,
) {
    let mut fault = |problem: String| {
        let shown = name.escape_default();
        findings.push(Diagnostic::new(&rules::UNUSABLE_NAME, place(), format!("the {what} name `{shown}` {problem}")));
    };
    if name.is_empty() {
        return fault("is empty".to_owned());
    }
    if name.trim() != name {
        fault("begins or ends with a blank".to_owned());
    }
    if let Some(c) = name.chars().find(|c| {
        c.is_control()
            || is_reordering(*c)
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}')
    }) {
        fault(format!("holds {}, which cannot be seen", c.escape_unicode()));
    }
    let beyond = failing(engines, |engine| !engine.supplementary_identifiers);
    if let Some(c) = name.chars().find(|c| *c > '\u{FFFF}' && !beyond.is_empty()) {
        fault(format!("holds `{c}`, which {} cannot have in a name", titles(&beyond)));
    }
}
