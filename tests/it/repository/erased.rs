//! The generated functions without the types of their table and engine, and blocking.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::OnceLock;
use std::task::Poll;
use std::time::Duration;

use serde_json::Value;
use sqlx::pool::PoolConnection;
use sqlx::{Database, MySql, Pool, Postgres, Sqlite, Transaction};
use tokio::runtime::Runtime;

use crate::rust::generated::seq::types as types_of_seq;
use crate::rust::generated::{queue, types};

pub use queue::{
    ArchiveError, Batch, Branch, ClaimOptions, Clock, Consume, EnqueueError, Enqueued, EnqueuedMany, FinishError, Lost,
    Marked, Republish, Retried,
};

/// The runtime of all repositories.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap())
}

/// Runs a future to its end.
pub fn wait<F: Future>(future: F) -> F::Output {
    runtime().block_on(future)
}

/// Connections to one database.
#[derive(Clone)]
pub enum Pools {
    MySql(Pool<MySql>),
    Postgres(Pool<Postgres>),
    Sqlite(Pool<Sqlite>),
}

/// A connection of a pool, alone or in a transaction.
pub enum On<D: Database> {
    Alone(Pool<D>, PoolConnection<D>),
    In(Pool<D>, Transaction<'static, D>),
}

impl<D: Database> On<D> {
    /// Where its connection comes from, for functions that take one of their own.
    pub fn pool(&self) -> &Pool<D> {
        match self {
            On::Alone(pool, _) | On::In(pool, _) => pool,
        }
    }

    pub fn connection(&mut self) -> &mut D::Connection {
        match self {
            On::Alone(_, connection) => connection,
            On::In(_, transaction) => transaction,
        }
    }

    fn end(self, commit: bool) {
        match self {
            On::Alone(..) => {}
            On::In(_, transaction) if commit => wait(transaction.commit()).unwrap(),
            On::In(_, transaction) => wait(transaction.rollback()).unwrap(),
        }
    }
}

/// The same of any engine.
pub enum Link {
    MySql(On<MySql>),
    Postgres(On<Postgres>),
    Sqlite(On<Sqlite>),
}

/// Runs the same code for whichever engine it is.
macro_rules! each {
    ($of:expr, $kind:ident::$bound:ident => $body:expr) => {
        match $of {
            $kind::MySql($bound) => $body,
            $kind::Postgres($bound) => $body,
            $kind::Sqlite($bound) => $body,
        }
    };
}

impl Pools {
    /// A connection that commits each statement.
    pub fn link(&self) -> Link {
        match self {
            Pools::MySql(pool) => Link::MySql(On::Alone(pool.clone(), wait(pool.acquire()).unwrap())),
            Pools::Postgres(pool) => Link::Postgres(On::Alone(pool.clone(), wait(pool.acquire()).unwrap())),
            Pools::Sqlite(pool) => Link::Sqlite(On::Alone(pool.clone(), wait(pool.acquire()).unwrap())),
        }
    }

    /// A transaction.
    pub fn begin(&self) -> Link {
        match self {
            Pools::MySql(pool) => Link::MySql(On::In(pool.clone(), wait(pool.begin()).unwrap())),
            Pools::Postgres(pool) => Link::Postgres(On::In(pool.clone(), wait(pool.begin()).unwrap())),
            Pools::Sqlite(pool) => Link::Sqlite(On::In(pool.clone(), wait(pool.begin()).unwrap())),
        }
    }
}

impl Link {
    pub fn run(&mut self, sql: &str) -> sqlx::Result<()> {
        let sql = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
        each!(self, Link::on => wait(sql.execute(on.connection())).map(|_| ()))
    }

    pub fn commit(self) {
        each!(self, Link::on => on.end(true));
    }

    pub fn rollback(self) {
        each!(self, Link::on => on.end(false));
    }
}

/// An event of any table.
#[derive(Clone, Debug)]
pub struct Event {
    /// What names it: its id, or where the database numbers rows, the key of its message.
    pub id: String,
    /// What identifies it where that is not the id, or what it is about.
    pub key: String,
    /// Its type.
    pub kind: String,
    pub payload: Value,
    /// The payload where its column is a text.
    pub text: String,
}

impl Event {
    pub fn new(id: &str) -> Event {
        let payload = serde_json::json!({ "id": id });
        Event {
            id: id.to_owned(),
            key: format!("k-{id}"),
            kind: "first".to_owned(),
            text: payload.to_string(),
            payload,
        }
    }

    pub fn with_key(self, key: &str) -> Event {
        Event { key: key.to_owned(), ..self }
    }

    pub fn with_kind(self, kind: &str) -> Event {
        Event { kind: kind.to_owned(), ..self }
    }

    pub fn with_payload(self, payload: Value) -> Event {
        Event { text: payload.to_string(), payload, ..self }
    }
}

/// A lease of any table.
#[derive(Debug)]
pub struct Lease {
    inner: Box<dyn Any + Send + Sync>,
    pub key: Key,
    pub attempt: Option<i64>,
    pub is_last_attempt: bool,
}

impl Lease {
    pub fn of<K: 'static>(&self) -> &queue::Lease<K> {
        self.inner.downcast_ref().unwrap()
    }

    pub fn into_inner<K: 'static>(self) -> queue::Lease<K> {
        *self.inner.downcast().unwrap()
    }
}

/// A key of any table.
#[derive(Clone)]
pub struct Key {
    inner: std::sync::Arc<dyn Any + Send + Sync>,
    /// How it shows itself.
    pub text: String,
}

impl Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.text == other.text
    }
}

impl Key {
    pub fn of<K: 'static>(&self) -> &K {
        self.inner.downcast_ref().unwrap()
    }
}

/// A row that is held.
#[derive(Debug)]
pub struct Claimed {
    pub row: Value,
    pub lease: Lease,
    pub attempt: Option<i64>,
    pub from: Branch,
}

/// The rows of one claim.
#[derive(Debug)]
pub struct Taken {
    pub ready: Vec<Claimed>,
    pub undecodable: Vec<Option<Lease>>,
    pub exhausted: Vec<Key>,
    pub stopped_by: Option<sqlx::Error>,
}

/// Rows that were looked at.
#[derive(Debug)]
pub struct Listed {
    pub rows: Vec<Value>,
    pub undecodable: Vec<Option<Key>>,
}

pub trait AnyKey: Clone + Debug + Send + Sync + 'static {}

impl<K: Clone + Debug + Send + Sync + 'static> AnyKey for K {}

pub fn key<K: AnyKey>(key: &K) -> Key {
    Key { text: format!("{key:?}"), inner: std::sync::Arc::new(key.clone()) }
}

pub fn lease<K: AnyKey>(lease: queue::Lease<K>) -> Lease {
    Lease {
        key: key(lease.key()),
        attempt: lease.attempt(),
        is_last_attempt: lease.is_last_attempt(),
        inner: Box::new(lease),
    }
}

pub fn taken<R: serde::Serialize, K: AnyKey>(batch: queue::ClaimBatch<R, K>) -> Taken {
    let claimed = |claimed: queue::Claimed<R, K>| Claimed {
        row: serde_json::to_value(claimed.row).unwrap(),
        lease: lease(claimed.lease),
        attempt: claimed.attempt,
        from: claimed.from,
    };
    Taken {
        ready: batch.ready.into_iter().map(claimed).collect(),
        undecodable: batch.undecodable.into_iter().map(|row| row.of.map(lease)).collect(),
        exhausted: batch.exhausted.iter().map(key).collect(),
        stopped_by: batch.stopped_by,
    }
}

pub fn listed<R: serde::Serialize, K: AnyKey>(listed: queue::Listed<R, K>) -> Listed {
    Listed {
        rows: listed.rows.into_iter().map(|row| serde_json::to_value(row).unwrap()).collect(),
        undecodable: listed.undecodable.iter().map(|row| row.of.as_ref().map(key)).collect(),
    }
}

/// The fields of a metrics struct, as they show themselves.
pub fn fields(metrics: &impl Debug) -> BTreeMap<String, String> {
    let text = format!("{metrics:?}");
    let text = text.split_once("{ ").unwrap().1.strip_suffix(" }").unwrap();
    let field = |field: &str| field.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.split(", ").map(|text| field(text).unwrap()).collect()
}

/// A time of a column, as milliseconds since 1970.
pub trait Moment {
    fn at(ms: i64) -> Self;
    fn ms(&self) -> i64;
}

macro_rules! epoch_ms {
    ($($types:ident)+) => { $(
        impl Moment for $types::EpochMs {
            fn at(ms: i64) -> Self {
                $types::EpochMs(ms)
            }

            fn ms(&self) -> i64 {
                self.0
            }
        }
    )+ };
}
epoch_ms!(types types_of_seq);

impl<const ZONED: bool, const DIGITS: u16> Moment for types::Utc<ZONED, DIGITS> {
    fn at(ms: i64) -> Self {
        types::Utc::new(chrono::DateTime::from_timestamp_millis(ms).unwrap().naive_utc())
    }

    fn ms(&self) -> i64 {
        self.naive().and_utc().timestamp_millis()
    }
}

/// How a future is driven.
pub enum Drive<'a> {
    /// To its end.
    Through,
    /// It is dropped after so many polls.
    Drop(usize),
    /// After so many polls something happens, and then it goes on.
    Pause(usize, &'a mut dyn FnMut()),
}

/// Drives a future; `None` if it was dropped before its end.
pub fn drive<F: Future>(future: F, mut drive: Drive<'_>) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut polls = 0;
    wait(std::future::poll_fn(move |context| {
        match &mut drive {
            Drive::Drop(most) if polls >= *most => return Poll::Ready(None),
            Drive::Pause(at, happens) if polls == *at => happens(),
            _ => {}
        }
        polls += 1;
        future.as_mut().poll(context).map(Some)
    }))
}

/// Times of a window as its column has them.
pub fn window<T: Moment>(which: &Republish<i64>) -> Republish<T> {
    Republish {
        since: T::at(which.since),
        until: T::at(which.until),
        limit: which.limit,
        per_second: which.per_second,
        dry_run: which.dry_run,
    }
}

/// Which rows leave.
#[derive(Clone, Copy, Debug)]
pub struct Leave<'a> {
    pub scope: &'a str,
    pub state: &'a str,
    /// Those whose age is up to this.
    pub cutoff: i64,
    pub limit: u32,
}

/// Whether a row could be finished.
pub type Finished = Result<(), FinishError>;

/// The generated functions of one table on one engine.
pub trait Repository: Sync {
    /// Which functions there are that not every table has.
    fn parts(&self) -> Vec<&'static str>;

    /// The column that [`Event::id`] goes into.
    fn name_column(&self) -> &'static str;

    fn enqueue(&self, link: &mut Link, scope: &str, event: &Event) -> Result<Enqueued, EnqueueError>;
    fn enqueue_many(&self, link: &mut Link, scope: &str, events: &[Event]) -> Result<EnqueuedMany, EnqueueError>;
    fn get_pending(&self, link: &mut Link, scope: &str, limit: u32) -> sqlx::Result<Listed>;
    fn claim_driven(
        &self,
        pools: &Pools,
        scope: &str,
        options: &ClaimOptions<'_>,
        drive: Drive<'_>,
    ) -> Option<sqlx::Result<Taken>>;
    fn retry(&self, link: &mut Link, lease: &Lease, error: &str) -> Result<Retried, FinishError>;
    fn dead(&self, link: &mut Link, lease: &Lease, error: &str) -> Finished;
    fn release(&self, link: &mut Link, lease: &Lease) -> Finished;
    fn list_dead(&self, link: &mut Link, scope: &str, limit: u32) -> sqlx::Result<Listed>;
    fn replay(&self, link: &mut Link, key: &Key) -> sqlx::Result<bool>;
    fn replay_batch(&self, link: &mut Link, scope: &str, limit: u32, dry_run: bool) -> sqlx::Result<Batch>;
    fn purge(&self, link: &mut Link, key: &Key) -> sqlx::Result<bool>;
    fn republish(&self, pools: &Pools, scope: &str, state: &str, which: &Republish<i64>) -> sqlx::Result<Batch>;
    fn cutoff(&self, link: &mut Link, keep: Duration) -> sqlx::Result<i64>;
    fn metrics(&self, link: &mut Link, scope: &str, cap: u32) -> sqlx::Result<BTreeMap<String, String>>;

    fn complete(&self, _: &mut Link, _: &Lease) -> Finished {
        unreachable!("complete")
    }
    fn complete_many(&self, _: &mut Link, _: Vec<Lease>) -> sqlx::Result<Vec<Result<(), Lost>>> {
        unreachable!("complete_many")
    }
    fn extend(&self, _: &mut Link, _: &Lease, _: Duration) -> Finished {
        unreachable!("extend")
    }
    fn reap(&self, _: &Pools, _scope: &str, _limit: u32) -> sqlx::Result<Batch> {
        unreachable!("reap")
    }
    fn recover(&self, _: &Pools, _scope: &str, _limit: u32) -> sqlx::Result<Batch> {
        unreachable!("recover")
    }
    fn claim_lane(&self, _: &Pools, _scope: &str, _lane: &str, _: &ClaimOptions<'_>) -> sqlx::Result<Taken> {
        unreachable!("claim_lane")
    }
    /// `archive` or `cleanup`.
    fn leave_driven(&self, _: &Pools, _: Leave<'_>, _: Drive<'_>) -> Option<Result<Batch, ArchiveError>> {
        unreachable!("archive and cleanup")
    }
    /// What [`Self::republish`] does, with rows of the archive.
    fn restore(&self, _: &Pools, _scope: &str, _state: &str, _: &Republish<i64>) -> Result<Batch, ArchiveError> {
        unreachable!("republish_archived")
    }
    fn fail(&self, _: &mut Link, _: &Lease, _error: &str) -> Finished {
        unreachable!("fail")
    }
    fn increment_retry(&self, _: &mut Link, _: &Lease, _error: &str) -> Result<Retried, FinishError> {
        unreachable!("increment_retry")
    }
    fn mark_published(&self, _: &mut Link, _: &Lease) -> Result<Marked, FinishError> {
        unreachable!("mark_published")
    }
    fn retry_published(&self, _: &mut Link, _: &Key, _attempt: i64, _error: &str) -> Result<Duration, FinishError> {
        unreachable!("retry_published")
    }
    fn dead_published(&self, _: &mut Link, _: &Key, _error: &str) -> Finished {
        unreachable!("dead_published")
    }
    fn consume(&self, _: &mut Link, _: &Key) -> sqlx::Result<Consume> {
        unreachable!("consume")
    }
    fn sweep(&self, _: &Pools, _after: Duration, _limit: u32) -> sqlx::Result<Batch> {
        unreachable!("sweep")
    }
}
