//! Every contract can be broken: by another index, by another order, and by the statements that claimsmith replaces.

use claimsmith::statement::query::Query;

use crate::servers::{Scratch, Server};

use super::Queue;
use super::contracts::{SLACK, breaches, run};
use super::figures::Figure;
use super::measure::{Counted, measure};
use super::probe::Probe;
use super::statements::Values;

const NOW: &str = "1800000000000";
const LIMIT: u64 = 100;

/// Drops and creates indexes of `wallet_outbox`, which has the usual backlog of at least 100,000 `rows`, and measures. Returns
/// the figures for the reader.
pub fn break_all(scratch: &Scratch, queue: &Queue, rows: u64) -> Vec<Figure> {
    let (probe, other) = (Probe::open(scratch), Probe::open(scratch));
    let mut bench = Bench { probe, other, queue, old: rows / 2, figures: Vec::new(), steps: Vec::new() };
    bench.generated();
    bench.another_order();
    bench.another_index();
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
    /// SQLite: the steps of the generated statements.
    steps: Vec<(String, u64)>,
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
            let counted = self.claim(self.queue.query(name)).unwrap();
            assert_eq!(breaches(self.server(), self.queue.query(name), &counted, counted.returned), [""; 0]);
            self.figures.push(Figure::of(text, &counted));
            self.steps.push((name.to_owned(), counted.examined));
        }
        let archive = self.queue.queries.iter().find(|query| query.name.ends_with("_delivered")).unwrap();
        let values = Values { queue: self.queue, server: self.server(), limit: 1_000, old: self.old, fresh: 0 };
        self.probe.begin();
        let (counted, _) = run(&mut self.probe, &values, archive).unwrap();
        self.probe.rollback();
        self.figures.push(Figure::of("generated: a batch of 1,000 for the archive", &counted));
    }

    fn claim(&mut self, query: &Query) -> Result<Counted, sqlx::Error> {
        let values = Values { queue: self.queue, server: self.server(), limit: LIMIT, old: 0, fresh: 0 };
        self.probe.begin();
        let counted = run(&mut self.probe, &values, query).map(|(counted, _)| counted);
        self.probe.rollback();
        counted
    }

    fn breaks(&mut self, query: &Query, because: &str) {
        let counted = self.claim(query).unwrap();
        let breaches = breaches(self.server(), query, &counted, counted.returned);
        let steps = self.steps.iter().find(|(name, _)| *name == query.name).unwrap().1;
        let slower = self.server() == Server::Sqlite && counted.examined * 100 > steps * 105;
        assert!(slower || !breaches.is_empty(), "{:?}: {because}, and the contract holds: {counted:?}", self.server());
    }

    fn another_order(&mut self) {
        for (name, from, to) in [
            ("claim_pending", "created_at_ms", "updated_at_ms"),
            ("claim_retryable", "next_retry_at_ms", "created_at_ms"),
            ("claim_expired", "lock_until_ms", "created_at_ms"),
        ] {
            let mut query = self.queue.query(name).clone();
            let quoted = |name: &str| self.server().dialect().ident(name);
            let order = |name: &str| format!("ORDER BY {}, {}", quoted(name), quoted("event_id"));
            let changed = query.sql.replace(&order(from), &order(to));
            assert_ne!(changed, query.sql);
            query.sql = changed;
            self.breaks(&query, "the order is another");
        }
    }

    fn another_index(&mut self) {
        let query = self.queue.query("claim_pending").clone();
        let (name, only) = ("idx_wallet_outbox_pending", self.server().engine().partial_indexes);
        let only = if only { " WHERE status = 'pending'" } else { "" };
        self.drop_index(name);
        match (self.server(), self.claim(&query)) {
            (Server::Postgres, _) => self.breaks(&query, "there is no index"),
            (_, refused) => _ = refused.expect_err("a statement that forces an index that is gone"),
        }
        let mut free = query.clone();
        free.sql = free.sql.replace(&self.server().dialect().index_hint(name), "");
        self.breaks(&free, "there is no index and no hint");
        // The order is lost; the scope is missing; the order comes too early.
        let reordered: &[&str] = match self.server() {
            // Where the update costs most of the steps, rows of other scopes cost too few of them to be seen.
            Server::Sqlite => &["app_code, status, event_id, created_at_ms"],
            Server::Postgres => &["app_code, status, event_id, created_at_ms", "created_at_ms, event_id"],
            _ => &[
                "app_code, status, event_id, created_at_ms",
                "created_at_ms, event_id",
                "app_code, created_at_ms, status, event_id",
            ],
        };
        for columns in reordered {
            self.create_index(name, columns, only);
            self.breaks(&query, &format!("the index is ({columns})"));
            self.drop_index(name);
        }
        self.create_index(name, "app_code, status, created_at_ms, event_id", only);
        let counted = self.claim(&query).unwrap();
        assert_eq!(breaches(self.server(), &query, &counted, counted.returned), [""; 0], "the right index again");
    }

    fn drop_index(&mut self, name: &str) {
        let of = if self.server().is_mysql_like() { " ON wallet_outbox" } else { "" };
        self.probe.run(&format!("DROP INDEX {name}{of}"));
    }

    fn create_index(&mut self, name: &str, columns: &str, only: &str) {
        self.probe.run(&format!("CREATE INDEX {name} ON wallet_outbox ({columns}){only}"));
    }

    /// Measures a statement that replaces a claim, and proves that it breaks the claim's contract.
    fn bad(&mut self, text: &'static str, sql: &str, least: u64) {
        self.probe.begin_at("REPEATABLE READ");
        let counted = measure(&mut self.probe, sql, &[]).unwrap_or_else(|error| panic!("{error}\n{sql}"));
        if self.server().is_mysql_like() && sql.contains("SKIP LOCKED") {
            // Whatever was read and sorted is locked: nothing is left for a second worker.
            self.other.begin();
            assert_eq!(self.other.rows(sql, &[]).rows.len(), 0, "a second worker gets rows: {sql}");
            self.other.rollback();
            assert!(counted.locked > 2 * LIMIT + SLACK, "{text}: {} rows locked", counted.locked);
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
        let values = Values { queue: self.queue, server: self.server(), limit: LIMIT, old: 0, fresh: 1 };
        let (enqueue, binds) = values.of(&mut self.other, self.queue.query("enqueue"), None, None);
        self.probe.begin_at("REPEATABLE READ");
        self.probe.rows(&self.or_claim("app_code = 'chat' AND "), &[]);
        self.other.begin();
        let error = self.other.ask(&enqueue, &binds).expect_err("enqueue does not wait for the claim of the incident");
        assert!(error.to_string().contains("Lock wait timeout"), "{error}");
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
            self.create_index(name, columns, "");
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
            (super::backlog::START_S + i64::try_from(self.old).unwrap()) * 1_000
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
