//! Every contract can be broken: by another order, by an index that is gone or lacks a column, by a lock that does not skip.
//! What keeps its contract all the same is returned.

use claimsmith::statement::query::Query;

use crate::servers::{Scratch, Server};

use super::Queue;
use super::bench::{Bench, Cost, unhinted};
use super::probe::Probe;
use super::running::scopes;
use super::second_worker::{check, enqueue_meanwhile, workers};
use super::statements::{Kind, kind};

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
    // Of a table with lanes, those of a lane: the others are as in all tables.
    let lane = queue.table.claim.as_ref().and_then(|claim| claim.lane.as_ref());
    for (name, index, mut queries) in bench.used() {
        let in_lane = |query: &Query| query.parameters.iter().any(|parameter| Some(&parameter.name) == lane);
        queries.retain(|query| kind(query) == Kind::Claim && (lane.is_none() || in_lane(query)));
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
