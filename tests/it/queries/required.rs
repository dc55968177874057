//! The statements that every queue table must have, by the roles of its definition: all other tests ask of the statements
//! that there are, so that one that is missing would go unnoticed.

use std::collections::BTreeSet;

use claimsmith::schema::Table;
use claimsmith::schema::format::{PublishOrder, Strategy};
use claimsmith::statement::query::queries;

use crate::servers::Server;

use super::case::committed;
use super::queue::Queue;

/// The tables of `schemas/` with a claim, those of the tests, and those with a retention alone.
const QUEUES: [usize; 3] = [12, 6, 1];

#[test]
fn every_queue_has_its_statements() {
    let catalog = committed();
    for server in Server::ALL {
        let all = queries(&catalog, server.dialect());
        assert!(all.len() >= QUEUES.iter().sum(), "{} queues", all.len());
        for of_table in &all {
            let table = &catalog.tables[of_table.table];
            let names: BTreeSet<&str> = of_table.queries.iter().map(|query| &*query.name).collect();
            let mut missing = required(table, server);
            missing.retain(|name| !names.contains(&**name));
            assert!(missing.is_empty(), "{server:?}: {} lacks {missing:?}, has {names:?}", table.name);
        }
    }
}

/// The names.
fn required(table: &Table, server: Server) -> Vec<String> {
    let mut names = retention(table, server);
    names.extend(all(table.inbox.is_some(), &["begin_consume"]));
    if let Some(queue) = Queue::of(table) {
        names.extend(around(&queue, server));
        names.extend(claims(&queue, server));
        names.extend(transitions(&queue, server));
        names.extend(bus(&queue, server));
        names.extend(metrics(&queue));
        names.extend(republished(&queue, server));
    }
    names
}

fn all(given: bool, names: &[&str]) -> Vec<String> {
    if given { names.iter().map(|name| (*name).to_owned()).collect() } else { Vec::new() }
}

/// What finds its rows and moves them in one statement where the engine can, and in two where not.
fn moving(server: Server, given: bool, name: &str) -> Vec<String> {
    let find = format!("{name}_find");
    [all(given, &[name]), all(given && server.is_mysql_like(), &[&find])].concat()
}

/// A row's beginning.
fn around(queue: &Queue<'_>, server: Server) -> Vec<String> {
    let once = !queue.claim.idempotency_key.is_empty();
    let claim = queue.claim;
    // Another key than that of the idempotency, which the caller gives, may be the one that is taken.
    let table = queue.table;
    let key: Vec<usize> = claim.idempotency_key.iter().map(|name| table.position(name).unwrap()).collect();
    let numbered = table.primary_key.iter().any(|at| table.columns[*at].auto_increment);
    let is_primary = key.len() == table.primary_key.len() && key.iter().all(|at| table.primary_key.contains(at));
    let given = !numbered && !is_primary;
    let has_payload = claim.event.as_ref().is_some_and(|event| event.payload.is_some());
    let joins = !claim.coalesce.is_empty() && claim.order.is_some() && has_payload && !once;
    [
        moving(server, joins, "coalesce"),
        all(true, &["enqueue"]),
        all(once && server.is_mysql_like(), &["find_duplicate"]),
        all(once && given && server == Server::Postgres, &["enqueue_again"]),
    ]
    .concat()
}

fn claims(queue: &Queue<'_>, server: Server) -> Vec<String> {
    let mut names = all(true, &["claim_pending"]);
    let shown = all(true, &["get_pending"]);
    names.extend(all(queue.claim.status.retryable.is_some(), &["claim_retryable"]));
    names.extend(all(queue.claim.lease.is_some(), &["claim_expired"]));
    if let Some(lane) = queue.lane {
        let lane = &queue.table.columns[lane].name;
        names.extend(names.clone().iter().map(|name| format!("{name}_by_{lane}")));
    }
    let silent = queue.claim.lease.is_some() || queue.by_visibility();
    let exhausted = silent && queue.count.is_some() && queue.claim.status.dead.is_some();
    names.extend(all(server.is_mysql_like() && queue.can_take(), &["take"]));
    names.extend(all(server.is_mysql_like() && exhausted, &["take_exhausted"]));
    names.extend(moving(server, queue.claim.lease.is_some(), "reap"));
    let forgets = queue.claim.status.running.is_some() && queue.claim.lease.is_none();
    names.extend(moving(server, forgets, "recover"));
    let recovers_dead = forgets && queue.count.is_some() && queue.claim.status.dead.is_some();
    names.extend(all(server.is_mysql_like() && recovers_dead, &["recover_exhausted"]));
    names.extend(shown);
    names
}

/// Of one row, by the worker that holds it, and of dead rows.
fn transitions(queue: &Queue<'_>, server: Server) -> Vec<String> {
    let (status, held) = (&queue.claim.status, queue.held_state().is_some());
    let mut names = all(held, &["retry", "release"]);
    names.extend(all(held && status.published.is_none(), &["complete"]));
    names.extend(moving(server, held && status.published.is_none(), "complete_many"));
    names.extend(all(held && status.dead.is_some(), &["dead"]));
    // Where messages of one key come in the order of their rows.
    let ordered = queue.table.publish.as_ref().is_some_and(|publish| publish.order == PublishOrder::Key);
    names.extend(all(ordered, &["find_first", "postpone"]));
    names.extend(all(
        ordered && queue.table.bus.is_some() && status.published.is_some(),
        &["find_unconsumed", "postpone_published", "postpone_early"],
    ));
    names.extend(all(held && (queue.claim.lease.is_some() || queue.by_visibility()), &["extend"]));
    names.extend(all(status.dead.is_some(), &["list_dead", "replay", "purge"]));
    names
}

/// Of a broker's messages.
fn bus(queue: &Queue<'_>, server: Server) -> Vec<String> {
    let published = queue.claim.status.published.is_some();
    let mut names = all(published, &["mark_published", "find_state", "retry_published", "consume"]);
    names.extend(all(published && queue.claim.status.dead.is_some(), &["dead_published"]));
    let sweep = queue.table.bus.as_ref().is_some_and(|bus| bus.sweep.is_some());
    names.extend(moving(server, published && sweep, "sweep"));
    // All open rows, in an order of two columns at least: the time of the state, and the key.
    for state in [Some(&queue.claim.status.pending), queue.claim.status.published.as_ref()].into_iter().flatten() {
        let pages = ["", "_after_1", "_after_2"].map(|page| format!("list_{state}{page}"));
        names.extend(pages.into_iter().filter(|_| queue.table.bus.is_some()));
    }
    names
}

fn retention(table: &Table, server: Server) -> Vec<String> {
    let Some(retention) = &table.retention else { return Vec::new() };
    let archives = retention.strategy == Strategy::Archive;
    let verb = if archives { "archive" } else { "cleanup" };
    let steps: &[&str] = match server {
        Server::MySql | Server::MariaDb => &["_find"],
        Server::Sqlite if archives => &["_copy", "_delete"],
        _ => &[""],
    };
    let mut names = [all(true, &["cutoff"]), all(archives, &["archive_compare"])].concat();
    // Without a claim all rows are finished.
    let states = retention.states.iter().map(|state| format!("_{state}"));
    let states = if table.claim.is_some() { states.collect() } else { vec![String::new()] };
    names.extend(states.iter().flat_map(|state| steps.iter().map(move |step| format!("{verb}{step}{state}"))));
    names.extend(all(server.is_mysql_like() && archives, &["archive_copy", "archive_delete"]));
    names.extend(all(server.is_mysql_like() && !archives, &["cleanup"]));
    names
}

/// Of each finished state that leaves, and so has an index by age.
fn republished(queue: &Queue<'_>, server: Server) -> Vec<String> {
    let states = queue.table.retention.iter().flat_map(|retention| &retention.states);
    let done: Vec<&String> = states.filter(|state| queue.claim.status.done.0.contains(state)).collect();
    let find = if server.is_mysql_like() { "republish_find" } else { "republish" };
    let mut names: Vec<String> = done.iter().map(|state| format!("{find}_{state}")).collect();
    names.extend(done.iter().map(|state| format!("count_republish_{state}")));
    names.extend(all(!done.is_empty() && server.is_mysql_like(), &["republish"]));
    let archives = queue.table.retention.as_ref().is_some_and(|retention| retention.strategy == Strategy::Archive);
    for state in done.iter().filter(|_| archives) {
        let step = if server == Server::Postgres { "" } else { "_find" };
        names.extend([format!("republish_archived{step}_{state}"), format!("count_republish_archived_{state}")]);
    }
    let by_keys = archives && !done.is_empty() && server != Server::Postgres;
    names.extend(all(by_keys, &["republish_archived_copy", "republish_archived_delete"]));
    names
}

/// One bounded count a state, one of what no claim reaches where there can be such rows, and how long the oldest row waits.
fn metrics(queue: &Queue<'_>) -> Vec<String> {
    let (status, table) = (&queue.claim.status, queue.table);
    let finished = |state: &&str| status.done.0.iter().any(|done| done == state);
    let dead = status.dead.as_deref();
    let mut names: Vec<String> = Vec::new();
    for state in queue.states().into_iter().filter(|state| !finished(state)) {
        names.push(if Some(state) == dead { "count_dead".to_owned() } else { format!("count_{state}") });
    }
    let timed = status.retryable.is_some() && queue.time().is_some();
    names.extend(all(timed, &["count_due_retries"]));
    names.extend(all(queue.claim.lease.is_some(), &["count_expired"]));
    let pending_by_time =
        !queue.is_seed() && (queue.due.is_some() || status.retryable.is_none() && queue.retry_at.is_some());
    let is_time = queue.order.is_some_and(|order| {
        let column = &table.columns[order];
        column.ty.is_time() || column.name.ends_with("_ms")
    });
    names.extend(all(pending_by_time, &["oldest_due"]));
    names.extend(all(!pending_by_time && is_time, &["oldest_pending"]));
    let nullable = |column: Option<usize>| column.is_some_and(|column| table.columns[column].nullable);
    let swept = table.bus.as_ref().is_some_and(|bus| bus.sweep.is_some());
    for (state, strands) in [
        (Some(&status.pending), queue.is_seed() || pending_by_time && nullable(queue.time())),
        (status.retryable.as_ref(), nullable(queue.time())),
        (status.running.as_ref(), nullable(queue.until)),
        (status.published.as_ref(), swept && nullable(queue.published)),
    ] {
        names.extend(state.filter(|_| strands).map(|state| format!("count_stranded_{state}")));
    }
    names
}
