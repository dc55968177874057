//! While one worker's transaction is open, a second one gets a batch of its own, and nobody waits who enqueues.

use std::collections::BTreeSet;

use claimsmith::statement::query::Query;

use crate::servers::{Scratch, Server};

use super::Queue;
use super::contracts::SLACK;
use super::measure::measure;
use super::probe::{Answer, Probe};
use super::statements::{Kind, Values, kind};

/// Checks every claim of the queue.
pub fn check_second_worker(scratch: &Scratch, queue: &Queue, mix: &str) -> Vec<String> {
    if scratch.server == Server::Sqlite {
        // Nobody else writes while a transaction is open.
        return Vec::new();
    }
    let mut workers = workers(scratch);
    let mut found = Vec::new();
    for query in queue.queries.iter().filter(|query| kind(query) == Kind::Claim) {
        let label = format!("{:?}, {}, {mix}, {}", scratch.server, queue.name(), query.name);
        let breaches = check(&mut workers, queue, query);
        found.extend(breaches.iter().map(|breach| format!("{label}: {breach}")));
        workers.iter_mut().for_each(Probe::rollback);
    }
    found
}

/// Two workers and a producer.
pub fn workers(scratch: &Scratch) -> [Probe; 3] {
    [Probe::open(scratch), Probe::open(scratch), Probe::open(scratch)]
}

/// How the claim breaks its contract; the transactions stay open.
pub fn check([first, second, producer]: &mut [Probe; 3], queue: &Queue, query: &Query) -> Vec<String> {
    let mut found = Vec::new();
    // Half of what there is, so that there is a full batch for both.
    let server = first.server;
    let values = |limit: u64| Values::new(queue, server, limit);
    first.begin();
    let (sql, binds) = values(200).of(first, query, None, None);
    let all = first.rows(&sql, &binds).rows.len() as u64;
    first.rollback();
    let limit = (all / 2).min(100);
    if limit == 0 {
        return vec![format!("{all} rows are too few for two workers")];
    }
    first.begin();
    let (sql, binds) = values(limit).of(first, query, None, None);
    let taken = first.rows(&sql, &binds);
    if first.server.is_mysql_like() {
        take(first, queue, &values(limit), &taken);
    }
    second.begin();
    match measure(second, queue.name(), &sql, &binds) {
        Err(error) => found.push(format!("the second worker fails: {error}")),
        Ok(counted) => {
            // PostgreSQL steps over what others hold, MySQL and MariaDB do so within their engine or count it as well.
            let most = 2 * limit + SLACK;
            if counted.selected > most {
                found.push(format!("the second worker examines {} instead of at most {most}", counted.selected));
            }
        }
    }
    second.rollback();
    second.begin();
    match second.ask(&sql, &binds) {
        Err(error) => found.push(format!("the second worker fails: {error}")),
        Ok(answer) => {
            let (ours, theirs) = (keys(queue, &taken), keys(queue, &answer));
            if theirs.len() as u64 != limit || !ours.is_disjoint(&theirs) {
                let shared = ours.intersection(&theirs).count();
                found.push(format!("the second worker gets {} of {limit} rows, {shared} of the first's", theirs.len()));
            }
        }
    }
    found.extend(enqueue_meanwhile(producer, queue));
    found
}

/// Whether enqueue has to wait for the transactions that are open.
pub fn enqueue_meanwhile(producer: &mut Probe, queue: &Queue) -> Option<String> {
    producer.begin();
    let values = Values { fresh: 1, ..Values::new(queue, producer.server, 1) };
    let (sql, binds) = values.of(producer, queue.query("enqueue"), None, None);
    producer.ask(&sql, &binds).err().map(|error| format!("enqueue meanwhile: {error}"))
}

fn take(probe: &mut Probe, queue: &Queue, values: &Values<'_>, taken: &Answer) {
    if let Some(take) = queue.queries.iter().find(|query| query.name == "take") {
        let (sql, binds) = values.of(probe, take, None, Some(taken));
        probe.rows(&sql, &binds);
    }
}

fn keys(queue: &Queue, answer: &Answer) -> BTreeSet<Vec<String>> {
    if answer.rows.is_empty() {
        return BTreeSet::new();
    }
    let columns: Vec<Vec<String>> =
        queue.table.names(&queue.table.primary_key).map(|name| answer.column(name)).collect();
    (0..answer.rows.len()).map(|at| columns.iter().map(|column| column[at].clone()).collect()).collect()
}
