//! The Rust type of a column, the same for every database, and how each driver of sqlx holds its values.

use crate::dialect::Wire;
use crate::generate::model::{self, Form};
use crate::schema::{Column, ColumnType, Table};

use super::needs::Need;

/// The Rust type of a column's values, without `Option`.
pub fn rust_type(table: &Table, column: &Column, choice: Option<&str>) -> String {
    if let Some(choice) = choice {
        return choice.to_owned();
    }
    match &column.ty {
        ColumnType::Int { unsigned: false, .. } if table.holds_epoch_ms(column) => "types::EpochMs".to_owned(),
        ColumnType::DateTime(digits) => format!("types::DateTime<{digits}>"),
        ColumnType::Timestamp(digits) => format!("types::Timestamp<{digits}>"),
        _ => driver_type(column),
    }
}

/// The type as which the driver reads a column that it holds as it is.
pub fn driver_type(column: &Column) -> String {
    match &column.ty {
        ColumnType::Bool => "bool".to_owned(),
        // No integer of Rust has three bytes.
        ColumnType::Int { bytes, unsigned } => {
            let bits = if *bytes == 3 { 32 } else { u32::from(*bytes) * 8 };
            format!("{}{bits}", if *unsigned { "u" } else { "i" })
        }
        ColumnType::Decimal { .. } => "bigdecimal::BigDecimal".to_owned(),
        ColumnType::Float => "f32".to_owned(),
        ColumnType::Double => "f64".to_owned(),
        ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_) | ColumnType::Enum(_) => "String".to_owned(),
        ColumnType::Binary(_) | ColumnType::Varbinary(_) | ColumnType::Blob(_) => "Vec<u8>".to_owned(),
        ColumnType::Date => "chrono::NaiveDate".to_owned(),
        ColumnType::Time(_) => "chrono::NaiveTime".to_owned(),
        ColumnType::DateTime(_) => "chrono::NaiveDateTime".to_owned(),
        ColumnType::Timestamp(_) => "chrono::DateTime<chrono::Utc>".to_owned(),
        ColumnType::Json => "serde_json::Value".to_owned(),
    }
}

/// Whether `types::as_text` writes the column's values to JSON and reads them, because serde by itself would do it in
/// another way; and what that needs.
pub fn text_in_json(table: &Table, column: &Column) -> Option<Need> {
    match model::form(table, column) {
        Form::BigInt => Some(Need::BigIntText),
        Form::Date => Some(Need::DateText),
        Form::Time => Some(Need::TimeText),
        Form::Decimal => Some(Need::DecimalText),
        Form::Hex => Some(Need::BytesText),
        Form::Boolean | Form::Number | Form::Text | Form::Utc | Form::Json => None,
    }
}

/// What of `types` and of other crates the column's type needs.
pub fn needs(table: &Table, column: &Column) -> Vec<Need> {
    let mut needs = match &column.ty {
        ColumnType::Decimal { .. } => vec![Need::BigDecimal],
        ColumnType::Date | ColumnType::Time(_) => vec![Need::Chrono],
        ColumnType::DateTime(_) | ColumnType::Timestamp(_) => vec![Need::Chrono, Need::Utc],
        ColumnType::Json => vec![Need::Json],
        ColumnType::Int { unsigned: false, .. } if table.holds_epoch_ms(column) => vec![Need::EpochMs],
        _ => Vec::new(),
    };
    needs.extend(text_in_json(table, column));
    needs
}

/// Whether the column holds decimal numbers.
pub fn is_decimal(column: &Column) -> bool {
    matches!(column.ty, ColumnType::Decimal { .. })
}

/// Whether the type's values are copied rather than borrowed.
pub fn is_copy(ty: &ColumnType) -> bool {
    !matches!(
        ty,
        ColumnType::Char(_)
            | ColumnType::Varchar(_)
            | ColumnType::Text(_)
            | ColumnType::Binary(_)
            | ColumnType::Varbinary(_)
            | ColumnType::Blob(_)
            | ColumnType::Decimal { .. }
            | ColumnType::Json
    )
}

/// What reads the column out of a row: the function, and what it takes behind the column's name.
pub fn read(column: &Column, wire: Wire) -> (String, Option<u8>) {
    let opt = if column.nullable { "opt" } else { "from" };
    match (&column.ty, wire) {
        (ColumnType::Decimal { scale, .. }, _) => (format!("{opt}_decimal"), Some(*scale)),
        // Only decimal numbers are text.
        (_, Wire::Same | Wire::Text) => ("get".to_owned(), None),
        (_, Wire::Integer(bits)) => (format!("{opt}_i{bits}"), None),
        (_, Wire::Numeric) => (format!("{opt}_numeric"), None),
        (_, Wire::Padded) => (format!("{opt}_padded"), None),
    }
}

/// The column's value of `of` as the driver takes it, and the function that makes it so.
pub fn bind(of: &str, column: &Column, field: &str, wire: Wire, is_choice: bool) -> (String, Option<String>) {
    bind_value(&format!("{of}.{field}"), column, wire, is_choice)
}

/// The same of an expression.
pub fn bind_value(value: &str, column: &Column, wire: Wire, is_choice: bool) -> (String, Option<String>) {
    let opt = if column.nullable { "opt_to" } else { "to" };
    match wire {
        Wire::Same if is_choice || is_copy(&column.ty) => (value.to_owned(), None),
        Wire::Same | Wire::Padded => (format!("&{value}"), None),
        Wire::Integer(bits) => (format!("{opt}_i{bits}({value})?"), Some(format!("{opt}_i{bits}"))),
        Wire::Numeric => (format!("{opt}_numeric({value})"), Some(format!("{opt}_numeric"))),
        Wire::Text => (format!("{opt}_text(&{value})"), Some(format!("{opt}_text"))),
    }
}

/// The same of `self`, which borrows its values.
pub fn bind_borrowed(column: &Column, field: &str, wire: Wire, is_choice: bool) -> (String, Option<String>) {
    match wire {
        Wire::Text if column.nullable => (format!("self.{field}.map(to_text)"), Some("to_text".to_owned())),
        Wire::Text => (format!("to_text(self.{field})"), Some("to_text".to_owned())),
        Wire::Same | Wire::Padded => (format!("self.{field}"), None),
        Wire::Integer(_) | Wire::Numeric => bind("self", column, field, wire, is_choice),
    }
}
