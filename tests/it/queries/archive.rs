//! Archiving loses nothing and doubles nothing: not when it is interrupted, and not when tables and rows changed meanwhile.

use std::path::Path;
use std::sync::Arc;

use claimsmith::diagnostic::Source;
use claimsmith::schema::{Catalog, Table, load};
use claimsmith::statement::schema;

use crate::servers::{Row, Scratch, Server, on_servers};

use super::case::{Case, Faults, Given, assert_rows, cases, committed, prepared};
use super::driver::Driver;
use super::matrix;
use super::model;
use super::queue::{Queue, insert, name, rows};

/// The steps of a run, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Copied,
    Deleted,
}

/// Moves one batch of a state, up to a step; PostgreSQL has but one.
fn archive(
    case: &Case<'_>,
    driver: &mut Driver,
    state: &str,
    given: &mut Given<'_>,
    until: Until,
) -> Result<(), sqlx::Error> {
    let scope: Vec<usize> = case.queue.scope.clone();
    let now = rows(driver, case.table());
    let age = case.table().position(&case.table().retention.as_ref().unwrap().age).unwrap();
    let found = model::aged(&case.queue, state, age, &scope, &now);
    let found: Vec<Row> = found.into_iter().take(given.limit as usize).cloned().collect();
    let of = |step: &str| format!("archive{step}_{state}");
    match driver.server {
        Server::Postgres => {
            let outcome = case.attempt(driver, case.get(&of("")), given)?;
            assert_eq!(outcome.affected, found.len() as u64, "as many rows copied as found");
        }
        Server::Sqlite => {
            assert_eq!(case.attempt(driver, case.get(&of("_copy")), given)?.affected, found.len() as u64);
            if until == Until::Deleted {
                assert_eq!(case.attempt(driver, case.get(&of("_delete")), given)?.affected, found.len() as u64);
            }
        }
        Server::MySql | Server::MariaDb => {
            let keys = case.attempt(driver, case.get(&of("_find")), given)?.rows;
            assert_eq!(keys, found.iter().map(|row| case.queue.key(row)).collect::<Vec<_>>());
            given.keys = found;
            if !given.keys.is_empty() {
                case.attempt(driver, case.get("archive_copy"), given)?;
                if until == Until::Deleted {
                    let deleted = case.attempt(driver, case.get("archive_delete"), given)?.affected;
                    assert_eq!(deleted, given.keys.len() as u64);
                }
            }
        }
    }
    Ok(())
}

pub fn archive_of<'c>(catalog: &'c Catalog, table: &Table) -> Option<&'c Table> {
    catalog.tables.iter().find(|archive| archive.archive_of.as_ref() == Some(&table.name))
}

fn exactly_the_batch_moves(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for case in cases(&catalog, scratch.server) {
        let Some(archive_table) = archive_of(&catalog, case.table()) else { continue };
        let matrix = matrix::rows(&case.queue);
        insert(&mut driver, case.table(), &matrix);
        for state in &case.table().retention.as_ref().unwrap().states {
            for limit in [2, 1_000] {
                driver.run("BEGIN");
                faults.collect(|| moves(&case, archive_table, &mut driver, &matrix, state, limit));
                driver.run("ROLLBACK");
            }
        }
        if scratch.server != Server::Postgres {
            faults.collect(|| survives_an_interruption(&case, archive_table, &mut driver, &matrix));
            driver.undo();
        }
    }
    faults.report();
}
on_servers!(exactly_the_batch_moves);

fn columns_that_differ_are_named_before_a_run(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let cases = cases(&catalog, scratch.server);
    let case = cases.iter().find(|case| case.table().name.name == "wallet_outbox").unwrap();
    let differing = |driver: &mut Driver| {
        let mut names: Vec<_> = case
            .run(driver, case.get("archive_compare"), &Given::default())
            .rows
            .into_iter()
            .map(|row| row[0].clone().unwrap())
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(differing(&mut driver), [""; 0]);
    driver.run("ALTER TABLE wallet_outbox ADD COLUMN extra INT");
    assert_eq!(differing(&mut driver), ["extra"]);
    // Of the same name, but not of the same kind.
    driver.run("ALTER TABLE wallet_outbox_archive ADD COLUMN extra BIGINT");
    assert_eq!(differing(&mut driver), ["extra", "extra"]);
    driver.run("ALTER TABLE wallet_outbox_archive DROP COLUMN extra");
    driver.run("ALTER TABLE wallet_outbox_archive ADD COLUMN extra INT");
    assert_eq!(differing(&mut driver), [""; 0]);
    // Of the same kind, but wider: what the archive would cut.
    driver.run("ALTER TABLE wallet_outbox ADD COLUMN label VARCHAR(200)");
    driver.run("ALTER TABLE wallet_outbox_archive ADD COLUMN label VARCHAR(64)");
    assert_eq!(differing(&mut driver), ["label", "label"]);
    driver.run("ALTER TABLE wallet_outbox_archive DROP COLUMN label");
    driver.run("ALTER TABLE wallet_outbox_archive ADD COLUMN label VARCHAR(200)");
    assert_eq!(differing(&mut driver), [""; 0]);
}
on_servers!(columns_that_differ_are_named_before_a_run);

fn moves(case: &Case<'_>, archive_table: &Table, driver: &mut Driver, before: &[Row], state: &str, limit: i64) {
    let what = format!("archive of {state}, limit {limit}");
    let age = case.table().position(&case.table().retention.as_ref().unwrap().age).unwrap();
    let moved = model::aged(&case.queue, state, age, &case.queue.scope, before);
    assert!(moved.len() > 2);
    let mut moved: Vec<Row> = moved.into_iter().take(limit as usize).cloned().collect();
    moved.sort_by_key(|row| case.queue.key(row));
    archive(case, driver, state, &mut case.asking(before, limit), Until::Deleted).unwrap();
    let left: Vec<Row> = before.iter().filter(|row| !moved.contains(row)).cloned().collect();
    assert_rows(case.table(), &what, &rows(driver, case.table()), &left);
    assert_rows(archive_table, &what, &rows(driver, archive_table), &moved);
}

fn survives_an_interruption(case: &Case<'_>, archive_table: &Table, driver: &mut Driver, before: &[Row]) {
    let state = case.table().retention.as_ref().unwrap().states[0].clone();
    // The program dies: its transaction is undone.
    driver.run("BEGIN");
    archive(case, driver, &state, &mut case.asking(before, 3), Until::Copied).unwrap();
    driver.run("ROLLBACK");
    assert_rows(case.table(), "undone", &rows(driver, case.table()), before);
    assert_rows(archive_table, "undone", &rows(driver, archive_table), &[]);
    // Without a transaction the copies stay, and the next run finds the same rows again.
    driver.run("BEGIN");
    archive(case, driver, &state, &mut case.asking(before, 3), Until::Copied).unwrap();
    assert_rows(case.table(), "copied", &rows(driver, case.table()), before);
    moves(case, archive_table, driver, before, &state, 1_000);
    driver.run("ROLLBACK");
    // What is not in the archive is not deleted.
    driver.run("BEGIN");
    let mut given = case.asking(before, 3);
    let name =
        if driver.server == Server::Sqlite { format!("archive_delete_{state}") } else { "archive_delete".to_owned() };
    given.keys = before.to_vec();
    assert_eq!(case.run(driver, case.get(&name), &given).affected, 0);
    assert_rows(case.table(), "nothing copied", &rows(driver, case.table()), before);
    driver.run("ROLLBACK");
}

/// The definitions with one text replaced, the first time that it stands behind another.
fn altered(behind: &str, from: &str, to: &str) -> Catalog {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/governed_outboxes.json");
    let text = std::fs::read_to_string(file).unwrap();
    let (before, after) = text.split_once(behind).unwrap();
    assert!(after.contains(from));
    let text = format!("{before}{behind}{}", after.replacen(from, to, 1));
    load::load(&[Arc::new(Source::new("altered.json", text))]).0
}

const TABLE: &str = r#""tableName": "wallet_outbox""#;
const EVENT_TYPE: &str = r#"{ "name": "event_type", "type": "VARCHAR(64)" }"#;

/// `wallet_outbox` and its archive.
fn original() -> Catalog {
    let mut catalog = committed();
    catalog.tables.retain(|table| table.name.name.starts_with("wallet_outbox"));
    catalog
}

/// Creates `wallet_outbox` anew from other definitions; its archive stays as it is.
fn recreate(driver: &mut Driver, catalog: &Catalog) {
    let server = driver.server;
    let script = schema(catalog, server.dialect());
    let of_table = script.tables.iter().find(|table| catalog.tables[table.table].name.name == "wallet_outbox").unwrap();
    driver.run(&format!("DROP TABLE {}", name(&catalog.tables[of_table.table], server)));
    of_table.statements.iter().for_each(|statement| driver.run(&statement.sql));
}

/// A finished row that is old enough.
fn finished(queue: &Queue<'_>) -> Row {
    matrix::rows(queue)
        .into_iter()
        .find(|row| {
            let age = queue.updated.unwrap();
            row[queue.status].as_deref() == Some("delivered")
                && queue.read(age, row).unwrap() <= model::CUTOFF
                && model::asked_for(queue, row, &queue.scope, true)
        })
        .unwrap()
}

/// The first case of a catalog, its archive table, and a finished row in its table.
fn one_row<'c>(driver: &mut Driver, catalog: &'c Catalog) -> (Case<'c>, &'c Table, Row) {
    let case =
        cases(catalog, driver.server).into_iter().find(|case| case.table().name.name == "wallet_outbox").unwrap();
    let archive_table = archive_of(catalog, case.queue.table).unwrap();
    let row = finished(&case.queue);
    (case, archive_table, row)
}

fn a_column_that_was_widened_is_not_cut(scratch: &mut Scratch) {
    let original = original();
    let mut driver = prepared(scratch, &original);
    let wide = altered(TABLE, EVENT_TYPE, &EVENT_TYPE.replace("64", "200"));
    recreate(&mut driver, &wide);
    let (case, archive_table, mut row) = one_row(&mut driver, &wide);
    row[case.table().position("event_type").unwrap()] = Some("x".repeat(100));
    insert(&mut driver, case.table(), std::slice::from_ref(&row));
    driver.run("BEGIN");
    let archived =
        archive(&case, &mut driver, "delivered", &mut case.asking(std::slice::from_ref(&row), 10), Until::Deleted);
    assert!(archived.is_err(), "the archive has no room for it");
    driver.run("ROLLBACK");
    assert_rows(case.table(), "widened", &rows(&mut driver, case.table()), &[row]);
    assert_rows(archive_table, "widened", &rows(&mut driver, archive_table), &[]);
}
on_servers!(a_column_that_was_widened_is_not_cut);

fn a_row_that_was_replayed_and_finished_again_replaces_its_old_version(scratch: &mut Scratch) {
    let catalog = original();
    let mut driver = prepared(scratch, &catalog);
    let (case, archive_table, old) = one_row(&mut driver, &catalog);
    let mut new = old.clone();
    let key = &case.table().primary_key;
    for (at, column) in case.table().columns.iter().enumerate() {
        let other = || matrix::filler(&column.ty, 5_000);
        let is_pinned = at == case.queue.status || Some(at) == case.queue.updated || key.contains(&at);
        new[at] = if is_pinned { old[at].clone() } else { other() };
    }
    new[case.table().position("payload").unwrap()] = Some(r#"{"a": 2}"#.to_owned());
    for version in [&old, &new] {
        insert(&mut driver, case.table(), std::slice::from_ref(version));
        driver.run("BEGIN");
        let mut given = case.asking(std::slice::from_ref(version), 10);
        archive(&case, &mut driver, "delivered", &mut given, Until::Deleted).unwrap();
        driver.run("COMMIT");
        assert_rows(case.table(), "archived", &rows(&mut driver, case.table()), &[]);
        assert_rows(archive_table, "archived", &rows(&mut driver, archive_table), std::slice::from_ref(version));
    }
}
on_servers!(a_row_that_was_replayed_and_finished_again_replaces_its_old_version);

/// What `archive_find_…` says of the counts is true: a comparison of copied and deleted rows would undo each such run.
fn a_replaced_row_is_counted_as_the_comment_says(scratch: &mut Scratch) {
    let catalog = original();
    let mut driver = prepared(scratch, &catalog);
    let (case, archive_table, old) = one_row(&mut driver, &catalog);
    let mut new = old.clone();
    new[case.table().position("payload").unwrap()] = Some(r#"{"a": 2}"#.to_owned());
    insert(&mut driver, archive_table, &[old]);
    insert(&mut driver, case.table(), std::slice::from_ref(&new));
    let about = case.get("archive_find_delivered").about.join(" ");
    assert!(about.contains("`archive_delete` counts as many rows as there are keys"), "{about}");
    let given = Given { keys: vec![new], ..Given::default() };
    assert_eq!(case.run(&mut driver, case.get("archive_copy"), &given).affected, 2);
    assert_eq!(case.run(&mut driver, case.get("archive_delete"), &given).affected, 1);
}
on_servers!(a_replaced_row_is_counted_as_the_comment_says: mysql, mariadb);

/// A warning for each statement of each run would hide the warnings that matter.
fn copying_raises_no_warning(scratch: &mut Scratch) {
    let catalog = original();
    let mut driver = prepared(scratch, &catalog);
    let (case, _, row) = one_row(&mut driver, &catalog);
    let keys: Vec<String> = case.queue.key(&row).into_iter().flatten().map(|key| format!("'{key}'")).collect();
    let copy = case.get("archive_copy").sql.replace("IN (?)", &format!("IN (({}))", keys.join(", ")));
    let mut warnings = |sql: &str| {
        scratch.run(sql).unwrap();
        scratch.rows("SHOW WARNINGS").len()
    };
    assert_eq!(warnings(&copy), 0);
    let of_mysql = usize::from(driver.server == Server::MySql);
    let old = "INSERT INTO wallet_outbox_archive SELECT * FROM wallet_outbox ON DUPLICATE KEY UPDATE payload = VALUES(payload)";
    assert_eq!(warnings(old), of_mysql, "the form that was left");
}
on_servers!(copying_raises_no_warning: mysql, mariadb);

fn a_column_in_another_position_keeps_its_values(scratch: &mut Scratch) {
    let original = original();
    let mut driver = prepared(scratch, &original);
    let added = format!(r#"{{ "name": "origin", "type": "VARCHAR(64)" }}, {EVENT_TYPE}"#);
    let wider = altered(TABLE, EVENT_TYPE, &added);
    recreate(&mut driver, &wider);
    let (case, archive_table, row) = one_row(&mut driver, &wider);
    // In the archive the new column stands behind all others.
    let into = name(archive_table, scratch.server);
    driver.run(&format!(
        "ALTER TABLE {into} ADD COLUMN {} VARCHAR(64) NOT NULL DEFAULT ''",
        scratch.server.dialect().ident("origin")
    ));
    insert(&mut driver, case.table(), std::slice::from_ref(&row));
    driver.run("BEGIN");
    archive(&case, &mut driver, "delivered", &mut case.asking(std::slice::from_ref(&row), 10), Until::Deleted).unwrap();
    driver.run("COMMIT");
    assert_rows(case.table(), "archived", &rows(&mut driver, case.table()), &[]);
    assert_rows(archive_table, "archived", &rows(&mut driver, archive_table), &[row]);
}
on_servers!(a_column_in_another_position_keeps_its_values);
