//! What the statements of the largest table read and lock with 1,000,000 rows, on every engine that there is, beside the
//! claim that the project replaces: `tests/run.sh cargo bench --profile dev --bench counters`.
//! With `CLAIMSMITH_UPDATE=1` its tables go into `tests/README.md`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
// The tests' own harness: what only tests use is not used here.
#![allow(dead_code, unused_imports, unused_macros)]

#[path = "../tests/it/counters/mod.rs"]
mod counters;
#[path = "../tests/it/servers/mod.rs"]
mod servers;

use counters::backlog::{Mix, load};
use counters::probe::Probe;
use counters::{before, create, figures, queue};
use servers::{Scratch, Server};

const ROWS: u64 = 1_000_000;

fn main() {
    for server in Server::ALL {
        if let Some(mut scratch) = Scratch::new(server, "the bench of the counters") {
            bench(&mut scratch);
        }
    }
}

fn bench(scratch: &mut Scratch) {
    create(scratch);
    let queue = queue(scratch.server, "wallet_outbox");
    let mut probe = Probe::open(scratch);
    load(&mut probe, &queue.table, ROWS, Mix::Usual);
    let table = figures::table(&mut probe, &before::figures(scratch, &queue, ROWS), true);
    println!("{table}");
    if figures::updating() {
        figures::place(scratch.server, "bench", &table, true);
    }
}
