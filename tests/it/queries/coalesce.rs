//! A change joins the newest pending row of its thing, and no other row changes: not one that a worker has, not one of another
//! thing, and none before a change of another type.

use claimsmith::schema::Catalog;

use crate::loaded::load_text;
use crate::servers::{Row, Scratch, on_servers};

use super::case::{Case, Faults, Given, assert_rows, cases, committed, prepared};
use super::driver::Driver;
use super::matrix::blank;
use super::model::{TOKEN, branch};
use super::queue::{insert, rows};
use super::time::{DAY, NOON, SECOND};

/// The committed table, one whose rows stay pending while a worker has them, and one without types of changes.
fn catalog() -> Catalog {
    let columns = r#""columns": [
        { "name": "tenant", "type": "VARCHAR(32)" }, { "name": "id", "type": "VARCHAR(64)" },
        { "name": "record", "type": "VARCHAR(32)" }, { "name": "kind", "type": "VARCHAR(32)" },
        { "name": "was", "type": "JSON", "nullable": true }, { "name": "payload", "type": "JSON" },
        { "name": "state", "type": "VARCHAR(20)", "default": "'new'" }, { "name": "due_ms", "type": "BIGINT" },
        { "name": "until_ms", "type": "BIGINT", "default": "0" }, { "name": "worker", "type": "VARCHAR(64)", "nullable": true },
        { "name": "attempts", "type": "INT", "default": "0" }, { "name": "created_ms", "type": "BIGINT" },
        { "name": "changed_ms", "type": "BIGINT" } ], "primaryKey": ["tenant", "id"]"#;
    let claim =
        r#""scope": ["tenant"], "order": "created_ms", "coalesce": ["record"], "times": { "updated": "changed_ms" }"#;
    let text = format!(
        r#"{{ "tables": [
        {{ "tableName": "visible_changes", {columns}, "claim": {{ {claim}, "visibility": "30s",
            "event": {{ "type": "kind", "payload": "payload" }}, "retry": {{ "at": "due_ms", "count": "attempts" }},
            "status": {{ "column": "state", "pending": "new", "done": "done", "dead": "dead" }} }} }},
        {{ "tableName": "leased_changes", {columns}, "claim": {{ {claim}, "event": {{ "payload": "payload" }},
            "retry": {{ "at": "due_ms", "count": "attempts" }}, "lease": {{ "until": "until_ms", "by": "worker", "for": "30s" }},
            "status": {{ "column": "state", "pending": "new", "retryable": "again", "running": "busy", "done": "done", "dead": "dead" }} }} }} ] }}"#
    );
    let loaded = load_text(&text);
    assert!(!loaded.has_errors(), "{}", loaded.report());
    let mut catalog = committed();
    catalog.tables.retain(|table| table.claim.as_ref().is_some_and(|claim| !claim.coalesce.is_empty()));
    catalog.tables.extend(loaded.catalog.tables);
    assert_eq!(catalog.tables.len(), 3);
    catalog
}

fn a_change_joins_the_newest_that_waits(scratch: &mut Scratch) {
    let catalog = catalog();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for case in cases(&catalog, scratch.server) {
        for check in [joins, leaves_others, stays_behind_other_types, leaves_what_a_worker_has] {
            driver.run("BEGIN");
            faults.collect(|| check(&case, &mut driver));
            driver.undo();
        }
    }
    faults.report();
}
on_servers!(a_change_joins_the_newest_that_waits);

/// Both begin at the same time: the worker first, whose row the change then leaves alone; and the change first, whose row the
/// worker leaves until it has the newer content.
fn a_change_and_a_claim_do_not_meet(scratch: &mut Scratch) {
    let catalog = catalog();
    let mut worker = prepared(scratch, &catalog);
    let mut producer = Driver::open(scratch);
    producer.set_clock(NOON);
    for case in cases(&catalog, scratch.server) {
        let new = change(&case, 2, "second");
        insert(&mut worker, case.table(), &[change(&case, 1, "first")]);
        producer.run("BEGIN");
        assert_eq!(coalesce(&case, &mut producer, &new), 1);
        worker.run("BEGIN");
        assert!(!takes(&case, &mut worker), "{}", case.table().name);
        worker.run("COMMIT");
        producer.run("COMMIT");
        worker.run("BEGIN");
        assert!(takes(&case, &mut worker), "{}", case.table().name);
        let joined = std::thread::scope(|scope| {
            let (case, producer, new) = (&case, &mut producer, &new);
            let waiting = scope.spawn(move || {
                producer.run("BEGIN");
                let joined = coalesce(case, producer, new);
                producer.run("COMMIT");
                joined
            });
            std::thread::sleep(std::time::Duration::from_millis(300));
            worker.run("COMMIT");
            waiting.join().unwrap()
        });
        assert_eq!(joined, 0, "{}", case.table().name);
        assert_eq!(rows(&mut worker, case.table())[0][payload_of(&case)], new[payload_of(&case)].clone());
    }
}
on_servers!(a_change_and_a_claim_do_not_meet: mysql, mariadb, postgres);

/// Takes the only row, unless it is locked.
fn takes(case: &Case<'_>, driver: &mut Driver) -> bool {
    let waiting = rows(driver, case.table()).remove(0);
    let mut given = Given { row: Some(&waiting), fence: Some(TOKEN.to_owned()), limit: 1, ..Given::default() };
    let claim = case.queries.iter().find(|query| branch(&case.queue, &query.name).is_some()).unwrap();
    let claimed = case.run(driver, claim, &given).rows;
    let is_one = !claimed.is_empty();
    if driver.server.is_mysql_like() && is_one {
        given.keys = claimed;
        case.run(driver, case.get("take"), &given);
    }
    is_one
}

/// A change of one record in the first scope.
fn change(case: &Case<'_>, number: usize, payload: &str) -> Row {
    let (queue, table) = (&case.queue, case.table());
    let mut row = blank(queue, number);
    row[queue.status] = Some(queue.claim.status.pending.clone());
    let thing = queue.claim.scope.iter().chain(&queue.claim.coalesce);
    thing.for_each(|name| row[table.position(name).unwrap()] = Some("one".to_owned()));
    if let Some(kind) = kind(case) {
        row[kind] = Some("update".to_owned());
    }
    row[payload_of(case)] = Some(format!("{{\"n\": \"{payload}\"}}"));
    let order = queue.order.unwrap();
    row[order] = queue.at(order, NOON - DAY + number as i64 * SECOND);
    row
}

fn payload_of(case: &Case<'_>) -> usize {
    let event = case.queue.claim.event.as_ref().unwrap();
    case.table().position(event.payload.as_ref().unwrap()).unwrap()
}

fn kind(case: &Case<'_>) -> Option<usize> {
    case.table().position(case.queue.claim.event.as_ref()?.type_column.as_ref()?)
}

/// How many rows it has joined.
fn coalesce(case: &Case<'_>, driver: &mut Driver, new: &Row) -> u64 {
    if !driver.server.is_mysql_like() {
        return case.run(driver, case.get("coalesce"), &Given { row: Some(new), ..Given::default() }).affected;
    }
    let found = case.run(driver, case.get("coalesce_find"), &Given { row: Some(new), ..Given::default() }).rows;
    assert!(found.len() <= 1);
    let Some(key) = found.first() else { return 0 };
    let mut of_key = new.clone();
    case.table().primary_key.iter().zip(key).for_each(|(at, value)| of_key[*at].clone_from(value));
    case.run(driver, case.get("coalesce"), &Given { row: Some(&of_key), ..Given::default() }).affected
}

/// The row once a change has joined it.
fn joined(case: &Case<'_>, row: &Row, new: &Row) -> Row {
    let mut row = row.clone();
    row[payload_of(case)].clone_from(&new[payload_of(case)]);
    let updated = case.queue.updated.unwrap();
    row[updated] = case.queue.at(updated, NOON);
    row
}

fn joins(case: &Case<'_>, driver: &mut Driver) {
    let (first, second, third) = (change(case, 1, "first"), change(case, 2, "second"), change(case, 3, "third"));
    assert_eq!(coalesce(case, driver, &first), 0, "nothing waits");
    assert_rows(case.table(), "coalesce", &rows(driver, case.table()), &[]);
    insert(driver, case.table(), &[first.clone(), second.clone()]);
    assert_eq!(coalesce(case, driver, &third), 1);
    let after = [first, joined(case, &second, &third)];
    assert_rows(case.table(), "coalesce", &rows(driver, case.table()), &after);
}

fn leaves_others(case: &Case<'_>, driver: &mut Driver) {
    let (queue, table) = (&case.queue, case.table());
    let new = change(case, 99, "new");
    let mut others: Vec<Row> = Vec::new();
    for name in queue.claim.scope.iter().chain(&queue.claim.coalesce) {
        let mut other = change(case, others.len() + 1, "other");
        other[table.position(name).unwrap()] = Some("One".to_owned());
        others.push(other);
    }
    for state in queue.states().into_iter().filter(|state| *state != queue.claim.status.pending) {
        let mut other = change(case, others.len() + 1, "other");
        other[queue.status] = Some(state.to_owned());
        others.push(other);
    }
    others.sort_by_key(|row| queue.key(row));
    insert(driver, table, &others);
    assert_eq!(coalesce(case, driver, &new), 0);
    assert_rows(table, "coalesce", &rows(driver, table), &others);
}

/// Joining an earlier row, it would be sent before a change that came before it.
fn stays_behind_other_types(case: &Case<'_>, driver: &mut Driver) {
    let Some(kind) = kind(case) else { return };
    let (first, mut second, new) = (change(case, 1, "first"), change(case, 2, "gone"), change(case, 3, "new"));
    second[kind] = Some("delete".to_owned());
    let before = [first, second.clone()];
    insert(driver, case.table(), &before);
    assert_eq!(coalesce(case, driver, &new), 0);
    assert_rows(case.table(), "coalesce", &rows(driver, case.table()), &before);
    let mut gone = change(case, 3, "gone again");
    gone[kind] = Some("delete".to_owned());
    assert_eq!(coalesce(case, driver, &gone), 1);
    let after = [before[0].clone(), joined(case, &second, &gone)];
    assert_rows(case.table(), "coalesce", &rows(driver, case.table()), &after);
}

/// Once a worker has taken a row, what it does with it is about the content that it has seen.
fn leaves_what_a_worker_has(case: &Case<'_>, driver: &mut Driver) {
    let (queue, table) = (&case.queue, case.table());
    insert(driver, table, &[change(case, 1, "first")]);
    let waiting = rows(driver, table).remove(0);
    assert!(takes(case, driver));
    let taken = rows(driver, table);
    assert_ne!(taken, [waiting]);
    assert_eq!(coalesce(case, driver, &change(case, 2, "second")), 0);
    // Nor once it is late, for it may finish the row all the same where nobody else has taken it.
    if queue.by_visibility() {
        let mut late = taken[0].clone();
        late[queue.time().unwrap()] = queue.at(queue.time().unwrap(), NOON - DAY);
        driver.run(&format!("DELETE FROM {}", super::queue::name(table, driver.server)));
        insert(driver, table, std::slice::from_ref(&late));
        assert_eq!(coalesce(case, driver, &change(case, 2, "second")), 0);
        assert_rows(table, "coalesce", &rows(driver, table), &[late]);
        return;
    }
    assert_rows(table, "coalesce", &rows(driver, table), &taken);
}
