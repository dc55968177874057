//! Transitions of an event bus: pending → published → consumed, and back where a message is to come once more.

use sea_query::{Alias, Expr, ExprTrait, Query as Builder};

use crate::workload::{Path, Purpose};

use super::claim::Bound;
use super::enqueue::table_ref;
use super::roles::{Roles, Value};
use super::sql::{built, parameter};
use super::transition::{Moving, about_end, attempts_are_the_fence, keyed, put_back, state, waiting, with_reason};
use super::{Context, Meaning, Query};

/// The transitions of an event bus: pending → published → consumed.
pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let status = &roles.claim.status;
    let (Some(published), Some(done)) = (&status.published, status.done.0.first()) else { return Vec::new() };
    let mut queries = Vec::new();
    let mut values = vec![state(context, roles, published)];
    values.extend(roles.published.map(|at| (at, Value::Now)));
    values.extend(roles.changed());
    let about = "Marks a row as handed to the broker. No row while it is done already: the consumer was faster.";
    queries.push(keyed(context, roles, "mark_published", about, &values, &waiting(roles), true));
    queries.push(look(context, roles));
    // The consumer knows of no attempt: its state is what protects these. Its relay may not have said yet that a row is
    // published: fenced off, it will not say so of a message that is gone.
    let mut open = waiting(roles);
    open.push(published);
    let end = about_end(roles, "dead_published");
    let about = format!(
        "Puts a row back whose handler failed, whether or not it is marked as published yet.\n{end}{}",
        about_fenced_off(roles)
    );
    let mut values = put_back(context, roles);
    values.extend(fenced_off(context, roles));
    queries.push(keyed(context, roles, "retry_published", &about, &values, &open, false));
    if let Some(dead) = &status.dead {
        let about = format!("Gives up a row that its handler can never handle{}.", with_reason(roles));
        let mut values = vec![state(context, roles, dead)];
        values.extend(roles.error.map(|error| (error, Value::Parameter(Meaning::Error))));
        values.extend(roles.given_up(context.table));
        values.extend(roles.changed());
        queries.push(keyed(context, roles, "dead_published", &about, &values, &open, false));
    }
    queries.push(consume(context, roles, done, published));
    if let Some(path) = context.paths().iter().find(|path| path.purpose == Purpose::Sweep) {
        queries.extend(sweep(context, roles, path));
    }
    queries
}

/// The state of one row.
fn look(context: &Context<'_>, roles: &Roles<'_>) -> Query {
    let table = context.table;
    let name = |at: usize| Alias::new(&*table.columns[at].name);
    let mut select = Builder::select();
    select.column(name(roles.status)).from(table_ref(table));
    for at in roles.scope.iter().chain(&roles.tail) {
        select.and_where(Expr::col(name(*at)).eq(parameter(Meaning::Column(*at))));
    }
    let about = "The state of a row: after `mark_published` found none, whether it is done already.";
    built(context, &select, "find_state", about)
}

/// One statement for all states that a message in flight may find its row in: between two, the row could pass from the one
/// that is asked for second to the one that was asked for first.
fn consume(context: &Context<'_>, roles: &Roles<'_>, done: &str, published: &str) -> Query {
    let mut values = vec![state(context, roles, done)];
    values.extend(roles.finished.map(|at| (at, Value::Now)));
    values.extend(roles.changed());
    let given_up = if roles.claim.status.dead.is_some() { ", or given up" } else { "" };
    let about = format!(
        "Finishes a row in the transaction of its handler, whether or not it is marked as published yet.\nNo row: it was handled before{given_up}."
    );
    let mut from = waiting(roles);
    from.push(published);
    keyed(context, roles, "consume", &about, &values, &from, false)
}

fn sweep(context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> Vec<Query> {
    let mut values = vec![state(context, roles, &roles.claim.status.pending)];
    values.extend(roles.pending(context.table));
    // A consumer that is away for long must not use up the attempts of what waits for it.
    values.extend(untried(context, roles));
    values.extend(roles.changed());
    let about =
        format!("Puts rows back whose message never arrived, the longest published first.{}", about_untried(roles));
    let moving =
        Moving { name: "sweep", about: &about, values: &values, bound: Bound::Age(Meaning::SweepMs), shown: &[] };
    moving.queries(context, roles, path)
}

/// A transition out of pending that is not a worker's own raises the count where that is the fence, so that the worker of
/// before, who knows the old one, is fenced off; and the most attempts with it, so that none is lost.
fn fenced_off(context: &Context<'_>, roles: &Roles<'_>) -> Vec<(usize, Value)> {
    let raised = |column: usize| (column, Value::Text(format!("{} + 1", context.column(column))));
    let count = roles.count.filter(|_| attempts_are_the_fence(roles));
    count.into_iter().flat_map(|count| roles.max.into_iter().chain([count])).map(raised).collect()
}

/// A row that its relay has published goes back without the attempt that this was. Where the attempts are the fence they go up
/// by one, and the most attempts by one more than that.
pub fn untried(context: &Context<'_>, roles: &Roles<'_>) -> Vec<(usize, Value)> {
    let by = |column: usize, by: &str| Value::Text(format!("{} {by}", context.column(column)));
    if attempts_are_the_fence(roles) {
        let most = roles.max.map(|max| (max, by(max, "+ 2")));
        return most.into_iter().chain(roles.count.map(|count| (count, by(count, "+ 1")))).collect();
    }
    // A message of a former life finds a row that was not tried yet.
    let given_back = |count: usize| {
        let column = context.column(count);
        let tried = format!("{column} > 0");
        (count, Value::Case(tried, Box::new(by(count, "- 1")), Box::new(Value::Text(column))))
    };
    roles.count.map(given_back).into_iter().collect()
}

/// What [`untried`] does, for the statement's comment.
pub fn about_untried(roles: &Roles<'_>) -> &'static str {
    match (attempts_are_the_fence(roles), roles.max.is_some()) {
        (true, true) => {
            " It loses no attempt.\nThe attempts are the fence: they go up by one, so that who published the row before cannot do so again."
        }
        (true, false) => {
            "\nThe attempts are the fence: this counts as one, so that who published the row before cannot do so again."
        }
        (false, _) => " It loses no attempt.",
    }
}

/// What [`fenced_off`] does, for the statement's comment.
fn about_fenced_off(roles: &Roles<'_>) -> &'static str {
    match (attempts_are_the_fence(roles) && roles.count.is_some(), roles.max.is_some()) {
        (true, true) => {
            "\nThe attempts are the fence: they and their limit go up by one, so that who published the row before cannot do so again."
        }
        (true, false) => {
            "\nThe attempts are the fence: this counts as one, so that who published the row before cannot do so again."
        }
        (false, _) => "",
    }
}
