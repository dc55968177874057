//! A value is written into a column that the database computes.

use super::super::claim::is_common_table;
use super::super::rule::{Context, Found, Judge, check};
use super::super::tables::Known;
use crate::diagnostic::Span;
use crate::sql::ast::{Block, Role, Verb};
use crate::sql::{ExprKind, Statement};

check! {
    Error High "insert-into-generated-column" "a value is written into a column that the database computes"
    does "Reports INSERTs into a queue that name a generated column, or that copy all columns by position into a table that has one, and UPDATEs that set one. Only DDL says which columns are generated."
    why "The statement fails when it runs: a copy of all columns by error 1136 on MySQL, since the numbers of columns differ."
    bad "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY, payload JSON, kind VARCHAR(20) GENERATED ALWAYS AS (payload->>'$.kind') STORED);\nINSERT INTO mail_outbox (id, payload, kind) VALUES (?, ?, ?);"
    good "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY, payload JSON, kind VARCHAR(20) GENERATED ALWAYS AS (payload->>'$.kind') STORED);\nINSERT INTO mail_outbox (id, payload) VALUES (?, ?);"
    allow "The value is DEFAULT in a way that the linter did not see."
    judge Judge::Statement(judge)
}

fn judge(statement: &Statement, context: &Context<'_>, found: &mut Vec<Found>) {
    for (at, block) in statement.blocks.iter().enumerate() {
        let name = block.tables.first().and_then(|table| table.name.as_ref()).filter(|name| !name.partial);
        let Some(name) = name.filter(|name| !is_common_table(statement, at, &name.name)) else { continue };
        let known = context.tables.get(&name.name).filter(|known| known.queue && !known.traits.computed.is_empty());
        let Some((column, span)) = known.and_then(|known| written(statement, at, block, known, context)) else {
            continue;
        };
        let message = format!("`{}` of `{}` is computed by the database", column, name.name);
        found.push(Found::new(&CHECK, span, message).help("leave the column out"));
    }
}

/// A computed column that the block writes, with the place where it does.
fn written(
    statement: &Statement,
    at: usize,
    block: &Block,
    known: &Known,
    context: &Context<'_>,
) -> Option<(String, Span)> {
    let computed = |column: &str| known.traits.computed.contains(&column.to_lowercase());
    let set = block.set.iter().find(|set| computed(&set.column));
    match block.verb {
        Verb::Insert if block.set.is_empty() && !block.gaps.from => {
            let is_source = |query: &&Block| query.parent == Some(at) && query.role == Role::Source;
            let query = statement.blocks.iter().find(is_source)?;
            let star = query.items.iter().find(|item| matches!(item.kind, ExprKind::Star))?;
            Some((known.traits.computed.first()?.clone(), star.span))
        }
        // `VALUES (…, DEFAULT)` is right.
        Verb::Insert if context.of(block.span).to_ascii_lowercase().contains("default") => None,
        Verb::Insert => set.map(|set| (set.column.clone(), set.span)),
        Verb::Update => {
            let default = |set: &&crate::sql::ast::Assignment| {
                set.value.as_ref().is_some_and(|value| !matches!(value.kind, ExprKind::Constant(_)))
            };
            set.filter(default).map(|set| (set.column.clone(), set.span))
        }
        Verb::Select | Verb::Delete => None,
    }
}
