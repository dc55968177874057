//! The event bus: whoever is faster, a message that was handled leaves its row done; and one that never is ends dead.

use std::time::Duration;

use crate::servers::{Row, Scratch, on_servers};

use super::case::{Case, Faults, Given, cases, committed, prepared};
use super::driver::Driver;
use super::matrix::blank;
use super::model::{branch, fence_of};
use super::queue::{insert, rows};
use super::time::{DAY, NOON};

fn buses<'c>(catalog: &'c claimsmith::schema::Catalog, scratch: &Scratch) -> Vec<Case<'c>> {
    let buses = cases(catalog, scratch.server).into_iter().filter(|case| case.queue.claim.status.published.is_some());
    let buses: Vec<Case<'c>> = buses.collect();
    assert!(buses.len() >= 2);
    buses
}

/// A row that a worker has taken and publishes.
fn taken(case: &Case<'_>) -> Row {
    let queue = &case.queue;
    let mut row = blank(queue, 1);
    row[queue.status] = queue.held_state().map(str::to_owned);
    queue.count.into_iter().for_each(|count| row[count] = Some("1".to_owned()));
    row
}

fn act(case: &Case<'_>, driver: &mut Driver, name: &str) -> u64 {
    let row = rows(driver, case.table()).remove(0);
    let fence = fence_of(&case.queue, &row);
    case.run(driver, case.get(name), &Given { row: Some(&row), fence, limit: 1, ..Given::default() }).affected
}

fn state(case: &Case<'_>, driver: &mut Driver) -> String {
    rows(driver, case.table()).remove(0)[case.queue.status].clone().unwrap()
}

fn a_handled_message_is_done_whoever_is_faster(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    for case in buses(&catalog, scratch) {
        let done = case.queue.claim.status.done.0[0].clone();
        for (first, second, counts) in [("mark_published", "consume", (1, 1)), ("consume", "mark_published", (1, 0))] {
            driver.run("BEGIN");
            insert(&mut driver, case.table(), &[taken(&case)]);
            assert_eq!((act(&case, &mut driver, first), act(&case, &mut driver, second)), counts);
            assert_eq!(state(&case, &mut driver), done, "{first}, then {second}");
            assert_eq!(act(&case, &mut driver, "consume"), 0, "handled before");
            driver.run("ROLLBACK");
        }
    }
}
on_servers!(a_handled_message_is_done_whoever_is_faster);

/// The relay commits while the consumer already waits for the row.
fn a_consumer_that_waits_for_the_relay_finds_the_row(scratch: &mut Scratch) {
    let catalog = committed();
    let mut relay = prepared(scratch, &catalog);
    let mut consumer = Driver::open(scratch);
    for case in buses(&catalog, scratch) {
        insert(&mut relay, case.table(), &[taken(&case)]);
        relay.run("BEGIN");
        assert_eq!(act(&case, &mut relay, "mark_published"), 1);
        let consumed = std::thread::scope(|scope| {
            let (case, consumer) = (&case, &mut consumer);
            let waiting = scope.spawn(move || act(case, consumer, "consume"));
            std::thread::sleep(Duration::from_millis(300));
            relay.run("COMMIT");
            waiting.join().unwrap()
        });
        assert_eq!(consumed, 1, "{}", case.table().name);
        assert_eq!(state(&case, &mut relay), case.queue.claim.status.done.0[0]);
    }
}
on_servers!(a_consumer_that_waits_for_the_relay_finds_the_row: mysql, mariadb, postgres);

/// Takes the row once it is due; `false` where that gives it up.
fn claim(case: &Case<'_>, driver: &mut Driver) -> bool {
    let queue = &case.queue;
    let row = rows(driver, case.table()).remove(0);
    let query = case.queries.iter().find(|query| branch(queue, &query.name).is_some()).unwrap();
    let mut given = Given { row: Some(&row), limit: 1, ..Given::default() };
    let mut claimed = case.run(driver, query, &given).rows;
    assert_eq!(claimed.len(), 1, "{}: {row:?}", case.table().name);
    if driver.server.is_mysql_like() {
        let exhausted = queue.number(queue.count.unwrap(), &row) >= queue.most(&row);
        given.keys = claimed;
        case.run(driver, case.get(if exhausted { "take_exhausted" } else { "take" }), &given);
        claimed = rows(driver, case.table());
    }
    !queue.is(&claimed[0], queue.claim.status.dead.as_ref())
}

/// A handler that never manages ends the row, after as many claims as the definition says where each row has its limit, and
/// after half as many where the fence itself uses up attempts of a limit that all have.
fn a_message_that_is_never_handled_ends_dead(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for mut case in buses(&catalog, scratch) {
        driver.run("BEGIN");
        faults.collect(|| {
            let mut new = taken(&case);
            new[case.queue.count.unwrap()] = Some("0".to_owned());
            insert(&mut driver, case.table(), &[new]);
            let mut claims = 0;
            for day in 1..100 {
                case.now = Some(NOON + day * DAY);
                driver.set_clock(NOON + day * DAY);
                if !claim(&case, &mut driver) {
                    break;
                }
                claims += 1;
                assert_eq!(act(&case, &mut driver, "mark_published"), 1);
                assert_eq!(act(&case, &mut driver, "retry_published"), 1);
            }
            let most = case.queue.default_attempts();
            assert_eq!(claims, if case.queue.max.is_some() { most } else { most / 2 }, "{}", case.table().name);
        });
        driver.undo();
        driver.set_clock(NOON);
    }
    faults.report();
}
on_servers!(a_message_that_is_never_handled_ends_dead);

/// However often a row is published for nothing, because its consumer is away, it has all its attempts; but for rows that
/// have no limit of their own and whose fence is the attempts.
fn a_consumer_that_is_away_costs_no_attempt(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for mut case in buses(&catalog, scratch) {
        let keeps = case.queue.max.is_some() || !case.queue.attempts_are_the_fence();
        if case.find("sweep").is_none() || !keeps {
            continue;
        }
        driver.run("BEGIN");
        faults.collect(|| {
            let mut new = taken(&case);
            new[case.queue.count.unwrap()] = Some("0".to_owned());
            insert(&mut driver, case.table(), &[new]);
            for day in 1..=60 {
                case.now = Some(NOON + day * DAY);
                driver.set_clock(NOON + day * DAY);
                assert!(claim(&case, &mut driver), "{} is dead after {day} claims", case.table().name);
                assert_eq!(act(&case, &mut driver, "mark_published"), 1);
                let row = rows(&mut driver, case.table()).remove(0);
                let cutoff = NOON + day * DAY;
                let mut given = Given { row: Some(&row), cutoff, limit: 10, ..Given::default() };
                if driver.server.is_mysql_like() {
                    case.run(&mut driver, case.get("sweep_find"), &given);
                    given.keys = vec![row.clone()];
                }
                assert_eq!(case.run(&mut driver, case.get("sweep"), &given).affected, 1);
            }
        });
        driver.undo();
        driver.set_clock(NOON);
    }
    faults.report();
}
on_servers!(a_consumer_that_is_away_costs_no_attempt);
