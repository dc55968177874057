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
            Kind::Claim => (expected + SLACK, 3 * expected + SLACK),
            Kind::Find => (expected + SLACK, expected + SLACK),
            Kind::ByKeys if query.name.starts_with("archive") => (4 * expected + SLACK, 4 * expected + SLACK),
            Kind::ByKeys => (2 * expected + SLACK, 2 * expected + SLACK),
            Kind::Move => (expected + SLACK, 8 * expected + SLACK),
            // MySQL and MariaDB count in a temporary table.
            Kind::Count => (2 * expected + SLACK, 2 * expected + SLACK),
            Kind::Oldest | Kind::Keyed => (2, 2),
            Kind::Free | Kind::Catalog => (0, 0),
        };
        at_most("rows examined to find rows", counted.selected, selected);
        at_most("rows examined", counted.examined, examined);
    }
    // InnoDB locks a row in the index and in the table; PostgreSQL locks the row.
    match server {
        Server::MySql | Server::MariaDb if matches!(kind, Kind::Claim | Kind::Find) => {
            at_most("rows locked", counted.locked, 2 * expected + SLACK);
        }
        Server::Postgres => at_most("rows locked", counted.locked, expected),
        _ => {}
    }
    if server == Server::Postgres && kind == Kind::Claim && counted.locked < expected {
        found.push(format!("rows locked: {} of {expected}", counted.locked));
    }
    if counted.sorts {
        found.push("rows are sorted".to_owned());
    }
    match &query.index {
        // PostgreSQL has no hints: it may count by any index that has few pages, and claim by one that gives the order but
        // for the ties.
        _ if server == Server::Postgres && (kind == Kind::Count || counted.sorts_ties) => {}
        // With the seed's shapes on PostgreSQL, the index by age serves pending rows as well where they go by the same column:
        // none of them has a retry time.
        Some(index) if server == Server::Postgres && index == "idx_notice_delivery_events_pending" => {}
        Some(index) if !counted.indexes.contains(index) => {
            found.push(format!("reads {:?} instead of {index}", counted.indexes));
        }
        _ => {}
    }
    found
}

/// Runs all statements, each in a transaction of its own, and says which break their contracts.
pub fn check_all(probe: &mut Probe, queue: &Queue, old: u64, mix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (fresh, query) in queue.queries.iter().enumerate() {
        if kind(query) == Kind::Catalog {
            continue;
        }
        // One row is found by its key in every backlog.
        if mix != "usual" && matches!(kind(query), Kind::Keyed | Kind::Free) {
            continue;
        }
        // Of keys, as many as are allowed.
        let limit = if kind(query) == Kind::Claim { 100 } else { 1_000 };
        let values = Values { queue, server: probe.server, limit, old, fresh: fresh as u64 };
        probe.begin();
        let counted = run(probe, &values, query);
        probe.rollback();
        let label = format!("{:?}, {}, {mix}, {}", probe.server, queue.name(), query.name);
        match counted {
            Err(error) => found.push(format!("{label}: {error}")),
            Ok((counted, about)) => {
                let expected = about.unwrap_or(counted.returned);
                let proves = expected > 0 || kind(query) == Kind::Free;
                // In the usual backlog there are rows of every kind; where all is due, none that has finished.
                if !proves && (mix == "usual" || kind(query) == Kind::Claim || query.name == "take") {
                    found.push(format!("{label}: no row, so nothing is proven"));
                }
                let breaches = if proves { breaches(probe.server, query, &counted, expected) } else { Vec::new() };
                found.extend(breaches.iter().map(|breach| format!("{label}: {breach} ({expected} rows)")));
            }
        }
    }
    found
}

/// Runs the statement after those that come before it in its transaction. With how many rows it is about, where that is
/// not how many it returns.
pub fn run(probe: &mut Probe, values: &Values<'_>, query: &Query) -> Result<(Counted, Option<u64>), sqlx::Error> {
    let queue = values.queue;
    let mut keys = None;
    for before in before(queue, query) {
        if kind(before) == Kind::ByKeys && keys.as_ref().is_some_and(|keys: &Answer| keys.rows.is_empty()) {
            break;
        }
        let (sql, binds) = values.of(probe, before, None, keys.as_ref());
        let answer = probe.ask(&sql, &binds)?;
        if !answer.rows.is_empty() || keys.is_none() {
            keys = Some(answer);
        }
    }
    let row = if kind(query) == Kind::Keyed { row_for(probe, queue, query) } else { None };
    if kind(query) == Kind::Keyed && row.is_none()
        || keys.as_ref().is_some_and(|keys| keys.rows.is_empty() && kind(query) == Kind::ByKeys)
    {
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
