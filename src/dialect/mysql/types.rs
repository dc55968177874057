//! Types and defaults of MySQL, as the definition format writes them.

use crate::schema::{Column, ColumnType, DefaultValue, Literal};

use super::literal;

/// The type, with the collation `binary` where strings compare byte by byte.
pub fn column_type(column: &Column, binary: &str) -> String {
    let ty = match &column.ty {
        ColumnType::Enum(members) => {
            let members: Vec<String> = members.iter().map(|member| literal(member)).collect();
            format!("ENUM({})", members.join(", "))
        }
        ty => ty.to_string(),
    };
    match column.ty {
        // Without explicit_defaults_for_timestamp a TIMESTAMP that does not say NULL is NOT NULL.
        ColumnType::Timestamp(_) if column.nullable => format!("{ty} NULL"),
        _ if column.binary => format!("{ty} COLLATE {binary}"),
        _ => ty,
    }
}

/// What a reader who knows the other engines would not expect.
pub fn difference(column: &Column) -> Option<String> {
    let default = column.default.as_ref().map(|default| &default.value);
    match (&column.ty, default) {
        (ColumnType::DateTime(_), Some(Literal::Now(_))) => Some(
            "a DATETIME's CURRENT_TIMESTAMP is in the session's time zone: UTC only with time_zone = '+00:00'"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The default; in parentheses where the column takes only an expression.
pub fn default(ty: &ColumnType, value: &DefaultValue) -> String {
    let text = match &value.value {
        Literal::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Literal::Text(text) => literal(text),
        // MySQL takes no function but CURRENT_TIMESTAMP without parentheses.
        Literal::Today => "(CURRENT_DATE)".to_owned(),
        other => crate::schema::default::sql_text(other),
    };
    match ty.is_long() && value.value != Literal::Null {
        true => format!("({text})"),
        false => text,
    }
}
