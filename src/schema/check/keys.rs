//! Keys: columns that can be in one, and their size.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Level};
use crate::engine::{Engine, titles};

use super::super::{Column, ColumnType, Index, Site, Table, rules};
use super::failing;

/// Checks the primary key and the indexes of one table.
pub fn check(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    primary_key(table, findings);
    key(table, "the primary key", &table.primary_key, &table.site.step("primaryKey"), engines, findings);
    table.indexes.iter().for_each(|index| check_index(table, index, engines, findings));
}

/// Checks one index of a table.
pub fn check_index(table: &Table, index: &Index, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let what = match &index.name {
        Some(name) => format!("the index `{name}`"),
        None => format!("the index on {}", table.names(&index.columns).collect::<Vec<_>>().join(", ")),
    };
    key(table, &what, &index.columns, &index.site, engines, findings);
}

fn primary_key(table: &Table, findings: &mut Vec<Diagnostic>) {
    if table.primary_key.is_empty() && table.keys_are_understood() && !table.columns.is_empty() {
        let message = format!("`{}` has no primary key", table.name);
        let mut finding = Diagnostic::new(&rules::MISSING_PRIMARY_KEY, table.site.at("tableName"), message);
        finding.level = if table.claim.is_some() { Level::Error } else { Level::Warning };
        findings.push(finding.help("mark its columns with `\"primaryKey\": true`"));
    }
    for column in table.primary_key.iter().map(|at| &table.columns[*at]).filter(|column| column.nullable) {
        let message = format!("`{}.{}` is in the primary key and nullable", table.name, column.name);
        findings.push(
            Diagnostic::new(&rules::WRONG_PRIMARY_KEY, column.site.at("nullable"), message).help("remove `nullable`"),
        );
    }
}

fn key(table: &Table, what: &str, columns: &[usize], site: &Site, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let prefixed = failing(engines, |engine| engine.text_key_needs_length);
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for position in columns {
        let column = &table.columns[*position];
        if !seen.insert(position) {
            if twice.insert(position) {
                let message = format!("{what} of `{}` names `{}` twice", table.name, column.name);
                findings.push(Diagnostic::new(&rules::WRONG_PRIMARY_KEY, site.at("columns"), message));
            }
            continue;
        }
        let fault = match (&column.ty, column.key_length) {
            (ColumnType::Json, _) => {
                Some(format!("{what} of `{}` holds the JSON column `{}`", table.name, column.name))
            }
            (ColumnType::Text(size) | ColumnType::Blob(size), Some(length))
                if !prefixed.is_empty() && (length == 0 || bytes(column).unwrap_or_default() > size.bytes()) =>
            {
                Some(format!(
                    "{what} of `{}` holds {length} of the {} column `{}`, which is none of it or more than it",
                    table.name, column.ty, column.name
                ))
            }
            (ColumnType::Text(_) | ColumnType::Blob(_), None) if !prefixed.is_empty() => Some(format!(
                "{what} of `{}` holds the {} column `{}` without a length, which {} ask for",
                table.name,
                column.ty,
                column.name,
                titles(&prefixed)
            )),
            _ => None,
        };
        if let Some(message) = fault {
            let finding = Diagnostic::new(&rules::UNINDEXABLE_COLUMN, column.site.at("type"), message);
            findings.push(finding.help("make the column a VARCHAR, or give the `length` that the key holds"));
        }
    }
    let sizes: Vec<(&Column, usize)> = columns
        .iter()
        .map(|at| &table.columns[*at])
        .map(|column| (column, bytes(column).unwrap_or_default()))
        .collect();
    let total: usize = sizes.iter().map(|(_, bytes)| bytes).sum();
    let over = failing(engines, |engine| engine.key_bytes.is_some_and(|most| total > most));
    if let Some(most) = over.first().and_then(|engine| engine.key_bytes) {
        let parts: Vec<String> = sizes.iter().map(|(column, bytes)| format!("{} {bytes}", column.name)).collect();
        let message = format!("{what} of `{}` takes {total} bytes, on {} at most {most}", table.name, titles(&over));
        let widest = sizes.iter().max_by_key(|(_, bytes)| bytes).map_or(&table.site, |(column, _)| &column.site);
        let finding =
            Diagnostic::new(&rules::KEY_TOO_LONG, widest.at("type"), message).label("the widest of its columns");
        findings.push(finding.help(format!("shorten a column: {}", parts.join(" + "))));
    }
    let many = failing(engines, |engine| columns.len() > engine.index_columns);
    if let Some(engine) = many.first() {
        let message = format!(
            "{what} of `{}` has {} columns, on {} at most {}",
            table.name,
            columns.len(),
            titles(&many),
            engine.index_columns
        );
        findings.push(Diagnostic::new(&rules::KEY_TOO_LONG, site.place(), message));
    }
}

/// Most bytes of a column in an InnoDB key: 4 a character in utf8mb4. `None` where only a prefix can be in a key and none
/// is given.
pub fn bytes(column: &Column) -> Option<usize> {
    let fraction = |digits: u8| usize::from(digits).div_ceil(2);
    Some(match &column.ty {
        ColumnType::Bool => 1,
        ColumnType::Int { bytes, .. } => usize::from(*bytes),
        ColumnType::Decimal { precision, scale, .. } => decimal(precision - scale) + decimal(*scale),
        ColumnType::Float => 4,
        ColumnType::Double => 8,
        ColumnType::Char(characters) | ColumnType::Varchar(characters) => *characters as usize * 4,
        ColumnType::Text(_) => column.key_length? as usize * 4,
        ColumnType::Blob(_) => column.key_length? as usize,
        ColumnType::Binary(bytes) | ColumnType::Varbinary(bytes) => *bytes as usize,
        ColumnType::Date => 3,
        ColumnType::Time(digits) => 3 + fraction(*digits),
        ColumnType::DateTime(digits) => 5 + fraction(*digits),
        ColumnType::Timestamp(digits) => 4 + fraction(*digits),
        ColumnType::Enum(members) => {
            if members.len() > 255 {
                2
            } else {
                1
            }
        }
        ColumnType::Json => return None,
    })
}

/// MySQL packs 9 decimal digits into 4 bytes, and fewer into as few as hold them.
fn decimal(digits: u8) -> usize {
    usize::from(digits / 9) * 4 + [0, 1, 1, 2, 2, 3, 3, 4, 4][usize::from(digits % 9)]
}
