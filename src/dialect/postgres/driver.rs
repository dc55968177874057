//! sqlx's driver of PostgreSQL.

use crate::schema::{Column, ColumnType};

use super::super::driver::TWO_TIMES;
use super::super::{Driver, Wire};

/// The driver. It tells a time with a zone from one without.
///
/// 40001 is a serialization failure, 40P01 a deadlock.
pub static DRIVER: Driver = Driver {
    feature: "postgres",
    database: "sqlx::Postgres",
    row: "sqlx::postgres::PgRow",
    times: &TWO_TIMES,
    error: "::sqlx::postgres::PgDatabaseError",
    is_retryable: "matches!(error.code(), \"40001\" | \"40P01\")",
    violated: "error.constraint()",
};

/// Integers are of 16, 32 or 64 bits and have a sign; CHAR is filled up with blanks.
pub fn wire(column: &Column) -> Wire {
    match column.ty {
        ColumnType::Int { bytes: 1, .. } => Wire::Integer(16),
        ColumnType::Int { bytes: 2, unsigned: true } | ColumnType::Int { bytes: 3, unsigned: true } => {
            Wire::Integer(32)
        }
        ColumnType::Int { bytes: 4, unsigned: true } => Wire::Integer(64),
        ColumnType::Int { bytes: 8, unsigned: true } if column.numbered => Wire::Integer(64),
        ColumnType::Int { bytes: 8, unsigned: true } => Wire::Numeric,
        ColumnType::Char(_) => Wire::Padded,
        _ => Wire::Same,
    }
}
