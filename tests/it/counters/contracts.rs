//! What each generated statement may cost, and the check of all of them on one backlog.

use claimsmith::statement::query::Query;

use crate::servers::Server;

use super::Queue;
use super::measure::{Counted, measure};
use super::probe::{Answer, Probe};
use super::statements::{Kind, Values, kind, row_for};

/// What a statement may read beyond its rows: the row that ends a range, and the like.
pub const SLACK: u64 = 4;

/// How the statement breaks its contract; empty where it keeps it. `expected` is how many rows it is about.
pub fn breaches(server: Server, query: &Query, counted: &Counted, expected: u64) -> Vec<String> {
    let mut found = Vec::new();
    let mut at_most = |what: &str, is: u64, most: u64| {
        if is > most {
            found.push(format!("{what}: {is} instead of at most {most}"));
        }
    };
    let kind = kind(query);
    if server != Server::Sqlite {
        let (selected, examined) = match kind {
            Kind::Claim | Kind::Find => (expected, 3 * expected),
            Kind::ByKeys if query.name.starts_with("archive") => (4 * expected, 4 * expected),
            Kind::ByKeys => (2 * expected, 2 * expected),
            Kind::Move => (expected, 8 * expected),
            // What is counted is counted from a temporary table on MySQL and MariaDB.
            Kind::Count => (2 * expected, 2 * expected),
            Kind::Oldest | Kind::Keyed => (1, 1),
            Kind::Free => (0, 0),
        };
        let slack = if expected == 0 { SLACK } else { SLACK };
        at_most("rows examined to find rows", counted.selected, selected + slack);
        at_most("rows examined", counted.examined, examined + slack);
    }
    if server.is_mysql_like() && matches!(kind, Kind::Claim | Kind::Find) {
        at_most("rows locked", counted.locked, 2 * expected + SLACK);
    }
    if counted.sorts {
        found.push("rows are sorted".to_owned());
    }
    if let Some(index) = &query.index {
        if !counted.indexes.contains(index) {
            found.push(format!("reads {:?} instead of {index}", counted.indexes));
        }
    }
    found
}

/// Rows that the statement will find in the busiest scope, at most `limit`: counted by the statement itself.
pub fn check_all(probe: &mut Probe, queue: &Queue, old: u64, mix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (fresh, query) in queue.queries.iter().enumerate() {
        let limit = if kind(query) == Kind::Claim { 100 } else { 500 };
        let values = Values { queue, server: probe.server, limit, old, fresh: fresh as u64 };
        probe.begin();
        let counted = run(probe, &values, query);
        probe.rollback();
        let label = format!("{:?}, {}, {mix}, {}", probe.server, queue.name(), query.name);
        match counted {
            Err(error) => found.push(format!("{label}: {error}")),
            Ok((counted, about)) => {
                let expected = about.unwrap_or(counted.returned);
                for breach in breaches(probe.server, query, &counted, expected) {
                    found.push(format!("{label}: {breach} ({expected} rows)"));
                }
                if expected == 0 && !may_be_empty(queue, query, mix) {
                    found.push(format!("{label}: no row, so nothing is proven"));
                }
            }
        }
    }
    found
}

/// Statements that change rows do so for a row that is chosen for them; others find theirs in some backlogs only.
fn may_be_empty(_queue: &Queue, query: &Query, mix: &str) -> bool {
    kind(query) == Kind::Free || mix != "usual"
}

/// Runs the statement after those that come before it in its transaction. With how many rows it is about, where that is
/// not how many it returns.
pub fn run(probe: &mut Probe, values: &Values<'_>, query: &Query) -> Result<(Counted, Option<u64>), sqlx::Error> {
    let queue = values.queue;
    let mut keys = None;
    for before in before(queue, query) {
        let (sql, binds) = values.of(probe, before, None, keys.as_ref());
        let answer = probe.ask(&sql, &binds)?;
        if !answer.rows.is_empty() || keys.is_none() {
            keys = Some(answer);
        }
    }
    let row = if kind(query) == Kind::Keyed { row_for(probe, queue, query) } else { None };
    if kind(query) == Kind::Keyed && row.is_none() || keys.as_ref().is_some_and(|keys: &Answer| keys.rows.is_empty() && kind(query) == Kind::ByKeys) {
        return Ok((Counted::default(), Some(0)));
    }
    let (sql, binds) = values.of(probe, query, row.as_ref(), keys.as_ref());
    let counted = measure(probe, &sql, &binds)?;
    let about = match kind(query) {
        Kind::ByKeys => keys.map(|keys| keys.rows.len() as u64),
        Kind::Count => counted.answer.rows.first().and_then(|row| row[0].as_ref()?.parse().ok()).or(Some(10_000)),
        Kind::Oldest | Kind::Keyed => Some(1),
        _ => None,
    };
    Ok((counted, about))
}

/// The statements that come before this one in its transaction.
fn before<'a>(queue: &'a Queue, query: &Query) -> Vec<&'a Query> {
    let starting = |start: &str| queue.queries.iter().find(|query| query.name.starts_with(start));
    let found: Vec<Option<&Query>> = match &*query.name {
        "take" => vec![starting("claim_pending")],
        "take_exhausted" => vec![starting("claim_expired").or_else(|| starting("claim_pending"))],
        "archive_copy" => vec![starting("archive_find_")],
        "archive_delete" => vec![starting("archive_find_"), starting("archive_copy")],
        name if name.starts_with("archive_delete_") => vec![starting(&name.replace("delete", "copy"))],
        name if kind(query) == Kind::ByKeys => vec![starting(&format!("{name}_find"))],
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}
