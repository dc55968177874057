//! Whether the indexes of its table serve a claim and, if not, which comes closest and why it does not.

use crate::engine::Engine;
use crate::schema::{Index, Table};
use crate::workload::serves::serves;
use crate::workload::{Path, Pin, PinValue};

use super::claim::{Claim, Reading};
use super::mend::{name, ordered, path, present};
use super::predicate::TestKind;
use super::rule::Context;

/// How the indexes of its table serve a claim.
#[derive(Debug)]
pub enum Service {
    /// No index serves it; the one that comes closest, and why it does not.
    None {
        /// Its name and the reason.
        best: Option<(String, String)>,
    },
    /// An index finds its rows, in another order.
    Unordered {
        /// Its name.
        index: String,
        /// The order that it has.
        order: Vec<String>,
    },
    /// A partial index would serve it if its state were no parameter.
    BoundState {
        /// Its name.
        index: String,
    },
}

/// How the indexes serve a claim, if they do not: on all databases that it may be for, and only where all is known.
pub fn service(reading: &Reading<'_>, context: &Context<'_>) -> Option<Service> {
    let path = as_written(reading)?;
    let mut result = None;
    for dialect in context.dialects {
        result = Some(on_engine(reading, &path, dialect.engine())?);
    }
    result
}

/// The path of a claim with the order that it has; `None` where not all is known, or where another rule says why no index
/// can serve it.
pub fn as_written(reading: &Reading<'_>) -> Option<Path> {
    let (block, known) = (reading.block, reading.known);
    let reads = matches!(reading.claim, Some(Claim::Lock | Claim::Poll));
    let unknown =
        block.gaps.filter || block.gaps.from || block.gaps.tail || block.set_operation || !known.indexes_known;
    // Joins, lists and ORs have their own findings, and no path.
    let several = block.tables.len() > 1 || reading.filter().iter().any(|condition| !condition.ors().is_empty());
    let partial = reading.tests().any(|test| {
        matches!(test.kind, TestKind::NotEqual | TestKind::NotIn | TestKind::NotNull | TestKind::In(_))
            && !test.is_pin()
            && test
                .column
                .as_deref()
                .is_some_and(|column| known.roles.is_search(column) || known.scope.iter().any(|s| s == column))
    });
    if !reads || unknown || several || partial || reading.has_index_of_unknown_use() || block.order.is_empty() {
        return None;
    }
    // A scope that is missing is said elsewhere; no index can serve then.
    if known.scope.iter().any(|scope| !reading.pins(scope, &|test| test.is_pin())) {
        return None;
    }
    let mut path = path(reading, None)?;
    let order = ordered(reading)?;
    path.order = order.into_iter().filter(|column| path.pins.iter().all(|pin| pin.column != *column)).collect();
    Some(path)
}

fn on_engine(reading: &Reading<'_>, path: &Path, engine: &Engine) -> Option<Service> {
    let table = &reading.known.table;
    let present = present(table, engine);
    let found = |path: &Path| present.iter().find(|index| serves(engine, table, index, path).is_ok());
    if found(path).is_some() {
        return None;
    }
    let state = |pin: &Pin| reading.known.roles.is_state(&table.columns[pin.column].name.to_lowercase());
    for open in reading.known.roles.states() {
        let mut bound = path.clone();
        let Some(pin) = bound.pins.iter_mut().find(|pin| state(pin) && pin.value == PinValue::Parameter) else { break };
        pin.value = PinValue::State(open.clone());
        if let Some(index) = found(&bound).filter(|index| index.predicate.is_some()) {
            return Some(Service::BoundState { index: name(table, index, engine) });
        }
    }
    if let Some((index, order)) = unordered(table, &present, path, engine) {
        let order = order.iter().map(|at| table.columns[*at].name.clone()).collect();
        return Some(Service::Unordered { index: name(table, index, engine), order });
    }
    let pinned =
        |index: &&Index| index.columns.iter().take_while(|at| path.pins.iter().any(|pin| pin.column == **at)).count();
    let best = present.iter().filter(|index| pinned(index) > 0).max_by_key(pinned);
    let best =
        best.and_then(|index| Some((name(table, index, engine), serves(engine, table, index, path).err()?.reason)));
    Some(Service::None { best })
}

/// The index that finds the rows of a path with a bound, and the order in which it does: its own behind the equalities.
fn unordered<'i>(table: &Table, present: &'i [Index], path: &Path, engine: &Engine) -> Option<(&'i Index, Vec<usize>)> {
    let range = path.range?;
    let open = |column: &usize| path.pins.iter().all(|pin| pin.column != *column);
    present.iter().find_map(|index| {
        let order: Vec<usize> = index.columns.iter().copied().filter(open).collect();
        if order.first() != Some(&range) {
            return None;
        }
        let key = table.primary_key.iter().copied().filter(open);
        let missing: Vec<usize> = key.filter(|column| !order.contains(column)).collect();
        // What the engine does not append is no part of the order.
        let whole = Path { order: order.iter().copied().chain(missing).collect(), ..path.clone() };
        if serves(engine, table, index, &whole).is_ok() {
            return Some((index, whole.order));
        }
        let own = Path { order, ..path.clone() };
        serves(engine, table, index, &own).is_ok().then_some((index, own.order))
    })
}
