//! `CREATE INDEX`.

use crate::dialect::{Dialect, InlineUnique};
use crate::engine::Comments;
use crate::schema::{Index, Table, names};

use super::{Context, Kind, Statement, comment, table};

/// Whether the index stands in `CREATE TABLE`.
pub fn is_inline(context: &Context<'_>, index: &Index) -> bool {
    let layout = context.dialect.layout();
    match index.unique {
        true => layout.inline_uniques != InlineUnique::Statement,
        false => layout.inline_indexes,
    }
}

/// The indexes that are statements of their own.
pub fn create_all(context: &Context<'_>) -> Vec<Statement> {
    let indexes = context.table.indexes.iter().zip(&context.names.indexes);
    indexes.filter(|(index, _)| !is_inline(context, index)).map(|(index, name)| create(context, index, name)).collect()
}

fn create(context: &Context<'_>, index: &Index, name: &str) -> Statement {
    let dialect = context.dialect;
    let unique = if index.unique { "UNIQUE " } else { "" };
    let (index_name, table_name) = match (&context.table.name.database, dialect.layout().database_on_index) {
        (Some(database), true) => {
            (format!("{}.{}", dialect.ident(database), dialect.ident(name)), dialect.ident(&context.table.name.name))
        }
        _ => (dialect.ident(name), context.table_name()),
    };
    let parts = table::key_parts(context, &index.columns);
    let above = match dialect.engine().comments {
        Comments::Text => comment::lines(index.description.as_deref()),
        _ => Vec::new(),
    };
    let filter = filter(dialect, context.table, index);
    let sql = match above.is_empty() {
        true => format!("CREATE {unique}INDEX IF NOT EXISTS {index_name} ON {table_name} ({parts}){filter}"),
        false => {
            let above: String = above.iter().map(|line| format!("  -- {line}\n")).collect();
            format!("CREATE {unique}INDEX IF NOT EXISTS {index_name} ON {table_name} (\n{above}  {parts}\n){filter}")
        }
    };
    Statement { kind: Kind::Index, name: name.to_owned(), sql }
}

/// Adds an index to a table that is there, under the name that it would have in a definition.
pub fn add(dialect: &dyn Dialect, table: &Table, index: &Index) -> String {
    let name = dialect.ident(&names::shorten(&names::derived(table, index), dialect.engine().identifier));
    let columns: Vec<String> = index.columns.iter().map(|at| dialect.key_part(&table.columns[*at])).collect();
    let filter = filter(dialect, table, index);
    format!("CREATE INDEX {name} ON {} ({}){filter}", super::quoted(dialect, &table.name), columns.join(", "))
}

fn filter(dialect: &dyn Dialect, table: &Table, index: &Index) -> String {
    index.predicate.as_ref().map_or_else(String::new, |predicate| {
        let column = dialect.ident(&table.columns[predicate.column].name);
        format!(" WHERE {column} = {}", dialect.literal(&predicate.value))
    })
}
