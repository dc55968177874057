//! Many rows completed at once: each that is still held under its own fence, and no other; and each is answered for.

use crate::servers::{Row, Scratch, on_servers};

use super::case::{Case, Faults, Given, assert_rows, cases, committed, prepared};
use super::driver::Driver;
use super::matrix;
use super::model;
use super::queue::{insert, rows};

fn each_row_is_completed_under_its_own_fence(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let (mut faults, mut tables) = (Faults::default(), 0);
    for case in cases(&catalog, scratch.server).into_iter().filter(|case| case.find("complete_many").is_some()) {
        let matrix = matrix::rows(&case.queue);
        insert(&mut driver, case.table(), &matrix);
        driver.run("BEGIN");
        faults.collect(|| completed(&case, &mut driver, &matrix));
        driver.run("ROLLBACK");
        tables += 1;
    }
    faults.report();
    assert!(tables >= 10, "only {tables} tables");
}
on_servers!(each_row_is_completed_under_its_own_fence);

/// What a worker believes to hold: a third of it under another fence.
struct Believed {
    row: Row,
    is_right: bool,
}

fn believed(case: &Case<'_>, before: &[Row]) -> Vec<Believed> {
    let asked = |row: &&Row| model::asked_for(&case.queue, row, &case.queue.scope, true);
    let mut of_all: Vec<Believed> = Vec::new();
    for (at, row) in before.iter().filter(asked).enumerate() {
        let (mut row, is_right) = (row.clone(), at % 3 > 0 || case.queue.fence().is_none());
        if let (Some((column, _)), Some(own)) = (case.queue.fence(), model::fence_of(&case.queue, &row)) {
            row[column] = Some(if is_right { own } else { super::effects::stale(&own) });
        }
        of_all.push(Believed { row, is_right });
    }
    // A row that is gone.
    let mut gone = of_all[1].row.clone();
    let key = case.table().primary_key.iter().find(|at| !case.queue.scope.contains(at)).unwrap();
    gone[*key] = super::matrix::filler(&case.table().columns[*key].ty, 99_999);
    of_all.push(Believed { row: gone, is_right: true });
    of_all
}

fn completed(case: &Case<'_>, driver: &mut Driver, before: &[Row]) {
    let queue = &case.queue;
    let believed = believed(case, before);
    let mut given = case.asking(before, 0);
    given.keys = believed.iter().map(|believed| believed.row.clone()).collect();
    let key = |row: &Row| queue.key(row);
    let is_right = |row: &Row| believed.iter().any(|believed| key(&believed.row) == key(row) && believed.is_right);
    let tail: Vec<usize> = case.table().primary_key.iter().filter(|at| !queue.scope.contains(at)).copied().collect();
    let shown = |row: &Row, columns: &[usize]| columns.iter().map(|at| row[*at].clone()).collect::<Row>();
    let held: Vec<&Row> = before
        .iter()
        .filter(|row| {
            model::asked_for(queue, row, &queue.scope, true) && row[queue.status].as_deref() == queue.held_state()
        })
        .collect();
    let mine: Vec<&Row> = held.iter().filter(|row| is_right(row)).copied().collect();
    assert!(mine.len() > 2 && (queue.fence().is_none() || mine.len() < held.len()), "{}", case.table().name);
    if driver.server.is_mysql_like() {
        let columns: Vec<usize> = tail.iter().copied().chain(queue.fence().map(|(column, _)| column)).collect();
        let mut found = case.run(driver, case.get("complete_many_find"), &given).rows;
        let mut expected: Vec<Row> = held.iter().map(|row| shown(row, &columns)).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{}", case.table().name);
        assert_rows(case.table(), "complete_many_find", &rows(driver, case.table()), before);
        given.keys = mine.iter().map(|row| (*row).clone()).collect();
        assert_eq!(case.run(driver, case.get("complete_many"), &given).affected, mine.len() as u64);
    } else {
        let mut answered = case.run(driver, case.get("complete_many"), &given).rows;
        let mut expected: Vec<Row> = mine.iter().map(|row| shown(row, &tail)).collect();
        answered.sort();
        expected.sort();
        assert_eq!(answered, expected, "{}", case.table().name);
    }
    let change = |row: &Row| match mine.iter().any(|mine| key(mine) == key(row)) {
        true => model::transition(queue, "complete", row, true).unwrap(),
        false => row.clone(),
    };
    let after: Vec<Row> = before.iter().map(change).collect();
    assert_rows(case.table(), "complete_many", &rows(driver, case.table()), &after);
    // In another scope the same keys are others.
    if let Some(scope) = queue.scope.first() {
        let mut elsewhere = before[0].clone();
        elsewhere[*scope] = Some("elsewhere".to_owned());
        let given = Given { row: Some(&elsewhere), keys: given.keys, ..Given::default() };
        assert_eq!(case.run(driver, case.get("complete_many"), &given).affected, 0, "{}", case.table().name);
    }
}

/// A worker that extends its lease and completes its row at the same time loses nothing, whichever comes first; and what a
/// transaction has not seen yet when it begins to wait is what counts in the end.
fn a_row_that_changes_meanwhile_is_judged_as_it_is_then(scratch: &mut Scratch) {
    let catalog = committed();
    let mut holder = prepared(scratch, &catalog);
    let mut other = Driver::open(scratch);
    other.set_clock(super::time::NOON);
    let mut checked = 0;
    for case in cases(&catalog, scratch.server) {
        let both = case.find("complete_many").and(case.find("extend"));
        let Some((column, _)) = case.queue.fence().filter(|_| both.is_some()) else { continue };
        for (name, completed) in [("extend", 1), ("release", 0)] {
            let mut row = matrix::blank(&case.queue, 1);
            row[case.queue.status] = case.queue.held_state().map(str::to_owned);
            row[column] = Some(if case.queue.by == Some(column) { model::TOKEN.to_owned() } else { "7".to_owned() });
            insert(&mut holder, case.table(), std::slice::from_ref(&row));
            let given =
                || Given { row: Some(&row), fence: row[column].clone(), keys: vec![row.clone()], ..Given::default() };
            other.run("BEGIN");
            assert_eq!(case.run(&mut other, case.get(name), &given()).affected, 1, "{name} of {}", case.table().name);
            let answered = std::thread::scope(|scope| {
                let (case, holder, given) = (&case, &mut holder, given());
                let waiting = scope.spawn(move || {
                    holder.run("BEGIN");
                    let first = if holder.server.is_mysql_like() { "complete_many_find" } else { "complete_many" };
                    let answered = case.run(holder, case.get(first), &given).rows.len();
                    holder.run("COMMIT");
                    answered
                });
                std::thread::sleep(std::time::Duration::from_millis(200));
                other.run("COMMIT");
                waiting.join().unwrap()
            });
            // Where attempts are the fence, who gave a row back may still finish it until the next claim.
            let kept = usize::from(case.queue.attempts_are_the_fence());
            assert_eq!(answered, completed.max(kept), "{name} of {}", case.table().name);
            holder.run(&format!("DELETE FROM {}", super::queue::name(case.table(), holder.server)));
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked}");
}
on_servers!(a_row_that_changes_meanwhile_is_judged_as_it_is_then: mysql, mariadb, postgres);
