//! Archive tables, rendered from the definition of the table whose finished rows they take.

use super::format::Strategy;
use super::{Catalog, Index, IndexOrigin, Table, TableName};

/// The archive table that `table` asks for: the same columns and primary key, one index by age within each
/// scope and state, and neither uniques nor foreign keys nor numbering, so that no row that was good in the table can be refused by its archive.
pub fn archive_of(table: &Table) -> Option<Table> {
    let name = name(table)?;
    let retention = table.retention.as_ref()?;
    let mut columns = table.columns.clone();
    for column in &mut columns {
        column.auto_increment = false;
        column.renamed_from = None;
    }
    let site = table.site.step("retention");
    let age = table.position(&retention.age).map(|age| Index {
        name: None,
        columns: pins(table).into_iter().chain([age]).chain(key(table, age)).collect(),
        unique: false,
        origin: IndexOrigin::Workload("age".to_owned()),
        predicate: None,
        description: Some("Finds archived rows by age.".to_owned()),
        site: site.clone(),
    });
    Some(Table {
        name,
        description: Some(format!("Archive of {}.", table.name)),
        renamed_from: None,
        columns,
        indexes: age.into_iter().collect(),
        foreign_keys: Vec::new(),
        claim: None,
        claim_draft: None,
        retention: None,
        publish: None,
        bus: None,
        inbox: None,
        metrics: None,
        archive_of: Some(table.name.clone()),
        site,
        ..table.clone()
    })
}

/// What rows are asked for by when they are published once more: the scope of their retention, and their state.
fn pins(table: &Table) -> Vec<usize> {
    let claim = table.claim.as_ref();
    let retention = table.retention.as_ref().and_then(|retention| retention.scope.as_ref());
    let scope = retention.or(claim.map(|claim| &claim.scope)).into_iter().flatten();
    let names = scope.chain(claim.map(|claim| &claim.status.column));
    names.filter_map(|name| table.position(name)).collect()
}

/// What of the key is not in the index already, as in the table's own.
fn key(table: &Table, age: usize) -> Vec<usize> {
    let pins = pins(table);
    table.primary_key.iter().copied().filter(|column| *column != age && !pins.contains(column)).collect()
}

/// The name of the archive: `into`, or `<table>_archive` in the same database.
pub(super) fn name(table: &Table) -> Option<TableName> {
    let retention = table.retention.as_ref().filter(|retention| retention.strategy == Strategy::Archive)?;
    Some(match &retention.into {
        Some(into) => TableName::parse(into),
        None => TableName { database: table.name.database.clone(), name: format!("{}_archive", table.name.name) },
    })
}

/// Adds each archive table right after the table that fills it, unless the definitions have a table of that name.
pub(super) fn add(catalog: &mut Catalog) {
    let archives: Vec<Option<Table>> = catalog.tables.iter().map(archive_of).collect();
    let declared: std::collections::BTreeSet<TableName> =
        catalog.tables.iter().map(|table| table.name.clone()).collect();
    let tables = std::mem::take(&mut catalog.tables);
    for (table, archive) in tables.into_iter().zip(archives) {
        catalog.tables.push(table);
        catalog.tables.extend(archive.filter(|archive| !declared.contains(&archive.name)));
    }
}
