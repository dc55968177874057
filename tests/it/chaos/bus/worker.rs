//! The processes: each does what it is told until it is stopped or killed, and says what it has seen in a file of its own.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::Pool;
use tokio::sync::watch;

use crate::brokers::lab::{Broker, Kafka, Nats};
use crate::rust::generated::bus::{self, EmitError, Handled};
use crate::rust::generated::queue::{EnqueueError, is_retryable};
use crate::rust::generated::relay;

use super::super::random::Random;
use super::brokers::Reads;
use super::engine::{self, Engine, Keep, MariaDb, MySql, Postgres, Sqlite};

/// What a process is to do, in JSON.
pub const ORDERS: &str = "CLAIMSMITH_CHAOS_BUS_ORDERS";

/// No process lives longer, whatever happens to its parent.
const LIFETIME: Duration = Duration::from_secs(180);

/// When a message that was not consumed counts as lost: soon, for the sake of the test.
const SWEEP: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub enum Role {
    Produces,
    Relays,
    /// With its number among the consumers, and whether its handler fails now and then.
    Consumes(usize, bool),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Orders {
    /// The engine's name.
    pub server: String,
    pub url: String,
    /// The broker's name.
    pub broker: String,
    pub address: String,
    pub role: Role,
    /// The process's name, which no other has.
    pub name: String,
    pub seed: u64,
    /// Where reports and positions are.
    pub folder: String,
}

/// What a line of a report says, before what it is said of.
pub mod word {
    /// The request and its event are committed.
    pub const COMMITTED: &str = "committed";
    /// The request came to nothing.
    pub const CANCELLED: &str = "cancelled";
    pub const PUBLISHED: &str = "published";
    pub const REFUSED: &str = "refused";
    pub const SWEPT: &str = "swept";
    pub const APPLIED: &str = "applied";
    pub const DUPLICATE: &str = "duplicate";
    /// It came before another one of its key.
    pub const EARLY: &str = "early";
    pub const FAILED: &str = "failed";
}

/// A process of the chaos: this test in a process of its own. Started by hand, it has no orders and does nothing.
#[test]
fn worker() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let orders: Orders = serde_json::from_str(&orders).unwrap();
    match orders.server.as_str() {
        "mysql" => on_engine::<MySql>(&orders),
        "mariadb" => on_engine::<MariaDb>(&orders),
        "postgres" => on_engine::<Postgres>(&orders),
        _ => on_engine::<Sqlite>(&orders),
    }
}

fn on_engine<E: Engine>(orders: &Orders) {
    let (stop, stopped) = watch::channel(false);
    // The parent closes its end when it stops us, and the system does so when the parent is no more.
    std::thread::spawn(move || {
        _ = std::io::stdin().read_to_end(&mut Vec::new());
        stop.send_replace(true);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = format!("{}/{}.report", orders.folder, orders.name);
        let report = File::options().append(true).create(true).open(path).unwrap();
        let pool = E::open(&orders.url).await.unwrap();
        let process = Process::<E> { orders, pool, report, stopped };
        let work = async {
            match orders.broker.as_str() {
                Kafka::NAME => process.run::<Kafka>().await,
                _ => process.run::<Nats>().await,
            }
        };
        _ = tokio::time::timeout(LIFETIME, work).await;
    });
}

struct Process<'a, E: Engine> {
    orders: &'a Orders,
    pool: Pool<E::Db>,
    report: File,
    stopped: watch::Receiver<bool>,
}

impl<E: Engine> Process<'_, E> {
    async fn run<B: Reads>(&self) {
        match self.orders.role {
            Role::Produces => self.produce().await,
            Role::Relays => self.relay(B::at(&self.orders.address).await).await,
            Role::Consumes(nth, fails) => self.consume(B::at(&self.orders.address).await, nth, fails).await,
        }
    }

    fn say(&self, word: &str, of: &str) {
        // All at once, so that a killed process leaves no more than the beginning of its last line.
        (&self.report).write_all(format!("{word} {of}\n").as_bytes()).unwrap();
    }

    fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    fn stop(&self) -> impl Future<Output = ()> + Send + use<E> {
        let mut stopped = self.stopped.clone();
        async move { _ = stopped.wait_for(|stopped| *stopped).await }
    }

    async fn produce(&self) {
        let mut random = Random(self.orders.seed);
        while !self.is_stopped() {
            let chat = engine::chat(random.below(super::CHATS));
            let keeps = !random.percent(10);
            match E::request(&self.pool, &chat, keeps).await {
                Ok(turn) if keeps => self.say(word::COMMITTED, &format!("{chat}/{turn}")),
                Ok(_) => self.say(word::CANCELLED, &chat),
                Err(EmitError::Enqueue(EnqueueError::Db(error))) if is_retryable(&error) => {}
                Err(error) => panic!("{error:?}"),
            }
            tokio::time::sleep(random.millis(5, 30)).await;
        }
    }

    async fn relay(&self, broker: impl Broker) {
        let publisher = broker.publisher(Duration::from_millis(400));
        let notice = |notice: &relay::Notice<'_>| match notice {
            relay::Notice::Published(message) => self.say(word::PUBLISHED, &message.id),
            relay::Notice::Failed { message, .. } => self.say(word::REFUSED, &message.id),
            relay::Notice::Dead { .. } | relay::Notice::Exhausted(_) => panic!("{notice:?}"),
            _ => {}
        };
        let options = relay::Options {
            budget: Duration::from_millis(400),
            lease: Some(Duration::from_secs(4)),
            poll: Duration::from_millis(5),
            poll_at_most: Duration::from_millis(100),
            open_after: 3,
            wait_for_key: Duration::from_millis(100),
            notice: Some(&notice),
            ..relay::Options::new(&self.orders.name)
        };
        let relaying = E::relay(&self.pool, &publisher, &options, self.stop());
        let sweeping = async {
            while !self.is_stopped() {
                tokio::time::sleep(Duration::from_millis(500)).await;
                match E::sweep(&self.pool, SWEEP).await {
                    Ok(rows) => (0..rows).for_each(|_| self.say(word::SWEPT, "-")),
                    Err(error) => assert!(is_retryable(&error), "{error:?}"),
                }
            }
        };
        tokio::join!(relaying, sweeping);
    }

    async fn consume<B: Reads>(&self, broker: B, nth: usize, fails: bool) {
        let mut subscriber = broker.reader(nth, &self.orders.folder);
        let notice = |notice: &bus::Notice<'_>| match notice {
            bus::Notice::Handled { message, handled } => match handled {
                Handled::Done => self.say(word::APPLIED, &message.id),
                Handled::Duplicate => self.say(word::DUPLICATE, &message.id),
                Handled::Early => self.say(word::EARLY, &message.id),
                Handled::Later { .. } | Handled::Left(_) => self.say(word::FAILED, &message.id),
                Handled::Foreign | Handled::Dead(_) => panic!("{handled:?}"),
            },
            bus::Notice::Database(error) => assert!(is_retryable(error), "{error:?}"),
            _ => {}
        };
        let options = bus::Options {
            pause: Duration::from_millis(50),
            pause_at_most: Duration::from_millis(200),
            notice: Some(&notice),
        };
        let keep = Keep { fails: if fails { now_and_then } else { || false } };
        E::consume(&self.pool, keep, &mut subscriber, &options, self.stop()).await;
    }
}

/// True for one in fifty.
fn now_and_then() -> bool {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed) % 50 == 25
}
