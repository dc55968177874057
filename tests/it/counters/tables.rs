//! Every statement of every queue keeps its contract, whatever the backlog.

use crate::servers::{Scratch, Server, on_servers};

use super::backlog::{Mix, empty_archive, load, load_archive};
use super::contracts::{check_all, run};
use super::probe::Probe;
use super::second_worker::check_second_worker;
use super::statements::{Kind, Values, kind};
use super::{Queue, create, figures, negatives, queue, queues};

/// Rows of a table but the largest.
const ROWS: u64 = 10_000;

fn every_statement_keeps_its_contract(scratch: &mut Scratch) {
    create(scratch);
    let mut probe = Probe::open(scratch);
    let mut found = Vec::new();
    for queue in queues(scratch.server).iter().filter(|queue| queue.name() != "wallet_outbox") {
        for (name, mix) in [("usual", Mix::Usual), ("half due", Mix::Due(50)), ("all due", Mix::Due(100))] {
            load(&mut probe, &queue.table, ROWS, mix);
            if mix == Mix::Usual {
                load_archive(&mut probe, &queue.table);
            }
            found.extend(check_all(&mut probe, queue, ROWS / 4, name));
            found.extend(check_second_worker(scratch, queue, name));
        }
    }
    assert!(found.is_empty(), "{} breaches:\n{}", found.len(), found.join("\n"));
}
on_servers!(every_statement_keeps_its_contract);

/// The backlogs come in this order because what follows the last one changes the table's indexes.
fn the_largest_table_keeps_its_contracts_and_others_do_not(scratch: &mut Scratch) {
    create(scratch);
    let mut probe = Probe::open(scratch);
    let queue = queue(scratch.server, "wallet_outbox");
    let mut found = Vec::new();
    for (name, mix) in [("all due", Mix::Due(100)), ("half due", Mix::Due(50)), ("usual", Mix::Usual)] {
        load(&mut probe, &queue.table, 100_000, mix);
        if mix == Mix::Usual {
            load_archive(&mut probe, &queue.table);
        }
        found.extend(check_all(&mut probe, &queue, 25_000, name));
        found.extend(check_second_worker(scratch, &queue, name));
    }
    empty_archive(&mut probe, &queue.table);
    let figures = negatives::break_all(scratch, &queue, 100_000);
    assert!(found.is_empty(), "{} breaches:\n{}", found.len(), found.join("\n"));
    figures::check(scratch.server, &figures);
}
on_servers!(the_largest_table_keeps_its_contracts_and_others_do_not);

/// Steps of every statement for 20 rows.
fn steps(probe: &mut Probe, queue: &Queue, rows: u64) -> Vec<(u64, u64)> {
    let mut steps = Vec::new();
    for query in queue.queries.iter().filter(|query| kind(query) != Kind::Count) {
        let values = Values { queue, server: Server::Sqlite, limit: 20, old: rows / 4, fresh: 0 };
        probe.begin();
        let (counted, _) = run(probe, &values, query).unwrap();
        probe.rollback();
        steps.push((counted.returned, counted.examined));
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
        let queries = queue.queries.iter().filter(|query| kind(query) != Kind::Count);
        for ((query, (rows, few)), (more_rows, many)) in queries.zip(before).zip(after) {
            assert_eq!(rows, more_rows, "{} {}", queue.name(), query.name);
            // A page of an index more or less is some steps.
            assert!(many * 100 <= few * 105, "{} {}: {few} steps became {many}", queue.name(), query.name);
        }
    }
}
on_servers!(steps_do_not_grow_with_the_backlog: sqlite);
