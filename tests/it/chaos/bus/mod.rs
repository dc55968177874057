//! The event bus as processes of their own that are killed at any moment, with a real broker that is killed, too: no committed
//! event is lost, none is applied twice, and those of one key are applied in the order of their rows.
//!
//! Producers write a request and its event in one transaction; relays publish; consumers apply each event in the transaction
//! that marks it as consumed. When the time is up, what is left is worked off without kills, and then the account is drawn up
//! ([`verdict`]). About once a second a process is killed, or in its turn the broker: NATS comes back with what it has on its
//! disk, this Kafka with nothing at all.

mod brokers;
mod crowd;
mod engine;
mod verdict;
mod worker;

use std::time::{Duration, Instant};

use crate::brokers::lab::{Broker, Kafka, Nats};
use crate::brokers::server::Private;
use crate::servers::{Scratch, Server, Session, on_servers};

use super::setting;

use crowd::Crowd;
use verdict::Account;

/// The events of so many chats are in order, each by itself.
pub const CHATS: u64 = 6;

/// Where all events go, in so many partitions where there are such.
pub const TOPIC: &str = "agent-events";
pub const PARTITIONS: i32 = 2;

/// How long the rest may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long each run takes. There are eight of them.
fn seconds() -> Duration {
    Duration::from_secs(setting("CLAIMSMITH_CHAOS_SECONDS").unwrap_or(3))
}

fn create(scratch: &mut Scratch) {
    let path = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), scratch.server.id());
    scratch.run(&std::fs::read_to_string(path).unwrap()).unwrap();
    scratch.run(engine::TABLES).unwrap();
    let columns = "(chat_id, user_id, created_at, updated_at)";
    for chat in (0..CHATS).map(engine::chat) {
        let values = format!("('{chat}', 7, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)");
        scratch.run(&format!("INSERT INTO agent_chats {columns} VALUES {values}")).unwrap();
        scratch.run(&format!("INSERT INTO turn_count VALUES ('{chat}', 0)")).unwrap();
    }
    if scratch.server == Server::Sqlite {
        scratch.run("PRAGMA journal_mode = WAL").unwrap();
    }
}

/// Makes the topic; a broker that has just come may need a moment.
fn make<B: Broker>(address: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { B::at(address).await.make(TOPIC, PARTITIONS).await });
}

fn nothing_is_lost_nor_applied_twice_nor_out_of_order<B: Broker>(scratch: &mut Scratch, test: &str) {
    let Some(mut broker) = Private::start(B::NAME, test, &[]) else { return };
    create(scratch);
    make::<B>(&broker.address());
    let mut random = super::seed();
    let mut crowd = Crowd::new(scratch.server.id(), &scratch.url(), B::NAME, &broker.address(), random.clone());
    crowd.start_all();
    let (mut broker_kills, mut moments) = (0, 0);
    let until = Instant::now() + seconds();
    while Instant::now() < until && crowd.is_well() {
        std::thread::sleep(random.millis(600, 1_200));
        moments += 1;
        if moments % 3 != 2 {
            crowd.kill_one();
            continue;
        }
        broker.kill();
        std::thread::sleep(random.millis(50, 300));
        broker.revive();
        // What has no disk has no topic any more.
        if B::NAME == Kafka::NAME {
            make::<B>(&broker.address());
        }
        broker_kills += 1;
    }
    crowd.stop_all();
    crowd.start_those_who_finish();
    let mut session = scratch.session();
    let open = work_off(&mut session, &mut crowd);
    crowd.stop_all();
    let killed = crowd.killed;
    let reports = crowd.end();
    let account = Account::new(&mut session, &reports);
    println!("{} with {}: {killed} processes and {broker_kills} brokers killed", scratch.server.id(), B::NAME);
    println!("{}; {}", account.figures(), reports.summary());
    account.check(open);
    assert!(broker_kills > 0 && killed > 0);
}

/// Waits until nothing is open, whose waits are cut short; how many rows still are.
fn work_off(session: &mut Session, crowd: &mut Crowd) -> u64 {
    let until = Instant::now() + PATIENCE;
    let open = "FROM agent_outbox_messages WHERE status IN ('pending', 'published')";
    loop {
        let left: u64 = session.value(&format!("SELECT COUNT(*) {open}")).parse().unwrap();
        if left == 0 || Instant::now() > until || !crowd.is_well() {
            return left;
        }
        // There is one relay, which does not claim what it has in hand.
        let due = "UPDATE agent_outbox_messages SET next_retry_at = '2026-01-02 03:04:05' WHERE status = 'pending'";
        // Where it meets a relay, one of them gives way.
        _ = session.run(due);
        std::thread::sleep(Duration::from_millis(700));
    }
}

fn with_kafka(scratch: &mut Scratch) {
    nothing_is_lost_nor_applied_twice_nor_out_of_order::<Kafka>(scratch, "chaos::bus::with_kafka");
}
on_servers!(with_kafka);

fn with_nats(scratch: &mut Scratch) {
    nothing_is_lost_nor_applied_twice_nor_out_of_order::<Nats>(scratch, "chaos::bus::with_nats");
}
on_servers!(with_nats);
