//! Pieces of MySQL's DDL.

use crate::schema::Column;

use super::super::{Frame, quoted};

/// A string literal. Backslashes are doubled, which is right in every SQL mode but NO_BACKSLASH_ESCAPES; [`frame`]
/// switches that mode off where a text holds one.
pub fn literal(text: &str) -> String {
    quoted(&text.replace('\\', "\\\\"), '\'')
}

/// The column in a key, long ones by their prefix.
pub fn key_part(column: &Column) -> String {
    let name = quoted(&column.name, '`');
    match column.key_length.filter(|_| column.ty.is_long()) {
        Some(length) => format!("{name}({length})"),
        None => name,
    }
}

/// Switches what stands in the way off before the tables, and back as it was after them.
pub fn frame(texts: bool, circular: bool) -> Frame {
    let mut frame = Frame::default();
    if texts {
        frame.before.push("SET @claimsmith_sql_mode = @@SESSION.sql_mode".to_owned());
        frame.before.push("SET SESSION sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')".to_owned());
        frame.after.push("SET SESSION sql_mode = @claimsmith_sql_mode".to_owned());
    }
    if circular {
        frame.before.push("SET @claimsmith_foreign_key_checks = @@SESSION.foreign_key_checks".to_owned());
        frame.before.push("SET SESSION foreign_key_checks = 0".to_owned());
        frame.after.push("SET SESSION foreign_key_checks = @claimsmith_foreign_key_checks".to_owned());
    }
    frame
}
