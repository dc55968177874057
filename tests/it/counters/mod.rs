//! Counters of real engines prove what each generated statement reads, sorts and locks, whatever the backlog; and that the
//! statements which claimsmith was made to replace break the same contracts.
//!
//! Counters do not depend on how busy the machine is, and a statement's counters do not depend on how many rows the table
//! has as long as its index serves it. That is what is asserted; figures for readers are in `tests/README.md`.

mod agreement;
pub mod backlog;
pub mod before;
pub mod bench;
mod contracts;
pub mod figures;
mod measure;
mod negatives;
pub mod probe;
mod restore;
pub mod running;
mod second_worker;
mod stale;
pub mod statements;
mod tables;

use claimsmith::schema::{Catalog, Table, load, names};
use claimsmith::statement::query::{Query, queries};
use claimsmith::workload;

use crate::servers::{Scratch, Server};

use probe::Probe;

/// A queue table and the statements of its workload on one engine.
#[derive(Clone)]
pub struct Queue {
    pub table: Table,
    /// In the order of the table's indexes.
    pub index_names: Vec<String>,
    pub queries: Vec<Query>,
    /// Those that bring rows back from the archive, which is empty where the others are measured.
    pub restoring: Vec<Query>,
}

impl Queue {
    /// The statement of this name.
    pub fn query(&self, name: &str) -> &Query {
        self.queries
            .iter()
            .chain(&self.restoring)
            .find(|query| query.name == name)
            .unwrap_or_else(|| panic!("no statement {name}"))
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.table.name.name
    }
}

/// The tables of `schemas/` that have a workload.
pub fn queues(server: Server) -> Vec<Queue> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let catalog: Catalog = load::load(&load::read(&[folder], |path| path.display().to_string()).unwrap()).0;
    let indexed = workload::indexed(&catalog, server.engine());
    let names = names::assign(&indexed, server.engine());
    let of_table = queries(&catalog, server.dialect()).into_iter().map(|of| {
        let restores = |query: &Query| query.base.contains("republish_archived");
        let (restoring, queries) = of.queries.into_iter().partition(restores);
        Queue {
            table: indexed.tables[of.table].clone(),
            index_names: names[of.table].indexes.clone(),
            queries,
            restoring,
        }
    });
    let queues: Vec<Queue> = of_table.collect();
    // Twelve with a claim, and one with a retention alone.
    assert!(queues.len() >= 13, "only {} queues", queues.len());
    queues
}

/// The queue of this name.
pub fn queue(server: Server, name: &str) -> Queue {
    queues(server).into_iter().find(|queue| queue.name() == name).unwrap()
}

/// Creates all tables as the generated script does.
pub fn create(scratch: &mut Scratch) {
    let path = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), scratch.server.id());
    scratch.run(&std::fs::read_to_string(path).unwrap()).unwrap();
    Probe::open(scratch).keep_autovacuum_out();
}
