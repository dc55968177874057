//! The generated repository on real servers: `tests/run.sh cargo bench --bench repository`.
//!
//! What a claim reads at three sizes of a backlog of which half is due; how fast claim and complete are beside a loop that is
//! written by hand with the same statements, and beside the claim of the incident, where no disk is waited for; and that workers of a queue with next to
//! nothing in it do not deadlock. Ratios of one run, since machines are noisy.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
// The tests' own harness, and a whole repository: what they do not use is not used here.
#![allow(dead_code, unused_imports, unused_macros)]

#[path = "../tests/it/counters/mod.rs"]
mod counters;
#[rustfmt::skip]
#[path = "../generated/rust/mod.rs"]
mod generated;
#[path = "../tests/it/servers/mod.rs"]
mod servers;

use std::time::{Duration, Instant};

use counters::backlog::{Mix, load};
use counters::probe::Probe;
use counters::running::run;
use counters::statements::Values;
use counters::{create, queue};
use generated::queue::{Branch, ClaimOptions};
use generated::tables::wallet_outbox::{self as table, NewEvent, Scope};
use servers::{Scratch, Server};
use sqlx::{AssertSqlSafe, Row};

const BATCH: u32 = 100;
const BACKLOG: usize = 50_000;
const SCOPE: Scope<'static> = Scope { app_code: "chat" };

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for server in Server::ALL {
        let Some(mut scratch) = Scratch::new(server, "the bench of the repository") else { continue };
        create(&mut scratch);
        println!("\n{}", server.engine().title);
        examined(&scratch);
        drop(scratch);
        // A database of its own: what so many rows leave behind would be measured, too.
        let Some(mut scratch) = Scratch::new(server, "the bench of the repository") else { continue };
        create(&mut scratch);
        let _lazy = Lazy::of(&scratch);
        let url = scratch.url();
        match server {
            Server::MySql => runtime.block_on(mysql::bench(&url)),
            Server::MariaDb => runtime.block_on(mariadb::bench(&url)),
            Server::Postgres => runtime.block_on(postgres::bench(&url)),
            Server::Sqlite => runtime.block_on(sqlite::bench(&url)),
        }
    }
}

/// The server does not wait for its disk, which takes most of the time of either claim and is not what is compared; until this
/// value goes.
struct Lazy<'a> {
    scratch: &'a Scratch,
    before: Option<(u64, u64)>,
}

impl<'a> Lazy<'a> {
    fn of(scratch: &'a Scratch) -> Lazy<'a> {
        let mut probe = Probe::open(scratch);
        let mut before = None;
        match scratch.server {
            Server::MySql | Server::MariaDb => {
                let log = probe.number("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit");
                let binlog = probe.number("SELECT @@GLOBAL.sync_binlog");
                before = Some((log, binlog));
                Lazy::set(&mut probe, (0, 0));
            }
            Server::Postgres => {
                probe.run(&format!("ALTER DATABASE {} SET synchronous_commit = off", scratch.name()));
            }
            Server::Sqlite => {}
        }
        Lazy { scratch, before }
    }

    fn set(probe: &mut Probe, (log, binlog): (u64, u64)) {
        probe.run(&format!("SET GLOBAL innodb_flush_log_at_trx_commit = {log}"));
        probe.run(&format!("SET GLOBAL sync_binlog = {binlog}"));
    }
}

impl Drop for Lazy<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            Lazy::set(&mut Probe::open(self.scratch), before);
        }
    }
}

/// What each branch examines for one batch.
fn examined(scratch: &Scratch) {
    let queue = queue(scratch.server, "wallet_outbox");
    let mut probe = Probe::open(scratch);
    println!("| rows, half of them due | branch | LIMIT | returned | examined |\n| ---: | --- | ---: | ---: | ---: |");
    for rows in [10_000, 100_000, 1_000_000] {
        load(&mut probe, &queue.table, rows, Mix::Due(50));
        for branch in ["claim_pending", "claim_retryable", "claim_expired"] {
            let values = Values::new(&queue, scratch.server, u64::from(BATCH));
            probe.begin();
            let (counted, _) = run(&mut probe, &values, queue.query(branch)).unwrap();
            probe.rollback();
            let unit = if scratch.server == Server::Sqlite { " steps" } else { "" };
            println!("| {rows} | {branch} | {BATCH} | {} | {}{unit} |", counted.returned, counted.examined);
        }
    }
}

fn event<'a>(id: &'a str, payload: &'a serde_json::Value) -> NewEvent<'a> {
    NewEvent { event_id: id, event_type: "WalletGiftDebited", user_id: 7, idempotency_key: id, payload }
}

/// The claim of the incident: three states by OR, no scope, and so no index.
fn or_claim(locking: &str) -> String {
    format!(
        "SELECT event_id FROM wallet_outbox WHERE status = 'pending' OR (status = 'retryable' AND next_retry_at_ms <= 1800000000000) OR (status = 'delivering' AND lock_until_ms <= 1800000000000) ORDER BY created_at_ms LIMIT {BATCH}{locking}"
    )
}

/// How long so many rows take, per row.
struct Pace {
    rows: u32,
    time: Duration,
}

impl Pace {
    fn per_second(&self) -> f64 {
        f64::from(self.rows) / self.time.as_secs_f64()
    }
}

macro_rules! bench {
    ($module:ident, $pool:ty, $placeholder:expr, $locking:literal, $analyze:literal, $deadlocks:expr) => {
        mod $module {
            use super::*;
            use generated::$module::wallet_outbox as repository;

            pub async fn bench(url: &str) {
                let pool = <$pool>::connect(url).await.unwrap();
                fill(&pool, BACKLOG, "first").await;
                sqlx::query($analyze).execute(&pool).await.unwrap();
                let (mut ours, mut by_hand) = (Pace::new(), Pace::new());
                // In turn, so that what the machine does beside it falls on both.
                for round in 0..10 {
                    if round % 2 == 0 {
                        generated_loop(&pool, &mut ours, 15).await;
                    }
                    hand_written(&pool, &mut by_hand, 15).await;
                    if round % 2 == 1 {
                        generated_loop(&pool, &mut ours, 15).await;
                    }
                }
                let mut incident = Pace::new();
                incident_loop(&pool, &mut incident).await;
                println!("| claim and complete, batches of {BATCH} | rows a second | |\n| --- | ---: | ---: |");
                println!("| generated | {:.0} | 1 |", ours.per_second());
                println!("| by hand | {:.0} | {:.2} |", by_hand.per_second(), by_hand.per_second() / ours.per_second());
                println!(
                    "| incident | {:.0} | 1 / {:.1} |",
                    incident.per_second(),
                    ours.per_second() / incident.per_second()
                );
                near_empty(&pool).await;
            }

            async fn fill(pool: &$pool, rows: usize, name: &str) {
                let payload = serde_json::json!({ "amount": 1 });
                let ids: Vec<String> = (0..rows).map(|row| format!("{name}-{row:08}")).collect();
                let events: Vec<NewEvent<'_>> = ids.iter().map(|id| event(id, &payload)).collect();
                let mut connection = pool.acquire().await.unwrap();
                let done = repository::enqueue_many(&mut connection, SCOPE, &events).await.unwrap();
                assert_eq!(done.inserted, rows as u64);
            }

            async fn generated_loop(pool: &$pool, pace: &mut Pace, batches: u32) {
                let options = ClaimOptions { limit: BATCH, ..ClaimOptions::new("bench") };
                let start = Instant::now();
                for _ in 0..batches {
                    let batch = repository::claim(pool, SCOPE, &options).await.unwrap();
                    let leases: Vec<_> = batch.ready.into_iter().map(|claimed| claimed.lease).collect();
                    let mut connection = pool.acquire().await.unwrap();
                    let answers = repository::complete_many(&mut connection, &leases).await.unwrap();
                    assert!(answers.iter().all(Result::is_ok));
                    pace.rows += answers.len() as u32;
                }
                pace.time += start.elapsed();
            }

            /// Four workers that find next to nothing, with somebody who adds a little.
            async fn near_empty(pool: &$pool) {
                let before = deadlocks(pool).await;
                sqlx::query("DELETE FROM wallet_outbox").execute(pool).await.unwrap();
                let end = Instant::now() + Duration::from_secs(10);
                let mut workers = Vec::new();
                for number in 0..4 {
                    let pool = pool.clone();
                    workers.push(tokio::spawn(async move {
                        let name = format!("worker-{number}");
                        let mut options = ClaimOptions { limit: BATCH, ..ClaimOptions::new(&name) };
                        let (mut claims, mut rows) = (0_u32, 0_u32);
                        while Instant::now() < end {
                            let batch = repository::claim(&pool, SCOPE, &options).await.expect("an error of a claim");
                            assert!(batch.stopped_by.is_none(), "{:?}", batch.stopped_by);
                            claims += 1;
                            options.start = options.start.next();
                            for claimed in batch.ready {
                                repository::complete(&pool, &claimed.lease).await.expect("an error of complete");
                                rows += 1;
                            }
                        }
                        (claims, rows)
                    }));
                }
                let mut number = 0;
                while Instant::now() < end {
                    number += 1;
                    fill(pool, 3, &format!("near-empty-{number}")).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                let (mut claims, mut rows) = (0, 0);
                for worker in workers {
                    let (some, done) = worker.await.expect("a worker saw an error");
                    claims += some;
                    rows += done;
                }
                let at_the_server = match (before, deadlocks(pool).await) {
                    (Some(before), Some(after)) => (after - before).to_string(),
                    _ => "not counted".to_owned(),
                };
                println!("near-empty: {claims} claims, {rows} rows, deadlocks surfaced 0, at the server {at_the_server}");
            }

            async fn deadlocks(pool: &$pool) -> Option<i64> {
                let sql: Option<&'static str> = $deadlocks;
                let row = sqlx::query(sql?).fetch_one(pool).await.ok()?;
                row.try_get::<i64, _>(0).ok()
            }

            async fn incident_loop(pool: &$pool, pace: &mut Pace) {
                // The same backlog as the others began with.
                let have: i64 =
                    sqlx::query_scalar("SELECT COUNT(*) FROM wallet_outbox WHERE status = 'pending'").fetch_one(pool).await.unwrap();
                fill(pool, BACKLOG - have as usize, "more").await;
                let claim = or_claim($locking);
                let start = Instant::now();
                for _ in 0..8 {
                    let mut transaction = pool.begin().await.unwrap();
                    let rows = sqlx::query(AssertSqlSafe(claim.clone())).fetch_all(&mut *transaction).await.unwrap();
                    let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
                    by_keys(&mut transaction, "SET status = 'delivering', worker_id = 'bench'", &keys).await;
                    transaction.commit().await.unwrap();
                    let mut connection = pool.acquire().await.unwrap();
                    by_keys(&mut connection, "SET status = 'delivered', worker_id = NULL", &keys).await;
                    pace.rows += keys.len() as u32;
                }
                pace.time += start.elapsed();
            }

            async fn by_keys(connection: &mut generated::$module::Connection, set: &str, keys: &[String]) {
                let places: Vec<String> = (1..=keys.len()).map($placeholder).collect();
                let places = places.join(", ");
                let sql = format!("UPDATE wallet_outbox {set} WHERE app_code = 'chat' AND event_id IN ({places})");
                let mut query = sqlx::query(AssertSqlSafe(sql));
                for key in keys {
                    query = query.bind(key);
                }
                query.execute(connection).await.unwrap();
            }

            /// The statements of the generated code, as one would write the loop by hand: nothing is decoded but what it needs.
            async fn hand_written(pool: &$pool, pace: &mut Pace, batches: u32) {
                let start = Instant::now();
                for _ in 0..batches {
                    pace.rows += by_hand::batch(pool).await;
                }
                pace.time += start.elapsed();
            }

            use super::by_hand::$module as by_hand;
        }
    };
}

impl Pace {
    fn new() -> Pace {
        Pace { rows: 0, time: Duration::ZERO }
    }
}

bench!(
    mysql,
    sqlx::MySqlPool,
    |_| "?".to_owned(),
    " FOR UPDATE SKIP LOCKED",
    "ANALYZE TABLE wallet_outbox",
    Some("SELECT CAST(COUNT AS SIGNED) FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'")
);
bench!(
    mariadb,
    sqlx::MySqlPool,
    |_| "?".to_owned(),
    " FOR UPDATE SKIP LOCKED",
    "ANALYZE TABLE wallet_outbox",
    Some(
        "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Innodb_deadlocks'"
    )
);
bench!(
    postgres,
    sqlx::PgPool,
    |number| format!("${number}"),
    " FOR UPDATE SKIP LOCKED",
    "ANALYZE wallet_outbox",
    Some("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
);
bench!(sqlite, sqlx::SqlitePool, |_| "?".to_owned(), "", "ANALYZE wallet_outbox", None);

/// Loops as one would write them by hand, with the generated statements.
mod by_hand {
    use super::*;

    macro_rules! mysql_like {
        ($module:ident) => {
            pub mod $module {
                use super::*;
                use generated::$module::wallet_outbox::query;

                pub async fn batch(pool: &sqlx::MySqlPool) -> u32 {
                    let begin = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION";
                    let mut transaction = pool.begin_with(begin).await.unwrap();
                    let found = sqlx::query(query::CLAIM_PENDING).bind("chat").bind(i64::from(BATCH));
                    let rows = found.fetch_all(&mut *transaction).await.unwrap();
                    let rows: Vec<table::Row> = rows.iter().map(|row| sqlx::FromRow::from_row(row).unwrap()).collect();
                    let take = with_keys(query::TAKE, rows.len());
                    let mut take = sqlx::query(AssertSqlSafe(take)).bind(30_000_i64).bind("token/hand").bind("chat");
                    for row in &rows {
                        take = take.bind(&row.event_id);
                    }
                    take.execute(&mut *transaction).await.unwrap();
                    transaction.commit().await.unwrap();
                    let mut transaction = pool.begin_with(begin).await.unwrap();
                    let find = with_keys(query::COMPLETE_MANY_FIND, rows.len());
                    let mut find = sqlx::query(AssertSqlSafe(find)).bind("chat");
                    for row in &rows {
                        find = find.bind(&row.event_id);
                    }
                    let held = find.fetch_all(&mut *transaction).await.unwrap();
                    let held: Vec<String> = held
                        .iter()
                        .filter(|row| row.get::<String, _>(1) == "token/hand")
                        .map(|row| row.get(0))
                        .collect();
                    let complete = with_keys(query::COMPLETE_MANY, held.len());
                    let mut complete = sqlx::query(AssertSqlSafe(complete)).bind("chat");
                    for key in &held {
                        complete = complete.bind(key);
                    }
                    let done = complete.execute(&mut *transaction).await.unwrap();
                    transaction.commit().await.unwrap();
                    done.rows_affected() as u32
                }
            }
        };
    }
    mysql_like!(mysql);
    mysql_like!(mariadb);

    /// The statement with its list of keys, which ends it.
    fn with_keys(sql: &str, keys: usize) -> String {
        let (before, _) = sql.split_once("IN (?)").unwrap();
        let (_, after) = sql.split_once("IN (?)").unwrap();
        format!("{before}IN ({}){after}", vec!["?"; keys].join(", "))
    }

    pub mod postgres {
        use super::*;
        use generated::postgres::wallet_outbox::query;

        pub async fn batch(pool: &sqlx::PgPool) -> u32 {
            let claim = sqlx::query(query::CLAIM_PENDING).bind("chat").bind(i64::from(BATCH));
            let rows = claim.bind(30_000_i64).bind("token/hand").fetch_all(pool).await.unwrap();
            let rows: Vec<table::Row> = rows.iter().map(|row| sqlx::FromRow::from_row(row).unwrap()).collect();
            let mut number = 0;
            let mut keys = Vec::new();
            for _ in &rows {
                keys.push(format!("(${}, ${}, ${})", number + 1, number + 2, number + 3));
                number += 3;
            }
            let sql = query::COMPLETE_MANY.replace("$1", &keys.join(", "));
            let mut complete = sqlx::query(AssertSqlSafe(sql));
            for row in &rows {
                complete = complete.bind(&row.app_code).bind(&row.event_id).bind("token/hand");
            }
            complete.fetch_all(pool).await.unwrap().len() as u32
        }
    }

    pub mod sqlite {
        use super::*;
        use generated::sqlite::wallet_outbox::query;

        pub async fn batch(pool: &sqlx::SqlitePool) -> u32 {
            let claim = sqlx::query(query::CLAIM_PENDING);
            let claim = claim.bind(30_000_i64).bind("token/hand").bind("chat").bind(i64::from(BATCH));
            let rows = claim.fetch_all(pool).await.unwrap();
            let rows: Vec<table::Row> = rows.iter().map(|row| sqlx::FromRow::from_row(row).unwrap()).collect();
            let keys = vec!["(?, ?)"; rows.len()].join(", ");
            let at = query::COMPLETE_MANY.rfind("(VALUES ?)").unwrap();
            let (before, after) = query::COMPLETE_MANY.split_at(at);
            let sql = format!("{before}(VALUES {keys}){}", &after["(VALUES ?)".len()..]);
            let mut complete = sqlx::query(AssertSqlSafe(sql)).bind("chat");
            for row in &rows {
                complete = complete.bind(&row.event_id).bind("token/hand");
            }
            complete.fetch_all(pool).await.unwrap().len() as u32
        }
    }
}
