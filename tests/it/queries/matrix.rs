//! Rows in every state × due or not × lease live or not × attempts left or not × old or new × scopes × lanes.

use claimsmith::schema::{ColumnType, Table};

use crate::servers::Row;

use super::queue::Queue;
use super::time::{DAY, NOON, SECOND};

/// How old a row is that retention takes, and that the sweep takes.
pub const OLD: i64 = 400 * DAY;

/// A value of a column that has no role, or whose role leaves the value open.
pub fn filler(ty: &ColumnType, number: usize) -> Option<String> {
    Some(match ty {
        ColumnType::Int { .. } => number.to_string(),
        ColumnType::Json => r#"{"a": 1}"#.to_owned(),
        _ if ty.is_time() => super::time::held(ty, NOON - 7 * SECOND),
        _ => format!("v{number:04}"),
    })
}

/// The scopes: the one that statements ask for, and one that differs from it in each column.
pub fn scopes(columns: usize) -> Vec<Vec<String>> {
    let first = vec!["Scope".to_owned(); columns];
    let other = |at: usize| {
        let mut scope = first.clone();
        scope[at] = "scope".to_owned();
        scope
    };
    std::iter::once(first.clone()).chain((0..columns).map(other)).collect()
}

/// The lanes that a table has; the first is the one that statements ask for.
pub const LANES: [&str; 2] = ["lane.one", "lane.two"];

/// The worker that holds every row that is held.
pub const HOLDER: &str = "holder-0123456789abcdefghi/worker";

/// A row without a state: every role at rest.
pub fn blank(queue: &Queue<'_>, number: usize) -> Row {
    let table: &Table = queue.table;
    let mut row: Row =
        table.columns.iter().map(|column| if column.nullable { None } else { filler(&column.ty, number) }).collect();
    let mut set = |column: Option<usize>, value: Option<String>| {
        if let Some(column) = column {
            row[column] = value;
        }
    };
    for column in [queue.retry_at, queue.until, queue.published, queue.finished] {
        set(column, column.and_then(|column| queue.never(column)));
    }
    // From the newest to the oldest against the order of keys, and sometimes the same, so that an order can be seen.
    let created = NOON - DAY - (number as i64 / 2 * 37 % 101) * SECOND;
    let order = queue.order.filter(|order| !table.primary_key.contains(order));
    set(order, order.and_then(|column| queue.at(column, created)));
    set(queue.due, queue.due.and_then(|column| queue.at(column, created)));
    set(queue.by, queue.by.filter(|by| !table.columns[*by].nullable).map(|_| String::new()));
    set(queue.max, Some("20".to_owned()));
    set(queue.count, Some("0".to_owned()));
    set(queue.seq, Some("7".to_owned()));
    row
}

/// Every combination.
pub fn rows(queue: &Queue<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let never = |column: Option<usize>| column.map(|column| queue.never(column));
    // Around the moment at which the clock stands, which still counts as due.
    let times = |column: Option<usize>| {
        let Some(at) = column else { return vec![None] };
        let moments = [NOON - SECOND, NOON, NOON + SECOND].map(|ms| Some(queue.at(at, ms)));
        std::iter::once(never(column)).chain(moments).collect::<Vec<Option<Option<String>>>>()
    };
    // A batch has several rows, also of a table that knows fewer kinds.
    let copies = if queue.time().is_none() { 4 } else { 1 };
    let lanes = if queue.lane.is_some() { &LANES[..] } else { &LANES[..1] };
    for (at, scope) in scopes(queue.scope.len()).iter().enumerate() {
        for lane in lanes {
            // Of what no statement asks for it is enough that it is due, old, and could be taken.
            let counts = if at == 0 && *lane == LANES[0] { [0, 19, 20].repeat(copies) } else { vec![19] };
            for state in queue.states() {
                let is_held = queue.claim.status.running.as_deref() == Some(state);
                let leases = if is_held { times(queue.until) } else { vec![never(queue.until)] };
                for (time, lease) in
                    times(queue.time()).iter().flat_map(|time| leases.iter().map(move |lease| (time, lease)))
                {
                    for &count in &counts {
                        let mut row = blank(queue, rows.len() + 1);
                        let mut set = |column: Option<usize>, value: Option<String>| {
                            if let Some(column) = column {
                                row[column] = value;
                            }
                        };
                        queue
                            .scope
                            .iter()
                            .zip(scope)
                            .for_each(|(column, value)| set(Some(*column), Some(value.clone())));
                        set(queue.lane, Some((*lane).to_owned()));
                        set(Some(queue.status), Some(state.to_owned()));
                        set(queue.time(), time.clone().flatten());
                        set(queue.until, lease.clone().flatten());
                        set(queue.by.filter(|_| is_held), Some(HOLDER.to_owned()));
                        let most =
                            if queue.max.is_none() && queue.count.is_some() { queue.most(&Row::new()) } else { 20 };
                        set(queue.count, Some(if count == 0 { 1 } else { most + count - 20 }.to_string()));
                        let age =
                            if count == 19 { NOON - OLD - rows.len() as i64 % 5 * SECOND } else { NOON - 9 * SECOND };
                        set(queue.updated, queue.updated.and_then(|column| queue.at(column, age)));
                        let published =
                            queue.published.filter(|_| queue.claim.status.published.as_deref() == Some(state));
                        // No statement leaves it open, but other programs may.
                        let open = published.is_some_and(|at| queue.table.columns[at].nullable) && rows.len() % 3 == 0;
                        set(published, published.filter(|_| !open).and_then(|column| queue.at(column, age)));
                        rows.push(row);
                    }
                }
            }
        }
    }
    rows.sort_by_key(|row| queue.key(row));
    rows
}
