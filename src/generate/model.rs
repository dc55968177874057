//! What a program holds of a table, whatever its language: which columns have a closed set of values, and how each value
//! stands in JSON.

use std::collections::BTreeSet;

use crate::schema::{Catalog, Column, ColumnType, Table};

/// The table whose claim says what the columns of `table` mean: of an archive, the one whose rows it takes, since its rows
/// are of the same shape; else the table itself.
pub fn origin<'a>(catalog: &'a Catalog, table: &'a Table) -> &'a Table {
    table.archive_of.as_ref().and_then(|name| catalog.table(name)).unwrap_or(table)
}

/// A column with a closed set of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its position in the table.
    pub column: usize,
    /// Its values: of a claim's state column the declared states, in the order of a row's life; else the members of ENUM.
    pub values: Vec<String>,
    /// It is the state column of the claim.
    pub is_status: bool,
}

/// The columns with a closed set of values, in the order of the table, which is an [`origin`].
pub fn choices(table: &Table) -> Vec<Choice> {
    let of = |(at, column): (usize, &Column)| {
        let is_status = table.claim.as_ref().is_some_and(|claim| claim.status.column == column.name);
        let values = match &column.ty {
            ColumnType::Enum(members) => members.clone(),
            _ if is_status => states(table),
            _ => return None,
        };
        Some(Choice { column: at, values, is_status })
    };
    table.columns.iter().enumerate().filter_map(of).collect()
}

/// The declared states, each once, in the order of a row's life; empty where the table has no claim.
pub fn states(table: &Table) -> Vec<String> {
    let Some(claim) = &table.claim else { return Vec::new() };
    let status = &claim.status;
    let open = [Some(&status.pending), status.retryable.as_ref(), status.running.as_ref(), status.published.as_ref()];
    let all = open.into_iter().flatten().chain(&status.done.0).chain(&status.dead);
    let mut seen = BTreeSet::new();
    all.filter(|state| seen.insert(*state)).cloned().collect()
}

/// How a value stands in JSON, so that no reader loses anything: JavaScript's numbers are exact up to 2⁵³ only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// An integer of 64 bits, as text.
    BigInt,
    /// A decimal number, as text.
    Decimal,
    /// Text.
    Text,
    /// Bytes, as two lower-case hexadecimal digits each.
    Hex,
    /// A date: `2026-01-31`.
    Date,
    /// A time of day: `23:59:59`, with the fraction that the column has.
    Time,
    /// A time in UTC: `2026-01-31T23:59:59Z`, with no, three or six digits of a fraction.
    Utc,
    /// Any JSON.
    Json,
}

/// How the values of a column of the table, which is an [`origin`], stand in JSON.
pub fn form(table: &Table, column: &Column) -> Form {
    match &column.ty {
        ColumnType::Bool => Form::Boolean,
        ColumnType::Int { bytes: 8, .. } if !table.holds_epoch_ms(column) => Form::BigInt,
        ColumnType::Int { .. } | ColumnType::Float | ColumnType::Double => Form::Number,
        ColumnType::Decimal { .. } => Form::Decimal,
        ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_) | ColumnType::Enum(_) => Form::Text,
        ColumnType::Binary(_) | ColumnType::Varbinary(_) | ColumnType::Blob(_) => Form::Hex,
        ColumnType::Date => Form::Date,
        ColumnType::Time(_) => Form::Time,
        ColumnType::DateTime(_) | ColumnType::Timestamp(_) => Form::Utc,
        ColumnType::Json => Form::Json,
    }
}

/// The names of the declared event types, in their order.
pub fn event_types(table: &Table) -> impl Iterator<Item = &str> {
    let event = table.claim.as_ref().and_then(|claim| claim.event.as_ref());
    event.into_iter().flat_map(|event| event.types.iter().map(|ty| ty.name()))
}
