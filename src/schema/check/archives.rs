//! Archives that the definitions describe themselves: they can take every row of the table that fills them.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;

use super::super::{Catalog, Table, TableName, archive_of, rules};
use super::keep;

/// Checks each archive that is a table of its own in the definitions.
pub fn check(catalog: &Catalog, findings: &mut Vec<Diagnostic>) {
    let declared = catalog.tables.iter().filter(|table| table.archive_of.is_none());
    let declared: BTreeMap<&TableName, &Table> = declared.map(|table| (&table.name, table)).collect();
    for table in declared.values() {
        let Some(expected) = archive_of(table) else { continue };
        let Some(archive) = declared.get(&expected.name) else { continue };
        let mut found = Vec::new();
        let place = || table.site.at("retention.into");
        if archive.name == table.name {
            let message = format!("`{}` is its own archive", table.name);
            found.push(Diagnostic::new(&rules::WRONG_VALUE, place(), message).help("name another table"));
        } else if let Some(difference) = difference(&expected, archive) {
            let message =
                format!("the archive `{}` cannot take every row of `{}`: {difference}", archive.name, table.name);
            let finding = Diagnostic::new(&rules::WRONG_VALUE, place(), message)
                .related(archive.site.at("tableName"), "the archive");
            found.push(finding.help("remove its definition: the archive then follows the table"));
        }
        keep(table, found, findings);
    }
}

/// The first thing in which the archive falls short.
fn difference(expected: &Table, archive: &Table) -> Option<String> {
    for column in &expected.columns {
        match archive.column(&column.name) {
            None => return Some(format!("it lacks the column `{}`", column.name)),
            Some(other)
                if other.ty != column.ty || other.nullable != column.nullable || other.binary != column.binary =>
            {
                return Some(format!("its column `{}` differs", column.name));
            }
            Some(_) => {}
        }
    }
    if let Some(extra) = archive.columns.iter().find(|column| expected.column(&column.name).is_none()) {
        return Some(format!("it has the further column `{}`", extra.name));
    }
    let key = |table: &Table| table.names(&table.primary_key).map(str::to_owned).collect::<Vec<_>>();
    if key(expected) != key(archive) {
        return Some("its primary key is another".to_owned());
    }
    let strict = archive.indexes.iter().any(|index| index.unique) || !archive.foreign_keys.is_empty();
    strict.then(|| "it has a unique index or a foreign key".to_owned())
}
