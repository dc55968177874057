//! Enqueue: a new row is as documented, the same event is there once, and a transaction that is undone leaves nothing.

use claimsmith::schema::Literal;

use crate::servers::{Row, Scratch, Server, on_servers};

use super::case::{Case, Faults, Given, assert_rows, cases, committed, prepared};
use super::driver::{Driver, mysql_error};
use super::matrix::{blank, filler};
use super::queue::{Queue, name, rows};
use super::time::NOON;

fn a_new_event_is_there_once(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for case in cases(&catalog, scratch.server) {
        for check in [is_as_documented, is_undone, is_no_second_one, of_another_key_is_an_error] {
            faults.collect(|| check(&case, &mut driver));
            driver.undo();
            driver.run(&format!("DELETE FROM {}", name(case.table(), scratch.server)));
        }
    }
    faults.report();
}
on_servers!(a_new_event_is_there_once);

/// What the caller gives: values of its own in every column, which enqueue takes only where a column has no role.
fn event(queue: &Queue<'_>, number: usize) -> Row {
    let mut row = blank(queue, number);
    for (column, value) in queue.table.columns.iter().zip(&mut row) {
        *value = value.take().or(filler(&column.ty, number));
    }
    let roles = [queue.order, queue.due, queue.retry_at, queue.until, queue.updated, queue.published, queue.finished];
    for at in roles.into_iter().flatten() {
        row[at] = filler(&queue.table.columns[at].ty, number);
    }
    row
}

/// The row that it becomes.
fn new(queue: &Queue<'_>, event: &Row) -> Row {
    let mut row = event.clone();
    let mut set = |column: Option<usize>, value: &dyn Fn(usize) -> Option<String>| {
        column.into_iter().for_each(|column| row[column] = value(column));
    };
    let now = |column: usize| queue.at(column, NOON);
    let never = |column: usize| queue.never(column);
    set(queue.clock(), &now);
    // What else is the current time by its default.
    for (at, column) in queue.table.columns.iter().enumerate() {
        let default = column.default.as_ref().map(|default| &default.value);
        if matches!(default, Some(Literal::Now(_))) {
            set(Some(at), &now);
        }
    }
    set(queue.due, &now);
    set(queue.retry_at, &|at| if queue.pending_is_timed() { now(at) } else { never(at) });
    set(queue.updated, &now);
    [queue.until, queue.published, queue.finished].into_iter().for_each(|column| set(column, &never));
    [queue.count, queue.seq].into_iter().for_each(|column| set(column, &|_| Some("0".to_owned())));
    set(queue.error, &|_| None);
    set(queue.by, &|by| (!queue.table.columns[by].nullable).then(String::new));
    set(Some(queue.status), &|_| Some(queue.claim.status.pending.clone()));
    row
}

fn enqueue(case: &Case<'_>, driver: &mut Driver, event: &Row) -> Result<u64, sqlx::Error> {
    let given = Given { row: Some(event), ..Given::default() };
    case.attempt(driver, case.get("enqueue"), &given).map(|outcome| outcome.affected)
}

/// The database numbers rows as it likes.
fn assert_is(case: &Case<'_>, driver: &mut Driver, what: &str, expected: &[Row]) {
    let mut expected = expected.to_vec();
    let found = rows(driver, case.table());
    for (at, _) in case.table().columns.iter().enumerate().filter(|(_, column)| column.auto_increment) {
        expected.iter_mut().zip(&found).for_each(|(row, found)| row[at].clone_from(&found[at]));
    }
    assert_rows(case.table(), what, &found, &expected);
}

fn is_as_documented(case: &Case<'_>, driver: &mut Driver) {
    let event = event(&case.queue, 1);
    assert_eq!(enqueue(case, driver, &event).unwrap(), 1);
    assert_is(case, driver, "a new row", &[new(&case.queue, &event)]);
    // Sometimes there is nothing to give.
    let nullable = |at: &usize| case.table().columns[*at].nullable;
    let mut bare = self::event(&case.queue, 2);
    (0..bare.len()).filter(nullable).for_each(|at| bare[at] = None);
    assert_eq!(enqueue(case, driver, &bare).unwrap(), 1);
    assert_is(case, driver, "new rows", &[new(&case.queue, &event), new(&case.queue, &bare)]);
}

fn is_undone(case: &Case<'_>, driver: &mut Driver) {
    driver.run("BEGIN");
    assert_eq!(enqueue(case, driver, &event(&case.queue, 1)).unwrap(), 1);
    driver.run("ROLLBACK");
    assert_is(case, driver, "a transaction that was undone", &[]);
}

/// Columns of the idempotency key, and those of the primary key that are not among them.
fn keys(case: &Case<'_>) -> (Vec<usize>, Vec<usize>) {
    let idempotency: Vec<usize> =
        case.queue.claim.idempotency_key.iter().map(|name| case.table().position(name).unwrap()).collect();
    let rest = case.table().primary_key.iter().filter(|at| !idempotency.contains(at)).copied().collect();
    (idempotency, rest)
}

fn is_no_second_one(case: &Case<'_>, driver: &mut Driver) {
    let (idempotency, rest) = keys(case);
    if idempotency.is_empty() {
        assert!(case.find("find_duplicate").is_none());
        return;
    }
    let first = event(&case.queue, 1);
    assert_eq!(enqueue(case, driver, &first).unwrap(), 1);
    // The same event under an id of its own, and, what is commoner, all the same but what has no key.
    for same in [&idempotency[..], &[&idempotency[..], &rest[..]].concat()] {
        let mut again = event(&case.queue, 2);
        same.iter().for_each(|at| again[*at].clone_from(&first[*at]));
        driver.run("BEGIN");
        match enqueue(case, driver, &again) {
            Ok(affected) => {
                assert!(affected == 0 && !driver.server.is_mysql_like(), "{affected} rows");
                if let Some(query) = case.find("enqueue_again") {
                    let given = Given { row: Some(&again), ..Given::default() };
                    assert_eq!(case.run(driver, query, &given).affected, 0);
                }
            }
            Err(error) => {
                assert_eq!(mysql_error(&error), Some(1062), "enqueue of {} again: {error}", case.table().name);
                let given = Given { row: Some(&again), ..Given::default() };
                let found = case.run(driver, case.get("find_duplicate"), &given).rows;
                assert_eq!(found, [case.queue.key(&first)], "{}", case.table().name);
            }
        }
        driver.run("COMMIT");
        assert_is(case, driver, "enqueueing the same again", &[new(&case.queue, &first)]);
    }
}

/// An id that is taken by another event must not look like the same event.
fn of_another_key_is_an_error(case: &Case<'_>, driver: &mut Driver) {
    let (idempotency, _) = keys(case);
    let is_key = |at: &usize| case.table().primary_key.contains(at);
    if idempotency.iter().all(is_key) || case.table().columns[case.table().primary_key[0]].auto_increment {
        return;
    }
    let first = event(&case.queue, 1);
    assert_eq!(enqueue(case, driver, &first).unwrap(), 1);
    let mut other = event(&case.queue, 2);
    case.table().primary_key.iter().for_each(|at| other[*at].clone_from(&first[*at]));
    let other_key = idempotency.iter().find(|at| !is_key(at)).unwrap();
    assert_ne!(first[*other_key], other[*other_key]);
    match case.find("enqueue_again") {
        // Which key it is the second statement says.
        Some(again) => {
            assert_eq!(enqueue(case, driver, &other).unwrap(), 0);
            let given = Given { row: Some(&other), ..Given::default() };
            driver.run("BEGIN");
            case.attempt(driver, again, &given).unwrap_err();
            driver.run("ROLLBACK");
        }
        None => _ = enqueue(case, driver, &other).unwrap_err(),
    }
    assert_eq!(case.find("enqueue_again").is_some(), driver.server == Server::Postgres, "{}", case.table().name);
    if driver.server.is_mysql_like() {
        let given = Given { row: Some(&other), ..Given::default() };
        assert!(case.run(driver, case.get("find_duplicate"), &given).rows.is_empty());
    }
    assert_is(case, driver, "an id that is taken", &[new(&case.queue, &first)]);
}

/// Whatever the keys are, the row that was added first is taken first.
fn the_first_event_is_taken_first(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    let timed = |case: &Case<'_>| case.queue.order.is_none() || case.queue.clock().is_some();
    for mut case in cases(&catalog, scratch.server).into_iter().filter(timed) {
        driver.run("BEGIN");
        faults.collect(|| {
            let at = |case: &mut Case<'_>, driver: &mut Driver, minutes: i64| {
                case.now = Some(NOON + minutes * 60_000);
                driver.set_clock(NOON + minutes * 60_000);
            };
            let mut events: Vec<Row> = [9, 5, 1].iter().map(|number| event(&case.queue, *number)).collect();
            let scope = events[0].clone();
            events
                .iter_mut()
                .for_each(|event| case.queue.scope.iter().for_each(|at| event[*at].clone_from(&scope[*at])));
            for (minutes, event) in (1..).zip(&events) {
                at(&mut case, &mut driver, minutes);
                enqueue(&case, &mut driver, event).unwrap();
            }
            at(&mut case, &mut driver, 5);
            let given = Given { row: Some(&events[0]), limit: 1, ..Given::default() };
            let first = case.run(&mut driver, case.get("claim_pending"), &given).rows;
            let text = (0..events[0].len())
                .find(|at| case.table().columns[*at].ty.is_text() && events[0][*at] != events[2][*at]);
            let text = text.unwrap();
            assert_eq!(first[0][text], events[0][text], "{}", case.table().name);
        });
        driver.undo();
        driver.set_clock(NOON);
    }
    faults.report();
}
on_servers!(the_first_event_is_taken_first);

/// Of a number that orders rows and is the caller's own, every row has its own.
fn no_event_is_lost_to_the_clock(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    for case in cases(&catalog, scratch.server) {
        let own = case.queue.order.filter(|order| case.queue.clock() != Some(*order));
        let Some(own) = own.filter(|own| !case.table().columns[*own].auto_increment) else { continue };
        driver.run("BEGIN");
        let events: Vec<Row> = (1..=300).map(|number| event(&case.queue, number)).collect();
        let added: u64 = events.iter().map(|event| enqueue(&case, &mut driver, event).unwrap()).sum();
        assert_eq!(added, 300, "{}", case.table().name);
        let mut found: Vec<i64> =
            rows(&mut driver, case.table()).iter().map(|row| case.queue.number(own, row)).collect();
        found.sort_unstable();
        assert_eq!(found, (1..=300).collect::<Vec<i64>>(), "{}", case.table().name);
        driver.run("ROLLBACK");
    }
}
on_servers!(no_event_is_lost_to_the_clock);

/// The values that enqueue must not take are far from those that it writes.
#[test]
fn an_event_brings_other_values_than_a_new_row_has() {
    let catalog = committed();
    for case in cases(&catalog, crate::servers::Server::Sqlite) {
        let event = event(&case.queue, 1);
        let new = new(&case.queue, &event);
        let roles = [case.queue.clock(), case.queue.due, case.queue.updated, case.queue.finished, case.queue.error];
        for at in roles.into_iter().flatten() {
            assert_ne!(event[at], new[at], "{} of {}", case.table().columns[at].name, case.table().name);
        }
    }
}
