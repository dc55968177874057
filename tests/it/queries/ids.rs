//! Ids that differ in case or in blanks only are different ids, and so are scopes.

use crate::servers::{Row, Scratch, on_servers};

use super::case::{Case, Faults, Given, assert_rows, cases, committed, prepared};
use super::driver::Driver;
use super::matrix::{HOLDER, blank};
use super::model::{self, fence_of};
use super::queue::{insert, name, rows};

const VARIANTS: [&str; 5] = ["Ev1", "eV1", "Ev1 ", " Ev1", "Ev1  "];

fn ids_are_compared_exactly(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for case in cases(&catalog, scratch.server) {
        let keys = case.queue.claim.idempotency_key.iter().map(|name| case.table().position(name).unwrap());
        let mut columns: Vec<usize> =
            case.table().primary_key.iter().copied().chain(keys).chain(case.queue.lane).collect();
        columns.sort_unstable();
        columns.dedup();
        for column in columns.into_iter().filter(|at| case.table().columns[*at].ty.is_text()) {
            for check in [all_are_there, one_is_moved, one_scope_is_claimed] {
                faults.collect(|| check(&case, &mut driver, column));
                driver.run(&format!("DELETE FROM {}", name(case.table(), scratch.server)));
            }
        }
    }
    faults.report();
}
on_servers!(ids_are_compared_exactly);

/// Rows that differ in one column by a variant; no other key of theirs is the same unless it must be.
fn variants(case: &Case<'_>, column: usize) -> Vec<Row> {
    let queue = &case.queue;
    let is_key = case.table().primary_key.contains(&column);
    let variant = |(number, variant): (usize, &&str)| {
        let (first, mut row) = (blank(queue, 1), blank(queue, number + 1));
        // In a composite key the variant alone makes the difference.
        let same = case.table().primary_key.iter().filter(|_| is_key);
        same.chain(&queue.scope).for_each(|at| row[*at].clone_from(&first[*at]));
        row[column] = Some((*variant).to_owned());
        row[queue.status] = Some(queue.claim.status.pending.clone());
        row
    };
    let mut rows: Vec<Row> = VARIANTS.iter().enumerate().map(variant).collect();
    rows.sort_by_key(|row| queue.key(row));
    rows
}

fn all_are_there(case: &Case<'_>, driver: &mut Driver, column: usize) {
    let rows_of_variants = variants(case, column);
    for row in &rows_of_variants {
        let given = Given { row: Some(row), ..Given::default() };
        assert_eq!(case.run(driver, case.get("enqueue"), &given).affected, 1, "{row:?}");
    }
    let found: Vec<Row> = rows(driver, case.table()).iter().map(|row| case.queue.key(row)).collect();
    assert_eq!(found, rows_of_variants.iter().map(|row| case.queue.key(row)).collect::<Vec<_>>());
}

fn one_is_moved(case: &Case<'_>, driver: &mut Driver, column: usize) {
    let queue = &case.queue;
    let mut before = variants(case, column);
    for row in &mut before {
        row[queue.status] = queue.held_state().map(str::to_owned);
        queue.by.into_iter().for_each(|by| row[by] = Some(HOLDER.to_owned()));
    }
    insert(driver, case.table(), &before);
    for at in 0..before.len() {
        let given = Given { row: Some(&before[at]), fence: fence_of(queue, &before[at]), ..Given::default() };
        assert_eq!(case.run(driver, case.get("release"), &given).affected, 1, "{:?}", before[at]);
        let mut after = before.clone();
        after[at] = model::transition(queue, "release", &before[at], true).unwrap();
        if at == 0 {
            assert_rows(case.table(), "release", &rows(driver, case.table()), &after);
        }
        before = after;
    }
}

/// A claim of one scope (or lane) takes nothing from its variants.
fn one_scope_is_claimed(case: &Case<'_>, driver: &mut Driver, column: usize) {
    let queue = &case.queue;
    let is_lane = queue.lane == Some(column);
    if !is_lane && !queue.scope.contains(&column) {
        return;
    }
    let before = variants(case, column);
    insert(driver, case.table(), &before);
    let name = if is_lane {
        format!("claim_pending_by_{}", case.table().columns[column].name)
    } else {
        "claim_pending".to_owned()
    };
    for row in &before {
        driver.run("BEGIN");
        let found = case.run(driver, case.get(&name), &Given { row: Some(row), limit: 10, ..Given::default() }).rows;
        let found: Vec<Row> = found.iter().map(|row| queue.key(row)).collect();
        assert_eq!(found, [queue.key(row)], "{name} of {}", case.table().name);
        driver.run("ROLLBACK");
    }
}
