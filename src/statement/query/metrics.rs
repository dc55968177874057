//! Metrics: one bounded count a state, never over the history.

use crate::workload::{Path, PinValue, Purpose};

use super::claim::{Bound, conditions, pins};
use super::roles::Roles;
use super::sql::Sql;
use super::{Context, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let paths = context.paths();
    let mut queries = Vec::new();
    for path in &paths {
        if let Purpose::Count(state) = &path.purpose {
            queries.push(count(context, path, false, &format!("count_{state}"), &format!("Rows of the state {state}")));
        }
    }
    let of = |purpose: Purpose| paths.iter().find(move |path| path.purpose == purpose && path.lane.is_none());
    queries.extend(of(Purpose::Dead).map(|path| count(context, path, false, "count_dead", "Dead rows")));
    let due = of(Purpose::Retryable).filter(|path| path.range.is_some());
    queries.extend(due.map(|path| count(context, path, true, "count_due_retries", "Rows whose next attempt is due")));
    queries.extend(
        of(Purpose::Expired).map(|path| count(context, path, true, "count_expired", "Rows whose lease has run out")),
    );
    queries.extend(of(Purpose::Pending).and_then(|path| oldest(context, roles, path)));
    queries
}

fn count(context: &Context<'_>, path: &Path, due: bool, name: &str, what: &str) -> Query {
    let index = context.index_for(path);
    let hint = index.map(|index| context.dialect.index_hint(index)).unwrap_or_default();
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT COUNT(*)\nFROM (\n  SELECT 1\n  FROM {}{hint}", context.table_name()));
    sql.conditions("  ", &if due { conditions(context, path, Bound::Now) } else { pins(context, path) });
    sql.push(&order(context, path));
    sql.push("\n  LIMIT ").parameter("cap").push("\n) AS counted");
    sql.query(name, &format!("{what}, at most `cap`."), index)
}

/// Where no hint holds the plan, the order of the index does: a count would read the table instead where most rows are of its
/// state by the statistics, however many others stand before them.
fn order(context: &Context<'_>, path: &Path) -> String {
    let Some(index) = context.serving(path).filter(|_| context.dialect.index_hint("").is_empty()) else {
        return String::new();
    };
    let index = &context.table.indexes[index];
    let is_one = |column: &usize| {
        path.pins.iter().any(|pin| pin.column == *column && pin.value != PinValue::Never)
            || index.predicate.as_ref().is_some_and(|predicate| predicate.column == *column)
    };
    let rest: Vec<usize> = index.columns.iter().filter(|column| !is_one(column)).copied().collect();
    if rest.is_empty() { String::new() } else { format!("\n  ORDER BY {}", context.columns(&rest)) }
}

/// The first row of the pending branch, due or not: what has waited longest.
fn oldest(context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> Option<Query> {
    let column = *path.order.first()?;
    let named = [roles.order, roles.due, roles.retry_at];
    named.into_iter().flatten().find(|named| *named == column)?;
    let index = context.index_for(path);
    let hint = index.map(|index| context.dialect.index_hint(index)).unwrap_or_default();
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}\nFROM {}{hint}", context.column(column), context.table_name()));
    sql.conditions("", &pins(context, path));
    sql.push(&format!("\nORDER BY {}\nLIMIT 1", context.columns(&path.order)));
    Some(sql.query("oldest_pending", "Since when the longest pending row waits; no row: nothing is pending.", index))
}
