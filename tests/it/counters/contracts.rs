//! What each generated statement may cost.

use claimsmith::statement::query::Query;

use crate::servers::Server;

use super::measure::Counted;
use super::statements::{Kind, kind};

/// What a statement may read beyond its rows: the row that ends a range, and the like.
pub const SLACK: u64 = 4;

/// Pages of an index on the way to its first entry, those of a few dead entries, and of what lies behind the last one.
const PAGES: u64 = 10;

/// Rows of three states are found, and where a server puts them into tables of its own, read there as well, twice.
const PARTS: u64 = 3 * 3 + 1;

/// PostgreSQL: rows that an Incremental Sort reads at a time.
const SORTED_AT_ONCE: u64 = 32;

/// Plans of PostgreSQL, which has no hints, by another index than the statement's own, as (table, statement, index). They cost
/// as little: the index gives the same order, if need be but for ties, and only ties are sorted.
const OTHER_PLANS: [(&str, &str, &str); 6] = [
    // Declared: by state and time of creation, so that only rows of the same second are sorted.
    ("_System_OutboxEvent", "claim_pending", "idx_outbox_pending"),
    ("_System_OutboxEvent", "get_pending", "idx_outbox_pending"),
    ("_System_OutboxEvent", "list_dead", "idx_outbox_pending"),
    // One counts by the index that is declared, which the other stands beside.
    ("_System_IntegrationOutbound", "count_pending", "idx__System_IntegrationOutbound_pending"),
    // Of the seed's shapes, the one by age serves pending rows as well where they go by the same column: none of them has a
    // retry time.
    ("notice_delivery_events", "claim_pending", "idx_notice_delivery_events_retention_delivered"),
    ("notice_delivery_events", "get_pending", "idx_notice_delivery_events_retention_delivered"),
];

/// How the statement breaks its contract; empty where it keeps it. `expected` is how many rows it is about.
pub fn breaches(server: Server, table: &str, query: &Query, counted: &Counted, expected: u64) -> Vec<String> {
    let mut found = rows(server, query, counted, expected);
    found.extend(locks(server, kind(query), counted, expected));
    found.extend(plan(server, table, query, counted));
    found
}

/// Rows and pages read, rows changed.
fn rows(server: Server, query: &Query, counted: &Counted, expected: u64) -> Vec<String> {
    let mut found = Vec::new();
    let mut at_most = |what: &str, is: u64, most: u64| {
        if is > most {
            found.push(format!("{what}: {is} instead of at most {most}"));
        }
    };
    let kind = kind(query);
    let slack = SLACK + if counted.sorts_ties { SORTED_AT_ONCE } else { 0 };
    // MySQL and MariaDB count in a temporary table, which they read as well.
    let counting = if server.is_mysql_like() { 2 * expected } else { expected };
    let (selected, examined) = match kind {
        Kind::Claim => (expected + slack, 3 * expected + slack),
        Kind::Find => (expected + slack, expected + slack),
        Kind::First => (PARTS * expected + slack, PARTS * expected + slack),
        Kind::ByKeys if query.name.starts_with("archive") => (4 * expected + SLACK, 4 * expected + SLACK),
        Kind::ByKeys => (2 * expected + SLACK, 2 * expected + SLACK),
        Kind::Move => (expected + SLACK, 8 * expected + SLACK),
        Kind::Count => (counting + SLACK, counting + SLACK),
        Kind::Oldest | Kind::Keyed => (2, 2),
        Kind::Free | Kind::Catalog => (0, 0),
    };
    // SQLite counts steps, which are compared with those in another backlog.
    if server != Server::Sqlite {
        at_most("rows examined to find rows", counted.selected, selected);
        at_most("rows examined", counted.examined, examined);
    }
    if matches!(kind, Kind::Claim | Kind::Find | Kind::First | Kind::Move | Kind::Count | Kind::Oldest) {
        // An index has more than fifty entries a page.
        let parts = if kind == Kind::First { 3 } else { 1 };
        at_most("pages to find rows", counted.pages, parts * (expected + expected / 50 + slack + PAGES));
    }
    let least = match kind {
        Kind::Keyed | Kind::ByKeys => expected,
        _ => 0,
    };
    if counted.returned < least || kind == Kind::Keyed && counted.returned > 1 {
        found.push(format!("rows returned or changed: {} instead of {expected}", counted.returned));
    }
    found
}

/// InnoDB locks a row in the index and in the table; PostgreSQL locks the row.
fn locks(server: Server, kind: Kind, counted: &Counted, expected: u64) -> Vec<String> {
    let least = if kind == Kind::Claim { expected } else { 0 };
    let most = match server {
        Server::MySql | Server::MariaDb if matches!(kind, Kind::Claim | Kind::Find) => 2 * expected + SLACK,
        // With the row in the archive.
        Server::MySql | Server::MariaDb if kind == Kind::ByKeys => 3 * expected + SLACK,
        Server::Postgres => expected,
        _ => u64::MAX,
    };
    let broken = counted.locked.filter(|locked| *locked < least || *locked > most);
    broken.map(|locked| format!("rows locked: {locked} instead of {least} to {most}")).into_iter().collect()
}

/// No sort, and the index that was made for it.
fn plan(server: Server, table: &str, query: &Query, counted: &Counted) -> Vec<String> {
    let mut found = Vec::new();
    let another = OTHER_PLANS.iter().find(|(of, name, index)| {
        server == Server::Postgres
            && (*of, *name) == (table, &*query.name)
            && counted.indexes.iter().any(|used| used == index)
    });
    // Of several states only the few rows that were found are sorted.
    let sorts = (counted.sorts || counted.sorts_ties && another.is_none()) && kind(query) != Kind::First;
    if sorts {
        found.push("rows are sorted".to_owned());
    }
    // Not even where another index holds few rows.
    let by_another = |index: &&String| !PRIMARY.iter().any(|primary| index.contains(primary));
    let goes_by_key = query.name.starts_with("complete_many");
    if let Some(index) = counted.indexes.iter().find(by_another).filter(|_| goes_by_key) {
        found.push(format!("{OTHER_INDEX}{index} instead of the primary key"));
    }
    if goes_by_key && counted.indexes.is_empty() && server != Server::Sqlite {
        found.push(format!("{OTHER_INDEX}the table instead of the primary key"));
    }
    if let Some(index) = query.index.as_ref().filter(|index| another.is_none() && !counted.indexes.contains(index)) {
        found.push(format!("{OTHER_INDEX}{:?} instead of {index}", counted.indexes));
    }
    found
}

/// What the names of primary keys hold.
const PRIMARY: [&str; 3] = ["PRIMARY", "_pkey", "sqlite_autoindex_"];

/// How a breach begins that is not one of cost.
const OTHER_INDEX: &str = "reads ";

/// Whether the breach is not of the index's name alone.
pub fn is_of_cost(breach: &str) -> bool {
    !breach.starts_with(OTHER_INDEX)
}
