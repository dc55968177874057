//! No row may become invisible: every row that the statements can bring about, starting from a new one and with time
//! passing, is in a branch of the claim, now or once all its times have come, or goes back by the sweep or by `recover`.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use claimsmith::schema::Catalog;
use claimsmith::schema::format::MaxAttempts;

use crate::loaded::{load_text, repository};
use crate::servers::{Row, Scratch, Server, on_servers};

use super::case::{Case, Faults, Given, cases, committed, prepared};
use super::driver::Driver;
use super::matrix::{self, HOLDER, LANES, OLD, blank, scopes};
use super::model::{self, branch, fence_of};
use super::queue::{Queue, insert, name, rows};
use super::time::{DAY, NOON, SECOND};

/// The most attempts, fewer than in the definitions, so that all counts are reached.
const MOST: u32 = 2;

/// When all times have come.
const LATER: i64 = NOON + 1_500 * DAY;

/// The committed definitions with few attempts.
fn catalog() -> Catalog {
    let mut catalog = committed();
    for retry in catalog.tables.iter_mut().filter_map(|table| table.claim.as_mut()?.retry.as_mut()) {
        match &mut retry.max {
            MaxAttempts::Number(most) => *most = MOST,
            MaxAttempts::Column(max) => max.default = MOST,
        }
    }
    catalog
}

fn a_new_row(queue: &Queue<'_>) -> Row {
    let mut row = blank(queue, 1);
    queue.scope.iter().zip(&scopes(queue.scope.len())[0]).for_each(|(at, value)| row[*at] = Some(value.clone()));
    queue.lane.into_iter().for_each(|lane| row[lane] = Some(LANES[0].to_owned()));
    queue.max.into_iter().for_each(|max| row[max] = Some(MOST.to_string()));
    row
}

/// Times as never, past or to come, and what no statement tests as it always is: rows of one kind become the same row.
fn kind(queue: &Queue<'_>, row: &Row) -> Row {
    let mut kind = a_new_row(queue);
    for column in [queue.retry_at, queue.due, queue.until].into_iter().flatten() {
        kind[column] = match queue.read(column, row) {
            None => None,
            Some(..=0) => queue.never(column),
            Some(at) if at <= NOON => queue.at(column, NOON - SECOND),
            Some(_) => queue.at(column, NOON + 60 * SECOND),
        };
    }
    kind[queue.status].clone_from(&row[queue.status]);
    if let Some(count) = queue.count {
        // What counts is how many attempts are left, where the most of a row can grow.
        let left = queue.max.map(|_| queue.most(row) - queue.number(count, row));
        let same = left.map(|left| (i64::from(MOST) - left).max(0).to_string());
        kind[count] = same.or_else(|| row[count].clone());
    }
    // A published row gets old enough for the sweep.
    if let Some(column) = queue.published {
        kind[column] = row[column].as_ref().and_then(|_| queue.at(column, NOON - OLD - SECOND));
    }
    if let Some(column) = queue.by {
        kind[column] =
            row[column].clone().filter(|by| by.is_empty()).or(row[column].as_ref().map(|_| HOLDER.to_owned()));
    }
    kind
}

/// The row once some of its times have come.
fn waited(queue: &Queue<'_>, row: &Row) -> Vec<Row> {
    let columns = [queue.retry_at, queue.due, queue.until];
    let to_come = |at: &usize| queue.read(*at, row).is_some_and(|ms| ms > NOON);
    let to_come: Vec<usize> = columns.into_iter().flatten().filter(to_come).collect();
    let mut rows = vec![row.clone(); to_come.len() + 1];
    for (number, at) in to_come.iter().enumerate() {
        rows[number][*at] = queue.at(*at, NOON - SECOND);
        rows[to_come.len()][*at] = queue.at(*at, NOON - SECOND);
    }
    rows
}

/// Whether somebody can run a statement on such a row.
fn is_possible(queue: &Queue<'_>, name: &str, row: &Row) -> bool {
    // These leave a row as it is, make one, or take it away.
    let others =
        ["enqueue", "get_", "list_", "count_", "oldest_", "find_", "cutoff", "cleanup", "archive", "purge", "coalesce"];
    let moves = !others.iter().any(|other| name.starts_with(other));
    let attempts = queue.count.map_or(1, |count| queue.number(count, row));
    match name {
        // At the limit a worker calls `dead` instead.
        "retry" => 0 < attempts && attempts < i64::from(MOST),
        // Nobody holds a row that was never taken, nor one with more attempts than a claim gives.
        "complete" | "complete_many" | "dead" | "extend" | "release" | "mark_published" | "retry_published"
        | "dead_published" | "postpone_early" => {
            0 < attempts && queue.count.is_none_or(|_| attempts <= queue.most(row))
        }
        _ => moves,
    }
}

/// Every kind of row that there can be.
fn explore(case: &Case<'_>, driver: &mut Driver) -> BTreeSet<Row> {
    let delete = format!("DELETE FROM {}", name(case.table(), case.server));
    let new = a_new_row(&case.queue);
    driver.run("BEGIN");
    case.run(driver, case.get("enqueue"), &Given { row: Some(&new), ..Given::default() });
    let mut reached = BTreeSet::new();
    let mut open = vec![kind(&case.queue, &rows(driver, case.table())[0])];
    while let Some(row) = open.pop() {
        if !reached.insert(row.clone()) {
            continue;
        }
        assert!(reached.len() < 1_000, "the rows of {} never end: {row:?}", case.table().name);
        open.extend(waited(&case.queue, &row));
        driver.run(&delete);
        insert(driver, case.table(), std::slice::from_ref(&row));
        for query in case.queries.iter().filter(|query| is_possible(&case.queue, &query.name, &row)) {
            driver.run("SAVEPOINT step");
            let is_claim = branch(&case.queue, &query.name).is_some();
            let fence = fence_of(&case.queue, &row).filter(|_| !is_claim);
            let keys = vec![row.clone()];
            let window = Some((0, LATER));
            let given = Given { row: Some(&row), fence, keys, limit: 10, window, ..Given::default() };
            let outcome = case.run(driver, query, &given);
            if outcome.affected > 0 {
                open.push(kind(&case.queue, &rows(driver, case.table())[0]));
            }
            driver.run("ROLLBACK TO SAVEPOINT step");
        }
    }
    driver.run("ROLLBACK");
    reached
}

/// The rows of each table, found on SQLite, where the statements move rows as they do everywhere.
fn reachable() -> &'static Vec<BTreeSet<Row>> {
    static REACHABLE: OnceLock<Vec<BTreeSet<Row>>> = OnceLock::new();
    REACHABLE.get_or_init(|| {
        let catalog = catalog();
        let mut scratch = Scratch::new(Server::Sqlite, "reachable rows").unwrap();
        let mut driver = prepared(&mut scratch, &catalog);
        cases(&catalog, Server::Sqlite).iter().map(|case| explore(case, &mut driver)).collect()
    })
}

fn no_row_becomes_invisible(scratch: &mut Scratch) {
    let catalog = catalog();
    let mut driver = prepared(scratch, &catalog);
    driver.set_clock(LATER);
    let mut faults = Faults::default();
    for (mut case, reached) in cases(&catalog, scratch.server).into_iter().zip(reachable()) {
        case.now = Some(LATER);
        driver.run("BEGIN");
        faults.collect(|| all_are_seen(&case, &mut driver, reached));
        driver.run("ROLLBACK");
    }
    faults.report();
}
on_servers!(no_row_becomes_invisible);

fn all_are_seen(case: &Case<'_>, driver: &mut Driver, reached: &BTreeSet<Row>) {
    let queue = &case.queue;
    let states: BTreeSet<&str> = reached.iter().map(|row| row[queue.status].as_deref().unwrap()).collect();
    let written =
        queue.states().into_iter().filter(|state| !queue.claim.status.done.0.iter().skip(1).any(|done| done == state));
    assert_eq!(states, written.collect(), "states of {} that are reached", case.table().name);
    // The same rows beside each other, with ids of their own.
    let open: Vec<Row> = reached
        .iter()
        .filter(|row| queue.unfinished().contains(&row[queue.status].as_deref().unwrap()))
        .zip(2..)
        .map(|(row, number)| {
            let (first, other) = (blank(queue, 1), blank(queue, number));
            (0..row.len()).map(|at| if row[at] == first[at] { other[at].clone() } else { row[at].clone() }).collect()
        })
        .collect();
    insert(driver, case.table(), &open);
    let seen = seen(case, driver, &open);
    let lost = open.iter().find(|row| !seen.contains(&queue.key(row)));
    assert!(lost.is_none(), "a row of {} that no claim will ever see: {lost:?}", case.table().name);
}

/// The keys of the rows that the claims, the sweep and `recover` find.
fn seen(case: &Case<'_>, driver: &mut Driver, open: &[Row]) -> BTreeSet<Row> {
    let queue = &case.queue;
    let mut seen: BTreeSet<Row> = BTreeSet::new();
    for query in &case.queries {
        let is_branch = branch(queue, &query.name).is_some_and(|(_, in_lane)| !in_lane);
        let moves = ["sweep", "recover"].into_iter().find(|name| case.first_step(name) == query.name);
        if !is_branch && moves.is_none() {
            continue;
        }
        driver.run("SAVEPOINT claim");
        let mut given = case.asking(open, 10_000);
        given.cutoff = LATER;
        let outcome = case.run(driver, query, &given);
        if is_branch {
            let keys = |row: &Row| if row.len() == case.table().columns.len() { queue.key(row) } else { row.clone() };
            seen.extend(outcome.rows.iter().map(keys));
        } else {
            let status = &queue.claim.status;
            let is_moved = |row: &&Row| match moves {
                Some("recover") => queue.is(row, status.running.as_ref()),
                _ => queue.is(row, status.published.as_ref()) && row[queue.published.unwrap()].is_some(),
            };
            let of_state: Vec<&Row> = open.iter().filter(is_moved).collect();
            assert_eq!(outcome.affected, of_state.len() as u64, "{} of {}", query.name, case.table().name);
            seen.extend(of_state.into_iter().map(|row| queue.key(row)));
        }
        driver.run("ROLLBACK TO SAVEPOINT claim");
    }
    seen
}

/// Whatever other programs write: of all rows that are not finished, in every state with every time, those that will never
/// be found are counted as stranded, and no others.
fn what_will_never_be_found_is_counted(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    driver.set_clock(LATER);
    let (mut faults, mut counted) = (Faults::default(), 0);
    for mut case in cases(&catalog, scratch.server) {
        case.now = Some(LATER);
        driver.run("BEGIN");
        faults.collect(|| counted += all_stranded_are_counted(&case, &mut driver));
        driver.run("ROLLBACK");
    }
    faults.report();
    assert!(counted > 20, "only {counted} rows are stranded");
}
on_servers!(what_will_never_be_found_is_counted);

fn all_stranded_are_counted(case: &Case<'_>, driver: &mut Driver) -> usize {
    let queue = &case.queue;
    let unfinished = |row: &Row| queue.unfinished().contains(&row[queue.status].as_deref().unwrap());
    let asked = |row: &Row| model::asked_for(queue, row, &queue.scope, true);
    let open: Vec<Row> = matrix::rows(queue).into_iter().filter(|row| unfinished(row) && asked(row)).collect();
    insert(driver, case.table(), &open);
    let seen = seen(case, driver, &open);
    let lost: Vec<&Row> = open.iter().filter(|row| !seen.contains(&queue.key(row))).collect();
    for state in queue.unfinished() {
        let expected = lost.iter().filter(|row| row[queue.status].as_deref() == Some(state)).count();
        let found = match case.find(&format!("count_stranded_{state}")) {
            Some(query) => case.run(driver, query, &case.asking(&open, 10_000)).rows[0][0].clone().unwrap(),
            None => "0".to_owned(),
        };
        assert_eq!(found, expected.to_string(), "stranded rows of the state {state} of {}", case.table().name);
    }
    lost.len()
}

/// Where a state has no branch, the definition's findings say so, but for tables that allow it.
#[test]
fn what_has_no_branch_has_a_finding() {
    let shapes = std::fs::read_to_string(repository("tests/it/queries/shapes.json")).unwrap();
    let lease = r#""lease": { "until": "held_until_ms", "by": "worker", "for": "30s" },"#;
    let (before, after) = shapes.split_once(r#""uncounted_leases""#).unwrap();
    assert!(after.contains(lease));
    let without_lease = format!(r#"{before}"uncounted_leases"{}"#, after.replacen(lease, "", 1));
    for (text, expected) in [(without_lease, vec!["uncounted_leases"]), (shapes.clone(), Vec::new())] {
        let loaded = load_text(&text);
        let cases = cases(&loaded.catalog, Server::Sqlite);
        let without = cases.iter().filter(|case| {
            let allowed = case.table().allow.contains_key("queue-without-lease");
            case.queue.claim.status.running.is_some() && case.queue.claim.lease.is_none() && !allowed
        });
        assert_eq!(without.map(|case| &*case.table().name.name).collect::<Vec<_>>(), expected);
        let found = loaded.findings.iter().filter(|finding| finding.rule.id == "queue-without-lease").count();
        assert_eq!(found, expected.len(), "{}", loaded.report());
    }
}

/// The exploration finds what the model says of the branches: most kinds of rows are reached.
#[test]
fn kinds_of_rows_are_many() {
    for (case, reached) in cases(&catalog(), Server::Sqlite).iter().zip(reachable()) {
        assert!(reached.len() > case.queue.states().len(), "{} of {}", reached.len(), case.table().name);
        let rows: Vec<Row> = reached.iter().cloned().collect();
        let pending = model::in_branch(&case.queue, model::Branch::Pending, false, &rows, LATER);
        assert!(!pending.is_empty(), "{}", case.table().name);
    }
}
