//! Types and defaults of SQLite.
//!
//! SQLite keeps a value of any type in any column; the declared type is an affinity and a hint for readers such as sqlx.
//! So what a type means on the other engines is said by a check.

use crate::schema::{Column, ColumnType, DefaultValue, Literal};

use super::super::quoted;

/// The declared type. Strings compare byte by byte already.
pub fn column_type(column: &Column) -> String {
    match &column.ty {
        ColumnType::Bool => "BOOLEAN",
        ColumnType::Int { .. } if column.auto_increment => "INTEGER",
        // `INTEGER PRIMARY KEY` would be the number of the row, and take NULL for the next one.
        ColumnType::Int { .. } => return column.ty.to_string(),
        ColumnType::Float | ColumnType::Double => "REAL",
        ColumnType::Binary(_) | ColumnType::Varbinary(_) | ColumnType::Blob(_) => "BLOB",
        ColumnType::Date => "DATE",
        ColumnType::Time(_) => "TIME",
        ColumnType::DateTime(_) | ColumnType::Timestamp(_) => "DATETIME",
        // As a number a decimal would lose digits.
        ColumnType::Decimal { .. }
        | ColumnType::Char(_)
        | ColumnType::Varchar(_)
        | ColumnType::Text(_)
        | ColumnType::Enum(_)
        | ColumnType::Json => "TEXT",
    }
    .to_owned()
}

/// What the type means elsewhere.
pub fn check(column: &Column) -> Option<String> {
    let name = quoted(&column.name, '"');
    Some(match &column.ty {
        ColumnType::Bool => format!("{name} IN (0, 1)"),
        ColumnType::Int { bytes, unsigned } => integer(column, &name, *bytes, *unsigned)?,
        ColumnType::Decimal { unsigned: true, .. } => format!("{name} NOT LIKE '-%'"),
        ColumnType::Char(length) | ColumnType::Varchar(length) => format!("length({name}) <= {length}"),
        ColumnType::Binary(bytes) => format!("length({name}) = {bytes}"),
        ColumnType::Varbinary(bytes) => format!("length({name}) <= {bytes}"),
        ColumnType::Json => format!("json_valid({name})"),
        // Times are compared as texts: one of another form, such as one with a T, would never be found in its place.
        ColumnType::Date => format!("{name} GLOB '????-??-??'"),
        ColumnType::Time(_) => format!("{name} GLOB '??:??:??*'"),
        ColumnType::DateTime(_) | ColumnType::Timestamp(_) => format!("{name} GLOB '????-??-?? ??:??:??*'"),
        ColumnType::Enum(members) => {
            let members: Vec<String> = members.iter().map(|member| quoted(member, '\'')).collect();
            format!("{name} IN ({})", members.join(", "))
        }
        _ => return None,
    })
}

/// The kind of an integer, which a numbered column refuses by itself, and its range.
fn integer(column: &Column, name: &str, bytes: u8, unsigned: bool) -> Option<String> {
    let kinds = if column.nullable { "IN ('integer', 'null')" } else { "= 'integer'" };
    let kind = (!column.auto_increment).then(|| format!("typeof({name}) {kinds}"));
    let range = match (bytes, unsigned) {
        (8, false) => None,
        (8, true) => Some(format!("{name} >= 0")),
        _ => column.ty.range().map(|(least, most)| format!("{name} BETWEEN {least} AND {most}")),
    };
    let parts: Vec<String> = kind.into_iter().chain(range).collect();
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

/// The default. `CURRENT_TIMESTAMP` is UTC here and has no fraction; `strftime` knows three digits of it.
pub fn default(ty: &ColumnType, value: &DefaultValue) -> String {
    match (&value.value, ty) {
        (Literal::Bool(value), _) => if *value { "1" } else { "0" }.to_owned(),
        (Literal::Number(number), ColumnType::Decimal { .. }) => quoted(number, '\''),
        (Literal::Text(text), _) => quoted(text, '\''),
        (Literal::Now(_), ColumnType::DateTime(digits) | ColumnType::Timestamp(digits)) if *digits > 0 => {
            "(strftime('%Y-%m-%d %H:%M:%f', 'now'))".to_owned()
        }
        (Literal::Now(_), _) => "CURRENT_TIMESTAMP".to_owned(),
        (other, _) => crate::schema::default::sql_text(other),
    }
}

/// What a reader who knows the other engines would not expect.
pub fn difference(column: &Column, in_key: bool) -> Option<String> {
    let text = match &column.ty {
        ColumnType::Int { bytes: 8, unsigned: true } => "BIGINT UNSIGNED holds only the lower half of its range",
        ColumnType::Decimal { .. } => "DECIMAL is TEXT: exact, but compared and sorted as text",
        ty if ty.is_long() && in_key && column.key_length.is_some() => {
            "the key holds the whole text, not its first characters"
        }
        ColumnType::DateTime(digits) | ColumnType::Timestamp(digits) if *digits > 3 => {
            "times have three fractional digits"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
