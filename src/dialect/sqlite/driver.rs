//! sqlx's driver of SQLite.

use crate::schema::{Column, ColumnType};

use super::super::{Driver, HeldTime, Wire};

/// The driver. A time is text, which must have the form that the database's own clock writes: the driver's own differs, and
/// texts of two forms do not compare.
pub static DRIVER: Driver = Driver {
    feature: "sqlite",
    database: "sqlx::Sqlite",
    row: "sqlx::sqlite::SqliteRow",
    times: &[HeldTime { zoned: None, ty: "chrono::NaiveDateTime", encode: "self.to_sql_text()", decode: "value" }],
    error: "::sqlx::sqlite::SqliteError",
    // SQLITE_BUSY is 5, and what it is about stands in the bits above.
    is_retryable: "::sqlx::error::DatabaseError::code(error)
            .and_then(|code| code.parse::<i32>().ok())
            .is_some_and(|code| code & 0xff == 5)",
    // The name of a CHECK; of a key only its columns.
    violated: "::sqlx::error::DatabaseError::message(error)
            .split(\" failed: \")
            .nth(1)",
};

/// Integers are of 64 bits and have a sign; decimal numbers are text.
pub fn wire(column: &Column) -> Wire {
    match column.ty {
        ColumnType::Int { bytes: 8, unsigned: true } => Wire::Integer(64),
        ColumnType::Decimal { .. } => Wire::Text,
        _ => Wire::Same,
    }
}
