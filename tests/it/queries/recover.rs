//! A worker that takes the place of one that was killed: what that one did last may still be under way.

use std::time::Duration;

use crate::servers::{Row, Scratch, on_servers};

use super::case::{Case, Given, cases, committed, prepared};
use super::driver::Driver;
use super::matrix;
use super::model::asked_for;
use super::queue::{insert, name, rows};

/// Takes rows back as a program does; how many.
fn recover(case: &Case<'_>, driver: &mut Driver, row: &Row) -> u64 {
    let given = Given { row: Some(row), ..case.asking(std::slice::from_ref(row), 10) };
    driver.run("BEGIN");
    let found = case.run(driver, case.get(&case.first_step("recover")), &given);
    if driver.server.is_mysql_like() && !found.rows.is_empty() {
        let given = Given { keys: found.rows, ..given };
        case.run(driver, case.get("recover"), &given);
    }
    driver.run("COMMIT");
    found.affected
}

fn what_a_dead_worker_left_under_way_is_waited_for(scratch: &mut Scratch) {
    let catalog = committed();
    let mut worker = prepared(scratch, &catalog);
    let mut successor = Driver::open(scratch);
    let mut tried = 0;
    for case in cases(&catalog, scratch.server) {
        let (queue, status) = (&case.queue, &case.queue.claim.status);
        if case.find("recover").is_none() || status.published.is_some() {
            continue;
        }
        for (end, expected) in [("COMMIT", &status.done.0[0]), ("ROLLBACK", &status.pending)] {
            let is_held = |row: &&Row| {
                let has_more = queue.count.is_none_or(|count| queue.number(count, row) < queue.most(row));
                has_more && queue.is(row, status.running.as_ref()) && asked_for(queue, row, &queue.scope, false)
            };
            let held = matrix::rows(queue).iter().find(is_held).unwrap().clone();
            worker.run(&format!("DELETE FROM {}", name(case.table(), scratch.server)));
            insert(&mut worker, case.table(), std::slice::from_ref(&held));
            worker.run("BEGIN");
            let given = Given { row: Some(&held), ..case.asking(std::slice::from_ref(&held), 10) };
            assert_eq!(case.run(&mut worker, case.get("complete"), &given).affected, 1);
            let recovered = std::thread::scope(|scope| {
                let (case, successor, held) = (&case, &mut successor, &held);
                let waiting = scope.spawn(move || recover(case, successor, held));
                std::thread::sleep(Duration::from_millis(300));
                worker.run(end);
                waiting.join().unwrap()
            });
            assert_eq!(recovered, u64::from(end == "ROLLBACK"), "{end} of {}", case.table().name);
            let state = rows(&mut worker, case.table()).remove(0)[queue.status].clone();
            assert_eq!(state.as_ref(), Some(expected), "{end} of {}", case.table().name);
            tried += 1;
        }
    }
    assert!(tried >= 6, "{tried} cases");
}
on_servers!(what_a_dead_worker_left_under_way_is_waited_for: mysql, mariadb, postgres);
