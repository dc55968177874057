//! Foreign keys: both ends fit, on every engine that was asked for.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::engine::{Engine, titles};

use super::super::lower::missing_column;
use super::super::{Action, Catalog, ColumnType, ForeignKey, Table, TableName, rules};
use super::{failing, keep};

/// How many names are compared with missing ones, to say what may have been meant.
const COMPARISONS: usize = 500_000;

/// Checks the foreign keys of all tables.
pub fn check(catalog: &Catalog, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let tables: BTreeMap<&TableName, &Table> = catalog.tables.iter().map(|table| (&table.name, table)).collect();
    let mut names: Vec<String> = tables.keys().map(|name| name.to_string()).collect();
    let mut missing = 0;
    for table in &catalog.tables {
        let mut found = Vec::new();
        for key in &table.foreign_keys {
            match tables.get(&key.target) {
                Some(target) => ends(table, key, target, engines, &mut found),
                None => {
                    missing += 1;
                    // So many are no slips, and each takes a look at every table.
                    if missing * names.len() > COMPARISONS {
                        names.clear();
                    }
                    let message = format!(
                        "a foreign key of `{}` references the table `{}`, which is not defined",
                        table.name, key.target
                    );
                    let finding = Diagnostic::new(&rules::MISSING_TABLE, key.site.at("references"), message);
                    found.push(finding.did_you_mean(&key.target.to_string(), names.iter().map(String::as_str)));
                }
            }
            actions(table, key, engines, &mut found);
        }
        references(table, &tables, &names, &mut found);
        keep(table, found, findings);
    }
}

/// `referenceTo` of a column names tables that exist.
fn references(table: &Table, tables: &BTreeMap<&TableName, &Table>, names: &[String], findings: &mut Vec<Diagnostic>) {
    if table.archive_of.is_some() {
        return;
    }
    for column in &table.columns {
        for name in column.reference_to.iter().filter(|name| !tables.contains_key(&TableName::parse(name))) {
            let message =
                format!("`{}.{}` refers to the table `{name}`, which is not defined", table.name, column.name);
            let mut finding = Diagnostic::new(&rules::MISSING_TABLE, column.site.at("referenceTo"), message);
            finding.level = crate::diagnostic::Level::Warning;
            findings.push(finding.did_you_mean(name, names.iter().map(String::as_str)));
        }
    }
}

fn ends(table: &Table, key: &ForeignKey, target: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let place = || key.site.at("references");
    let fault = |message: String| Diagnostic::new(&rules::WRONG_FOREIGN_KEY, place(), message);
    if key.columns.len() != key.target_columns.len() {
        let (here, there) = (key.columns.len(), key.target_columns.len());
        findings.push(fault(format!("a foreign key of `{}` has {here} columns and references {there}", table.name)));
        return;
    }
    let crossing = failing(engines, |engine| !engine.foreign_keys_cross_databases);
    if table.name.database != target.name.database && !crossing.is_empty() {
        findings.push(fault(format!("a foreign key cannot reach into another database on {}", titles(&crossing))));
    }
    let mut referenced = Vec::new();
    for (position, name) in key.columns.iter().zip(&key.target_columns) {
        let column = &table.columns[*position];
        let Some(at) = target.position(name) else {
            if !target.broken.contains(name) {
                findings.push(missing_column(target, name, &format!("a foreign key of `{}`", table.name), place()));
            }
            return;
        };
        referenced.push(at);
        let other = &target.columns[at];
        if !alike(&column.ty, &other.ty) {
            let message =
                format!("`{}.{}` is {}, `{}.{name}` is {}", table.name, column.name, column.ty, target.name, other.ty);
            let finding = fault(message)
                .related(column.site.at("type"), "this type")
                .related(other.site.at("type"), "and this one");
            findings.push(finding.help("give both columns the same type"));
        } else if column.binary != other.binary {
            let message =
                format!("`{}.{}` and `{}.{name}` have different collations", table.name, column.name, target.name);
            findings.push(fault(message).help("give both columns the same `collation`, or none"));
        }
        let prefixed = failing(engines, |engine| engine.text_key_needs_length);
        if column.ty.is_long() && !prefixed.is_empty() {
            let message = format!(
                "`{}.{}` is {}, which cannot be in a foreign key on {}",
                table.name,
                column.name,
                column.ty,
                titles(&prefixed)
            );
            findings.push(fault(message).help("make both columns a VARCHAR"));
        }
    }
    let unique = |index: &&super::super::Index| index.unique && index.columns == referenced;
    if target.primary_key != referenced
        && !target.indexes.iter().any(|index| unique(&index))
        && target.keys_are_understood()
    {
        let message =
            format!("`{}({})` is neither a primary nor a unique key", target.name, key.target_columns.join(", "));
        findings.push(fault(message).help("reference the primary key, or make the columns unique, in this order"));
    }
}

fn actions(table: &Table, key: &ForeignKey, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    for (name, action) in [("onDelete", key.on_delete), ("onUpdate", key.on_update)] {
        let place = || key.site.at(name);
        let strict = key.columns.iter().map(|at| &table.columns[*at]).find(|column| !column.nullable);
        if let (Some(Action::SetNull), Some(column)) = (action, strict) {
            let message = format!("`{}.{}` is NOT NULL and cannot be SET NULL", table.name, column.name);
            let finding = Diagnostic::new(&rules::WRONG_FOREIGN_KEY, place(), message);
            findings.push(
                finding
                    .related(column.site.place(), "NOT NULL, since `nullable` is absent")
                    .help("add `\"nullable\": true` to the column"),
            );
        }
        let without = failing(engines, |engine| !engine.set_default);
        if action == Some(Action::SetDefault) && !without.is_empty() {
            let message = format!("{} cannot SET DEFAULT", titles(&without));
            findings.push(Diagnostic::new(&rules::WRONG_FOREIGN_KEY, place(), message));
        }
    }
}

/// Whether the engines accept the two types as the ends of a foreign key: the length of strings may differ.
fn alike(a: &ColumnType, b: &ColumnType) -> bool {
    let string = |ty: &ColumnType| matches!(ty, ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_));
    let bytes = |ty: &ColumnType| matches!(ty, ColumnType::Binary(_) | ColumnType::Varbinary(_) | ColumnType::Blob(_));
    a == b || string(a) && string(b) || bytes(a) && bytes(b)
}
