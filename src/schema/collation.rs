//! Which strings compare byte by byte, and which columns hold numbers of the database.
//!
//! Default collations of MySQL and MariaDB take `Ev1` and `eV1` for the same id and `PENDING` for the same state, and
//! MySQL refuses a foreign key between columns of different collations (error 3780). So ids and states are binary where
//! the definition does not say otherwise, and so is everything that a foreign key ties to them.

use std::collections::{BTreeMap, BTreeSet};

use super::format::{Claim, Collation};
use super::{Catalog, Table, TableName, archive};

/// Sets [`Column::binary`](super::Column::binary) and [`Column::numbered`](super::Column::numbered) for all columns.
pub(super) fn resolve(catalog: &mut Catalog) {
    let ties = ties(catalog);
    let binary = closure(&ties, catalog, keys);
    let numbered = closure(&ties, catalog, |table| {
        (0..table.columns.len()).filter(|at| table.columns[*at].auto_increment).collect()
    });
    for (at, table) in catalog.tables.iter_mut().enumerate() {
        for (position, column) in table.columns.iter_mut().enumerate() {
            column.numbered = numbered.contains(&(at, position));
            column.binary = column.ty.is_text()
                && match column.collation {
                    Some(collation) => collation == Collation::Binary,
                    None => binary.contains(&(at, position)),
                };
        }
    }
}

/// The columns that `seeds` names in each table, and all that are tied to them.
fn closure(
    ties: &BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    catalog: &Catalog,
    seeds: impl Fn(&Table) -> BTreeSet<usize>,
) -> BTreeSet<(usize, usize)> {
    let mut found: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (at, table) in catalog.tables.iter().enumerate() {
        found.extend(seeds(table).into_iter().map(|position| (at, position)));
    }
    let mut open: Vec<(usize, usize)> = found.iter().copied().collect();
    while let Some(column) = open.pop() {
        for tied in ties.get(&column).into_iter().flatten() {
            if found.insert(*tied) {
                open.push(*tied);
            }
        }
    }
    found
}

/// Ids and states of one table: the columns that are compared with what a program holds.
fn keys(table: &Table) -> BTreeSet<usize> {
    let mut keys: BTreeSet<usize> = table.primary_key.iter().copied().collect();
    keys.extend(table.foreign_keys.iter().flat_map(|key| &key.columns));
    let is_key =
        |column: &super::Column| !column.reference_to.is_empty() || column.collation == Some(Collation::Binary);
    keys.extend((0..table.columns.len()).filter(|position| is_key(&table.columns[*position])));
    let mut names: Vec<&str> = table.claim.as_ref().map(claim_keys).unwrap_or_default();
    if let Some(scope) = table.retention.as_ref().and_then(|retention| retention.scope.as_ref()) {
        names.extend(scope.iter().map(String::as_str));
    }
    if let Some(inbox) = &table.inbox {
        names.extend([&*inbox.consumer, &*inbox.message]);
    }
    keys.extend(names.into_iter().filter_map(|name| table.position(name)));
    keys
}

fn claim_keys(claim: &Claim) -> Vec<&str> {
    let mut names: Vec<&str> =
        claim.scope.iter().chain(&claim.idempotency_key).chain(&claim.coalesce).map(String::as_str).collect();
    names.push(&claim.status.column);
    names.extend(claim.lane.as_deref());
    names.extend(claim.lease.as_ref().and_then(|lease| lease.by.as_deref()));
    let event = claim.event.iter().flat_map(|event| [&event.id, &event.type_column, &event.aggregate]);
    names.extend(event.filter_map(Option::as_deref));
    names
}

/// Columns that must have the same collation: both ends of each foreign key, and an archive's copies of its table's.
fn ties(catalog: &Catalog) -> BTreeMap<(usize, usize), Vec<(usize, usize)>> {
    let by_name: BTreeMap<&TableName, usize> =
        catalog.tables.iter().enumerate().map(|(at, table)| (&table.name, at)).collect();
    let mut ties: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
    let mut tie = |a, b| {
        ties.entry(a).or_default().push(b);
        ties.entry(b).or_default().push(a);
    };
    for (at, table) in catalog.tables.iter().enumerate() {
        for key in &table.foreign_keys {
            let Some(target) = by_name.get(&key.target).copied() else { continue };
            for (position, name) in key.columns.iter().zip(&key.target_columns) {
                if let Some(referenced) = catalog.tables[target].position(name) {
                    tie((at, *position), (target, referenced));
                }
            }
        }
        if let Some(archive) = archive::name(table).and_then(|name| by_name.get(&name).copied()) {
            for (position, column) in table.columns.iter().enumerate() {
                if let Some(copy) = catalog.tables[archive].position(&column.name) {
                    tie((at, position), (archive, copy));
                }
            }
        }
    }
    ties
}
