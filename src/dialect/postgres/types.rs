//! Types and defaults of PostgreSQL.

use crate::schema::{Column, ColumnType, DefaultValue, Literal};

use super::super::quoted;
use super::ddl::literal;

/// The type with its collation.
pub fn column_type(column: &Column) -> String {
    let ty = match &column.ty {
        ColumnType::Bool => "BOOLEAN".to_owned(),
        // An identity column is SMALLINT, INTEGER or BIGINT.
        ColumnType::Int { bytes: 8, unsigned: true } if column.numbered => "BIGINT".to_owned(),
        ColumnType::Int { bytes: 8, unsigned: true } => "NUMERIC(20,0)".to_owned(),
        ColumnType::Int { bytes, unsigned } => match (*bytes, *unsigned) {
            (1, _) | (2, false) => "SMALLINT",
            (2, true) | (3, _) | (4, false) => "INTEGER",
            _ => "BIGINT",
        }
        .to_owned(),
        ColumnType::Decimal { precision, scale, .. } => format!("NUMERIC({precision},{scale})"),
        ColumnType::Float => "REAL".to_owned(),
        ColumnType::Double => "DOUBLE PRECISION".to_owned(),
        ColumnType::Char(length) => format!("CHAR({length})"),
        ColumnType::Varchar(length) => format!("VARCHAR({length})"),
        ColumnType::Enum(members) => format!("VARCHAR({})", longest(members)),
        ColumnType::Text(_) => "TEXT".to_owned(),
        ColumnType::Binary(_) | ColumnType::Varbinary(_) | ColumnType::Blob(_) => "BYTEA".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Time(digits) => format!("TIME({digits})"),
        ColumnType::DateTime(digits) => format!("TIMESTAMP({digits})"),
        ColumnType::Timestamp(digits) => format!("TIMESTAMPTZ({digits})"),
        ColumnType::Json => "JSONB".to_owned(),
    };
    if column.binary { format!("{ty} COLLATE \"C\"") } else { ty }
}

fn longest(members: &[String]) -> usize {
    members.iter().map(|member| member.chars().count()).max().unwrap_or(1).max(1)
}

/// What the type leaves open: the range of integers that have no type of their width, members, and lengths of bytes.
pub fn check(column: &Column) -> Option<String> {
    let name = quoted(&column.name, '"');
    match &column.ty {
        ColumnType::Int { bytes: 2 | 4 | 8, unsigned: false } => None,
        ColumnType::Int { bytes: 8, unsigned: true } if column.numbered => Some(format!("{name} >= 0")),
        ColumnType::Int { .. } => {
            let (least, most) = column.ty.range()?;
            Some(format!("{name} BETWEEN {least} AND {most}"))
        }
        ColumnType::Decimal { unsigned: true, .. } => Some(format!("{name} >= 0")),
        ColumnType::Enum(members) => {
            let members: Vec<String> = members.iter().map(|member| literal(member)).collect();
            Some(format!("{name} IN ({})", members.join(", ")))
        }
        ColumnType::Binary(bytes) => Some(format!("octet_length({name}) = {bytes}")),
        ColumnType::Varbinary(bytes) => Some(format!("octet_length({name}) <= {bytes}")),
        _ => None,
    }
}

/// The default. A DATETIME is UTC, so the current time is turned into UTC.
pub fn default(ty: &ColumnType, value: &DefaultValue) -> String {
    match (&value.value, ty) {
        (Literal::Number(number), ColumnType::Bool) => if number == "1" { "TRUE" } else { "FALSE" }.to_owned(),
        (Literal::Text(text), _) => literal(text),
        (Literal::Now(_), ColumnType::DateTime(digits)) => format!("({} AT TIME ZONE 'UTC')", now(*digits)),
        (Literal::Now(_), ColumnType::Timestamp(digits)) => now(*digits),
        (other, _) => crate::schema::default::sql_text(other),
    }
}

/// The current time with so many fractional digits, cut off as on the other engines where `date_trunc` knows the unit:
/// rounded up, a row would be due a little after it was written.
fn now(digits: u8) -> String {
    match digits {
        0 => "date_trunc('second', CURRENT_TIMESTAMP)".to_owned(),
        3 => "date_trunc('milliseconds', CURRENT_TIMESTAMP)".to_owned(),
        6 => "CURRENT_TIMESTAMP".to_owned(),
        _ => format!("CURRENT_TIMESTAMP({digits})"),
    }
}

/// What a reader who knows MySQL would not expect.
pub fn difference(column: &Column, in_key: bool) -> Option<String> {
    let text = match &column.ty {
        ColumnType::Int { bytes: 8, unsigned: true } if column.numbered => {
            "BIGINT UNSIGNED is BIGINT: only the lower half of its range"
        }
        ColumnType::Int { bytes: 8, unsigned: true } => "BIGINT UNSIGNED is NUMERIC(20,0) with a check",
        ColumnType::Json => "JSON is JSONB: keys are reordered, and of duplicate keys the last one stays",
        ty if ty.is_long() && in_key && column.key_length.is_some() => {
            "the key holds the whole text, not its first characters"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
