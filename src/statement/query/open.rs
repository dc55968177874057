//! The open rows of an event bus, one state at a time and page by page: for those who look at all of them and change none.
//!
//! A page goes on behind the last row of the page before. Columns that are compared as one, `(a, b) > (?, ?)`, are no range of
//! an index on every database, and OR never is, so that each column of the order has a statement of its own: the rows that
//! are the same in all columns before it and beyond the last row in it. Asked for from the last column to the first, they give
//! all that follow, each by the index and in its order.

use crate::schema::Table;
use crate::schema::format::Claim;
use crate::workload::{Path, Purpose, derive};

use super::claim::pins;
use super::roles::Roles;
use super::sql::{Condition, Sql};
use super::{Context, Meaning, Query};

/// The states in which a row of the table is not done with.
pub fn open_states(table: &Table) -> Vec<&str> {
    table.claim.as_ref().map(states).unwrap_or_default()
}

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    if context.table.bus.is_none() {
        return Vec::new();
    }
    states(roles.claim).iter().flat_map(|state| of_state(context, state)).collect()
}

fn states(claim: &Claim) -> Vec<&str> {
    let status = &claim.status;
    let others = [&status.retryable, &status.running, &status.published];
    std::iter::once(&*status.pending).chain(others.into_iter().filter_map(|state| state.as_deref())).collect()
}

/// None where no index of the others' gives an order: one for this alone would cost every change of a row.
fn of_state(context: &Context<'_>, state: &str) -> Vec<Query> {
    let paths = derive::walks(context.table, state);
    let Some(path) = paths.iter().find(|path| context.serving(path).is_some()) else { return Vec::new() };
    let depths = 1..=path.order.len();
    std::iter::once(page(context, path, state, None))
        .chain(depths.rev().map(|depth| page(context, path, state, Some(depth))))
        .collect()
}

/// The first page, or the one behind a row, in which so many columns of the order are compared.
fn page(context: &Context<'_>, path: &Path, state: &str, depth: Option<usize>) -> Query {
    let index = context.index_for(path);
    let mut conditions = pins(context, path);
    let mut order = &*path.order;
    if let Some(depth) = depth {
        let (same, rest) = path.order.split_at(depth - 1);
        conditions.extend(same.iter().map(|column| Condition::Equal(*column)));
        let beyond =
            |column: &usize| Condition::Parameter(format!("{} > ", context.column(*column)), Meaning::Column(*column));
        conditions.extend(rest.first().map(beyond));
        order = rest;
    } else {
        // A NULL has no place in an order that goes on behind it: such rows are counted as stranded.
        let nullable = path.order.iter().filter(|column| context.table.columns[**column].nullable);
        conditions.extend(nullable.map(|column| Condition::Text(format!("{} IS NOT NULL", context.column(*column)))));
    }
    let hint = index.map(|index| context.dialect.index_hint(index)).unwrap_or_default();
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}\nFROM {}{hint}", context.all_columns(), context.table_name()));
    sql.conditions("", &conditions);
    sql.push(&format!("\nORDER BY {}\nLIMIT ", context.columns(order))).parameter(Meaning::Limit);
    let (name, about) = match depth {
        None => (format!("list_{state}"), first(context, path, state)),
        Some(depth) => (format!("list_{state}_after_{depth}"), after(context, path, state, depth)),
    };
    let base = name.replacen(&format!("_{state}"), "", 1);
    sql.query(name, &about, index).of(&base, state)
}

fn first(context: &Context<'_>, path: &Path, state: &str) -> String {
    let stranded = derive::paths(context.table).iter().any(|path| path.purpose == Purpose::Stranded(state.to_owned()));
    let but = if stranded { format!(", but for those of `count_stranded_{state}`") } else { String::new() };
    let order = context.columns(&path.order);
    format!(
        "Shows rows of the state {state} in the order of {order}{but}, without locking or marking them.\nWhat follows the last row of a page is asked for by {}.",
        names(path, state, path.order.len())
    )
}

fn after(context: &Context<'_>, path: &Path, state: &str, depth: usize) -> String {
    let (same, rest) = path.order.split_at(depth - 1);
    let same = if same.is_empty() { String::new() } else { format!("with the same {} ", context.columns(same)) };
    let beyond = context.columns(&rest[..1]);
    let then = if depth == 1 { String::new() } else { format!("\nThen those of {}.", names(path, state, depth - 1)) };
    format!("Shows the rows of the state {state} {same}that come behind a row in {beyond}.{then}")
}

/// The statements that follow, the first one first.
fn names(path: &Path, state: &str, from: usize) -> String {
    let names: Vec<String> =
        (1..=from.min(path.order.len())).rev().map(|depth| format!("`list_{state}_after_{depth}`")).collect();
    names.join(" and then ")
}
