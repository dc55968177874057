//! Relays on real servers: `tests/run.sh cargo bench --bench relay`.
//!
//! How fast a relay to the broker inside the process is beside claim and complete alone, each in its turn, and how long an
//! event takes from its transaction to its handler while there is little to do.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
// The tests' own harness, and a whole repository: what they do not use is not used here.
#![allow(dead_code, unused_imports, unused_macros)]

#[rustfmt::skip]
#[path = "../generated/rust/mod.rs"]
mod generated;
#[path = "../tests/it/servers/mod.rs"]
mod servers;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use generated::broker::{Memory, Message, PublishError, Publisher, Subscriber, Tags};
use generated::queue::{Branch, ClaimOptions};
use generated::relay::{self, Options, Outbox};
use generated::tables::wallet_outbox::{Key, NewEvent, Row, Scope};
use servers::{Scratch, Server};

const SCOPE: Scope<'static> = Scope { app_code: "chat" };
const BATCH: u32 = 100;

/// Each loop's turns, and its rows in a turn.
const ROUNDS: usize = 15;
const ROWS: usize = 2_000;

/// Events of the run with little to do, and how long it is from one to the next.
const EVENTS: usize = 200;
const APART: Duration = Duration::from_millis(25);

/// Counts what it gets, and ends the relay.
struct Counting {
    broker: Memory,
    left: AtomicUsize,
    done: tokio::sync::Notify,
}

impl Publisher for Counting {
    async fn publish(&self, message: &Message) -> Result<(), PublishError> {
        self.broker.publish(message).await?;
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.done.notify_one();
        }
        Ok(())
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for server in Server::ALL {
        let Some(mut scratch) = Scratch::new(server, "the bench of relays") else { continue };
        let path = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), server.id());
        scratch.run(&std::fs::read_to_string(path).unwrap()).unwrap();
        println!("\n{}", server.engine().title);
        let url = scratch.url();
        match server {
            Server::MySql => runtime.block_on(mysql::bench(&url)),
            Server::MariaDb => runtime.block_on(mariadb::bench(&url)),
            Server::Postgres => runtime.block_on(postgres::bench(&url)),
            Server::Sqlite => runtime.block_on(sqlite::bench(&url)),
        }
    }
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

macro_rules! bench {
    ($module:ident, $pool:ty) => {
        mod $module {
            use super::*;
            use generated::$module::wallet_outbox as repository;

            pub async fn bench(url: &str) {
                let pool = <$pool>::connect(url).await.unwrap();
                let mut ratios = Vec::new();
                for round in 0..ROUNDS {
                    let (mut alone, mut relayed) = (Duration::ZERO, Duration::ZERO);
                    for turn in 0..2 {
                        fill(&pool, &format!("{round}-{turn}"), ROWS).await;
                        // Who begins has its turn, too.
                        match (round + turn) % 2 {
                            0 => alone = claim_and_complete(&pool).await,
                            _ => relayed = relay_all(&pool).await,
                        }
                    }
                    ratios.push(alone.as_secs_f64() / relayed.as_secs_f64());
                }
                let (lowest, highest) = (ratios.iter().copied().fold(f64::MAX, f64::min), ratios.iter().copied().fold(0.0, f64::max));
                println!(
                    "the relay's pace over that of claim and complete alone: {:.2}, {lowest:.2} to {highest:.2}",
                    median(ratios)
                );
                latency(&pool).await;
                pool.close().await;
            }

            async fn fill(pool: &$pool, name: &str, rows: usize) {
                let ids: Vec<String> = (0..rows).map(|nth| format!("{name}-{nth:05}")).collect();
                let payload = serde_json::json!({ "amount": 1 });
                let events: Vec<NewEvent<'_>> = ids
                    .iter()
                    .map(|id| NewEvent {
                        event_id: id,
                        event_type: "WalletBalanceChanged",
                        user_id: 7,
                        idempotency_key: id,
                        payload: &payload,
                    })
                    .collect();
                let mut transaction = pool.begin().await.unwrap();
                repository::enqueue_many(&mut transaction, SCOPE, &events).await.unwrap();
                transaction.commit().await.unwrap();
            }

            async fn claim_and_complete(pool: &$pool) -> Duration {
                let started = Instant::now();
                let mut options = ClaimOptions { limit: BATCH, ..ClaimOptions::new("alone") };
                let mut left = ROWS;
                while left > 0 {
                    let batch = repository::claim(pool, SCOPE, &options).await.unwrap();
                    options.start = options.start.next();
                    let leases: Vec<_> = batch.ready.into_iter().map(|claimed| claimed.lease).collect();
                    let mut connection = pool.acquire().await.unwrap();
                    let answers = repository::complete_many(&mut connection, &leases).await.unwrap();
                    left -= answers.iter().filter(|answer| answer.is_ok()).count();
                }
                started.elapsed()
            }

            async fn relay_all(pool: &$pool) -> Duration {
                let broker = Memory::default();
                let _subscriber = broker.subscribe("hyapp_wallet_outbox", "bench", Tags::default());
                let publisher =
                    Counting { broker, left: AtomicUsize::new(ROWS), done: tokio::sync::Notify::new() };
                // All of a batch fit into a lease.
                let options = Options { budget: Duration::from_millis(200), ..Options::new("relay") };
                let started = Instant::now();
                let report =
                    repository::relay(pool, &[SCOPE], &publisher, &options, publisher.done.notified()).await;
                let elapsed = started.elapsed();
                assert_eq!(report.published, ROWS as u64, "{report:?}");
                elapsed
            }

            async fn latency(pool: &$pool) {
                let broker = Memory::default();
                let mut subscriber = broker.subscribe("hyapp_wallet_outbox", "bench", Tags::default());
                let sent = Mutex::new(HashMap::<String, Instant>::new());
                let options = Options::new("relay");
                let done = tokio::sync::Notify::new();
                let relaying = repository::relay(pool, &[SCOPE], &broker, &options, done.notified());
                let producing = async {
                    let payload = serde_json::json!({ "amount": 1 });
                    for nth in 0..EVENTS {
                        let id = format!("latency-{nth}");
                        let event = NewEvent {
                            event_id: &id,
                            event_type: "WalletBalanceChanged",
                            user_id: 7,
                            idempotency_key: &id,
                            payload: &payload,
                        };
                        let mut transaction = pool.begin().await.unwrap();
                        _ = repository::enqueue(&mut *transaction, SCOPE, &event).await.unwrap();
                        transaction.commit().await.unwrap();
                        sent.lock().unwrap().insert(id, Instant::now());
                        tokio::time::sleep(APART).await;
                    }
                };
                let consuming = async {
                    let mut took = Vec::new();
                    while took.len() < EVENTS {
                        let delivery = subscriber.receive().await.unwrap().unwrap();
                        let now = Instant::now();
                        subscriber.ack(delivery.receipt).await.unwrap();
                        let key = Key::of_message(&delivery.message.id).unwrap();
                        // A consumer that is faster than the producer's next line has waited for nothing.
                        let sent = sent.lock().unwrap().get(&key.event_id).copied();
                        took.push(sent.map_or(Duration::ZERO, |sent| now.saturating_duration_since(sent)));
                    }
                    done.notify_one();
                    took
                };
                let (_, (), mut took) = tokio::join!(relaying, producing, consuming);
                took.sort();
                println!(
                    "from the transaction to the consumer, one event each {APART:?}, polling from {:?}: half within {:.0?}, 99 of 100 within {:.0?}",
                    options.poll,
                    took[EVENTS / 2],
                    took[EVENTS * 99 / 100]
                );
            }
        }
    };
}

bench!(mysql, sqlx::MySqlPool);
bench!(mariadb, sqlx::MySqlPool);
bench!(postgres, sqlx::PgPool);
bench!(sqlite, sqlx::SqlitePool);
