//! Types and defaults of MySQL, as the definition format writes them.

use crate::schema::{Column, ColumnType, DefaultValue, Literal};

use super::literal;

/// The type with its collation.
pub fn column_type(column: &Column) -> String {
    let ty = match &column.ty {
        ColumnType::Enum(members) => {
            let members: Vec<String> = members.iter().map(|member| literal(member)).collect();
            format!("ENUM({})", members.join(", "))
        }
        ty => ty.to_string(),
    };
    if column.binary { format!("{ty} COLLATE utf8mb4_bin") } else { ty }
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
