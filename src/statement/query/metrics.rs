//! Metrics: one bounded count a state, never over the history.

use crate::workload::{Path, Pin, PinValue, Purpose};

use super::claim::{Bound, conditions, pins};
use super::roles::{Roles, Value, never};
use super::sql::{Condition, Sql};
use super::{Context, Meaning, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let paths = context.paths();
    let mut queries = Vec::new();
    for path in &paths {
        if let Purpose::Count(state) = &path.purpose {
            let what = format!("Rows of the state {state}");
            queries.push(count(context, path, &pins(context, path), &format!("count_{state}"), &what));
        }
    }
    let of = |purpose: Purpose| paths.iter().find(move |path| path.purpose == purpose && path.lane.is_none());
    let all = |path: &Path, name, what| count(context, path, &pins(context, path), name, what);
    queries.extend(of(Purpose::Dead).map(|path| all(path, "count_dead", "Dead rows")));
    let due = |path: &Path, name, what| count(context, path, &conditions(context, path, Bound::Now), name, what);
    let retries = of(Purpose::Retryable).filter(|path| path.range.is_some());
    queries.extend(retries.map(|path| due(path, "count_due_retries", "Rows whose next attempt is due")));
    queries.extend(of(Purpose::Expired).map(|path| due(path, "count_expired", "Rows whose lease has run out")));
    queries.extend(paths.iter().filter_map(|path| stranded(context, &paths, path)));
    queries.extend(of(Purpose::Pending).and_then(|path| oldest(context, roles, path)));
    queries
}

pub fn count(context: &Context<'_>, path: &Path, conditions: &[Condition], name: &str, what: &str) -> Query {
    let index = context.index_for(path);
    let hint = index.map(|index| context.dialect.index_hint(index)).unwrap_or_default();
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT COUNT(*)\nFROM (\n  SELECT 1\n  FROM {}{hint}", context.table_name()));
    sql.conditions("  ", conditions);
    sql.push(&order(context, path));
    sql.push("\n  LIMIT ").parameter(Meaning::Cap).push("\n) AS counted");
    sql.query(name, &format!("{what}, at most `cap`."), index)
}

/// Where no hint holds the plan, the order of the index does: a count would read the table instead where most rows are of its
/// state by the statistics, however many others stand before them.
fn order(context: &Context<'_>, path: &Path) -> String {
    let is_held = !context.dialect.index_hint("").is_empty();
    let rest = if is_held { Vec::new() } else { context.order_of_index(path) };
    if rest.is_empty() { String::new() } else { format!("\n  ORDER BY {}", context.columns(&rest)) }
}

/// Rows that have no place in any branch, because another program than these statements wrote them.
fn stranded(context: &Context<'_>, paths: &[Path], path: &Path) -> Option<Query> {
    let (Purpose::Stranded(state), Some(range)) = (&path.purpose, path.range) else { return None };
    let column = context.column(range);
    let is_pinned = |pin: &Pin| pin.column == range && pin.value == PinValue::Never;
    let by_pin = paths.iter().any(|branch| branch.purpose == Purpose::Pending && branch.pins.iter().any(is_pinned));
    let (condition, because) = match never(context.table, range) {
        _ if !by_pin => (format!("{column} IS NULL"), format!("{column} is NULL")),
        Value::Text(never) if never != "NULL" => (format!("{column} > {never}"), format!("{column} is not {never}")),
        _ => (format!("{column} IS NOT NULL"), format!("{column} is not NULL")),
    };
    let mut conditions = pins(context, path);
    conditions.push(Condition::Text(condition));
    let is_published = context.table.claim.as_ref().is_some_and(|claim| claim.status.published.as_ref() == Some(state));
    let who = if is_published { "the sweep can never" } else { "no claim can ever" };
    let what = format!("Rows of the state {state} that {who} reach, because {because}");
    Some(count(context, path, &conditions, &format!("count_stranded_{state}"), &what))
}

/// The first row of the pending branch, due or not.
fn oldest(context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> Option<Query> {
    let column = *path.order.first()?;
    let named = [roles.order, roles.due, roles.retry_at];
    named.into_iter().flatten().find(|named| *named == column)?;
    let is_pinned = path.pins.iter().any(|pin| pin.value == PinValue::Never);
    let (name, about) = match path.range {
        Some(_) => (
            "oldest_due",
            "Since when the longest due pending row is overdue; a time to come: nothing is due yet.\nNo row: nothing is pending.",
        ),
        // Of a sequence or a priority nobody can say how old it is.
        None if !context.table.holds_time(&context.table.columns[column]) => return None,
        None if is_pinned => (
            "oldest_pending",
            "Since when the longest pending row waits; no row: a claim would find none. What it cannot find is counted as stranded.",
        ),
        None => ("oldest_pending", "Since when the longest pending row waits; no row: nothing is pending."),
    };
    let index = context.index_for(path);
    let hint = index.map(|index| context.dialect.index_hint(index)).unwrap_or_default();
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}\nFROM {}{hint}", context.column(column), context.table_name()));
    let mut conditions = pins(context, path);
    if context.table.columns[column].nullable {
        // A NULL is never due, and stands before or behind all times as the engine likes.
        conditions.push(Condition::Text(format!("{} IS NOT NULL", context.column(column))));
    }
    sql.conditions("", &conditions);
    sql.push(&format!("\nORDER BY {}\nLIMIT 1", context.columns(&path.order)));
    Some(sql.query(name, about, index))
}
