//! Names: usable, within the engines' limits, and told apart where the engines want it.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Level, Place, render::is_reordering};
use crate::engine::{Engine, NameScope, titles};

use super::super::names::{self, derived, shorten};
use super::super::{Catalog, Site, Table, rules};
use super::failing;

/// Table names.
pub fn tables(catalog: &Catalog, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let folding = failing(engines, |engine| engine.folds_tables);
    let mut seen: BTreeMap<String, &Table> = BTreeMap::new();
    for table in &catalog.tables {
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
        kept("table", &table.name.name, &place, engines, findings);
        if let Some(database) =
            table.name.database.as_ref().filter(|_| !failing(engines, |engine| !engine.databases).is_empty())
        {
            let without = titles(&failing(engines, |engine| !engine.databases));
            let message = format!("`{database}` must be an attached database on {without}");
            let finding = Diagnostic::new(&rules::ENGINE_DIFFERENCE, place(), message);
            findings.push(finding.help(format!("run `ATTACH DATABASE … AS \"{database}\"` before the script")));
        }
        let folded = if folding.is_empty() { name.clone() } else { name.to_lowercase() };
        if let Some(first) = seen.insert(folded, table) {
            let what = if first.name == table.name { "twice" } else { "twice, but for upper and lower case" };
            let mut finding =
                Diagnostic::new(&rules::DUPLICATE_NAME, place(), format!("the table `{name}` is defined {what}"));
            finding = finding.related(first.site.at("tableName"), "first here");
            if first.name != table.name {
                finding = finding.help(format!("the two are or may be one table on {}", titles(&folding)));
            }
            findings.push(finding);
        }
    }
}

/// Column names of one table.
pub fn columns(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let folding = failing(engines, |engine| engine.folds_columns);
    let mut seen: BTreeMap<String, &super::super::Column> = BTreeMap::new();
    for column in &table.columns {
        let place = || column.site.at("name");
        usable(&column.name, "column", &place, engines, findings);
        let keeping = failing(engines, |engine| engine.reserved_columns.contains(&&*column.name.to_lowercase()));
        if !keeping.is_empty() {
            let message = format!("{} keep the column name `{}` for themselves", titles(&keeping), column.name);
            findings.push(Diagnostic::new(&rules::UNUSABLE_NAME, place(), message).help("choose another name"));
        }
        let folded = if folding.is_empty() { column.name.clone() } else { column.name.to_lowercase() };
        if let Some(first) = seen.insert(folded, column) {
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
        for (name, site, what) in indexes.chain(keys) {
            declared(name, what, site, table, engines, findings);
        }
        same_columns(table, findings);
        constraints(table, engines, findings);
    }
    for engine in engines {
        let before = findings.len();
        duplicates(catalog, engine, findings);
        // The same fault on a further engine is the same fault.
        let found = findings.split_off(before);
        let known = |new: &Diagnostic| findings.iter().any(|old| old.message == new.message);
        let new: Vec<Diagnostic> = found.into_iter().filter(|finding| !known(finding)).collect();
        findings.extend(new);
    }
}

/// A declared name: usable, and shortened with a warning.
fn declared(name: &str, what: &str, site: &Site, table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let place = || site.at("name");
    let long = failing(engines, |engine| !engine.identifier.allows(name));
    if let Some(engine) = long.first() {
        let short = shorten(name, engine.identifier);
        let message = format!(
            "the {what} name `{name}` of `{}` is over the limit of {} ({})",
            table.name,
            titles(&long),
            engine.identifier
        );
        let mut finding = Diagnostic::new(&rules::IDENTIFIER_TOO_LONG, place(), message);
        finding.level = Level::Warning;
        findings.push(finding.help(format!("it is shortened to `{short}`")));
    }
    usable_characters(name, what, &place, engines, findings);
    kept(what, name, &place, engines, findings);
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
    for (at, index) in table.indexes.iter().enumerate() {
        let first =
            table.indexes[..at].iter().find(|other| other.columns == index.columns && other.unique == index.unique);
        if let Some(first) = first.filter(|first| first.name == index.name || index.name.is_none()) {
            let message = format!("`{}` has two indexes on the same columns", table.name);
            let mut finding = Diagnostic::new(&rules::DUPLICATE_NAME, index.site.place(), message);
            finding.level = Level::Warning;
            findings.push(finding.related(first.site.place(), "first here").help("remove one of the two"));
        }
    }
}

/// Where a unique key is a constraint, a foreign key of its table cannot have its name.
fn constraints(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let engines = failing(engines, |engine| engine.unique_is_constraint);
    for key in table.foreign_keys.iter().filter(|_| !engines.is_empty()) {
        let same = |index: &&super::super::Index| index.unique && index.name.is_some() && index.name == key.name;
        if let Some(index) = table.indexes.iter().find(same) {
            let name = key.name.as_deref().unwrap_or_default();
            let message = format!("a unique index and a foreign key of `{}` are both called `{name}`", table.name);
            let finding = Diagnostic::new(&rules::DUPLICATE_NAME, key.site.at("name"), message);
            let finding = finding.related(index.site.at("name"), "the index");
            findings.push(finding.help(format!("on {} both are constraints: rename one of the two", titles(&engines))));
        }
    }
}

/// Names that an engine keeps for itself by their beginning.
fn kept(
    what: &str,
    name: &str,
    place: &dyn Fn() -> Option<Place>,
    engines: &[&Engine],
    findings: &mut Vec<Diagnostic>,
) {
    let folded = name.to_lowercase();
    let keeping = failing(engines, |engine| engine.reserved_prefix.is_some_and(|prefix| folded.starts_with(prefix)));
    if let Some(prefix) = keeping.first().and_then(|engine| engine.reserved_prefix) {
        let message =
            format!("{} keeps names that begin with `{prefix}` for itself: the {what} `{name}`", titles(&keeping));
        findings.push(Diagnostic::new(&rules::UNUSABLE_NAME, place(), message).help("choose another name"));
    }
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

fn duplicates(catalog: &Catalog, engine: &Engine, findings: &mut Vec<Diagnostic>) {
    let assigned = names::assign(catalog, engine);
    let mut seen: BTreeMap<(String, String), (String, Option<Place>)> = BTreeMap::new();
    let space = |table: &Table| names::space(table, engine.index_names);
    if engine.index_names == NameScope::Schema {
        for table in &catalog.tables {
            let key = (space(table), table.name.name.to_lowercase());
            seen.insert(key, (format!("the table `{}`", table.name), table.site.at("tableName")));
        }
    }
    for (table, names) in catalog.tables.iter().zip(&assigned) {
        for (index, name) in table.indexes.iter().zip(&names.indexes) {
            let place = if index.name.is_some() { index.site.at("name") } else { index.site.place() };
            let what = format!("an index of `{}`", table.name);
            if let Some((first, first_place)) = seen.insert((space(table), name.to_lowercase()), (what, place.clone()))
            {
                let declared = index.name.clone().unwrap_or_else(|| derived(table, index));
                let message = format!("the index name `{declared}` of `{}` is already that of {first}", table.name);
                let scope = match engine.index_names {
                    NameScope::Table => "within its table",
                    NameScope::Schema => "across all tables, and none may be the name of a table",
                };
                let finding =
                    Diagnostic::new(&rules::DUPLICATE_NAME, place, message).related(first_place, "first here");
                findings.push(finding.help(format!("on {} an index name must be unique {scope}", engine.title)));
            }
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
    if let Some(engine) = long.first() {
        let message =
            format!("the {what} name `{name}` is over the limit of {} ({})", titles(&long), engine.identifier);
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
