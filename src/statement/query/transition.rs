//! Transitions of one row, by its key and under its fence, and of dead rows.

use sea_query::{Alias, Expr, ExprTrait, Query as Builder};

use crate::dialect::Take;
use crate::workload::{Path, Purpose};

use super::claim::{self, Bound, KEYS};
use super::enqueue::table_ref;
use super::roles::{Roles, Value};
use super::sql::{Sql, built, expression};
use super::{Context, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let mut queries = Vec::new();
    let status = &roles.claim.status;
    let held = held(roles);
    if let Some(held) = &held {
        let done = status.done.0.first();
        if status.published.is_none() {
            queries.extend(done.map(|done| finish(context, roles, "complete", "Finishes a row.", done, held, false)));
        }
        queries.push(retry(context, roles, held));
        queries.extend(
            status
                .dead
                .as_ref()
                .map(|dead| finish(context, roles, "dead", "Gives a row up, with the reason.", dead, held, true)),
        );
        queries.extend(extend(context, roles, held));
        queries.push(release(context, roles, held));
    }
    queries.extend(bus(context, roles));
    queries.extend(reap(context, roles));
    queries.extend(list_dead(context));
    queries.extend(replay(context, roles));
    queries
}

/// The state of a row that a worker works on.
fn held(roles: &Roles<'_>) -> Option<String> {
    let status = &roles.claim.status;
    status.running.clone().or_else(|| roles.by_visibility().then(|| status.pending.clone()))
}

/// The column that tells the worker's own claim from a later one, and the parameter that it is compared with.
fn fence(roles: &Roles<'_>) -> Option<(usize, &'static str)> {
    let seq = roles.seq.map(|seq| (seq, "claim_seq"));
    let by = roles.by.map(|by| (by, "token"));
    seq.or(by).or_else(|| attempts_are_the_fence(roles).then_some((roles.count?, "attempt")))
}

/// Where nothing else tells claims apart, the count of attempts does, and must never go back.
fn attempts_are_the_fence(roles: &Roles<'_>) -> bool {
    roles.by_visibility() && roles.seq.is_none() && roles.by.is_none()
}

/// An UPDATE of one row: its key, its scope, its state, its fence.
fn keyed(
    context: &Context<'_>,
    roles: &Roles<'_>,
    name: &str,
    about: &str,
    values: &[(usize, Value)],
    from: &str,
    fenced: bool,
) -> Query {
    let table = context.table;
    let column = |at: usize| Expr::col(Alias::new(&*table.columns[at].name));
    let mut update = Builder::update();
    update.table(table_ref(table));
    for (at, value) in values {
        update.value(Alias::new(&*table.columns[*at].name), expression(context, *at, value));
    }
    for at in roles.scope.iter().chain(&roles.tail) {
        update.and_where(column(*at).eq(table.columns[*at].name.clone()));
    }
    update.and_where(column(roles.status).eq(Expr::cust(context.dialect.literal(from))));
    let mut about = about.to_owned();
    if let Some((at, parameter)) = fence(roles).filter(|_| fenced) {
        update.and_where(column(at).eq(parameter));
        about.push_str("\nNo row: the lease is lost, and another worker may hold the row.");
    }
    built(context.dialect, &update, name, &about)
}

fn state(context: &Context<'_>, roles: &Roles<'_>, state: &str) -> (usize, Value) {
    (roles.status, Value::Text(context.dialect.literal(state)))
}

fn finish(
    context: &Context<'_>,
    roles: &Roles<'_>,
    name: &str,
    about: &str,
    to: &str,
    from: &str,
    failed: bool,
) -> Query {
    let mut values = vec![state(context, roles, to)];
    values.extend(roles.error.filter(|_| failed).map(|error| (error, Value::Parameter("error"))));
    values.extend(roles.released(context.table));
    values.extend(roles.finished.map(|finished| (finished, Value::Now)));
    values.extend(roles.changed());
    keyed(context, roles, name, about, &values, from, true)
}

fn retry(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Query {
    let about = "Puts a row back after a failure. The attempt was counted by the claim; at the limit it is `dead`.";
    put_back(context, roles, "retry", about, held, true)
}

/// Lets a row wait for its next attempt.
fn put_back(context: &Context<'_>, roles: &Roles<'_>, name: &str, about: &str, from: &str, fenced: bool) -> Query {
    let mut values = vec![state(context, roles, roles.waiting())];
    values.extend(roles.time().map(|time| (time, Value::Later("delay_ms"))));
    values.extend(roles.error.map(|error| (error, Value::Parameter("error"))));
    values.extend(roles.released(context.table));
    values.extend(roles.changed());
    keyed(context, roles, name, about, &values, from, fenced)
}

fn extend(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Option<Query> {
    let (column, parameter) = match roles.until {
        Some(until) => (until, "lease_ms"),
        None => (roles.time().filter(|_| roles.by_visibility())?, "visibility_ms"),
    };
    let mut values = vec![(column, Value::Later(parameter))];
    values.extend(roles.changed());
    Some(keyed(context, roles, "extend", "Holds a row for longer, from now on.", &values, held, true))
}

fn release(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Query {
    let mut values = vec![state(context, roles, roles.waiting())];
    values.extend(roles.time().map(|time| (time, Value::Now)));
    values.extend(roles.released(context.table));
    let given_back = roles.count.filter(|_| !attempts_are_the_fence(roles));
    values.extend(given_back.map(|count| (count, Value::Text(format!("{} - 1", context.column(count))))));
    values.extend(roles.changed());
    let about = match given_back {
        Some(_) => "Puts a row back untried and gives the attempt back, as on shutdown.",
        None => "Puts a row back untried, as on shutdown. The attempt stays counted: it is the fence.",
    };
    keyed(context, roles, "release", about, &values, held, true)
}

/// The transitions of an event bus: pending → published → consumed.
fn bus(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let status = &roles.claim.status;
    let (Some(published), Some(done)) = (&status.published, status.done.0.first()) else { return Vec::new() };
    let mut queries = Vec::new();
    let mut values = vec![state(context, roles, published)];
    values.extend(roles.published.map(|at| (at, Value::Now)));
    values.extend(roles.changed());
    let about = "Marks a row as handed to the broker. No row while it is done already: the consumer was faster.";
    queries.push(keyed(context, roles, "mark_published", about, &values, &status.pending, true));
    // The consumer knows of no attempt: its state is what protects these.
    let about = "Puts a row back whose handler failed. At the limit it is `dead_published`.";
    queries.push(put_back(context, roles, "retry_published", about, published, false));
    if let Some(dead) = &status.dead {
        let about = "Gives up a row that its handler can never handle, with the reason.";
        let mut values = vec![state(context, roles, dead)];
        values.extend(roles.error.map(|error| (error, Value::Parameter("error"))));
        values.extend(roles.finished.map(|finished| (finished, Value::Now)));
        values.extend(roles.changed());
        queries.push(keyed(context, roles, "dead_published", about, &values, published, false));
    }
    let mut values = vec![state(context, roles, done)];
    values.extend(roles.finished.map(|at| (at, Value::Now)));
    values.extend(roles.changed());
    for (name, from) in [("consume_published", published), ("consume_pending", &status.pending)] {
        let about = "Finishes a row in the transaction of its handler. No row: it was handled before.";
        queries.push(keyed(context, roles, name, about, &values, from, false));
    }
    let mut values = vec![state(context, roles, &status.pending)];
    values.extend(roles.pending(context.table));
    values.extend(roles.changed());
    if let Some(path) = context.paths().iter().find(|path| path.purpose == Purpose::Sweep) {
        queries.extend(sweep(context, roles, path, &values));
    }
    queries
}

fn sweep(context: &Context<'_>, roles: &Roles<'_>, path: &Path, values: &[(usize, Value)]) -> Vec<Query> {
    let about = "Puts rows back whose message never arrived, the longest published first.";
    moving(context, roles, path, "sweep", about, values, Bound::Age("sweep_ms"))
}

/// Moves the rows of a path from one state to another, a batch at a time.
fn moving(
    context: &Context<'_>,
    roles: &Roles<'_>,
    path: &Path,
    name: &str,
    about: &str,
    values: &[(usize, Value)],
    bound: Bound,
) -> Vec<Query> {
    let index = context.index_for(path);
    let mut sql = Sql::new(context);
    let key = context.columns(&context.table.primary_key);
    match context.dialect.take() {
        Take::SelectThenUpdate => {
            sql.push(&format!("SELECT {key}"));
            claim::selection(&mut sql, context, "", path, bound);
            sql.push("\nFOR UPDATE SKIP LOCKED");
            let find = sql.query(
                format!("{name}_find"),
                &format!("{about}\nThen `{name}` in the same transaction, at READ COMMITTED."),
                index,
            );
            let about = format!("Moves the rows that `{name}_find` has locked.{KEYS}");
            vec![find, claim::update_by_keys(context, roles, name, &about, values)]
        }
        Take::UpdateFromSelect => {
            claim::begin_found(&mut sql, context, path, bound);
            sql.push(&format!("\nUPDATE {} AS t", context.table_name())).assignments("", values);
            sql.conditions("", &claim::is_found(context));
            vec![sql.query(name, about, index)]
        }
        Take::UpdateByRowId => {
            sql.push(&format!("UPDATE {}", context.table_name())).assignments("", values);
            sql.push("\nWHERE rowid IN (\n  SELECT rowid");
            claim::selection(&mut sql, context, "  ", path, bound);
            sql.push("\n)");
            vec![sql.query(name, about, index)]
        }
    }
}

/// Rows of workers that let their lease run out go back, or to dead if that was their last attempt.
fn reap(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let paths = context.paths();
    let Some(path) = paths.iter().find(|path| path.purpose == Purpose::Expired && path.lane.is_none()) else {
        return Vec::new();
    };
    let status = &roles.claim.status;
    let mut values = vec![state(context, roles, roles.waiting())];
    values.extend(roles.time().map(|time| (time, Value::Now)));
    values.extend(roles.released(context.table));
    let exhausted = roles.exhausted(|column| context.column(column));
    if let (Some(exhausted), Some(dead), true) =
        (exhausted, &status.dead, context.dialect.take() != Take::SelectThenUpdate)
    {
        let mut given_up = vec![state(context, roles, dead)];
        given_up.extend(roles.given_up(context.table));
        values = claim::either(context, &exhausted, given_up, values);
    }
    values.extend(roles.changed());
    let mut about = "Frees rows of workers that let their lease run out, where no worker claims.".to_owned();
    if context.dialect.take() == Take::SelectThenUpdate && status.dead.is_some() && roles.count.is_some() {
        about.push_str("\nRows that have used up their attempts go by `take_exhausted` instead.");
    }
    let mut queries = moving(context, roles, path, "reap", &about, &values, Bound::Now);
    if let (Some(count), true) = (roles.count, context.dialect.take() == Take::SelectThenUpdate) {
        // Who moves the rows must know their attempts.
        let mut shown: Vec<usize> = context.table.primary_key.clone();
        shown.extend([count].into_iter().chain(roles.max));
        let key = format!("SELECT {}\n", context.columns(&context.table.primary_key));
        queries[0].sql = queries[0].sql.replacen(&key, &format!("SELECT {}\n", context.columns(&shown)), 1);
    }
    queries
}

fn list_dead(context: &Context<'_>) -> Option<Query> {
    let paths = context.paths();
    let path = paths.iter().find(|path| path.purpose == Purpose::Dead)?;
    let index = context.index_for(path);
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}", context.all_columns()));
    claim::selection(&mut sql, context, "", path, Bound::Now);
    Some(sql.query("list_dead", "Lists dead rows, the oldest first.", index))
}

fn replay(context: &Context<'_>, roles: &Roles<'_>) -> Option<Query> {
    let dead = roles.claim.status.dead.as_ref()?;
    let mut values = vec![state(context, roles, &roles.claim.status.pending)];
    values.extend(roles.pending(context.table));
    let mut about = "Gives a dead row a new life: attempts from 0, the fence as it was.";
    match (attempts_are_the_fence(roles), roles.count, roles.max) {
        (true, Some(count), Some(max)) => {
            // MySQL and MariaDB assign from left to right, so that the column that the other reads comes last.
            let (count_text, most) = (context.column(count), roles.default_attempts() + 1);
            values.push((max, Value::Text(format!("{count_text} + {most}"))));
            values.push((count, Value::Text(format!("{count_text} + 1"))));
            about = "Gives a dead row a new life: further attempts, counted on from the old ones, which are the fence.";
        }
        (fence, count, _) => {
            values.extend(count.map(|count| (count, Value::Text("0".to_owned()))));
            if fence {
                about = "Gives a dead row a new life: attempts from 0.\nThey are the fence: no worker of its former life may still be at work.";
            }
        }
    }
    values.extend(roles.finished.map(|finished| (finished, super::roles::never(context.table, finished))));
    values.extend(roles.changed());
    Some(keyed(context, roles, "replay", about, &values, dead, false))
}
