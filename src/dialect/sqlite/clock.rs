//! The clock of SQLite: `'now'` is UTC and the same throughout one statement.

use crate::schema::ColumnType;

/// Epoch milliseconds by the Julian day, since `unixepoch` knows `subsec` only from 3.42 on.
pub fn now(ty: &ColumnType) -> String {
    match form(ty) {
        Some(form) => format!("strftime('{form}', 'now')"),
        None => "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)".to_owned(),
    }
}

/// Now plus `millis`.
pub fn later(ty: &ColumnType, millis: &str) -> String {
    match form(ty) {
        Some(form) => format!("strftime('{form}', 'now', ({millis} / 1000.0) || ' seconds')"),
        None => format!("{} + {millis}", now(ty)),
    }
}

/// How a time is written; times are compared as texts.
fn form(ty: &ColumnType) -> Option<&'static str> {
    match ty {
        ColumnType::DateTime(0) | ColumnType::Timestamp(0) => Some("%Y-%m-%d %H:%M:%S"),
        ColumnType::DateTime(_) | ColumnType::Timestamp(_) => Some("%Y-%m-%d %H:%M:%f"),
        _ => None,
    }
}

/// Now less `millis`.
pub fn earlier(ty: &ColumnType, millis: &str) -> String {
    match form(ty) {
        Some(form) => format!("strftime('{form}', 'now', (-{millis} / 1000.0) || ' seconds')"),
        None => format!("{} - {millis}", now(ty)),
    }
}

/// What [`now`] begins with, and a given time in its place.
pub fn moment(ty: &ColumnType) -> (String, String) {
    match form(ty) {
        Some(form) => (format!("strftime('{form}', 'now'"), format!("strftime('{form}', {{}} / 1000.0, 'unixepoch'")),
        None => ("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)".to_owned(), "{}".to_owned()),
    }
}
