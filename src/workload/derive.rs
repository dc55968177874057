//! Claim and retention → access paths.

use crate::schema::format::{Claim, IndexSet, Retention};
use crate::schema::{ColumnType, Table, coalescing, in_order};

use super::{Path, Pin, PinValue, Purpose, tie_breakers};

/// The access paths of one table's workload, claims first. A role whose column is missing gives no path.
pub fn paths(table: &Table) -> Vec<Path> {
    let mut paths = Vec::new();
    if let Some(claim) = &table.claim {
        paths.extend(pending(table, claim));
        paths.extend(retryable(table, claim));
        paths.extend(expired(table, claim));
        paths.extend(recover(table, claim));
        paths.extend(sweep(table, claim));
        paths.extend(coalesce(table, claim));
        paths.extend(order(table, claim));
        if claim.lane.is_some() {
            let whole = |purpose: &Purpose| {
                matches!(purpose, Purpose::Recover | Purpose::Sweep | Purpose::Coalesce | Purpose::Order(_))
            };
            let lanes =
                paths.iter().filter(|path| !whole(&path.purpose)).filter_map(|path| in_lane(table, claim, path));
            let lanes: Vec<Path> = lanes.collect();
            paths.extend(lanes);
        }
    }
    if let Some(retention) = &table.retention {
        paths.extend(self::retention(table, retention));
    }
    if let Some(claim) = &table.claim {
        paths.extend(dead(table, claim));
        paths.extend(counts(table, claim));
        paths.extend(stranded(table, claim));
    }
    paths
}

/// The scope by parameters, then the state.
fn pins(table: &Table, scope: &[String], claim: &Claim, state: &str) -> Option<Vec<Pin>> {
    let mut pins = scope_pins(table, scope)?;
    let column = table.position(&claim.status.column)?;
    pins.push(Pin { column, value: PinValue::State(state.to_owned()) });
    Some(pins)
}

fn scope_pins(table: &Table, scope: &[String]) -> Option<Vec<Pin>> {
    let pin = |name: &String| Some(Pin { column: table.position(name)?, value: PinValue::Parameter });
    scope.iter().map(pin).collect()
}

fn path(table: &Table, purpose: Purpose, pins: Vec<Pin>, range: Option<usize>, then: Option<usize>) -> Path {
    // What is pinned or stands in the order already adds nothing to it.
    let then = then.filter(|then| range != Some(*then) && pins.iter().all(|pin| pin.column != *then));
    let mut order: Vec<usize> = range.into_iter().chain(then).collect();
    order.extend(tie_breakers(table, &pins).into_iter().filter(|column| !order.contains(column)).collect::<Vec<_>>());
    Path { purpose, lane: None, pins, range, order }
}

/// The column that says when a pending or retryable row is due.
fn due(claim: &Claim) -> Option<&String> {
    claim.due.as_ref().or_else(|| claim.retry.as_ref()?.at.as_ref())
}

fn pending(table: &Table, claim: &Claim) -> Option<Path> {
    let status = &claim.status;
    let mut pins = pins(table, &claim.scope, claim, &status.pending)?;
    let order = claim.order.as_ref().and_then(|order| table.position(order));
    if claim.indexes == IndexSet::Seed {
        // The shared index has the retry column in the middle: pinned to its value before the first failure, it gives the
        // order of what follows.
        let at = table.position(claim.retry.as_ref()?.at.as_ref()?)?;
        pins.push(Pin { column: at, value: PinValue::Never });
        return Some(path(table, Purpose::Pending, pins, None, order));
    }
    // Without a retryable state, failed rows wait among the pending ones until they are due.
    let waits = claim.due.is_some() || status.retryable.is_none();
    match due(claim).filter(|_| waits) {
        Some(due) => Some(path(table, Purpose::Pending, pins, Some(table.position(due)?), None)),
        None => Some(path(table, Purpose::Pending, pins, None, order)),
    }
}

fn retryable(table: &Table, claim: &Claim) -> Option<Path> {
    let pins = pins(table, &claim.scope, claim, claim.status.retryable.as_ref()?)?;
    timed(table, claim, Purpose::Retryable, pins, due(claim))
}

fn expired(table: &Table, claim: &Claim) -> Option<Path> {
    let pins = pins(table, &claim.scope, claim, claim.status.running.as_ref()?)?;
    let until = &claim.lease.as_ref()?.until;
    timed(table, claim, Purpose::Expired, pins, Some(until))
}

/// Running rows where nothing says whether their worker lives. All of them go back: in whatever order.
fn recover(table: &Table, claim: &Claim) -> Option<Path> {
    let running = claim.status.running.as_ref().filter(|_| claim.lease.is_none())?;
    let pins = pins(table, &claim.scope, claim, running)?;
    Some(Path { purpose: Purpose::Recover, lane: None, pins, range: None, order: Vec::new() })
}

/// A path by a time that has come, in the shape that the claim asks for.
fn timed(table: &Table, claim: &Claim, purpose: Purpose, pins: Vec<Pin>, time: Option<&String>) -> Option<Path> {
    let order = claim.order.as_ref().and_then(|order| table.position(order));
    match time {
        Some(time) => {
            let then = order.filter(|_| claim.indexes == IndexSet::Seed);
            Some(path(table, purpose, pins, Some(table.position(time)?), then))
        }
        None => Some(path(table, purpose, pins, None, order)),
    }
}

/// The same claim with one further column pinned.
fn in_lane(table: &Table, claim: &Claim, of: &Path) -> Option<Path> {
    let column = table.position(claim.lane.as_ref()?)?;
    let mut path = of.clone();
    path.pins.push(Pin { column, value: PinValue::Parameter });
    path.order.retain(|ordered| *ordered != column);
    path.lane = Some(column);
    Some(path)
}

fn sweep(table: &Table, claim: &Claim) -> Option<Path> {
    table.bus.as_ref()?.sweep?;
    let pins = pins(table, &claim.scope, claim, claim.status.published.as_ref()?)?;
    let published = table.position(claim.times.as_ref()?.published.as_ref()?)?;
    Some(path(table, Purpose::Sweep, pins, Some(published), None))
}

/// The pending rows of one thing; from the end, the newest first.
fn coalesce(table: &Table, claim: &Claim) -> Option<Path> {
    let coalescing = coalescing(table, claim)?.ok()?;
    let mut pins = pins(table, &claim.scope, claim, &claim.status.pending)?;
    pins.extend(coalescing.thing.iter().map(|column| Pin { column: *column, value: PinValue::Parameter }));
    Some(path(table, Purpose::Coalesce, pins, None, Some(coalescing.order)))
}

/// The rows of one key, in their order, in each state in which a row waits for a relay or is held by one, and on a bus also in
/// that in which it waits for its handler.
fn order(table: &Table, claim: &Claim) -> Vec<Path> {
    if !in_order(table) {
        return Vec::new();
    }
    let key = table.publish.as_ref().and_then(|publish| table.position(publish.key.as_ref()?));
    let Some(key) = key else { return Vec::new() };
    let order = claim.order.as_ref().and_then(|order| table.position(order));
    let status = &claim.status;
    let published = status.published.as_ref().filter(|_| table.bus.is_some());
    let open = [Some(&status.pending), status.retryable.as_ref(), status.running.as_ref(), published];
    let of_state = |state: &String| {
        let mut pins = pins(table, &claim.scope, claim, state)?;
        pins.push(Pin { column: key, value: PinValue::Parameter });
        Some(path(table, Purpose::Order(state.clone()), pins, None, order))
    };
    open.into_iter().flatten().filter_map(of_state).collect()
}

fn retention(table: &Table, retention: &Retention) -> Vec<Path> {
    let Some(age) = table.position(&retention.age) else { return Vec::new() };
    let Some(claim) = &table.claim else {
        let scope = scope_pins(table, retention.scope.as_deref().unwrap_or_default()).unwrap_or_default();
        return vec![path(table, Purpose::Retention(String::new()), scope, Some(age), None)];
    };
    let scope = retention.scope.as_ref().unwrap_or(&claim.scope);
    let of_state = |state: &String| {
        let pins = pins(table, scope, claim, state)?;
        Some(path(table, Purpose::Retention(state.clone()), pins, Some(age), None))
    };
    retention.states.iter().filter_map(of_state).collect()
}

/// Dead rows, in an order that an index of the claim has already: of creation, or by age with the seed's shapes.
fn dead(table: &Table, claim: &Claim) -> Option<Path> {
    let pins = pins(table, &claim.scope, claim, claim.status.dead.as_ref()?)?;
    let by_age = table.retention.as_ref().map(|retention| &retention.age);
    let order = match claim.indexes {
        IndexSet::Default => claim.order.as_ref().or(by_age),
        IndexSet::Seed => by_age.or(claim.order.as_ref()),
    };
    Some(path(table, Purpose::Dead, pins, None, order.and_then(|column| table.position(column))))
}

/// The ways to walk all rows of an open state, the best first: in the order in which they are claimed or swept, in that of
/// another state, which a full index gives to all of them, or by key. No index is derived from them.
pub fn walks(table: &Table, state: &str) -> Vec<Path> {
    let Some(claim) = &table.claim else { return Vec::new() };
    let branches = [pending(table, claim), retryable(table, claim), expired(table, claim), sweep(table, claim)];
    let of_state = |path: &&Path| path.pins.iter().any(|pin| pin.value == PinValue::State(state.to_owned()));
    let purpose = || Purpose::Open(state.to_owned());
    let branches: Vec<Path> = branches.into_iter().flatten().collect();
    let own = branches.iter().find(of_state).map(|path| Path { purpose: purpose(), range: None, ..path.clone() });
    // Rows without a value in the column of their own state are counted as stranded; in another one they may well be.
    let is_whole = |column: &usize| !table.columns[*column].nullable;
    let others = branches.iter().map(|path| &path.order).filter(|order| order.iter().all(is_whole));
    let of_order =
        |then: Option<usize>| Some(path(table, purpose(), pins(table, &claim.scope, claim, state)?, None, then));
    let others = others.filter_map(|order| of_order(order.first().copied())).chain(of_order(None));
    let all = own.into_iter().chain(others);
    all.filter(|path| path.order.iter().all(|column| has_place(&table.columns[*column].ty))).collect()
}

/// Whether the place of a value in an order is known by the value alone, on every database.
fn has_place(ty: &ColumnType) -> bool {
    let is_time = matches!(ty, ColumnType::DateTime(_) | ColumnType::Timestamp(_));
    is_time || matches!(ty, ColumnType::Int { .. } | ColumnType::Char(_) | ColumnType::Varchar(_))
}

fn counts(table: &Table, claim: &Claim) -> Vec<Path> {
    let status = &claim.status;
    let open = [Some(&status.pending), status.retryable.as_ref(), status.running.as_ref(), status.published.as_ref()];
    let count = |state: &String| {
        let pins = pins(table, &claim.scope, claim, state)?;
        Some(Path { purpose: Purpose::Count(state.clone()), lane: None, pins, range: None, order: Vec::new() })
    };
    open.into_iter().flatten().filter_map(count).collect()
}

/// Rows that the claims and the sweep leave out whatever the time: in the seed's shapes a pending row with a retry time, and
/// else a row without the time that its state is found by.
fn stranded(table: &Table, claim: &Claim) -> Vec<Path> {
    let branches = [pending(table, claim), retryable(table, claim), expired(table, claim), sweep(table, claim)];
    let left_out = |mut path: Path| {
        let never = path.pins.iter().position(|pin| pin.value == PinValue::Never).map(|at| path.pins.remove(at).column);
        let column = never.or(path.range.filter(|range| table.columns[*range].nullable))?;
        let state = path.pins.iter().find_map(|pin| match &pin.value {
            PinValue::State(state) => Some(state.clone()),
            _ => None,
        })?;
        let purpose = Purpose::Stranded(state);
        Some(Path { purpose, lane: None, pins: path.pins, range: Some(column), order: vec![column] })
    };
    branches.into_iter().flatten().filter_map(left_out).collect()
}
