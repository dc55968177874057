//! Every statement of every queue keeps its contract.

use crate::servers::{Scratch, Server, on_servers};

use super::backlog::{Mix, load};
use super::contracts::check_all;
use super::probe::Probe;
use super::{create, queue, queues};

/// Rows of a table.
const ROWS: u64 = 10_000;

fn every_statement_keeps_its_contract(scratch: &mut Scratch) {
    create(scratch);
    let mut probe = Probe::open(scratch);
    let mut found = Vec::new();
    for queue in queues(scratch.server).iter().filter(|queue| queue.name() != "wallet_outbox") {
        for (name, mix) in [("usual", Mix::Usual), ("half due", Mix::Due(50))] {
            load(&mut probe, &queue.table, ROWS, mix);
            found.extend(check_all(&mut probe, queue, ROWS / 4, name));
        }
    }
    assert!(found.is_empty(), "{} breaches:\n{}", found.len(), found.join("\n"));
}
on_servers!(every_statement_keeps_its_contract);
