//! Rows that were finished within some time are worked on once more: a batch at a time, counted before if need be.

use crate::dialect::Take;
use crate::workload::{Path, Purpose};

use super::claim::{self, Bound, KEYS, by_keys};
use super::dead::new_life;
use super::metrics;
use super::roles::{Roles, Value};
use super::sql::Sql;
use super::{Context, Query};

/// The paths of finished rows. Dead ones are replayed.
pub fn done(roles: &Roles<'_>) -> impl Fn(&&Path) -> bool {
    |path| match &path.purpose {
        Purpose::Retention(state) => roles.claim.status.done.0.contains(state),
        _ => false,
    }
}

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let paths = context.paths();
    let (values, how) = new_life(context, roles);
    let mut queries = Vec::new();
    for path in paths.iter().filter(done(roles)) {
        queries.push(count(context, path));
        queries.push(batch(context, path, &values, &how));
    }
    if !queries.is_empty() && context.dialect.take() == Take::SelectThenUpdate {
        queries.push(by_key(context, &values, &how));
    }
    queries
}

pub fn state(path: &Path) -> &str {
    match &path.purpose {
        Purpose::Retention(state) => state,
        _ => "",
    }
}

/// How many it would be.
fn count(context: &Context<'_>, path: &Path) -> Query {
    let conditions = claim::conditions(context, path, Bound::Window);
    let what =
        format!("Rows of the state {} from `since` on and before `until`, as `republish` would find them", state(path));
    let count = metrics::count(context, path, &conditions, &format!("count_republish_{}", state(path)), &what);
    count.of("count_republish", state(path))
}

fn batch(context: &Context<'_>, path: &Path, values: &[(usize, Value)], how: &str) -> Query {
    let mut sql = Sql::new(context);
    let (state, index) = (state(path), context.index_for(path));
    let which = "Those from `since` on and before `until`, the oldest first.";
    let about = format!("Gives one batch of finished rows a new life{how}\n{which}");
    match context.dialect.take() {
        Take::SelectThenUpdate => {
            sql.push(&format!("SELECT {}", context.columns(&context.table.primary_key)));
            claim::selection(&mut sql, context, "", path, Bound::Window);
            sql.push("\nFOR UPDATE SKIP LOCKED");
            let about = format!(
                "The keys of one batch of finished rows.\n{which}\nThen `republish` in the same transaction, at READ COMMITTED."
            );
            return sql.query(format!("republish_find_{state}"), &about, index).of("republish_find", state);
        }
        Take::UpdateFromSelect => {
            claim::begin_found(&mut sql, context, path, Bound::Window);
            sql.push(&format!("\nUPDATE {} AS t", context.table_name())).assignments("", values);
            sql.conditions("", &claim::is_found(context));
        }
        Take::UpdateByRowId => {
            sql.push(&format!("UPDATE {}", context.table_name())).assignments("", values);
            sql.push("\nWHERE rowid IN (\n  SELECT rowid");
            claim::selection(&mut sql, context, "  ", path, Bound::Window);
            sql.push("\n)");
        }
    }
    sql.query(format!("republish_{state}"), &about, index).of("republish", state)
}

/// The rows that a SELECT of the same transaction has locked; of whatever scope, for retention may go by another one.
fn by_key(context: &Context<'_>, values: &[(usize, Value)], how: &str) -> Query {
    let mut sql = Sql::new(context);
    let hint = context.dialect.index_hint("PRIMARY");
    sql.push(&format!("UPDATE {}{hint}", context.table_name())).assignments("", values);
    sql.conditions("", &by_keys(&[], &context.table.primary_key));
    let about = format!("Gives finished rows a new life{how}{KEYS}");
    sql.query("republish", &about, None)
}
