//! Finished rows of some time get a new life, and no other rows do; and a dead row can be deleted, and nothing else.

use claimsmith::schema::Table;

use crate::servers::{Row, Scratch, Server, on_servers};

use super::archive::archive_of;
use super::case::{Case, Faults, Given, assert_rows, cases, committed, prepared};
use super::driver::Driver;
use super::matrix;
use super::model::{self, Change};
use super::queue::{insert, rows};

fn rows_of_a_window_are_republished(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let (mut faults, mut tables) = (Faults::default(), 0);
    for case in cases(&catalog, scratch.server) {
        let matrix = matrix::rows(&case.queue);
        insert(&mut driver, case.table(), &matrix);
        let states = case.table().retention.iter().flat_map(|retention| &retention.states);
        for state in states.filter(|state| case.queue.claim.status.done.0.contains(state)) {
            for limit in [1, 1_000] {
                driver.run("BEGIN");
                faults.collect(|| republished(&case, &mut driver, state, &matrix, limit));
                driver.run("ROLLBACK");
            }
            tables += 1;
        }
        if case.find("purge").is_some() {
            driver.run("BEGIN");
            faults.collect(|| purged(&case, &mut driver, &matrix));
            driver.run("ROLLBACK");
        }
    }
    faults.report();
    assert!(tables >= 12, "only {tables} states");
}
on_servers!(rows_of_a_window_are_republished);

fn republished(case: &Case<'_>, driver: &mut Driver, state: &str, before: &[Row], limit: i64) {
    let queue = &case.queue;
    let retention = case.table().retention.as_ref().unwrap();
    let scope = retention.scope.as_ref().unwrap_or(&queue.claim.scope);
    let scope: Vec<usize> = scope.iter().map(|name| case.table().position(name).unwrap()).collect();
    let age = case.table().position(&retention.age).unwrap();
    let mut found = model::in_window(queue, state, age, &scope, before);
    assert!(found.len() > 1 && found.len() < 1_000, "{} rows of {}", found.len(), case.table().name);
    let mut given = case.asking(before, limit);
    // The dry run.
    let counted = case.run(driver, case.get(&format!("count_republish_{state}")), &given).rows;
    let expected = found.len().min(limit as usize);
    assert_eq!(counted, [[Some(expected.to_string())]], "{}", case.table().name);
    assert_rows(case.table(), "the dry run", &rows(driver, case.table()), before);
    found.truncate(limit as usize);
    if driver.server.is_mysql_like() {
        let keys = case.run(driver, case.get(&format!("republish_find_{state}")), &given).rows;
        assert_eq!(keys, found.iter().map(|row| queue.key(row)).collect::<Vec<_>>(), "{}", case.table().name);
        given.keys = found.iter().map(|row| (*row).clone()).collect();
        assert_eq!(case.run(driver, case.get("republish"), &given).affected, found.len() as u64);
    } else {
        let query = case.get(&format!("republish_{state}"));
        assert_eq!(case.run(driver, query, &given).affected, found.len() as u64, "{}", case.table().name);
    }
    let again = |row: &Row| match found.contains(&row) {
        true => Change::of(queue, row).republished(),
        false => row.clone(),
    };
    let after: Vec<Row> = before.iter().map(again).collect();
    assert_rows(case.table(), "republish", &rows(driver, case.table()), &after);
}

/// The archive's rows come back as those of the table do, but for one whose key is there again.
fn archived_rows_of_a_window_come_back(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let (mut faults, mut tables) = (Faults::default(), 0);
    for case in cases(&catalog, scratch.server) {
        let Some(archive) = archive_of(&catalog, case.table()) else { continue };
        let matrix = matrix::rows(&case.queue);
        insert(&mut driver, archive, &matrix);
        let states = case.table().retention.iter().flat_map(|retention| &retention.states);
        for state in states.filter(|state| case.queue.claim.status.done.0.contains(state)) {
            for limit in [1, 1_000] {
                driver.run("BEGIN");
                faults.collect(|| restored(&case, archive, &mut driver, state, &matrix, limit));
                driver.run("ROLLBACK");
            }
            tables += 1;
        }
    }
    faults.report();
    assert!(tables >= 8, "only {tables} states");
}
on_servers!(archived_rows_of_a_window_come_back);

fn restored(case: &Case<'_>, archive: &Table, driver: &mut Driver, state: &str, before: &[Row], limit: i64) {
    let queue = &case.queue;
    let retention = case.table().retention.as_ref().unwrap();
    let scope = retention.scope.as_ref().unwrap_or(&queue.claim.scope);
    let scope: Vec<usize> = scope.iter().map(|name| case.table().position(name).unwrap()).collect();
    let age = case.table().position(&retention.age).unwrap();
    let in_window: Vec<Row> = model::in_window(queue, state, age, &scope, before).into_iter().cloned().collect();
    assert!(in_window.len() > 1, "{} rows of {}", in_window.len(), case.table().name);
    // The first is there again.
    insert(driver, case.table(), &in_window[..1]);
    let mut given = case.asking(before, limit);
    let counted = case.run(driver, case.get(&format!("count_republish_archived_{state}")), &given).rows;
    let expected = in_window.len().min(limit as usize);
    assert_eq!(counted, [[Some(expected.to_string())]], "{}", case.table().name);
    let found: Vec<Row> = in_window[1..].iter().take(limit as usize).cloned().collect();
    if driver.server == Server::Postgres {
        let query = case.get(&format!("republish_archived_{state}"));
        assert_eq!(case.run(driver, query, &given).affected, found.len() as u64, "{}", case.table().name);
    } else {
        let keys = case.run(driver, case.get(&format!("republish_archived_find_{state}")), &given).rows;
        assert_eq!(keys, found.iter().map(|row| queue.key(row)).collect::<Vec<_>>(), "{}", case.table().name);
        given.keys = found.clone();
        for step in ["republish_archived_copy", "republish_archived_delete"] {
            let affected = case.run(driver, case.get(step), &given).affected;
            assert_eq!(affected, found.len() as u64, "{step} of {}", case.table().name);
        }
    }
    let mut now: Vec<Row> = found.iter().map(|row| Change::of(queue, row).republished()).collect();
    now.push(in_window[0].clone());
    let mut after = rows(driver, case.table());
    now.sort();
    after.sort();
    assert_rows(case.table(), "republish_archived", &after, &now);
    let left: Vec<Row> = before.iter().filter(|row| !found.contains(row)).cloned().collect();
    assert_rows(archive, "what stays in the archive", &rows(driver, archive), &left);
}

fn purged(case: &Case<'_>, driver: &mut Driver, before: &[Row]) {
    let queue = &case.queue;
    let (mut left, mut tried) = (before.to_vec(), 0);
    for row in before.iter().step_by(7) {
        let is_dead = queue.is(row, queue.claim.status.dead.as_ref());
        let mut elsewhere = row.clone();
        if let Some(scope) = queue.scope.first() {
            elsewhere[*scope] = Some("elsewhere".to_owned());
            let given = Given { row: Some(&elsewhere), ..Given::default() };
            assert_eq!(case.run(driver, case.get("purge"), &given).affected, 0);
        }
        let given = Given { row: Some(row), ..Given::default() };
        let deleted = case.run(driver, case.get("purge"), &given).affected;
        assert_eq!(deleted, u64::from(is_dead), "purge of {}: {row:?}", case.table().name);
        left.retain(|left| !is_dead || left != row);
        tried += usize::from(is_dead);
    }
    assert!(tried > 0, "{}", case.table().name);
    assert_rows(case.table(), "purge", &rows(driver, case.table()), &left);
}
