//! Transitions of one row, by its key and under its fence, and of rows whose worker went missing.

use sea_query::{Alias, Expr, ExprTrait, Query as Builder};

use crate::dialect::Take;
use crate::workload::{Path, Purpose};

use super::claim::{self, Bound, KEYS};
use super::enqueue::table_ref;
use super::roles::{Roles, Value};
use super::sql::{Sql, built, expression, parameter};
use super::{Context, Meaning, Query, bus, dead, many, republish};

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
    queries.extend(bus::queries(context, roles));
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

pub fn with_reason(roles: &Roles<'_>) -> &'static str {
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
pub fn about_end(roles: &Roles<'_>, dead: &str) -> String {
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
pub fn put_back(context: &Context<'_>, roles: &Roles<'_>) -> Vec<(usize, Value)> {
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

/// Moves the rows of a path from one state to another, a batch at a time.
pub struct Moving<'a> {
    pub name: &'a str,
    pub about: &'a str,
    pub values: &'a [(usize, Value)],
    pub bound: Bound,
    /// Columns that the caller must know of rows that it moves by their keys.
    pub shown: &'a [usize],
}

impl Moving<'_> {
    pub fn queries(&self, context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> Vec<Query> {
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
