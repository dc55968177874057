//! Messages of one key in the order of their rows: before one is published, the rows before it must be done with.

use crate::schema::in_order;
use crate::workload::{Path, Purpose};

use super::bus::{about_untried, untried};
use super::claim::{self, Bound};
use super::roles::{Roles, Value};
use super::sql::{Condition, Sql};
use super::transition::{attempts_are_the_fence, held, keyed, state, waiting};
use super::{Context, Meaning, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    if !in_order(context.table) {
        return Vec::new();
    }
    let status = &roles.claim.status;
    let paths = context.paths();
    let is_open = |path: &&Path| matches!(path.purpose, Purpose::Order(_));
    let open: Vec<&Path> = paths.iter().filter(is_open).collect();
    // A published row has had its turn with the relay, but not with its handler.
    let has_had_its_turn =
        |path: &Path| matches!(&path.purpose, Purpose::Order(of) if status.published.as_ref() == Some(of));
    let waiting: Vec<&Path> = open.iter().filter(|path| !has_had_its_turn(path)).copied().collect();
    let about = "The first rows of a key that are not done with, in their order: rows that this worker holds may be published as far as they are these.";
    let mut queries: Vec<Query> = first(context, "find_first", about, &waiting).into_iter().collect();
    if waiting.len() < open.len() {
        let about = "The first rows of a key that are not consumed, in their order: the first of them may be handled.";
        queries.extend(first(context, "find_unconsumed", about, &open));
    }
    queries.extend(postpone(context, roles));
    if let Some(published) = status.published.as_ref().filter(|_| context.table.bus.is_some()) {
        queries.extend(postpone_published(context, roles, published));
        queries.extend(postpone_early(context, roles, published));
    }
    queries
}

/// One statement for all states, so that a row that passes from one to another meanwhile is seen in one of them.
fn first(context: &Context<'_>, name: &str, about: &str, paths: &[&Path]) -> Option<Query> {
    let one = *paths.first()?;
    let key = context.columns(&context.table.primary_key);
    // What orders them, where that is not a part of the key.
    let apart: Vec<usize> =
        one.order.iter().filter(|column| !context.table.primary_key.contains(column)).copied().collect();
    let shown = if apart.is_empty() { key.clone() } else { format!("{key}, {}", context.columns(&apart)) };
    let mut sql = Sql::new(context);
    if paths.len() == 1 {
        sql.push(&format!("SELECT {key}"));
        claim::selection(&mut sql, context, "", one, Bound::Now);
        return Some(sql.query(name, about, context.index_for(one)));
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
    Some(sql.query(name, about, context.index_for(one)))
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

/// A published row that should have come before another one of its key and has not.
fn postpone_published(context: &Context<'_>, roles: &Roles<'_>, published: &str) -> Option<Query> {
    let values = back_in_turn(context, roles)?;
    let since = if roles.published.is_some() { " that has been published for a while" } else { "" };
    let about = format!(
        "Puts a published row{since} back, for others of its key that have come before it.{}",
        about_untried(roles)
    );
    let mut conditions: Vec<Condition> =
        roles.scope.iter().chain(&roles.tail).map(|at| Condition::Equal(*at)).collect();
    let is_published = format!("{} = {}", context.column(roles.status), context.dialect.literal(published));
    conditions.push(Condition::Text(is_published));
    conditions.extend(roles.published.map(|at| Condition::Age(at, Meaning::SweepMs)));
    let mut sql = Sql::new(context);
    sql.push(&format!("UPDATE {}", context.table_name())).assignments("", &values).conditions("", &conditions);
    Some(sql.query("postpone_published", &about, None))
}

/// A row whose message came to its consumer before that of an earlier one of its key. Its relay need not have said yet that it
/// is published: fenced off, it will not say so of a message that is gone.
fn postpone_early(context: &Context<'_>, roles: &Roles<'_>, published: &str) -> Option<Query> {
    let values = back_in_turn(context, roles)?;
    let about = format!(
        "Puts a row back whose message came too early, until later, whether or not it is marked as published yet.{}",
        about_untried(roles)
    );
    let mut from = waiting(roles);
    from.push(published);
    Some(keyed(context, roles, "postpone_early", &about, &values, &from, false))
}

/// What becomes of a row that its relay has published and that is to be published once more.
fn back_in_turn(context: &Context<'_>, roles: &Roles<'_>) -> Option<Vec<(usize, Value)>> {
    let mut values = vec![state(context, roles, roles.waiting()), (roles.time()?, Value::Later(Meaning::DelayMs))];
    values.extend(roles.released(context.table));
    values.extend(untried(context, roles));
    values.extend(roles.changed());
    Some(values)
}
