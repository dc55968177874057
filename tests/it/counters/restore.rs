//! What rows cost that come back from the archive: as many as come back, whatever else is there.

use crate::servers::{Scratch, Server, on_servers};

use super::backlog::{Mix, SCOPES, load};
use super::probe::Probe;
use super::running::run;
use super::statements::Values;
use super::{create, queue};

const LIMIT: u64 = 30;

/// Moves all finished rows into the archive by plain statements.
fn archive_all(probe: &mut Probe) {
    let finished = "status IN ('delivered', 'done')";
    probe.run(&format!("INSERT INTO wallet_outbox_archive SELECT * FROM wallet_outbox WHERE {finished}"));
    probe.run(&format!("DELETE FROM wallet_outbox WHERE {finished}"));
    for table in ["wallet_outbox", "wallet_outbox_archive"] {
        probe.run(&match probe.server {
            Server::MySql | Server::MariaDb => format!("ANALYZE TABLE {table}"),
            Server::Postgres => format!("VACUUM ANALYZE {table}"),
            Server::Sqlite => format!("ANALYZE {table}"),
        });
    }
}

/// What each statement examines, once for the busiest scope and once for the one whose rows come after all others.
fn examined(scratch: &mut Scratch, rows: u64) -> Vec<(String, u64)> {
    let mut probe = Probe::open(scratch);
    let queue = queue(scratch.server, "wallet_outbox");
    load(&mut probe, &queue.table, rows, Mix::Usual);
    archive_all(&mut probe);
    let mut all = Vec::new();
    assert!(queue.restoring.len() >= 4);
    for query in &queue.restoring {
        for scope in [SCOPES[0], SCOPES[2]] {
            let values = Values { cap: LIMIT, scope, old: rows, ..Values::new(&queue, scratch.server, LIMIT) };
            probe.begin();
            let (counted, about) = run(&mut probe, &values, query).unwrap();
            probe.rollback();
            let what = format!("{} of {scope} at {rows} rows", query.name);
            assert_eq!(about.unwrap_or(counted.returned), LIMIT, "{what}");
            assert!(!counted.sorts, "{what} sorts: {counted:?}");
            let own = query.index.iter().all(|index| counted.indexes.contains(index));
            assert!(own, "{what} reads {:?}", counted.indexes);
            all.push((what, counted.examined));
        }
    }
    probe.run("DELETE FROM wallet_outbox_archive");
    all
}

fn rows_come_back_at_the_cost_of_a_batch(scratch: &mut Scratch) {
    create(scratch);
    let few = examined(scratch, 4_000);
    let many = examined(scratch, 20_000);
    for ((what, few), (_, many)) in few.into_iter().zip(many) {
        match scratch.server {
            // Steps of its machine.
            Server::Sqlite => assert!(many * 100 <= few * 105 + 1_000, "{what}: {few} steps became {many}"),
            // Found, looked up in the table by each of its keys, taken out and put in.
            _ => assert!(many <= 8 * LIMIT + 8, "{what}: {many} rows examined"),
        }
    }
}
on_servers!(rows_come_back_at_the_cost_of_a_batch);
