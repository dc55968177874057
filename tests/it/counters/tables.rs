//! Every statement of every queue keeps its contract, whatever the backlog.

use claimsmith::statement::query::Query;

use crate::servers::{Scratch, Server, on_servers};

use super::backlog::{Mix, SCOPES, empty_archive, load, load_archive};
use super::before;
use super::negatives::{break_each_column, break_each_index, break_keys, break_locks, break_order};
use super::probe::Probe;
use super::running::{check_all, run, scopes};
use super::second_worker::check_second_worker;
use super::statements::{Kind, Values, goes_on, kind};
use super::{Queue, create, figures, queue, queues};

/// Rows of a table but the largest.
const ROWS: u64 = 10_000;

/// The backlogs come in this order because what follows the last one changes the table's indexes.
const MIXES: [(&str, Mix); 3] = [("all due", Mix::Due(100)), ("half due", Mix::Due(50)), ("usual", Mix::Usual)];

/// Tables on which indexes are spoiled: one like the largest, one with a lane, and one with a scope of three columns.
const SPOILED: [&str; 3] = ["user_outbox", "activity_outbox", "notice_delivery_events"];

/// Loads each backlog in turn and checks all statements on it.
fn check_backlogs(scratch: &Scratch, probe: &mut Probe, queue: &Queue, rows: u64) -> Vec<String> {
    let mut found = Vec::new();
    for (name, mix) in MIXES {
        load(probe, &queue.table, rows, mix);
        if mix == Mix::Usual {
            load_archive(probe, &queue.table);
        }
        found.extend(check_all(probe, queue, rows, mix, name));
        found.extend(check_second_worker(scratch, queue, name));
        if mix == Mix::Due(100) && SPOILED.contains(&queue.name()) {
            if probe.server == Server::Postgres {
                // Entries that an index's own columns reject are counted by the page.
                load(probe, &queue.table, 50_000, mix);
            }
            found.extend(break_each_column(scratch, queue));
        }
    }
    found
}

fn every_statement_keeps_its_contract(scratch: &mut Scratch) {
    create(scratch);
    let mut probe = Probe::open(scratch);
    let mut found = Vec::new();
    for queue in queues(scratch.server).iter().filter(|queue| queue.name() != "wallet_outbox") {
        found.extend(check_backlogs(scratch, &mut probe, queue, ROWS));
        // The shapes of seed 004.
        if queue.name() == "room_outbox" {
            found.extend(break_each_index(scratch, queue, ROWS));
            found.extend(break_keys(scratch, queue, ROWS));
        }
    }
    assert!(found.is_empty(), "{} breaches:\n{}", found.len(), found.join("\n"));
}
on_servers!(every_statement_keeps_its_contract);

fn the_largest_table_keeps_its_contracts_and_others_do_not(scratch: &mut Scratch) {
    const ROWS: u64 = 100_000;
    create(scratch);
    let mut probe = Probe::open(scratch);
    let queue = queue(scratch.server, "wallet_outbox");
    let mut found = check_backlogs(scratch, &mut probe, &queue, ROWS);
    empty_archive(&mut probe, &queue.table);
    break_locks(scratch, &queue);
    found.extend(break_order(scratch, &queue));
    found.extend(break_each_index(scratch, &queue, ROWS));
    assert!(found.is_empty(), "{} breaches:\n{}", found.len(), found.join("\n"));
    let figures = before::figures(scratch, &queue, ROWS);
    figures::check(&mut probe, &figures);
}
on_servers!(the_largest_table_keeps_its_contracts_and_others_do_not);

/// What each statement is about and the steps that it takes.
fn steps(probe: &mut Probe, queue: &Queue, rows: u64) -> Vec<(String, u64, u64)> {
    let mut steps = Vec::new();
    // How many rows share a second is not the same in both backlogs.
    let is_of_second = |query: &Query| goes_on(query) && query.base != "list_after_1";
    let comparable = |query: &&Query| kind(query) != Kind::Catalog && !is_of_second(query);
    for query in queue.queries.iter().filter(comparable) {
        for scope in scopes(queue, query) {
            // As many as each state has in the smaller backlog already.
            let (limit, old) = if scope == SCOPES[0] { (20, rows / 4) } else { (5, rows) };
            let values = Values { cap: limit, scope, old, ..Values::new(queue, Server::Sqlite, limit) };
            probe.begin();
            let (counted, about) = run(probe, &values, query).unwrap();
            probe.rollback();
            let label = format!("{} {}, {scope}", queue.name(), query.name);
            steps.push((label, about.unwrap_or(counted.returned), counted.examined));
        }
    }
    steps
}

/// The steps of SQLite's machine for as many rows are as many in a backlog of ten times the rows.
fn steps_do_not_grow_with_the_backlog(scratch: &mut Scratch) {
    create(scratch);
    let mut probe = Probe::open(scratch);
    for queue in queues(scratch.server) {
        let large = if queue.name() == "wallet_outbox" { 100_000 } else { ROWS };
        load(&mut probe, &queue.table, large / 10, Mix::Due(50));
        let before = steps(&mut probe, &queue, large / 10);
        load(&mut probe, &queue.table, large, Mix::Due(50));
        let after = steps(&mut probe, &queue, large);
        for ((label, rows, few), (_, more_rows, many)) in before.into_iter().zip(after) {
            assert_eq!(rows, more_rows, "{label}");
            assert!(rows > 0, "{label}: no row, so nothing is compared");
            // A page of an index more or less is some steps, which are much where a statement takes few.
            assert!(many * 100 <= few * 105 + 1_000, "{label}: {few} steps became {many}");
        }
    }
}
on_servers!(steps_do_not_grow_with_the_backlog: sqlite);
