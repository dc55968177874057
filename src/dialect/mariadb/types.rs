//! Where MariaDB's types differ from MySQL's.

use crate::schema::{Column, ColumnType};

use super::super::mysql;

/// What a reader who knows the other engines would not expect. JSON is another name for LONGTEXT here.
pub fn difference(column: &Column) -> Option<String> {
    match column.ty {
        ColumnType::Json => Some("JSON is LONGTEXT with a check: the text is kept as it was written".to_owned()),
        _ => mysql::difference(column),
    }
}
