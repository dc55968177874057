//! The generated repository on real servers: `tests/run.sh cargo bench --bench repository`.
//!
//! What a claim reads at three sizes of a backlog of which half is due; that workers of a queue with next to nothing in it do
//! not deadlock; and how fast claim and complete are beside a loop that is written by hand with the same statements, and
//! beside the claim of the incident, where no disk is waited for. Machines are noisy: ratios of rounds in which each has its
//! turn, of which the median counts.
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

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use counters::backlog::{self, Mix, load};
use counters::bench::drop_index;
use counters::probe::Probe;
use counters::running::run;
use counters::statements::Values;
use counters::{create, queue};
use generated::queue::{Branch, ClaimOptions};
use generated::tables::wallet_outbox::{self as table, NewEvent, Scope};
use servers::{Scratch, Server};
use sqlx::mysql::MySqlConnectOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Row};

const PARTS: [&str; 3] = ["examined", "near-empty", "paces"];
const BATCH: u32 = 100;
const BACKLOG: usize = 50_000;
const SCOPE: Scope<'static> = Scope { app_code: "chat" };

/// Rows that are finished or dead, of three apps, before the backlog: none, and so many that the table has a million.
const HISTORIES: [u64; 2] = [0, 950_000];

/// Each loop's turns, and its batches in a turn.
const ROUNDS: usize = 15;
const BATCHES: u32 = 20;

/// The batches of the incident's claim in a turn, which takes its time.
const INCIDENTS: u32 = 2;

/// Whether the arguments ask for it, as all of one kind do where none of it is named.
fn wanted(name: &str, of: &[&str]) -> bool {
    let named: Vec<String> = std::env::args().filter(|argument| of.contains(&&**argument)).collect();
    named.is_empty() || named.iter().any(|argument| argument == name)
}

/// With names of databases and of parts as arguments, only these: `-- sqlite paces`.
fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for server in Server::ALL {
        if !wanted(server.id(), &Server::ALL.map(Server::id)) {
            continue;
        }
        println!("\n{}", server.engine().title);
        for part in PARTS.into_iter().filter(|part| wanted(part, &PARTS)) {
            // Databases of its own: what so many rows leave behind would be measured, too.
            let scratch = || Scratch::new(server, "the bench of the repository");
            let Some(mut scratches) = scratch().zip(scratch()).map(<[Scratch; 2]>::from) else { continue };
            scratches.iter_mut().for_each(create);
            match part {
                "examined" => examined(&scratches[0]),
                "near-empty" => near_empty(&scratches[..1], &runtime),
                _ => HISTORIES.into_iter().for_each(|history| paces(&scratches, history, &runtime)),
            }
        }
    }
}

/// Four workers on a queue with next to nothing in it.
fn near_empty(scratches: &[Scratch], runtime: &tokio::runtime::Runtime) {
    let _lazy = Lazy::of(scratches);
    let url = scratches[0].url();
    match scratches[0].server {
        Server::MySql => runtime.block_on(mysql::near_empty(&url)),
        Server::MariaDb => runtime.block_on(mariadb::near_empty(&url)),
        Server::Postgres => runtime.block_on(postgres::near_empty(&url)),
        Server::Sqlite => runtime.block_on(sqlite::near_empty(&url)),
    }
}

/// How fast the loops are on a table of so many old rows and the backlog. The incident's claim has a table of its own, which
/// is as it was then: the same rows, and no index that a claim could use.
fn paces(scratches: &[Scratch; 2], history: u64, runtime: &tokio::runtime::Runtime) {
    let [ours, incident] = scratches;
    let server = ours.server;
    let queue = queue(server, "wallet_outbox");
    if history > 0 {
        for scratch in scratches {
            backlog::empty(&mut Probe::open(scratch), &queue.table);
            backlog::fill(&mut Probe::open(scratch), &queue.table, history, Mix::Due(0));
        }
    } else {
        let indexes: BTreeSet<&String> = queue.queries.iter().filter_map(|query| query.index.as_ref()).collect();
        for name in indexes {
            Probe::open(incident).run(&drop_index(server, &queue, name));
        }
    }
    let _lazy = Lazy::of(scratches);
    let urls = scratches.each_ref().map(Scratch::url);
    println!("{} rows, of which {BACKLOG} wait: claim and complete in batches of {BATCH}", history + BACKLOG as u64);
    match server {
        Server::MySql => runtime.block_on(mysql::bench(&urls)),
        Server::MariaDb => runtime.block_on(mariadb::bench(&urls)),
        Server::Postgres => runtime.block_on(postgres::bench(&urls)),
        Server::Sqlite => runtime.block_on(sqlite::bench(&urls)),
    }
}

/// The server does not wait for its disk, which takes most of the time of any claim and is not what is compared; until this
/// value goes.
struct Lazy<'a> {
    scratch: &'a Scratch,
    before: Option<(u64, u64)>,
}

impl<'a> Lazy<'a> {
    /// In these databases of one server.
    fn of(scratches: &'a [Scratch]) -> Lazy<'a> {
        let mut before = None;
        for scratch in scratches {
            let mut probe = Probe::open(scratch);
            match scratch.server {
                Server::MySql | Server::MariaDb if before.is_none() => {
                    let log = probe.number("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit");
                    let binlog = probe.number("SELECT @@GLOBAL.sync_binlog");
                    before = Some((log, binlog));
                    Lazy::set(&mut probe, (0, 0));
                }
                Server::MySql | Server::MariaDb => {}
                Server::Postgres => {
                    probe.run(&format!("ALTER DATABASE {} SET synchronous_commit = off", scratch.name()));
                }
                // Its pools say so themselves.
                Server::Sqlite => {}
            }
        }
        Lazy { scratch: &scratches[0], before }
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

/// The rows a second of each turn.
struct Paces(Vec<f64>);

impl Paces {
    fn add(&mut self, rows: u32, start: Instant) {
        self.0.push(f64::from(rows) / start.elapsed().as_secs_f64());
    }

    /// The median of how often these have the pace of the others, turn by turn, with the least and the most.
    fn over(&self, others: &Paces) -> String {
        let (median, least, most) = median(self.0.iter().zip(&others.0).map(|(ours, theirs)| ours / theirs).collect());
        format!("{median:.2} ({least:.2} to {most:.2})")
    }
}

fn median(mut of: Vec<f64>) -> (f64, f64, f64) {
    of.sort_by(f64::total_cmp);
    (of[of.len() / 2], of[0], of[of.len() - 1])
}

macro_rules! bench {
    ($module:ident, $pool:ty, $options:expr, $placeholder:expr, $locking:literal, $analyze:literal, $deadlocks:expr) => {
        mod $module {
            use super::by_hand::$module as by_hand;
            use super::*;
            use generated::$module::wallet_outbox as repository;

            async fn connect(url: &str) -> $pool {
                <$pool>::connect_with($options(url)).await.unwrap()
            }

            pub async fn bench([url, of_incident]: &[String; 2]) {
                let (pool, as_it_was) = (connect(url).await, connect(of_incident).await);
                for pool in [&pool, &as_it_was] {
                    fill_up(pool, "first").await;
                    sqlx::query($analyze).execute(pool).await.unwrap();
                }
                let (mut ours, mut hand, mut incident) = (Paces(Vec::new()), Paces(Vec::new()), Paces(Vec::new()));
                // In turn, so that what the machine does beside it falls on all; the first round prepares statements.
                for round in 0..=ROUNDS {
                    fill_up(&pool, &format!("more-{round}")).await;
                    fill_up(&as_it_was, &format!("more-{round}")).await;
                    if round % 2 == 0 {
                        generated_loop(&pool, &mut ours).await;
                    }
                    hand_written(&pool, &mut hand).await;
                    if round % 2 == 1 {
                        generated_loop(&pool, &mut ours).await;
                    }
                    incident_loop(&as_it_was, &mut incident).await;
                }
                for paces in [&mut ours, &mut hand, &mut incident] {
                    paces.0.remove(0);
                }
                let pace = |of: &Paces| median(of.0.clone()).0;
                println!("| | rows a second | generated over this |\n| --- | ---: | ---: |");
                println!("| generated | {:.0} | 1 |", pace(&ours));
                println!("| by hand | {:.0} | {} |", pace(&hand), ours.over(&hand));
                println!("| the incident's claim | {:.0} | {} |", pace(&incident), ours.over(&incident));
            }

            /// So many rows wait again.
            async fn fill_up(pool: &$pool, name: &str) {
                let have = "SELECT COUNT(*) FROM wallet_outbox WHERE app_code = 'chat' AND status = 'pending'";
                let have: i64 = sqlx::query_scalar(have).fetch_one(pool).await.unwrap();
                fill(pool, BACKLOG - have as usize, name).await;
            }

            async fn fill(pool: &$pool, rows: usize, name: &str) {
                let payload = serde_json::json!({ "amount": 1 });
                let ids: Vec<String> = (0..rows).map(|row| format!("{name}-{row:08}")).collect();
                let events: Vec<NewEvent<'_>> = ids.iter().map(|id| event(id, &payload)).collect();
                let mut connection = pool.acquire().await.unwrap();
                let done = repository::enqueue_many(&mut connection, SCOPE, &events).await.unwrap();
                assert_eq!(done.inserted, rows as u64);
            }

            async fn generated_loop(pool: &$pool, paces: &mut Paces) {
                let options = ClaimOptions { limit: BATCH, ..ClaimOptions::new("bench") };
                let (start, mut rows) = (Instant::now(), 0);
                for _ in 0..BATCHES {
                    let batch = repository::claim(pool, SCOPE, &options).await.unwrap();
                    let leases: Vec<_> = batch.ready.into_iter().map(|claimed| claimed.lease).collect();
                    let mut connection = pool.acquire().await.unwrap();
                    let answers = repository::complete_many(&mut connection, &leases).await.unwrap();
                    assert!(answers.iter().all(Result::is_ok));
                    rows += answers.len() as u32;
                }
                paces.add(rows, start);
                assert_eq!(rows, BATCHES * BATCH);
            }

            /// Four workers that find next to nothing, with somebody who adds a little.
            pub async fn near_empty(url: &str) {
                let pool = &connect(url).await;
                let before = deadlocks(pool).await;
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

            /// What is found so is marked and finished as others do it.
            async fn incident_loop(pool: &$pool, paces: &mut Paces) {
                let claim = or_claim($locking);
                let (start, mut rows) = (Instant::now(), 0);
                for _ in 0..INCIDENTS {
                    let mut transaction = pool.begin().await.unwrap();
                    let found = sqlx::query(AssertSqlSafe(claim.clone())).fetch_all(&mut *transaction).await.unwrap();
                    let keys: Vec<String> = found.iter().map(|row| row.get(0)).collect();
                    let set = "SET status = 'delivering', worker_id = 'token/hand', lock_until_ms = 1900000000000, retry_count = retry_count + 1";
                    by_keys(&mut transaction, set, &keys).await;
                    transaction.commit().await.unwrap();
                    rows += by_hand::complete(pool, &keys).await;
                }
                paces.add(rows, start);
                assert_eq!(rows, INCIDENTS * BATCH);
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
            async fn hand_written(pool: &$pool, paces: &mut Paces) {
                let (start, mut rows) = (Instant::now(), 0);
                for _ in 0..BATCHES {
                    let claimed = by_hand::claim(pool).await;
                    let keys: Vec<String> = claimed.into_iter().map(|row| row.event_id).collect();
                    rows += by_hand::complete(pool, &keys).await;
                }
                paces.add(rows, start);
                assert_eq!(rows, BATCHES * BATCH);
            }
        }
    };
}

bench!(
    mysql,
    sqlx::MySqlPool,
    |url: &str| url.parse::<MySqlConnectOptions>().unwrap(),
    |_| "?".to_owned(),
    " FOR UPDATE SKIP LOCKED",
    "ANALYZE TABLE wallet_outbox",
    Some("SELECT CAST(COUNT AS SIGNED) FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'")
);
bench!(
    mariadb,
    sqlx::MySqlPool,
    |url: &str| url.parse::<MySqlConnectOptions>().unwrap(),
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
    |url: &str| url.parse::<PgConnectOptions>().unwrap(),
    |number| format!("${number}"),
    " FOR UPDATE SKIP LOCKED",
    "ANALYZE wallet_outbox",
    Some("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
);
bench!(
    sqlite,
    sqlx::SqlitePool,
    |url: &str| {
        let options: SqliteConnectOptions = url.parse().unwrap();
        options.synchronous(SqliteSynchronous::Off).journal_mode(SqliteJournalMode::Wal)
    },
    |_| "?".to_owned(),
    "",
    "ANALYZE wallet_outbox",
    None
);

/// Loops as one would write them by hand, with the generated statements.
mod by_hand {
    use super::*;

    macro_rules! mysql_like {
        ($module:ident) => {
            pub mod $module {
                use super::*;
                use generated::$module::wallet_outbox::query;

                const BEGIN: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION";

                pub async fn claim(pool: &sqlx::MySqlPool) -> Vec<table::Row> {
                    let mut transaction = pool.begin_with(BEGIN).await.unwrap();
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
                    rows
                }

                pub async fn complete(pool: &sqlx::MySqlPool, keys: &[String]) -> u32 {
                    let mut transaction = pool.begin_with(BEGIN).await.unwrap();
                    let find = with_keys(query::COMPLETE_MANY_FIND, keys.len());
                    let mut find = sqlx::query(AssertSqlSafe(find)).bind("chat");
                    for key in keys {
                        find = find.bind(key);
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

        pub async fn claim(pool: &sqlx::PgPool) -> Vec<table::Row> {
            let claim = sqlx::query(query::CLAIM_PENDING).bind("chat").bind(i64::from(BATCH));
            let rows = claim.bind(30_000_i64).bind("token/hand").fetch_all(pool).await.unwrap();
            rows.iter().map(|row| sqlx::FromRow::from_row(row).unwrap()).collect()
        }

        pub async fn complete(pool: &sqlx::PgPool, keys: &[String]) -> u32 {
            let place = |at: usize| format!("(${}, ${}, ${})", 3 * at + 1, 3 * at + 2, 3 * at + 3);
            let places: Vec<String> = (0..keys.len()).map(place).collect();
            let sql = query::COMPLETE_MANY.replace("$1", &places.join(", "));
            let mut complete = sqlx::query(AssertSqlSafe(sql));
            for key in keys {
                complete = complete.bind("chat").bind(key).bind("token/hand");
            }
            complete.fetch_all(pool).await.unwrap().len() as u32
        }
    }

    pub mod sqlite {
        use super::*;
        use generated::sqlite::wallet_outbox::query;

        pub async fn claim(pool: &sqlx::SqlitePool) -> Vec<table::Row> {
            let claim = sqlx::query(query::CLAIM_PENDING);
            let claim = claim.bind(30_000_i64).bind("token/hand").bind("chat").bind(i64::from(BATCH));
            let rows = claim.fetch_all(pool).await.unwrap();
            rows.iter().map(|row| sqlx::FromRow::from_row(row).unwrap()).collect()
        }

        pub async fn complete(pool: &sqlx::SqlitePool, keys: &[String]) -> u32 {
            let places = vec!["(?, ?)"; keys.len()].join(", ");
            let at = query::COMPLETE_MANY.rfind("(VALUES ?)").unwrap();
            let (before, after) = query::COMPLETE_MANY.split_at(at);
            let sql = format!("{before}(VALUES {places}){}", &after["(VALUES ?)".len()..]);
            let mut complete = sqlx::query(AssertSqlSafe(sql)).bind("chat");
            for key in keys {
                complete = complete.bind(key).bind("token/hand");
            }
            complete.fetch_all(pool).await.unwrap().len() as u32
        }
    }
}
