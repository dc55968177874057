//! `CREATE TABLE`.

use crate::dialect::InlineUnique;
use crate::engine::Comments;
use crate::schema::{Column, ForeignKey, Index, names};

use super::{Context, Kind, Statement, comment, index, quoted};

/// The table with its columns, keys and, where they stand inside, indexes and foreign keys.
pub fn create(context: &Context<'_>) -> Statement {
    let mut parts: Vec<Part> = (0..context.table.columns.len()).map(|at| column(context, at)).collect();
    parts.extend(primary_key(context).map(Part::plain));
    for (at, index) in context.table.indexes.iter().enumerate() {
        parts.extend(inline_index(context, at, index));
    }
    for (at, key) in context.table.foreign_keys.iter().enumerate() {
        if !context.deferred.contains(&at) || context.dialect.add_constraint("", "").is_none() {
            parts.push(Part::plain(foreign_key(context, at, key)));
        }
    }
    let lines: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| {
            let comma = if at + 1 < parts.len() { "," } else { "" };
            let above: String = part.above.iter().map(|line| format!("  -- {line}\n")).collect();
            format!("{above}  {}{comma}\n", part.sql)
        })
        .collect();
    let name = context.table_name();
    let above = match context.dialect.engine().comments {
        Comments::Text => comment::lines(context.table.description.as_deref()),
        _ => Vec::new(),
    };
    // An empty line keeps the table's comment apart from that of its first column.
    let mut above: String = above.iter().map(|line| format!("  -- {line}\n")).collect();
    if !above.is_empty() {
        above.push('\n');
    }
    let options = context.dialect.layout().table_options;
    let comment = match context.dialect.engine().comments {
        Comments::Inline { table, .. } => {
            comment::inline(context.dialect, context.table.description.as_deref(), table, "=")
        }
        _ => String::new(),
    };
    let sql = format!("CREATE TABLE IF NOT EXISTS {name} (\n{above}{}){options}{comment}", lines.concat());
    Statement { kind: Kind::Table, name: context.table.name.to_string(), sql }
}

/// One entry of `CREATE TABLE`, with the comment lines above it.
struct Part {
    above: Vec<String>,
    sql: String,
}

impl Part {
    fn plain(sql: String) -> Part {
        Part { above: Vec::new(), sql }
    }
}

fn column(context: &Context<'_>, at: usize) -> Part {
    let column = &context.table.columns[at];
    let dialect = context.dialect;
    let mut sql = format!("{} {}", dialect.ident(&column.name), dialect.column_type(column));
    // A key column that numbers itself is NOT NULL without saying so, and must be written in exactly this way.
    let numbered_key = column.auto_increment && dialect.layout().numbered_is_primary_key;
    if !column.nullable && !numbered_key {
        sql.push_str(" NOT NULL");
    }
    if column.auto_increment {
        sql.push_str(&format!(" {}", dialect.auto_increment(context.names.sequence.as_deref())));
    } else if let Some(default) = &column.default {
        sql.push_str(&format!(" DEFAULT {}", dialect.default(&column.ty, default)));
    }
    if let Some(check) = dialect.check(column) {
        sql.push_str(&format!(
            " CONSTRAINT {} CHECK ({check})",
            dialect.ident(&names::check(context.table, context.names, at, dialect.engine()))
        ));
    }
    let comment = column.comment();
    let above = match dialect.engine().comments {
        Comments::Inline { column, .. } => {
            sql.push_str(&comment::inline(dialect, comment.as_deref(), column, " "));
            Vec::new()
        }
        Comments::Statement => Vec::new(),
        Comments::Text => comment::lines(comment.as_deref()),
    };
    Part { above, sql }
}

fn primary_key(context: &Context<'_>) -> Option<String> {
    let columns: Vec<&Column> = context.table.primary_key.iter().map(|at| &context.table.columns[*at]).collect();
    let numbered = columns.iter().any(|column| column.auto_increment);
    let layout = context.dialect.layout();
    if columns.is_empty() || numbered && layout.numbered_is_primary_key {
        return None;
    }
    let parts = key_parts(context, &context.table.primary_key);
    Some(match layout.inline_uniques {
        // The primary key has no other name than PRIMARY there.
        InlineUnique::Key => format!("PRIMARY KEY ({parts})"),
        _ => format!("CONSTRAINT {} PRIMARY KEY ({parts})", context.dialect.ident(&context.names.primary_key)),
    })
}

/// The columns of a key, quoted.
pub fn key_parts(context: &Context<'_>, columns: &[usize]) -> String {
    let parts: Vec<String> = columns.iter().map(|at| context.dialect.key_part(&context.table.columns[*at])).collect();
    parts.join(", ")
}

fn inline_index(context: &Context<'_>, at: usize, index: &Index) -> Option<Part> {
    if !index::is_inline(context, index) {
        return None;
    }
    let name = context.dialect.ident(&context.names.indexes[at]);
    let parts = key_parts(context, &index.columns);
    let comment = match context.dialect.engine().comments {
        Comments::Inline { column, .. } => comment::inline(context.dialect, index.description.as_deref(), column, " "),
        _ => String::new(),
    };
    Some(Part::plain(match (index.unique, context.dialect.layout().inline_uniques) {
        (false, _) => format!("KEY {name} ({parts}){comment}"),
        (true, InlineUnique::Key) => format!("UNIQUE KEY {name} ({parts}){comment}"),
        (true, _) => format!("CONSTRAINT {name} UNIQUE ({parts}){comment}"),
    }))
}

fn foreign_key(context: &Context<'_>, at: usize, key: &ForeignKey) -> String {
    let dialect = context.dialect;
    let idents =
        |names: &mut dyn Iterator<Item = &str>| names.map(|name| dialect.ident(name)).collect::<Vec<_>>().join(", ");
    let mut sql = format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
        dialect.ident(&context.names.foreign_keys[at]),
        idents(&mut context.table.names(&key.columns)),
        match dialect.layout().database_in_references {
            true => quoted(dialect, &key.target),
            false => dialect.ident(&key.target.name),
        },
        idents(&mut key.target_columns.iter().map(String::as_str)),
    );
    for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if let Some(action) = action {
            sql.push_str(&format!(" ON {event} {}", action.sql()));
        }
    }
    sql
}

/// Foreign keys that reference a table created later, where the database cannot be told in advance.
pub fn deferred_foreign_keys(context: &Context<'_>) -> Vec<Statement> {
    let table = context.table_name();
    let add = |at: &usize| {
        let key = foreign_key(context, *at, &context.table.foreign_keys[*at]);
        let name = context.names.foreign_keys[*at].clone();
        Some(Statement { kind: Kind::ForeignKey, name, sql: context.dialect.add_constraint(&table, &key)? })
    };
    context.deferred.iter().filter_map(add).collect()
}
