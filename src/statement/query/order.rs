//! Messages of one key in the order of their rows: before one is published, the rows before it must be done with.

use crate::schema::in_order;
use crate::workload::{Path, Purpose};

use super::claim::{self, Bound};
use super::roles::{Roles, Value};
use super::sql::Sql;
use super::transition::{attempts_are_the_fence, held, keyed, state};
use super::{Context, Meaning, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    if !in_order(context.table) {
        return Vec::new();
    }
    first(context).into_iter().chain(postpone(context, roles)).collect()
}

/// One statement for all states, so that a row that passes from one to another meanwhile is seen in one of them.
fn first(context: &Context<'_>) -> Option<Query> {
    let paths = context.paths();
    let paths: Vec<&Path> = paths.iter().filter(|path| matches!(path.purpose, Purpose::Order(_))).collect();
    let one = paths.first()?;
    let key = context.columns(&context.table.primary_key);
    // What orders them, where that is not a part of the key.
    let apart: Vec<usize> =
        one.order.iter().filter(|column| !context.table.primary_key.contains(column)).copied().collect();
    let shown = if apart.is_empty() { key.clone() } else { format!("{key}, {}", context.columns(&apart)) };
    let mut sql = Sql::new(context);
    let about = "The first rows of a key that are not done with, in their order: rows that this worker holds may be published as far as they are these.";
    if paths.len() == 1 {
        sql.push(&format!("SELECT {key}"));
        claim::selection(&mut sql, context, "", one, Bound::Now);
        return Some(sql.query("find_first", about, context.index_for(one)));
    }
    sql.push(&format!("SELECT {key}\nFROM ("));
    for (at, path) in paths.iter().enumerate() {
        let union = if at == 0 { "" } else { "\n  UNION ALL" };
        sql.push(&format!("{union}\n  SELECT {shown} FROM (\n    SELECT {shown}"));
        claim::selection(&mut sql, context, "    ", path, Bound::Now);
        sql.push(&format!("\n  ) AS {}", context.dialect.ident(&format!("part_{}", at + 1))));
    }
    let order = context.columns(&one.order);
    sql.push(&format!("\n) AS {}\nORDER BY {order}\nLIMIT ", context.dialect.ident("unfinished")));
    sql.parameter(Meaning::Limit);
    Some(sql.query("find_first", about, context.index_for(one)))
}

/// A row that must wait for another of its key.
fn postpone(context: &Context<'_>, roles: &Roles<'_>) -> Option<Query> {
    let (held, time) = (held(roles)?, roles.time()?);
    let mut values = vec![state(context, roles, roles.waiting()), (time, Value::Later(Meaning::DelayMs))];
    values.extend(roles.released(context.table));
    let given_back = roles.count.filter(|_| !attempts_are_the_fence(roles));
    values.extend(given_back.map(|count| (count, Value::Text(format!("{} - 1", context.column(count))))));
    // Where attempts are the fence, they stay counted, and so that the row loses none, there is one more.
    let more = roles.max.filter(|_| attempts_are_the_fence(roles));
    values.extend(more.map(|max| (max, Value::Text(format!("{} + 1", context.column(max))))));
    values.extend(roles.changed());
    let about = "Puts a row back untried that must wait for another one of its key, until later. It loses no attempt.";
    Some(keyed(context, roles, "postpone", about, &values, &[held], true))
}
