//! The statements that claimsmith was made to replace break the contract of a claim; their figures stand beside those of the
//! generated ones.

use claimsmith::statement::query::Query;

use crate::servers::{Scratch, Server};

use super::Queue;
use super::backlog::START_S;
use super::bench::drop_index;
use super::contracts::{SLACK, breaches};
use super::figures::Figure;
use super::measure::{Counted, measure};
use super::probe::Probe;
use super::running::run;
use super::second_worker::enqueue_meanwhile;
use super::statements::Values;

const NOW: &str = "1800000000000";
const LIMIT: u64 = 100;

/// Measures on `wallet_outbox`, which has the usual backlog of at least 100,000 `rows` and an empty archive, and whose indexes
/// are dropped on the way. Returns the figures for the reader.
pub fn figures(scratch: &Scratch, queue: &Queue, rows: u64) -> Vec<Figure> {
    let (probe, other) = (Probe::open(scratch), Probe::open(scratch));
    let mut bench = Bench { probe, other, queue, old: rows / 2, figures: Vec::new() };
    if scratch.server == Server::Postgres {
        // Takes away what undone changes left in the indexes, however few pages it is on.
        bench.probe.run("VACUUM (INDEX_CLEANUP ON) wallet_outbox");
    }
    bench.generated();
    bench.incident();
    bench.seed_order();
    bench.seed_archive();
    bench.figures
}

struct Bench<'a> {
    probe: Probe,
    other: Probe,
    queue: &'a Queue,
    /// So many rows are old enough for the archive, if they are finished.
    old: u64,
    figures: Vec<Figure>,
}

impl Bench<'_> {
    fn server(&self) -> Server {
        self.probe.server
    }

    /// What the generated statements read, for comparison.
    fn generated(&mut self) {
        for (name, text) in [
            ("claim_pending", "generated: pending"),
            ("claim_retryable", "generated: retries that are due"),
            ("claim_expired", "generated: leases that have expired"),
        ] {
            let query = self.queue.query(name);
            let counted = self.measured(query, LIMIT);
            assert_eq!(breaches(self.server(), self.queue.name(), query, &counted, counted.returned), [""; 0]);
            self.figures.push(Figure::of(text, &counted));
        }
        let archive = self
            .queue
            .queries
            .iter()
            .find(|query| query.name.starts_with("archive") && query.name.ends_with("_delivered"));
        let archive = archive.unwrap();
        let counted = self.measured(archive, 1_000);
        // PostgreSQL moves it in the same statement, SQLite copies it.
        let text = match self.server() {
            Server::MySql | Server::MariaDb => "generated: finding a batch of 1,000 for the archive",
            Server::Postgres => "generated: a batch of 1,000 moved into the archive",
            Server::Sqlite => "generated: a batch of 1,000 copied into the archive",
        };
        self.figures.push(Figure::of(text, &counted));
    }

    fn measured(&mut self, query: &Query, limit: u64) -> Counted {
        let values = Values { old: self.old, ..Values::new(self.queue, self.server(), limit) };
        self.probe.begin();
        let counted = run(&mut self.probe, &values, query);
        self.probe.rollback();
        counted.unwrap().0
    }

    fn drop_index(&mut self, name: &str) {
        self.probe.run(&drop_index(self.server(), self.queue, name));
    }

    /// Measures a statement that replaces a claim, and proves that it breaks the claim's contract.
    fn bad(&mut self, text: &'static str, sql: &str, least: u64) {
        self.probe.begin_at("REPEATABLE READ");
        let counted =
            measure(&mut self.probe, "wallet_outbox", sql, &[]).unwrap_or_else(|error| panic!("{error}\n{sql}"));
        if self.server().is_mysql_like() && sql.contains("SKIP LOCKED") {
            // Whatever was read and sorted is locked: nothing is left for a second worker.
            self.other.begin();
            assert_eq!(self.other.rows(sql, &[]).rows.len(), 0, "a second worker gets rows: {sql}");
            self.other.rollback();
            assert!(counted.locked > Some(2 * LIMIT + SLACK), "{text}: {:?} rows locked", counted.locked);
        }
        self.probe.rollback();
        // SQLite counts steps: several for each row.
        assert!(
            counted.examined >= least,
            "{:?}, {text}: {} rows examined, {least} expected",
            self.server(),
            counted.examined
        );
        assert!(counted.sorts, "{:?}, {text}: not sorted", self.server());
        self.figures.push(Figure::of(text, &counted));
    }

    fn locking(&self) -> &'static str {
        if self.server() == Server::Sqlite { "" } else { " FOR UPDATE SKIP LOCKED" }
    }

    fn or_claim(&self, scope: &str) -> String {
        format!(
            "SELECT event_id FROM wallet_outbox WHERE {scope}(status = 'pending' OR (status = 'retryable' AND next_retry_at_ms <= {NOW}) OR (status = 'delivering' AND lock_until_ms <= {NOW})) ORDER BY created_at_ms, event_id LIMIT {LIMIT}{}",
            self.locking()
        )
    }

    /// The claim of the incident, on the table as it was.
    fn incident(&mut self) {
        let derived: Vec<String> = self
            .queue
            .queries
            .iter()
            .filter_map(|query| query.index.clone())
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        derived.iter().for_each(|name| self.drop_index(name));
        self.bad("before: three states by OR, no index", &self.or_claim("app_code = 'chat' AND "), 60_000);
        self.enqueue_waits();
        self.bad("before: the same without app_code", &self.or_claim(""), 100_000);
        let list = format!(
            "SELECT event_id FROM wallet_outbox WHERE app_code = 'chat' AND status IN ('pending', 'retryable') ORDER BY created_at_ms, event_id LIMIT {LIMIT}{}",
            self.locking()
        );
        self.bad("before: status IN (…), no index", &list, 60_000);
    }

    /// At REPEATABLE READ the claim of the incident holds up whoever enqueues.
    fn enqueue_waits(&mut self) {
        if !self.server().is_mysql_like() {
            return;
        }
        self.probe.begin_at("REPEATABLE READ");
        self.probe.rows(&self.or_claim("app_code = 'chat' AND "), &[]);
        let waits = enqueue_meanwhile(&mut self.other, self.queue);
        let waits = waits.expect("enqueue does not wait for the claim of the incident");
        assert!(waits.contains("Lock wait timeout"), "{waits}");
        self.other.rollback();
        self.probe.rollback();
    }

    /// The statements of seed 004 with the three indexes of seed 004.
    fn seed_order(&mut self) {
        for (name, columns) in [
            ("seed_retry", "app_code, status, next_retry_at_ms, created_at_ms, event_id"),
            ("seed_lease", "app_code, status, lock_until_ms, created_at_ms, event_id"),
            ("seed_age", "app_code, status, updated_at_ms, event_id"),
        ] {
            self.probe.run(&format!("CREATE INDEX {name} ON wallet_outbox ({columns})"));
        }
        // Of the whole table, so that the engine decides the same each time.
        self.probe.run(match self.server() {
            Server::MySql | Server::MariaDb => {
                "ALTER TABLE wallet_outbox STATS_SAMPLE_PAGES = 10000; ANALYZE TABLE wallet_outbox"
            }
            _ => "ANALYZE wallet_outbox",
        });
        let pending = format!(
            "SELECT event_id FROM wallet_outbox WHERE app_code = 'chat' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT {LIMIT}{}",
            self.locking()
        );
        self.bad("before: pending by creation, the indexes of seed 004", &pending, 300);
        self.bad("before: three states by OR, the indexes of seed 004", &self.or_claim("app_code = 'chat' AND "), 350);
    }

    /// The archive script of seed 004.
    fn seed_archive(&mut self) {
        let old = format!(
            "status IN ('delivered', 'done') AND updated_at_ms < {}",
            (START_S + i64::try_from(self.old).unwrap()) * 1_000
        );
        let (insert, end) = match self.server() {
            Server::MySql | Server::MariaDb => ("INSERT IGNORE", ""),
            Server::Postgres => ("INSERT", " ON CONFLICT DO NOTHING"),
            Server::Sqlite => ("INSERT OR IGNORE", ""),
        };
        let copy = format!(
            "{insert} INTO wallet_outbox_archive SELECT * FROM wallet_outbox WHERE {old} ORDER BY updated_at_ms ASC LIMIT 1000{end}"
        );
        self.bad("before: the archive script's INSERT of 1,000, the indexes of seed 004", &copy, 45_000);
        if !self.server().is_mysql_like() {
            // No LIMIT in a DELETE there.
            return;
        }
        let delete = format!(
            "DELETE FROM wallet_outbox WHERE {old} AND EXISTS (SELECT 1 FROM wallet_outbox_archive AS a WHERE a.app_code = wallet_outbox.app_code AND a.event_id = wallet_outbox.event_id) ORDER BY updated_at_ms ASC LIMIT 1000"
        );
        self.probe.run(&copy);
        self.bad("before: the archive script's DELETE of 1,000, the indexes of seed 004", &delete, 45_000);
    }
}
