//! Where MariaDB's types differ from MySQL's.

use crate::schema::{Column, ColumnType};

/// JSON is another name for LONGTEXT here.
pub fn difference(column: &Column) -> Option<String> {
    matches!(column.ty, ColumnType::Json)
        .then(|| "JSON is LONGTEXT with a check: the text is kept as it was written".to_owned())
}
