//! Every contract can be broken: by another order, by an index that is gone or lacks a column, by a lock that does not skip.
//! What keeps its contract all the same is returned.

use std::collections::BTreeSet;

use claimsmith::schema::Index;
use claimsmith::statement::query::Query;

use crate::servers::{Scratch, Server};

use super::Queue;
use super::before::drop_index;
use super::contracts::{breaches, is_of_cost};
use super::probe::Probe;
use super::running::{is_reading, run, scopes};
use super::second_worker::{check, enqueue_meanwhile, workers};
use super::statements::{Kind, Values, kind};

/// A table whose indexes are changed.
struct Bench<'a> {
    probe: Probe,
    queue: &'a Queue,
    /// So many rows are old enough to leave, if they are finished.
    old: u64,
    /// What is not as it should be.
    found: Vec<String>,
}

/// What a statement costs.
struct Cost {
    /// How it breaks its contract, but for the name of the index.
    found: Vec<String>,
    /// SQLite: the steps of its machine.
    steps: u64,
    /// PostgreSQL: pages touched by finding the rows.
    pages: u64,
}

impl<'a> Bench<'a> {
    fn of(scratch: &Scratch, queue: &'a Queue, rows: u64) -> Bench<'a> {
        Bench { probe: Probe::open(scratch), queue, old: rows / 2, found: Vec::new() }
    }

    fn server(&self) -> Server {
        self.probe.server
    }

    /// What the statement costs; an error where it is refused.
    fn cost(&mut self, queue: &Queue, query: &Query, scope: &'static str) -> Result<Cost, sqlx::Error> {
        let limit = if kind(query) == Kind::Claim { 100 } else { 1_000 };
        let values = Values { scope, old: self.old, ..Values::new(queue, self.server(), limit) };
        self.probe.begin();
        let counted = run(&mut self.probe, &values, query);
        self.probe.rollback();
        let (counted, about) = counted?;
        let expected = about.unwrap_or(counted.returned);
        assert!(expected > 0, "{:?}, {} {}, {scope}: no row", self.server(), queue.name(), query.name);
        let mut found = breaches(self.server(), queue.name(), query, &counted, expected);
        found.retain(|breach| is_of_cost(breach));
        let steps = if self.server() == Server::Sqlite { counted.examined } else { 0 };
        Ok(Cost { found, steps, pages: counted.pages })
    }

    /// Whether the statement costs more than its contract allows, or than it did before.
    fn breaks(&mut self, queue: &Queue, query: &Query, scope: &'static str, before: &Cost) -> bool {
        match self.cost(queue, query, scope) {
            Ok(cost) => {
                !cost.found.is_empty() || cost.steps * 100 > before.steps * 105 || cost.pages > before.pages + 10
            }
            // SQLite refuses an index that is there and cannot be used.
            Err(error) if self.server() == Server::Sqlite && error.to_string().contains("no query solution") => true,
            Err(error) => panic!("{:?}, {} {}: {error}", self.server(), queue.name(), query.name),
        }
    }

    /// What the statement costs while it keeps its contract.
    fn keeps(&mut self, query: &Query, scope: &'static str) -> Cost {
        let cost = self.cost(self.queue, query, scope).unwrap();
        let what = format!("{:?}, {} {}, {scope}", self.server(), self.queue.name(), query.name);
        self.found.extend(cost.found.iter().map(|breach| format!("{what}: {breach}")));
        cost
    }

    /// The index of this name, with these of its columns.
    fn create(&mut self, name: &str, index: &Index, columns: &[usize]) {
        let (dialect, table) = (self.server().dialect(), &self.queue.table);
        let columns: Vec<String> = columns.iter().map(|at| dialect.ident(&table.columns[*at].name)).collect();
        let only = index.predicate.as_ref().map(|predicate| {
            let column = dialect.ident(&table.columns[predicate.column].name);
            format!(" WHERE {column} = {}", dialect.literal(&predicate.value))
        });
        let (name, of) = (dialect.ident(name), dialect.ident(&table.name.name));
        let only = only.unwrap_or_default();
        self.probe.run(&format!("CREATE INDEX {name} ON {of} ({}){only}", columns.join(", ")));
    }

    fn drop(&mut self, name: &str) {
        self.probe.run(&drop_index(self.server(), self.queue, name));
    }

    /// Takes away what undone changes left.
    fn tidy(&mut self) {
        if self.server() == Server::Postgres {
            self.probe.run(&format!("VACUUM {}", self.server().dialect().ident(self.queue.name())));
        }
    }

    /// The indexes that statements read, and those statements.
    fn used(&self) -> Vec<(String, Index, Vec<Query>)> {
        let names: BTreeSet<&String> = self.queue.queries.iter().filter_map(|query| query.index.as_ref()).collect();
        let of_name = |name: &String| {
            let at = self.queue.index_names.iter().position(|index| index == name).unwrap();
            let queries = self.queue.queries.iter().filter(|query| query.index.as_ref() == Some(name)).cloned();
            // Undone changes would leave entries in PostgreSQL's indexes.
            let (reading, changing): (Vec<_>, Vec<_>) = queries.partition(|query| is_reading(kind(query)));
            (name.clone(), self.queue.table.indexes[at].clone(), [reading, changing].concat())
        };
        names.into_iter().map(of_name).collect()
    }
}

/// The statement without the hint of its index, or of the primary key.
fn unhinted(server: Server, query: &Query) -> Query {
    let mut free = query.clone();
    for index in query.index.iter().map(String::as_str).chain(["PRIMARY"]) {
        let hint = server.dialect().index_hint(index);
        free.sql = if hint.is_empty() { free.sql } else { free.sql.replace(&hint, "") };
    }
    free
}

/// Claims of `wallet_outbox` in another order.
pub fn break_order(scratch: &Scratch, queue: &Queue) -> Vec<String> {
    let mut bench = Bench::of(scratch, queue, 0);
    let quoted = |name: &str| scratch.server.dialect().ident(name);
    let order = |name: &str| format!("ORDER BY {}, {}", quoted(name), quoted("event_id"));
    for (name, from, to) in [
        ("claim_pending", "created_at_ms", "updated_at_ms"),
        ("claim_retryable", "next_retry_at_ms", "created_at_ms"),
        ("claim_expired", "lock_until_ms", "created_at_ms"),
    ] {
        let mut query = queue.query(name).clone();
        let scope = scopes(queue, &query)[0];
        let before = bench.keeps(&query, scope);
        let changed = query.sql.replace(&order(from), &order(to));
        assert_ne!(changed, query.sql);
        query.sql = changed;
        let breaks = bench.breaks(queue, &query, scope, &before);
        bench
            .found
            .extend((!breaks).then(|| format!("{:?}: {name} in another order keeps its contract", scratch.server)));
    }
    bench.found
}

/// Each index that a statement reads is dropped in turn: a statement that names it is refused, and without the name it costs
/// more; but for a count where another index begins with the scope and the state as well.
pub fn break_each_index(scratch: &Scratch, queue: &Queue, rows: u64) -> Vec<String> {
    let mut bench = Bench::of(scratch, queue, rows);
    let free: Vec<Query> = queue.queries.iter().map(|query| unhinted(scratch.server, query)).collect();
    let free = Queue { queries: free, ..queue.clone() };
    for (name, index, queries) in bench.used() {
        let scoped = |query: &Query| scopes(queue, query)[0];
        bench.tidy();
        let before: Vec<Cost> = queries.iter().map(|query| bench.keeps(query, scoped(query))).collect();
        bench.drop(&name);
        for (query, before) in queries.iter().zip(before) {
            let what = format!("{:?}: {} {} without {name}", scratch.server, queue.name(), query.name);
            if !scratch.server.dialect().index_hint(&name).is_empty() {
                let refused = bench.cost(queue, query, scoped(query)).is_err();
                bench.found.extend((!refused).then(|| format!("{what} is not refused")));
            }
            let by_another = kind(query) == Kind::Count && index.predicate.is_none();
            let breaks = bench.breaks(&free, free.query(&query.name), scoped(query), &before);
            bench.found.extend((!breaks && !by_another).then(|| format!("{what} keeps its contract")));
        }
        bench.create(&name, &index, &index.columns);
        bench.tidy();
        queries.iter().for_each(|query| _ = bench.keeps(query, scoped(query)));
    }
    bench.found
}

/// Each index of a claim is spoiled in all ways in turn: a claim by it costs more, of the one scope or of the other.
pub fn break_each_column(scratch: &Scratch, queue: &Queue) -> Vec<String> {
    let mut bench = Bench::of(scratch, queue, 0);
    for (name, index, mut queries) in bench.used() {
        queries.retain(|query| kind(query) == Kind::Claim);
        let claims: Vec<(Query, &str)> = queries
            .into_iter()
            .flat_map(|query| scopes(queue, &query).into_iter().map(move |scope| (query.clone(), scope)))
            .collect();
        if claims.is_empty() {
            continue;
        }
        let before: Vec<Cost> = claims.iter().map(|(query, scope)| bench.keeps(query, scope)).collect();
        for columns in spoiled(&index.columns) {
            bench.drop(&name);
            bench.create(&name, &index, &columns);
            let mut each = claims.iter().zip(&before);
            let broken = each.any(|((query, scope), before)| bench.breaks(queue, query, scope, before));
            let names = queue.table.names(&columns).collect::<Vec<_>>().join(", ");
            let what = || format!("{:?}: {name} of {} serves on ({names})", scratch.server, queue.name());
            bench.found.extend((!broken).then(what));
        }
        bench.drop(&name);
        bench.create(&name, &index, &index.columns);
    }
    bench.found
}

/// Without each column but the last, which MySQL and MariaDB add by themselves, and with the last three in other orders.
fn spoiled(columns: &[usize]) -> Vec<Vec<usize>> {
    let last = columns.len() - 1;
    let without = (0..last).map(|at| [&columns[..at], &columns[at + 1..]].concat());
    let swapped = (last.saturating_sub(2)..last).map(|at| {
        let mut swapped = columns.to_vec();
        swapped.swap(at, at + 1);
        swapped
    });
    without.chain(swapped).collect()
}

/// Without any index, what goes by the primary key reads the table. It has none afterwards.
pub fn break_keys(scratch: &Scratch, queue: &Queue, rows: u64) -> Vec<String> {
    let mut bench = Bench::of(scratch, queue, rows);
    let keyed = |query: &&Query| matches!(kind(query), Kind::Keyed | Kind::ByKeys);
    let queries: Vec<Query> = queue.queries.iter().filter(keyed).cloned().collect();
    let before: Vec<Cost> = queries.iter().map(|query| bench.keeps(query, scopes(queue, query)[0])).collect();
    let (table, other) = (scratch.server.dialect().ident(queue.name()), scratch.server.dialect().ident("with_indexes"));
    bench.probe.run(&format!("ALTER TABLE {table} RENAME TO {other}; CREATE TABLE {table} AS SELECT * FROM {other}"));
    let free: Vec<Query> = queue.queries.iter().map(|query| unhinted(scratch.server, query)).collect();
    let free = Queue { queries: free, ..queue.clone() };
    for (query, before) in queries.iter().zip(before) {
        let breaks = bench.breaks(&free, free.query(&query.name), scopes(queue, query)[0], &before);
        let what = || format!("{:?}: {} without a key keeps its contract", scratch.server, query.name);
        bench.found.extend((!breaks).then(what));
    }
    bench.found
}

/// A second worker has to wait for a claim that does not skip what is locked, and a producer for a worker that locks the table.
pub fn break_locks(scratch: &Scratch, queue: &Queue) {
    if scratch.server == Server::Sqlite {
        return;
    }
    let mut workers = workers(scratch);
    let mut query = queue.query("claim_pending").clone();
    assert_eq!(check(&mut workers, queue, &query), [""; 0]);
    workers.iter_mut().for_each(Probe::rollback);
    query.sql = query.sql.replace(" SKIP LOCKED", "");
    let found = check(&mut workers, queue, &query);
    workers.iter_mut().for_each(Probe::rollback);
    assert!(found.iter().any(|breach| breach.starts_with("the second worker fails")), "{found:?}");
    // MySQL and MariaDB let a producer wait for the claim of the incident.
    if scratch.server.is_mysql_like() {
        return;
    }
    let [first, _, producer] = &mut workers;
    first.begin();
    first.run(&format!("LOCK TABLE {} IN SHARE MODE", scratch.server.dialect().ident(queue.name())));
    assert!(enqueue_meanwhile(producer, queue).is_some(), "enqueue does not wait for a table that is locked");
    first.rollback();
    producer.rollback();
}
