//! Transitions of one row, by its key and under its fence, and of rows whose worker or whose message went missing.

use sea_query::{Alias, Expr, ExprTrait, Query as Builder};

use crate::dialect::Take;
use crate::workload::{Path, Purpose};

use super::claim::{self, Bound, KEYS};
use super::enqueue::table_ref;
use super::roles::{Roles, Value};
use super::sql::{Sql, built, expression, parameter};
use super::{Context, Meaning, Query, dead, many, republish};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let mut queries = Vec::new();
    let status = &roles.claim.status;
    if let Some(held) = held(roles) {
        let done = status.done.0.first();
        if let Some(done) = done.filter(|_| status.published.is_none()) {
            queries.push(finish(context, roles, "complete", "Finishes a row.", done, held, false));
            queries.extend(many::complete(context, roles, held, &finished(context, roles, done, false)));
        }
        queries.push(retry(context, roles, held));
        let about = format!("Gives a row up{}.", with_reason(roles));
        queries.extend(status.dead.as_ref().map(|dead| finish(context, roles, "dead", &about, dead, held, true)));
        queries.extend(extend(context, roles, held));
        queries.push(release(context, roles, held));
    }
    queries.extend(bus(context, roles));
    queries.extend(reap(context, roles));
    queries.extend(recover(context, roles));
    queries.extend(dead::queries(context, roles));
    queries.extend(republish::queries(context, roles));
    queries
}

/// The state of a row that a worker works on.
pub fn held<'a>(roles: &Roles<'a>) -> Option<&'a str> {
    let status = &roles.claim.status;
    status.running.as_deref().or_else(|| roles.by_visibility().then_some(&*status.pending))
}

/// The states in which a row waits to be taken.
pub fn waiting<'a>(roles: &Roles<'a>) -> Vec<&'a str> {
    let status = &roles.claim.status;
    std::iter::once(&*status.pending).chain(status.retryable.as_deref()).collect()
}

/// The column that tells the worker's own claim from a later one, and the parameter that it is compared with.
pub fn fence(roles: &Roles<'_>) -> Option<(usize, Meaning)> {
    let seq = roles.seq.map(|seq| (seq, Meaning::ClaimSeq));
    let by = roles.by.map(|by| (by, Meaning::Token));
    seq.or(by).or_else(|| attempts_are_the_fence(roles).then_some((roles.count?, Meaning::Attempt)))
}

/// Where nothing else tells claims apart, the count of attempts does, and must never go back.
pub fn attempts_are_the_fence(roles: &Roles<'_>) -> bool {
    roles.by_visibility() && roles.seq.is_none() && roles.by.is_none()
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

fn with_reason(roles: &Roles<'_>) -> &'static str {
    if roles.error.is_some() { ", with the reason" } else { "" }
}

/// An UPDATE of one row: its key, its scope, its state, its fence.
pub fn keyed(
    context: &Context<'_>,
    roles: &Roles<'_>,
    name: &str,
    about: &str,
    values: &[(usize, Value)],
    from: &[&str],
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
        update.and_where(column(*at).eq(parameter(Meaning::Column(*at))));
    }
    let mut states = from.iter().map(|state| Expr::cust(context.dialect.literal(state)));
    update.and_where(match (states.next(), states.len()) {
        (Some(one), 0) => column(roles.status).eq(one),
        (first, _) => column(roles.status).is_in(first.into_iter().chain(states)),
    });
    let mut about = about.to_owned();
    if let Some((at, meaning)) = fence(roles).filter(|_| fenced) {
        update.and_where(column(at).eq(parameter(meaning)));
        about.push_str("\nNo row: the lease is lost, and another worker may hold the row.");
    }
    built(context, &update, name, &about)
}

pub fn state(context: &Context<'_>, roles: &Roles<'_>, state: &str) -> (usize, Value) {
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
    keyed(context, roles, name, about, &finished(context, roles, to, failed), &[from], true)
}

/// A row that its holder is done with.
fn finished(context: &Context<'_>, roles: &Roles<'_>, to: &str, failed: bool) -> Vec<(usize, Value)> {
    let mut values = vec![state(context, roles, to)];
    values.extend(roles.error.filter(|_| failed).map(|error| (error, Value::Parameter(Meaning::Error))));
    values.extend(roles.released(context.table));
    values.extend(roles.finished.map(|finished| (finished, Value::Now)));
    values.extend(roles.changed());
    values
}

fn retry(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Query {
    let about = format!("Puts a row back after a failure.\n{}", about_end(roles, "dead"));
    keyed(context, roles, "retry", &about, &put_back(context, roles), &[held], true)
}

/// What ends the attempts of a row that is put back, by the caller's choice and not by itself.
fn about_end(roles: &Roles<'_>, dead: &str) -> String {
    match (roles.count, &roles.claim.status.dead) {
        (Some(_), Some(_)) => {
            format!("The attempt was counted by the claim; at the limit the caller uses `{dead}` instead.")
        }
        (Some(_), None) => "The attempt was counted by the claim, and no number of them is the last.".to_owned(),
        (None, Some(_)) => format!("Attempts are not counted: the caller decides when it uses `{dead}` instead."),
        (None, None) => "Attempts are not counted, and none is the last.".to_owned(),
    }
}

/// A row that waits for its next attempt.
fn put_back(context: &Context<'_>, roles: &Roles<'_>) -> Vec<(usize, Value)> {
    let mut values = vec![state(context, roles, roles.waiting())];
    values.extend(roles.time().map(|time| (time, Value::Later(Meaning::DelayMs))));
    values.extend(roles.error.map(|error| (error, Value::Parameter(Meaning::Error))));
    values.extend(roles.released(context.table));
    values.extend(roles.changed());
    values
}

fn extend(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Option<Query> {
    let (column, meaning) = match roles.until {
        Some(until) => (until, Meaning::LeaseMs),
        None => (roles.time().filter(|_| roles.by_visibility())?, Meaning::VisibilityMs),
    };
    let mut values = vec![(column, Value::Later(meaning))];
    values.extend(roles.changed());
    Some(keyed(context, roles, "extend", "Holds a row for longer, from now on.", &values, &[held], true))
}

fn release(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Query {
    let mut values = vec![state(context, roles, roles.waiting())];
    values.extend(roles.time().map(|time| (time, Value::Now)));
    values.extend(roles.released(context.table));
    let given_back = roles.count.filter(|_| !attempts_are_the_fence(roles));
    values.extend(given_back.map(|count| (count, Value::Text(format!("{} - 1", context.column(count))))));
    values.extend(roles.changed());
    let about = match (given_back, roles.count) {
        (Some(_), _) => "Puts a row back untried and gives the attempt back, as on shutdown.",
        (None, Some(_)) => "Puts a row back untried, as on shutdown. The attempt stays counted: it is the fence.",
        (None, None) => "Puts a row back untried, as on shutdown.",
    };
    keyed(context, roles, "release", about, &values, &[held], true)
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

/// Moves the rows of a path from one state to another, a batch at a time.
struct Moving<'a> {
    name: &'a str,
    about: &'a str,
    values: &'a [(usize, Value)],
    bound: Bound,
    /// Columns that the caller must know of rows that it moves by their keys.
    shown: &'a [usize],
}

impl Moving<'_> {
    fn queries(&self, context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> Vec<Query> {
        let (name, index) = (self.name, context.index_for(path));
        let mut sql = Sql::new(context);
        match context.dialect.take() {
            Take::SelectThenUpdate => {
                let shown: Vec<usize> = context.table.primary_key.iter().chain(self.shown).copied().collect();
                sql.push(&format!("SELECT {}", context.columns(&shown)));
                claim::selection(&mut sql, context, "", path, self.bound);
                sql.push("\n").push(claim::locking(path));
                let about = format!("{}\nThen `{name}` in the same transaction, at READ COMMITTED.", self.about);
                let find = sql.query(format!("{name}_find"), &about, index);
                let about = format!("Moves the rows that `{name}_find` has locked.{KEYS}");
                vec![find, claim::update_by_keys(context, roles, name, &about, self.values)]
            }
            Take::UpdateFromSelect => {
                claim::begin_found(&mut sql, context, path, self.bound);
                sql.push(&format!("\nUPDATE {} AS t", context.table_name())).assignments("", self.values);
                sql.conditions("", &claim::is_found(context));
                vec![sql.query(name, self.about, index)]
            }
            Take::UpdateByRowId => {
                sql.push(&format!("UPDATE {}", context.table_name())).assignments("", self.values);
                sql.push("\nWHERE rowid IN (\n  SELECT rowid");
                claim::selection(&mut sql, context, "  ", path, self.bound);
                sql.push("\n)");
                vec![sql.query(name, self.about, index)]
            }
        }
    }
}

/// Rows of workers that let their lease run out go back, or to dead if that was their last attempt.
fn reap(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let about = "Frees rows of workers that let their lease run out, where no worker claims.";
    freed(context, roles, &Purpose::Expired, "reap", "take_exhausted", about)
}

/// The same where there is no lease: only who knows that no worker of the scope lives can tell that these rows are nobody's.
fn recover(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let about = "Frees all rows that are held, as the only worker of a scope does before its first claim: no lease says whether\nanother one still works on them. A row that a transaction still has, such as the last one of a worker that was killed, is waited\nfor.";
    let mut queries = freed(context, roles, &Purpose::Recover, "recover", "recover_exhausted", about);
    if !queries.is_empty() && gives_up_by_keys(context, roles) {
        let about = "Gives up rows that have used up their attempts, instead of `recover`.";
        queries.extend(claim::give_up_by_keys(context, roles, "recover_exhausted", about));
    }
    queries
}

/// Whether rows that have used up their attempts are given up by a statement of their own, since the caller finds them out.
fn gives_up_by_keys(context: &Context<'_>, roles: &Roles<'_>) -> bool {
    let by_keys = context.dialect.take() == Take::SelectThenUpdate;
    by_keys && roles.claim.status.dead.is_some() && roles.count.is_some()
}

/// Frees the rows of silent workers that a path finds.
fn freed(
    context: &Context<'_>,
    roles: &Roles<'_>,
    purpose: &Purpose,
    name: &str,
    give_up: &str,
    about: &str,
) -> Vec<Query> {
    let paths = context.paths();
    let Some(path) = paths.iter().find(|path| path.purpose == *purpose && path.lane.is_none()) else {
        return Vec::new();
    };
    let status = &roles.claim.status;
    let by_keys = context.dialect.take() == Take::SelectThenUpdate;
    let mut values = vec![state(context, roles, roles.waiting())];
    values.extend(roles.time().map(|time| (time, Value::Now)));
    values.extend(roles.released(context.table));
    let exhausted = roles.exhausted(|column| context.column(column));
    if let (Some(exhausted), Some(dead), false) = (exhausted, &status.dead, by_keys) {
        let mut given_up = vec![state(context, roles, dead)];
        given_up.extend(roles.given_up(context.table));
        values = claim::either(context, &exhausted, given_up, values);
    }
    values.extend(roles.changed());
    let mut about = about.to_owned();
    if gives_up_by_keys(context, roles) {
        about.push_str(&format!("\nRows that have used up their attempts go by `{give_up}` instead."));
    }
    // Who moves the rows must know their attempts.
    let shown: Vec<usize> = roles.count.into_iter().flat_map(|count| [count].into_iter().chain(roles.max)).collect();
    let moving = Moving { name, about: &about, values: &values, bound: Bound::Now, shown: &shown };
    moving.queries(context, roles, path)
}
