//! The processes: each does what it is told until it is stopped or killed, and says what became of each event in a file of
//! its own.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sqlx::Pool;

use super::engine::{self, MariaDb, MySql, Outbox, Postgres, Sqlite};
use super::random::Random;

use crate::rust::generated::queue::{
    self, Branch, ClaimOptions, EnqueueError, Enqueued, EnqueuedMany, FinishError, Retried,
};
use crate::rust::generated::tables::wallet_outbox::{Claimed, Lease, NewEvent, event_type};

/// What a process is to do, in JSON.
pub const ORDERS: &str = "CLAIMSMITH_CHAOS_ORDERS";

/// No process lives longer, whatever happens to its parent.
const LIFETIME: Duration = Duration::from_secs(180);

/// How often the same is tried again.
const TRIES: u32 = 100;

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Orders {
    /// The engine's name.
    pub server: String,
    pub url: String,
    /// The process's name, which no other has.
    pub name: String,
    pub seed: u64,
    /// Where it says what became of each event.
    pub report: String,
    /// Whether it adds events, rather than working on them.
    pub produces: bool,
    /// When the run began, in milliseconds since 1970.
    pub began: u64,
    /// Whether the server may be away for a while.
    pub outages: bool,
}

/// What a line of a report says, before the id of an event.
pub mod word {
    /// The event is committed.
    pub const ENQUEUED: &str = "enqueued";
    /// It is finished, and its account is committed with it.
    pub const DONE: &str = "done";
    /// It is about to be finished without an account.
    pub const TRYING: &str = "trying";
    /// It is finished without one.
    pub const BARE: &str = "bare";
    pub const DEAD: &str = "dead";
    /// The claim found that its attempts are used up.
    pub const EXHAUSTED: &str = "exhausted";
    pub const RETRIED: &str = "retried";
    pub const RELEASED: &str = "released";
    pub const EXTENDED: &str = "extended";
    pub const LOST: &str = "lost";
    pub const REAPED: &str = "reaped";
    /// Another producer has added it at the same moment.
    pub const COLLIDED: &str = "collided";
    /// The same once more, because the database gave it up or was away.
    pub const AGAIN: &str = "again";
}

/// A process of the chaos: this test in a process of its own. Started by hand, it has no orders and does nothing.
#[test]
fn worker() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let orders: Orders = serde_json::from_str(&orders).unwrap();
    match orders.server.as_str() {
        "mysql" => run::<MySql>(&orders),
        "mariadb" => run::<MariaDb>(&orders),
        "postgres" => run::<Postgres>(&orders),
        _ => run::<Sqlite>(&orders),
    }
}

fn run<O: Outbox>(orders: &Orders) {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    // The parent closes its end when it stops us, and the system does so when the parent is no more.
    std::thread::spawn(|| {
        _ = std::io::stdin().read_to_end(&mut Vec::new());
        STOPPED.store(true, Ordering::Relaxed);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let report = File::options().append(true).create(true).open(&orders.report).unwrap();
        let until = Instant::now() + LIFETIME;
        let (random, is_stopped) = (Random(orders.seed), &STOPPED);
        let pool = opened::<O>(orders).await;
        Process::<O> { orders, pool, random, report, batches: 0, is_stopped, until }.run().await;
    });
}

/// Its connections, once the server is there.
async fn opened<O: Outbox>(orders: &Orders) -> Pool<O::Db> {
    for _ in 0..TRIES {
        match O::open(&orders.url).await {
            Ok(pool) => return pool,
            Err(error) => orders.expect(&error),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no connection");
}

impl Orders {
    /// Ends the process with an error that is not one of those that every program must be ready for.
    #[track_caller]
    fn expect(&self, error: &sqlx::Error) {
        assert!(queue::is_retryable(error) || self.outages && is_outage(error), "{}: {error:?}", self.name);
    }
}

/// Whether the error says that the server is gone, is going or comes.
fn is_outage(error: &sqlx::Error) -> bool {
    if let Some(error) = error.as_database_error() {
        // Of PostgreSQL: ended by an administrator, by a crash, not ready yet. Of MySQL and MariaDB: shutting down.
        return error.code().is_some_and(|code| matches!(&*code, "57P01" | "57P02" | "57P03" | "08S01"));
    }
    matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut)
}

struct Process<'a, O: Outbox> {
    orders: &'a Orders,
    pool: Pool<O::Db>,
    random: Random,
    report: File,
    /// How often it has begun to add events.
    batches: u64,
    is_stopped: &'a AtomicBool,
    until: Instant,
}

impl<O: Outbox> Process<'_, O> {
    async fn run(&mut self) {
        let mut start = Branch::Pending;
        while !self.is_stopped.load(Ordering::Relaxed) && Instant::now() < self.until {
            if self.orders.produces {
                self.produce().await;
            } else {
                self.work(start).await;
                start = start.next();
            }
        }
    }

    fn say(&mut self, word: &str, id: &str) {
        // All at once, so that a killed process leaves no more than the beginning of its last line.
        self.report.write_all(format!("{word} {id}\n").as_bytes()).unwrap();
    }

    async fn pause(&mut self, least: u64, end: u64) {
        tokio::time::sleep(self.random.millis(least, end)).await;
    }

    /// Adds an event that others add at the same time, or some of our own.
    async fn produce(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let at = now.saturating_sub(self.orders.began);
        let (is_shared, mut has_collided) = (self.random.percent(70), false);
        self.batches += 1;
        let ids: Vec<String> = match is_shared {
            true => vec![format!("shared-{}", at / 5 + self.random.below(3))],
            false => {
                let count = 1 + self.random.below(6);
                (0..count).map(|nth| format!("{}-{}-{nth}", self.orders.name, self.batches)).collect()
            }
        };
        let payload = serde_json::json!({ "of": self.orders.name });
        let events: Vec<NewEvent<'_>> = ids.iter().map(|id| event(id, &payload)).collect();
        // Whether the last answer came or not, the same events are enqueued until there is one.
        for _ in 0..TRIES {
            let done = match &events[..] {
                [event] if is_shared => O::produce(&self.pool, event).await,
                events => O::produce_many(&self.pool, events).await.map(|done| all_the_same(done, events.len())),
            };
            match done {
                Ok(enqueued) => {
                    assert!(!has_collided || enqueued == Enqueued::Duplicate, "{ids:?} collided with nothing");
                    ids.iter().for_each(|id| self.say(word::ENQUEUED, id));
                    return self.pause(0, 8).await;
                }
                Err(error) if error.is_unique_violation() && self.orders.server == "postgres" && is_shared => {
                    self.say(word::COLLIDED, &ids[0]);
                    has_collided = true;
                }
                Err(EnqueueError::Db(error)) => self.again(&error).await,
                Err(error) => panic!("{error:?}"),
            }
        }
        panic!("not enqueued: {ids:?}");
    }

    /// One claim, and what becomes of its rows.
    async fn work(&mut self, start: Branch) {
        let lease = self.random.millis(300, 500);
        let limit = 1 + self.random.below(20) as u32;
        let options = ClaimOptions { limit, lease: Some(lease), start, ..ClaimOptions::new(&self.orders.name) };
        let batch = match O::claim(&self.pool, &options).await {
            Ok(batch) => batch,
            Err(error) => return self.again(&error).await,
        };
        assert!(batch.undecodable.is_empty(), "{:?}", batch.undecodable);
        if let Some(error) = &batch.stopped_by {
            self.again(error).await;
        }
        batch.exhausted.iter().for_each(|key| self.say(word::EXHAUSTED, &key.event_id));
        for claimed in &batch.ready {
            let fence = claimed.row.worker_id.as_deref().unwrap();
            assert!(fence.ends_with(&self.orders.name), "{fence} of {}", self.orders.name);
            assert_eq!(claimed.attempt, Some(i64::from(claimed.row.retry_count)));
        }
        if batch.ready.is_empty() {
            return self.pause(5, 30).await;
        }
        match self.random.below(100) {
            0..55 => self.one_by_one(batch.ready, lease).await,
            55..75 => self.together(batch.ready, lease).await,
            75..90 => self.bare(batch.ready, lease).await,
            90..95 => self.reap().await, // and the rows are left to whoever comes
            _ => self.release(batch.ready).await,
        }
    }

    async fn again(&mut self, error: &sqlx::Error) {
        self.orders.expect(error);
        self.say(word::AGAIN, "-");
        self.pause(5, 50).await;
    }

    async fn reap(&mut self) {
        match O::reap(&self.pool).await {
            Ok(moved) => (0..moved).for_each(|_| self.say(word::REAPED, "-")),
            Err(error) => self.again(&error).await,
        }
    }

    async fn release(&mut self, claimed: Vec<Claimed>) {
        for Claimed { row, lease, .. } in &claimed {
            let released = O::release(&self.pool, lease).await;
            self.finished(released.map(|()| word::RELEASED), &row.event_id).await;
        }
    }

    /// Sometimes longer than the lease.
    async fn think(&mut self, lease: Duration) {
        match self.random.percent(10) {
            true => tokio::time::sleep(lease + self.random.millis(0, 100)).await,
            false => self.pause(0, 10).await,
        }
    }

    async fn one_by_one(&mut self, claimed: Vec<Claimed>, lease: Duration) {
        for claimed in &claimed {
            if self.is_stopped.load(Ordering::Relaxed) {
                let released = O::release(&self.pool, &claimed.lease).await;
                self.finished(released.map(|()| word::RELEASED), &claimed.row.event_id).await;
                continue;
            }
            self.one(claimed, lease).await;
        }
    }

    async fn one(&mut self, claimed: &Claimed, held: Duration) {
        let Claimed { row, lease, .. } = claimed;
        let done = match self.random.below(100) {
            0..10 => O::retry(&self.pool, lease).await.map(|retried| match retried {
                Retried::Later { .. } => word::RETRIED,
                Retried::Dead => word::DEAD,
            }),
            10..13 => O::dead(&self.pool, lease).await.map(|()| word::DEAD),
            13..18 => O::release(&self.pool, lease).await.map(|()| word::RELEASED),
            18..22 => return, // forgotten
            22..32 => {
                let extended = O::extend(&self.pool, lease, held).await.map(|()| word::EXTENDED);
                self.finished(extended, &row.event_id).await;
                self.think(held).await;
                O::complete(&self.pool, claimed, Duration::ZERO).await.map(|()| word::DONE)
            }
            _ => {
                self.think(held).await;
                // On SQLite, nobody else can write meanwhile.
                let slow = if self.random.percent(10) { self.random.millis(0, 20) } else { Duration::ZERO };
                O::complete(&self.pool, claimed, slow).await.map(|()| word::DONE)
            }
        };
        self.finished(done, &row.event_id).await;
    }

    async fn finished(&mut self, done: Result<&str, FinishError>, id: &str) {
        match done {
            Ok(word) => self.say(word, id),
            Err(FinishError::Lost) => self.say(word::LOST, id),
            Err(FinishError::Db(error)) => self.again(&error).await,
        }
    }

    async fn together(&mut self, claimed: Vec<Claimed>, lease: Duration) {
        self.think(lease).await;
        let (accounts, ids, leases) = split(claimed);
        let done = O::complete_together(&self.pool, &leases, &accounts).await;
        self.all_finished(done, word::DONE, &ids).await;
    }

    async fn bare(&mut self, claimed: Vec<Claimed>, lease: Duration) {
        self.think(lease).await;
        let (_, ids, leases) = split(claimed);
        ids.iter().for_each(|id| self.say(word::TRYING, id));
        let done = O::complete_many(&self.pool, &leases).await;
        self.all_finished(done, word::BARE, &ids).await;
    }

    async fn all_finished(&mut self, done: sqlx::Result<Vec<Result<(), queue::Lost>>>, word: &str, ids: &[String]) {
        match done {
            Ok(answers) => {
                assert_eq!(answers.len(), ids.len());
                for (answer, id) in answers.iter().zip(ids) {
                    self.say(if answer.is_ok() { word } else { word::LOST }, id);
                }
            }
            Err(error) => self.again(&error).await,
        }
    }
}

/// All events of a transaction are new, or none is.
fn all_the_same(done: EnqueuedMany, count: usize) -> Enqueued {
    match (done.inserted as usize, done.duplicates as usize) {
        (inserted, 0) if inserted == count => Enqueued::Inserted,
        (0, duplicates) if duplicates == count => Enqueued::Duplicate,
        _ => panic!("{done:?} of {count}"),
    }
}

fn split(claimed: Vec<Claimed>) -> (Vec<String>, Vec<String>, Vec<Lease>) {
    let accounts = claimed.iter().map(engine::account).collect();
    let ids = claimed.iter().map(|claimed| claimed.row.event_id.clone()).collect();
    (accounts, ids, claimed.into_iter().map(|claimed| claimed.lease).collect())
}

fn event<'a>(id: &'a str, payload: &'a serde_json::Value) -> NewEvent<'a> {
    let event_type = event_type::WALLET_BALANCE_CHANGED;
    NewEvent { event_id: id, event_type, user_id: 7, idempotency_key: id, payload }
}
