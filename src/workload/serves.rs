//! Whether an index serves an access path, and if not, why.
//!
//! What the judgement leaves out: PostgreSQL 18 can skip over an index's first columns, which softens a missing scope to
//! some thousand rows instead of all; MySQL may still prefer another index by its estimates, which is why generated claims
//! force theirs.

use crate::engine::Engine;
use crate::schema::{Index, Table};

use super::index::ideal;
use super::{Path, PinValue};

/// Why an index does not serve a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// One sentence without a full stop.
    pub reason: String,
    /// What would make it serve.
    pub fix: Fix,
}

/// The nearest thing that makes a path be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// An index on these columns.
    Index(Vec<usize>),
    /// No index can serve it: ORDER BY must begin with this column, which is compared with a bound.
    OrderBy(usize),
    /// No index of the engine can serve it: the column must be NOT NULL, with a value that means never.
    NotNull(usize),
}

/// Whether a statement of this path reads through the index no more rows than it returns, in their order.
pub fn serves(engine: &Engine, table: &Table, index: &Index, path: &Path) -> Result<(), Misfit> {
    judge(engine, table, index, path).map_err(|reason| Misfit { reason, fix: fix(engine, table, path) })
}

fn fix(engine: &Engine, table: &Table, path: &Path) -> Fix {
    let ideal = ideal(table, engine, path, false);
    let unordered = path.pins.iter().find(|pin| !is_equality(engine, table, pin.column, &pin.value));
    match (judge(engine, table, &ideal, path), path.range, unordered) {
        (Err(_), Some(range), _) if path.order.first() != Some(&range) => Fix::OrderBy(range),
        (Err(_), _, Some(pin)) => Fix::NotNull(pin.column),
        _ => Fix::Index(ideal.columns),
    }
}

fn misfit(reason: String) -> Result<(), String> {
    Err(reason)
}

fn judge(engine: &Engine, table: &Table, index: &Index, path: &Path) -> Result<(), String> {
    let name = |column: usize| &*table.columns[column].name;
    if let Some(predicate) = &index.predicate {
        let pinned = path.pins.iter().find(|pin| pin.column == predicate.column).map(|pin| &pin.value);
        match pinned {
            Some(PinValue::State(state)) if *state == predicate.value => {}
            _ => {
                return misfit(format!(
                    "the index holds only rows whose `{}` is '{}'",
                    name(predicate.column),
                    predicate.value
                ));
            }
        }
    }
    let columns = columns(engine, table, index, path);
    let constant = |column: usize| {
        let by_predicate = index.predicate.as_ref().is_some_and(|predicate| predicate.column == column);
        let pin = path.pins.iter().find(|pin| pin.column == column);
        by_predicate || pin.is_some_and(|pin| is_equality(engine, table, pin.column, &pin.value))
    };
    let prefix = columns.iter().take_while(|column| constant(**column)).count();
    for pin in &path.pins {
        let by_predicate = index.predicate.as_ref().is_some_and(|predicate| predicate.column == pin.column);
        if by_predicate || columns[..prefix].contains(&pin.column) {
            continue;
        }
        return match columns.get(prefix) {
            _ if !columns.contains(&pin.column) => {
                misfit(format!("the index lacks `{}`, which is pinned by equality", name(pin.column)))
            }
            Some(before) if *before != pin.column => {
                misfit(format!("`{}` is pinned by equality and stands behind `{}`", name(pin.column), name(*before)))
            }
            _ => misfit(format!("`{}` IS NULL is no equality for the order on {}", name(pin.column), engine.title)),
        };
    }
    if index.unique && prefix >= index.columns.len() {
        return Ok(());
    }
    let mut rest = columns[prefix..].iter().filter(|column| !constant(**column));
    for wanted in path.order.iter().filter(|column| !constant(**column)) {
        match rest.next() {
            Some(found) if found == wanted => {}
            Some(found) => {
                return misfit(format!(
                    "ORDER BY has `{}` where the index has `{}`: the rows are sorted",
                    name(*wanted),
                    name(*found)
                ));
            }
            None => {
                return misfit(format!("ORDER BY has `{}` where the index ends: the rows are sorted", name(*wanted)));
            }
        }
    }
    match path.range {
        Some(range) if path.order.first() != Some(&range) => {
            misfit(format!("`{}` is compared with a bound and is not the first of ORDER BY", name(range)))
        }
        _ => Ok(()),
    }
}

/// The index's columns as the engine stores them: InnoDB appends what the primary key has and the index lacks, SQLite a
/// row number that is the primary key where that is numbered. A prefix of a long column gives no order.
fn columns(engine: &Engine, table: &Table, index: &Index, path: &Path) -> Vec<usize> {
    let cut = |column: &&usize| engine.text_key_needs_length && table.columns[**column].ty.is_long();
    let whole = index.columns.iter().position(|column| cut(&column)).unwrap_or(index.columns.len());
    let mut columns = index.columns[..whole].to_vec();
    let numbered = matches!(table.primary_key[..], [key] if table.columns[key].auto_increment);
    if whole == index.columns.len() && (engine.appends_primary_key || engine.auto_increment_is_key && numbered) {
        let pinned = |column: &usize| path.pins.iter().any(|pin| pin.column == *column);
        // MySQL compares what it appends from the key's first column on: a column that the index has already ends that.
        let ordered =
            |column: &&usize| engine.appended_key_has_gaps || pinned(column) || !index.columns.contains(column);
        let missing = table.primary_key.iter().take_while(ordered).filter(|column| !columns.contains(column));
        columns.extend(missing.copied().collect::<Vec<_>>());
    }
    columns
}

/// Whether the comparison leaves one value of the column, so that the index is ordered by what follows.
fn is_equality(engine: &Engine, table: &Table, column: usize, value: &PinValue) -> bool {
    *value != PinValue::Never || !table.columns[column].nullable || engine.null_is_equality
}
