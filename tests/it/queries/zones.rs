//! Clocks: the statements mean UTC whatever the time zone of the session, and their clock is right.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::servers::{Row, Scratch, Server, on_servers};

use super::case::{Case, Faults, Given, cases, committed, prepared};
use super::driver::Driver;
use super::matrix::{HOLDER, OLD, blank, filler, scopes};
use super::model::{Branch, DELAY, LEASE, branch, fence_of};
use super::queue::{Queue, insert, name, rows};
use super::time::{SECOND, read};

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

fn times_are_utc_in_another_time_zone(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    driver.run(match scratch.server {
        Server::MySql | Server::MariaDb => "SET timestamp = DEFAULT, time_zone = '+08:00'",
        Server::Postgres => "SET TIME ZONE INTERVAL '+08:00' HOUR TO MINUTE",
        Server::Sqlite => "SELECT 1",
    });
    for mut case in cases(&catalog, scratch.server) {
        case.now = None;
        for check in [writes_now, claims_what_is_due, writes_later] {
            driver.run("BEGIN");
            faults.collect(|| check(&case, &mut driver));
            driver.undo();
        }
    }
    faults.report();
}
on_servers!(times_are_utc_in_another_time_zone);

/// A time is the expected one within the seconds that a busy machine takes, and those that a column without a fraction cuts.
fn assert_near(case: &Case<'_>, column: usize, row: &Row, since: i64, after: i64) {
    let found = case.queue.read(column, row).unwrap_or_else(|| panic!("no time in {row:?}"));
    let (least, most) = (since + after - 1_100, now() + after + 100);
    let what = format!("{} of {}", case.table().columns[column].name, case.table().name);
    assert!((least..=most).contains(&found), "{what}: {found} is not in {least}..={most}");
}

fn a_row(queue: &Queue<'_>, number: usize) -> Row {
    let mut row = blank(queue, number);
    queue.scope.iter().zip(&scopes(queue.scope.len())[0]).for_each(|(at, value)| row[*at] = Some(value.clone()));
    queue.lane.into_iter().for_each(|lane| row[lane] = filler(&queue.table.columns[lane].ty, 1));
    row
}

fn writes_now(case: &Case<'_>, driver: &mut Driver) {
    let (queue, event) = (&case.queue, a_row(&case.queue, 1));
    let since = now();
    case.run(driver, case.get("enqueue"), &Given { row: Some(&event), ..Given::default() });
    let row = rows(driver, case.table()).remove(0);
    for column in [queue.clock(), queue.due, queue.updated].into_iter().flatten() {
        assert_near(case, column, &row, since, 0);
    }
    let Some(retention) = &case.table().retention else { return };
    let ty = &case.table().column(&retention.age).unwrap().ty;
    let since = now();
    let cutoff = case.run(driver, case.get("cutoff"), &Given::default()).rows.remove(0).remove(0).unwrap();
    let cutoff = read(ty, &cutoff);
    assert!((since - OLD - 1_100..=now() - OLD + 100).contains(&cutoff), "cutoff of {}: {cutoff}", case.table().name);
}

/// Of rows that are due since a second, and in five minutes, every branch takes the first: the zone is hours away.
fn claims_what_is_due(case: &Case<'_>, driver: &mut Driver) {
    let queue = &case.queue;
    for query in &case.queries {
        let Some((of, _)) = branch(queue, &query.name) else { continue };
        let status = &queue.claim.status;
        let is_pinned = queue.due.is_none() && status.retryable.is_some();
        let (state, time) = match of {
            Branch::Pending => (&status.pending, queue.time().filter(|_| !is_pinned)),
            Branch::Retryable => (status.retryable.as_ref().unwrap(), queue.time()),
            Branch::Expired => (status.running.as_ref().unwrap(), queue.until),
        };
        let Some(time) = time else { continue };
        let at = |number: usize, after: i64| {
            let mut row = a_row(queue, number);
            row[queue.status] = Some(state.clone());
            // Whole seconds, as a column without a fraction holds them.
            row[time] = queue.at(time, (now() + after) / SECOND * SECOND);
            row
        };
        let both = [at(1, -SECOND), at(2, 300 * SECOND)];
        driver.run(&format!("DELETE FROM {}", name(case.table(), driver.server)));
        insert(driver, case.table(), &both);
        let taken = case.run(driver, query, &case_given(&both)).rows;
        let taken: Vec<Row> = taken.iter().map(|row| queue.key(row)).collect();
        assert_eq!(taken, [queue.key(&both[0])], "{} of {}", query.name, case.table().name);
    }
}

fn case_given(rows: &[Row]) -> Given<'_> {
    Given { row: rows.first(), limit: 10, ..Given::default() }
}

fn writes_later(case: &Case<'_>, driver: &mut Driver) {
    let queue = &case.queue;
    let mut held = a_row(queue, 1);
    held[queue.status] = queue.held_state().map(str::to_owned);
    queue.by.into_iter().for_each(|by| held[by] = Some(HOLDER.to_owned()));
    let visible = queue.time().filter(|_| queue.by_visibility());
    for (name, column, after) in [("retry", queue.time(), DELAY), ("extend", queue.until.or(visible), LEASE)] {
        let Some(column) = column else { continue };
        driver.run(&format!("DELETE FROM {}", super::queue::name(case.table(), driver.server)));
        insert(driver, case.table(), std::slice::from_ref(&held));
        let since = now();
        let fence = fence_of(queue, &held);
        let outcome = case.run(driver, case.get(name), &Given { row: Some(&held), fence, ..Given::default() });
        assert_eq!(outcome.affected, 1);
        let row = rows(driver, case.table()).remove(0);
        assert_near(case, column, &row, since, after);
        queue.updated.into_iter().for_each(|updated| assert_near(case, updated, &row, since, 0));
    }
}
