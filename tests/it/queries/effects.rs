//! Every statement against rows of every kind: exactly the rows that it should return and change, to exactly the values
//! that it should give them, and nothing else.

use claimsmith::statement::query::Query;

use crate::servers::{Row, Scratch, Server, on_servers};

use super::case::{Case, Faults, Given, assert_rows, cases, committed, prepared};
use super::driver::Driver;
use super::matrix;
use super::model::{self, Branch, Change};
use super::queue::{Queue, insert, rows};
use super::time::{NOON, read};

fn every_statement_does_exactly_what_it_says(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for case in cases(&catalog, scratch.server) {
        let matrix = matrix::rows(&case.queue);
        insert(&mut driver, case.table(), &matrix);
        assert_rows(case.table(), "the rows before", &rows(&mut driver, case.table()), &matrix);
        for query in &case.queries {
            driver.run("BEGIN");
            faults.collect(|| check(&case, &mut driver, query, &matrix));
            driver.run("ROLLBACK");
        }
    }
    faults.report();
}
on_servers!(every_statement_does_exactly_what_it_says);

/// Batches of fewer rows than there are, and of more.
const LIMITS: [i64; 2] = [2, 1_000];

fn check(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row]) {
    let (queue, name) = (&case.queue, &*query.name);
    let status = &queue.claim.status;
    if let Some((branch, in_lane)) = model::branch(queue, name) {
        return LIMITS.into_iter().for_each(|limit| claim(case, driver, query, before, (branch, in_lane), limit));
    }
    match name {
        // In files of their own.
        "enqueue" | "enqueue_again" | "find_duplicate" => {}
        _ if name.starts_with("archive") && name != "archive_compare" => {}
        // With their claim, and with what finds their keys.
        "purge" | "coalesce" | "coalesce_find" => {}
        _ if name.starts_with("republish") || name.starts_with("count_republish") => {}
        "take" | "take_exhausted" | "complete_many" | "complete_many_find" => {}
        "reap" | "sweep" | "recover" | "recover_exhausted" | "cleanup" if driver.server.is_mysql_like() => {}
        "recover" | "recover_find" => {
            LIMITS.into_iter().for_each(|limit| recovered(case, driver, query, before, limit));
        }
        "reap" | "reap_find" | "sweep" | "sweep_find" => {
            LIMITS.into_iter().for_each(|limit| moved(case, driver, query, before, limit));
        }
        "list_dead" | "get_pending" => {
            for limit in LIMITS {
                let all = match name {
                    "list_dead" => model::dead(queue, before),
                    _ => model::in_branch(queue, Branch::Pending, false, before, NOON),
                };
                let listed: Vec<Row> = all.into_iter().take(limit as usize).cloned().collect();
                assert!(listed.len() > 1, "{name} of {}", case.table().name);
                let found = case.run(driver, query, &case.asking(before, limit)).rows;
                assert_rows(case.table(), name, &found, &listed);
            }
            unchanged(case, driver, name, before);
        }
        _ if query.base == "list" || query.base.starts_with("list_after_") => open(case, driver, query, before),
        "oldest_pending" | "oldest_due" => {
            let due = super::time::DAY * 10_000;
            let first = model::in_branch(queue, Branch::Pending, false, before, NOON + due)[0];
            let by_due = queue.claim.due.is_some() || status.retryable.is_none() && queue.time().is_some();
            let column = if by_due { queue.time() } else { queue.order };
            assert_eq!(name == "oldest_due", by_due, "{name} of {}", case.table().name);
            let found = case.run(driver, query, &case.asking(before, 0)).rows;
            let ty = &case.table().columns[column.unwrap()].ty;
            assert_eq!(found.len(), 1);
            let time = read(ty, found[0][0].as_ref().unwrap());
            assert_eq!(Some(time), queue.read(column.unwrap(), first), "{name} of {}", case.table().name);
        }
        "find_state" => {
            for row in before.iter().step_by(7) {
                let found = case.run(driver, query, &Given { row: Some(row), ..Given::default() }).rows;
                assert_rows(case.table(), name, &found, &[vec![row[queue.status].clone()]]);
            }
        }
        "find_first" | "find_unconsumed" => {
            for row in before.iter().step_by(7) {
                let all = model::unfinished(queue, row, before, name == "find_unconsumed");
                for limit in LIMITS {
                    let expected: Vec<Row> = all.iter().take(limit as usize).map(|row| queue.key(row)).collect();
                    let given = Given { row: Some(row), limit, ..Given::default() };
                    assert_rows(case.table(), name, &case.run(driver, query, &given).rows, &expected);
                }
            }
            unchanged(case, driver, name, before);
        }
        "archive_compare" => {
            assert_rows(case.table(), name, &case.run(driver, query, &case.asking(before, 0)).rows, &[]);
        }
        "cutoff" => {
            let age = &case.table().retention.as_ref().unwrap().age;
            let ty = &case.table().column(age).unwrap().ty;
            let outcome = case.run(driver, query, &case.asking(before, 0));
            // A driver decodes it by its type.
            let types = ["BIGINT", "INT8", "INTEGER", "DATETIME", "TIMESTAMP"];
            let has_type = types.contains(&&*outcome.types[0]) || driver.server == Server::Sqlite;
            assert!(has_type, "{name} of {} is of the type {}", case.table().name, outcome.types[0]);
            let found = outcome.rows;
            assert_eq!(read(ty, found[0][0].as_ref().unwrap()), model::CUTOFF, "{name} of {}", case.table().name);
        }
        _ if name.starts_with("count_") => count(case, driver, query, before),
        _ if name.starts_with("cleanup") => {
            LIMITS.into_iter().for_each(|limit| cleanup(case, driver, query, before, limit));
        }
        _ => transitions(case, driver, query, before),
    }
}

fn unchanged(case: &Case<'_>, driver: &mut Driver, what: &str, before: &[Row]) {
    assert_rows(case.table(), what, &rows(driver, case.table()), before);
}

/// The open rows of one state: the first of them, or those behind each of some others.
fn open(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row]) {
    let (queue, name) = (&case.queue, &*query.name);
    let all = model::open(queue, query.state.as_deref().unwrap(), before);
    assert!(all.len() > 5, "{name} of {}: {} rows", case.table().name, all.len());
    let depth = query.base.strip_prefix("list_after_").map(|depth| depth.parse::<usize>().unwrap());
    let mut found_some = false;
    for place in 0..if depth.is_some() { all.len() } else { 1 } {
        let behind = |row: &&&Row| depth.is_none_or(|depth| model::is_behind(queue, all[place], row, depth));
        for limit in LIMITS {
            let expected: Vec<Row> = all.iter().filter(behind).take(limit as usize).map(|row| (*row).clone()).collect();
            found_some |= expected.len() > 1;
            let given = Given { row: Some(all[place]), limit, ..Given::default() };
            assert_rows(case.table(), name, &case.run(driver, query, &given).rows, &expected);
        }
    }
    assert!(found_some, "{name} of {} finds nothing", case.table().name);
    unchanged(case, driver, name, before);
}

/// `before` with some rows changed.
fn changed(case: &Case<'_>, before: &[Row], change: &[&Row], to: impl Fn(&Row) -> Row) -> Vec<Row> {
    let keys: std::collections::BTreeSet<Row> = change.iter().map(|row| case.queue.key(row)).collect();
    before.iter().map(|row| if keys.contains(&case.queue.key(row)) { to(row) } else { row.clone() }).collect()
}

/// When a dead row was to be retried means nothing, and one statement for rows of both kinds may say anything.
fn forget_times_of_dead(queue: &Queue<'_>, rows: &mut [Row]) {
    let dead = |row: &&mut Row| queue.is(row, queue.claim.status.dead.as_ref());
    if let Some(time) = queue.time() {
        rows.iter_mut().filter(dead).for_each(|row| row[time] = None);
    }
}

fn claim(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row], branch: (Branch, bool), limit: i64) {
    let (queue, what) = (&case.queue, &*format!("{} limit {limit}", query.name));
    let mut found: Vec<&Row> = model::in_branch(queue, branch.0, branch.1, before, NOON);
    assert!(found.len() > 2 && found.len() < 1_000, "{what} of {}: {} rows", case.table().name, found.len());
    found.truncate(limit as usize);
    let taken = |row: &Row| match model::is_exhausted(queue, branch.0, row) {
        true => Change::of(queue, row).exhausted(),
        false => Change::of(queue, row).taken(),
    };
    let mut given = case.asking(before, limit);
    driver.run("SAVEPOINT claim");
    let mut returned = case.run(driver, query, &given).rows;
    let selected: Vec<Row> = found.iter().map(|row| (*row).clone()).collect();
    if driver.server.is_mysql_like() || !queue.can_take() {
        assert_rows(case.table(), what, &returned, &selected);
        let (exhausted, rest): (Vec<Row>, Vec<Row>) =
            returned.into_iter().partition(|row| model::is_exhausted(queue, branch.0, row));
        for (name, keys) in [("take", rest), ("take_exhausted", exhausted)] {
            if !keys.is_empty() && queue.can_take() {
                given.keys = keys;
                let outcome = case.run(driver, case.get(name), &given);
                assert_eq!(outcome.affected, given.keys.len() as u64, "{what} of {}: {name}", case.table().name);
            }
        }
    } else {
        // RETURNING has no order.
        returned.sort_by_key(|row| queue.key(row));
        let mut expected: Vec<Row> = found.iter().map(|row| taken(row)).collect();
        expected.sort_by_key(|row| queue.key(row));
        forget_times_of_dead(queue, &mut returned);
        forget_times_of_dead(queue, &mut expected);
        assert_rows(case.table(), &format!("{what} returns"), &returned, &expected);
    }
    if queue.can_take() {
        let (mut is, mut after) = (rows(driver, case.table()), changed(case, before, &found, taken));
        forget_times_of_dead(queue, &mut is);
        forget_times_of_dead(queue, &mut after);
        assert_rows(case.table(), what, &is, &after);
    }
    driver.run("ROLLBACK TO SAVEPOINT claim");
}

/// `reap` and `sweep`.
fn moved(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row], limit: i64) {
    let (queue, what) = (&case.queue, &*format!("{} limit {limit}", query.name));
    let reaps = query.name.starts_with("reap");
    let published = queue.claim.status.published.as_deref();
    let mut found = match reaps {
        true => model::in_branch(queue, Branch::Expired, false, before, NOON),
        false => model::aged(queue, published.unwrap(), queue.published.unwrap(), &queue.scope, before),
    };
    assert!(found.len() > 2, "{what} of {}: {} rows", case.table().name, found.len());
    found.truncate(limit as usize);
    let is_exhausted = |row: &Row| reaps && model::is_exhausted(queue, Branch::Expired, row);
    let mut given = case.asking(before, limit);
    driver.run("SAVEPOINT moved");
    let outcome = case.run(driver, query, &given);
    assert_eq!(outcome.affected, found.len() as u64, "{what} of {}", case.table().name);
    if driver.server.is_mysql_like() {
        let key = |row: &Row| queue.key(row);
        let found_keys: Vec<Row> =
            outcome.rows.iter().map(|row| row[..case.table().primary_key.len()].to_vec()).collect();
        assert_eq!(found_keys, found.iter().map(|row| key(row)).collect::<Vec<_>>(), "{what} of {}", case.table().name);
        if let (true, Some(count)) = (reaps, queue.count) {
            let counts = outcome.rows.iter().map(|row| row[case.table().primary_key.len()].clone());
            assert!(counts.eq(found.iter().map(|row| row[count].clone())), "{what}: the attempts");
        }
        let (exhausted, rest): (Vec<Row>, Vec<Row>) = found.iter().map(|row| (*row).clone()).partition(is_exhausted);
        for (name, keys) in [(query.name.trim_end_matches("_find"), rest), ("take_exhausted", exhausted)] {
            if !keys.is_empty() {
                given.keys = keys;
                assert_eq!(case.run(driver, case.get(name), &given).affected, given.keys.len() as u64);
            }
        }
    }
    let mut after = changed(case, before, &found, |row| match (reaps, is_exhausted(row)) {
        (_, true) => Change::of(queue, row).exhausted(),
        (true, false) => Change::of(queue, row).reaped(),
        (false, false) => Change::of(queue, row).swept(),
    });
    let mut is = rows(driver, case.table());
    forget_times_of_dead(queue, &mut is);
    forget_times_of_dead(queue, &mut after);
    assert_rows(case.table(), what, &is, &after);
    driver.run("ROLLBACK TO SAVEPOINT moved");
}

/// `recover`: as many rows that are held as the limit says, whichever they are.
fn recovered(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row], limit: i64) {
    let (queue, what) = (&case.queue, &*format!("{} limit {limit} of {}", query.name, case.table().name));
    let is_held = |row: &&Row| {
        queue.is(row, queue.claim.status.running.as_ref()) && model::asked_for(queue, row, &queue.scope, false)
    };
    let held: Vec<&Row> = before.iter().filter(is_held).collect();
    let is_exhausted = |row: &Row| {
        let count = queue.count.filter(|_| queue.claim.status.dead.is_some());
        count.is_some_and(|count| queue.number(count, row) >= queue.most(row))
    };
    assert!(held.iter().any(|row| is_exhausted(row)) && held.len() > 2, "{what}: {} rows", held.len());
    driver.run("SAVEPOINT recovered");
    let outcome = case.run(driver, query, &case.asking(before, limit));
    assert_eq!(outcome.affected, held.len().min(limit as usize) as u64, "{what}");
    let key_length = case.table().primary_key.len();
    if driver.server.is_mysql_like() {
        let of = |row: &&Row| outcome.rows.iter().any(|shown| shown[..key_length] == queue.key(row)[..]);
        let found: Vec<Row> = held.iter().filter(|row| of(row)).map(|row| (*row).clone()).collect();
        assert_eq!(found.len(), outcome.rows.len(), "{what} shows rows that are not held");
        for row in &found {
            let shown = outcome.rows.iter().find(|shown| shown[..key_length] == queue.key(row)[..]).unwrap();
            assert_eq!(shown.get(key_length), queue.count.map(|count| &row[count]), "{what}: the attempts");
        }
        let (exhausted, rest): (Vec<Row>, Vec<Row>) = found.into_iter().partition(is_exhausted);
        for (name, keys) in [("recover", rest), ("recover_exhausted", exhausted)] {
            if !keys.is_empty() {
                let given = Given { keys, ..case.asking(before, limit) };
                assert_eq!(case.run(driver, case.get(name), &given).affected, given.keys.len() as u64, "{what}");
            }
        }
    }
    let mut is = rows(driver, case.table());
    let moved: Vec<&Row> = held.into_iter().filter(|row| !is.contains(row)).collect();
    assert_eq!(moved.len() as u64, outcome.affected, "{what} changes what it finds");
    let mut after = changed(case, before, &moved, |row| match is_exhausted(row) {
        true => Change::of(queue, row).exhausted(),
        false => Change::of(queue, row).reaped(),
    });
    forget_times_of_dead(queue, &mut is);
    forget_times_of_dead(queue, &mut after);
    assert_rows(case.table(), what, &is, &after);
    driver.run("ROLLBACK TO SAVEPOINT recovered");
}

fn count(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row]) {
    let queue = &case.queue;
    let of_state = |state: &str| {
        let asked = |row: &&Row| model::asked_for(queue, row, &queue.scope, false);
        before.iter().filter(asked).filter(|row| row[queue.status].as_deref() == Some(state)).count()
    };
    let expected = match query.name.trim_start_matches("count_") {
        "dead" => of_state(queue.claim.status.dead.as_ref().unwrap()),
        "due_retries" => model::in_branch(queue, Branch::Retryable, false, before, NOON).len(),
        "expired" => model::in_branch(queue, Branch::Expired, false, before, NOON).len(),
        name if name.starts_with("stranded_") => {
            model::stranded(queue, name.trim_start_matches("stranded_"), before).unwrap().len()
        }
        state => of_state(state),
    };
    assert!(expected > 2, "{} of {}", query.name, case.table().name);
    for cap in [2, 1_000] {
        let found = case.run(driver, query, &case.asking(before, cap)).rows;
        let expected = expected.min(cap as usize).to_string();
        assert_eq!(found, [[Some(expected)]], "{} of {}, at most {cap}", query.name, case.table().name);
    }
}

fn cleanup(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row], limit: i64) {
    let (queue, what) = (&case.queue, &*format!("{} limit {limit}", query.name));
    let retention = case.table().retention.as_ref().unwrap();
    let scope = retention.scope.as_ref().unwrap_or(&queue.claim.scope);
    let scope: Vec<usize> = scope.iter().map(|name| case.table().position(name).unwrap()).collect();
    let state = query.name.trim_start_matches("cleanup_").trim_start_matches("find_");
    let age = case.table().position(&retention.age).unwrap();
    let mut found = model::aged(queue, state, age, &scope, before);
    assert!(found.len() > 2, "{what} of {}", case.table().name);
    found.truncate(limit as usize);
    let mut given = case.asking(before, limit);
    driver.run("SAVEPOINT cleanup");
    let outcome = case.run(driver, query, &given);
    assert_eq!(outcome.affected, found.len() as u64, "{what} of {}", case.table().name);
    if driver.server.is_mysql_like() {
        let keys: Vec<Row> = found.iter().map(|row| queue.key(row)).collect();
        assert_eq!(outcome.rows, keys, "{what} of {}", case.table().name);
        given.keys = found.iter().map(|row| (*row).clone()).collect();
        case.run(driver, case.get("cleanup"), &given);
    }
    let left: Vec<Row> = before.iter().filter(|row| !found.contains(row)).cloned().collect();
    unchanged(case, driver, what, &left);
    driver.run("ROLLBACK TO SAVEPOINT cleanup");
}

/// A transition of one row, tried on rows of every kind: first under a fence that is not theirs, then under their own.
fn transitions(case: &Case<'_>, driver: &mut Driver, query: &Query, before: &[Row]) {
    let (queue, what) = (&case.queue, &*query.name);
    let expected = |row: &Row, right: bool| model::transition(queue, what, row, right);
    // Of the same key in another scope nothing is known.
    if let Some(scope) = queue.scope.first() {
        let row = before.iter().find(|row| expected(row, true).is_some()).unwrap();
        let mut elsewhere = row.clone();
        elsewhere[*scope] = Some("elsewhere".to_owned());
        let fence = model::fence_of(queue, row);
        let outcome = case.run(driver, query, &Given { row: Some(&elsewhere), fence, ..Given::default() });
        assert_eq!(outcome.affected, 0, "{what} of {}", case.table().name);
    }
    // The bus goes by its message, and a dead row has no holder.
    let by_state = ["retry_published", "postpone_published", "postpone_early", "dead_published", "consume", "replay"];
    let fenced = queue.fence().is_some() && !by_state.contains(&what);
    for right in [false, true].into_iter().filter(|right| *right || fenced) {
        let mut after = before.to_vec();
        let mut applied = 0;
        // Servers take their time: some rows, in steps that share no divisor with the kinds.
        let step = match (right, driver.server) {
            // Few rows are published and old.
            (true, _) if what == "postpone_published" => 1,
            (true, Server::Sqlite) => 1,
            (true, _) => 7,
            (false, _) => 11,
        };
        let some = (0..before.len()).filter(|at| model::asked_for(queue, &before[*at], &queue.scope, true));
        for at in some.step_by(step) {
            let row = &before[at];
            let own = model::fence_of(queue, row);
            let fence = if right { own } else { own.map(|own| stale(&own)) };
            let outcome = case.run(driver, query, &Given { row: Some(row), fence, ..Given::default() });
            let changed = expected(row, right);
            assert_eq!(outcome.affected, u64::from(changed.is_some()), "{what} of {}: {row:?}", case.table().name);
            applied += outcome.affected;
            if let Some(changed) = changed {
                after[at] = changed;
            }
        }
        assert!(!right || applied > 0, "{what} of {} is never tried", case.table().name);
        assert_rows(case.table(), what, &rows(driver, case.table()), &after);
    }
}

/// A fence like it, of an earlier claim.
pub fn stale(fence: &str) -> String {
    match fence.parse::<i64>() {
        Ok(number) => (number - 1).to_string(),
        Err(_) => fence.replacen('h', "H", 1),
    }
}
