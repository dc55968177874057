//! Statistics that are wrong, as they are after a bulk load, a restore or a purge until the server looks again: a statement
//! that reads by its index only as long as they are right would read, and lock, a table of millions.

use crate::servers::{Scratch, on_servers};

use super::backlog::{Mix, empty, fill, load, load_archive};
use super::probe::Probe;
use super::running::check_all;
use super::{create, queues};

const ROWS: u64 = 10_000;

/// What the optimizer takes the tables for: a few rows, as if they had been empty when it looked.
fn forget(probe: &mut Probe, tables: &[String]) {
    probe.run(
        "UPDATE mysql.innodb_table_stats SET n_rows = 10, clustered_index_size = 1 WHERE database_name = DATABASE()",
    );
    probe.run(
        "UPDATE mysql.innodb_index_stats SET stat_value = 1 WHERE database_name = DATABASE() AND stat_name LIKE 'n_diff%'",
    );
    tables.iter().for_each(|table| probe.run(&format!("FLUSH TABLE {table}")));
}

fn contracts_do_not_depend_on_statistics(scratch: &mut Scratch) {
    create(scratch);
    let mut probe = Probe::open(scratch);
    let mut found = Vec::new();
    for queue in queues(scratch.server) {
        load(&mut probe, &queue.table, ROWS, Mix::Usual);
        load_archive(&mut probe, &queue.table);
        let archive = queue.table.retention.as_ref().and_then(|retention| retention.into.clone());
        let tables = [Some(queue.name().to_owned()), archive].into_iter().flatten();
        forget(&mut probe, &tables.map(|table| format!("`{table}`")).collect::<Vec<_>>());
        let breaches = check_all(&mut probe, &queue, ROWS, Mix::Usual, "stale statistics");
        // A count locks nothing. On MySQL it may read its whole index until the statistics are renewed.
        found.extend(breaches.into_iter().filter(|breach| !breach.contains(", count_")));
    }
    assert!(found.is_empty(), "{} breaches:\n{}", found.len(), found.join("\n"));
}
on_servers!(contracts_do_not_depend_on_statistics: mysql, mariadb);

/// Those that find no index to their liking forced upon them: many keys go by the primary key all the same, where the table
/// was empty when the server looked.
fn keys_do_not_depend_on_statistics(scratch: &mut Scratch) {
    create(scratch);
    let mut probe = Probe::open(scratch);
    let mut found = Vec::new();
    for queue in queues(scratch.server) {
        let mut many = queue.clone();
        many.queries.retain(|query| query.name == "complete_many");
        for (name, mix) in [("all due", Mix::Due(100)), ("usual", Mix::Usual)] {
            empty(&mut probe, &queue.table);
            let table = scratch.server.dialect().ident(queue.name());
            probe.run(&format!("ANALYZE {table}"));
            fill(&mut probe, &queue.table, ROWS, mix);
            let breaches = check_all(&mut probe, &many, ROWS, mix, &format!("{name}, stale statistics"));
            // Which index is a matter of taste as long as it costs nothing.
            found.extend(breaches.into_iter().filter(|breach| !breach.contains(": reads ")));
        }
    }
    assert!(found.is_empty(), "{} breaches:\n{}", found.len(), found.join("\n"));
}
on_servers!(keys_do_not_depend_on_statistics: postgres, sqlite);
