//! Comments: clauses, statements, or lines of text, as the engine keeps them.

use crate::dialect::Dialect;
use crate::engine::Comments;

use super::{Context, Kind, Statement};

/// ` COMMENT '…'`, or `COMMENT='…'` on tables, cut to `most` characters; empty where there is no text.
pub fn inline(dialect: &dyn Dialect, text: Option<&str>, most: usize, separator: &str) -> String {
    match text.filter(|text| !text.is_empty()) {
        Some(text) => format!(" COMMENT{separator}{}", dialect.literal(&cut(text, most))),
        None => String::new(),
    }
}

/// `text` within `most` characters; the last one says that something is missing.
fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The text as lines for `--`: everything that a database or an editor could take for the end of a line ends one here.
pub fn lines(text: Option<&str>) -> Vec<String> {
    let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let lines = text.into_iter().flat_map(|text| text.split(breaks)).map(|line| line.trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// `COMMENT ON`, where comments are statements.
pub fn create_all(context: &Context<'_>) -> Vec<Statement> {
    if context.dialect.engine().comments != Comments::Statement {
        return Vec::new();
    }
    let dialect = context.dialect;
    let table = context.table_name();
    let mut statements = Vec::new();
    let mut add = |object: &str, name: String, text: Option<&str>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let sql = format!("COMMENT ON {object} {name} IS {}", dialect.literal(text));
            statements.push(Statement { kind: Kind::Comment, name, sql });
        }
    };
    add("TABLE", table.clone(), context.table.description.as_deref());
    for column in &context.table.columns {
        add("COLUMN", format!("{table}.{}", dialect.ident(&column.name)), column.comment().as_deref());
    }
    for (index, name) in context.table.indexes.iter().zip(&context.names.indexes) {
        let name = match &context.table.name.database {
            Some(database) => format!("{}.{}", dialect.ident(database), dialect.ident(name)),
            None => dialect.ident(name),
        };
        add("INDEX", name, index.description.as_deref());
    }
    statements
}
