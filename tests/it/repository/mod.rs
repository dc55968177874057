//! The generated repository on every engine: one suite of checks for each queue table of `schemas/`, and for one whose claims
//! are numbered.
//!
//! The generated functions have the types of their table and engine. [`erased::Repository`] hides these, so that a check
//! is written and compiled once. A check says of which definitions it holds ([`checks`]), so that what is skipped follows
//! from the definition; [`bench::parts`] makes sure that a function is there exactly where the definition asks for it.

mod bench;
mod checks;
mod contention;
pub mod erased;
mod inbox;
mod model;
mod race;
mod tables;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::servers::Scratch;

use bench::Bench;

/// Runs every check that holds for the table, and names all that fail.
fn conforms(table: &str, scratch: &mut Scratch) {
    let mut bench = Bench::new(table, scratch);
    assert_eq!(bench.repository.parts(), bench.parts(), "functions of {table}");
    let mut failed = Vec::new();
    for (name, holds, check) in checks::all() {
        if holds(&bench.queue) {
            bench.clear();
            let done = catch_unwind(AssertUnwindSafe(|| check(&mut bench)));
            failed.extend(done.is_err().then_some(name));
        }
    }
    assert!(failed.is_empty(), "{table}: {failed:?}");
}

/// A test for each table and engine.
macro_rules! conformance {
    ($($table:ident: $name:literal)+) => {
        $(mod $table {
            fn conforms(scratch: &mut crate::servers::Scratch) {
                super::conforms($name, scratch);
            }
            crate::servers::on_servers!(conforms);
        })+

        /// The names of all tables.
        const TABLES: &[&str] = &[$($name),+];
    };
}

conformance! {
    wallet_outbox: "wallet_outbox"
    room_outbox: "room_outbox"
    activity_outbox: "activity_outbox"
    im_broadcast_outbox: "im_broadcast_outbox"
    game_outbox: "game_outbox"
    game_level_event_outbox: "game_level_event_outbox"
    user_outbox: "user_outbox"
    notice_delivery_events: "notice_delivery_events"
    agent_outbox_messages: "agent_outbox_messages"
    system_outbox_event: "_System_OutboxEvent"
    system_integration_inbound: "_System_IntegrationInbound"
    system_integration_outbound: "_System_IntegrationOutbound"
    seq_outbox: "seq_outbox"
}

/// No queue table of the definitions is left out.
#[test]
fn every_queue_is_tested() {
    let mut names: Vec<String> = bench::definitions()
        .into_iter()
        .filter(|table| table.get("claim").is_some())
        .map(|table| table["tableName"].as_str().unwrap().to_owned())
        .collect();
    let mut tested = TABLES.to_vec();
    names.sort();
    tested.sort();
    assert_eq!(names, tested);
}
