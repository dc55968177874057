//! An event bus: a chat publishes its turns in the transaction of the request, a relay hands them to a broker, and a consumer
//! keeps each of them once, in their order.
//!
//! ```sh
//! cargo run --example event_bus
//! cargo run --example event_bus -- --kafka 127.0.0.1:9092
//! cargo run --example event_bus -- --nats 127.0.0.1:4222
//! ```
//!
//! Without an argument the broker is inside the process. Tables and functions come from `schemas/event_bus.json`.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Duration;

use async_nats::jetstream;
use rskafka::client::ClientBuilder;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool};

use generated::broker::{Memory, Publisher, Subscriber, Tags};
use generated::bus::{self, Envelope, Handlers, Handling, Mode};
use generated::kafka::{KafkaAssignment, KafkaCluster, KafkaPublisher, KafkaSubscriber};
use generated::nats::{NatsConsumer, NatsPublisher, NatsSubscriber};
use generated::relay;
use generated::sqlite::agent_outbox_messages;
use generated::tables::agent_outbox_messages::{Route, event_type};

/// What `claimsmith generate` has written.
#[rustfmt::skip]
#[path = "../generated/rust/mod.rs"]
mod generated;

const SCHEMA: &str = include_str!("../generated/sql/sqlite/schema.sql");

/// The event: a turn of a chat is to be kept.
const TURN: &str = event_type::CHAT_HISTORY_PERSIST_REQUESTED;

type Done<T> = Result<T, Box<dyn Error>>;

/// Its payload.
#[derive(serde::Deserialize, serde::Serialize)]
struct Turn {
    chat_id: String,
    user_id: i64,
    role: String,
    content: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done<()> {
    let folder = tempfile::tempdir()?;
    let options = SqliteConnectOptions::new().filename(folder.path().join("chats.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await?;
    sqlx::raw_sql(SCHEMA).execute(&pool).await?;
    for chat in ["c1", "c2"] {
        sqlx::query("INSERT INTO agent_chats (chat_id, user_id) VALUES (?, 7)").bind(chat).execute(&pool).await?;
    }

    // A topic of this run's own.
    let topic = format!("agent-events-{}", std::process::id());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let broker = Memory::default();
            let subscriber = broker.subscribe(&topic, "keeper", Tags::default());
            run(&pool, &topic, broker, subscriber).await?;
        }
        ["--kafka", address] => {
            let client = ClientBuilder::new(vec![address.to_owned()]).build().await?;
            client.controller_client()?.create_topic(&topic, 1, 1, 5_000).await?;
            let cluster = || KafkaCluster::new([address]);
            let subscriber = KafkaSubscriber::new(cluster(), KafkaAssignment::new(&topic));
            run(&pool, &topic, KafkaPublisher::new(cluster()), subscriber).await?;
        }
        ["--nats", address] => {
            let client = async_nats::connect(address).await?;
            let stream = jetstream::stream::Config {
                name: topic.clone(),
                subjects: vec![topic.clone()],
                ..jetstream::stream::Config::default()
            };
            jetstream::new(client.clone()).create_stream(stream).await?;
            let subscriber = NatsSubscriber::new(client.clone(), NatsConsumer::new(&topic, "keeper"));
            run(&pool, &topic, NatsPublisher::new(client), subscriber).await?;
        }
        _ => return Err("usage: event_bus [--kafka HOST:PORT | --nats HOST:PORT]".into()),
    }
    pool.close().await;
    Ok(())
}

/// Publishes some turns, and lets a relay and a consumer run until all of them are kept.
async fn run(pool: &SqlitePool, topic: &str, publisher: impl Publisher, mut subscriber: impl Subscriber) -> Done<()> {
    let handlers = Handlers::new().on_payload(TURN, 1, keep);
    let missing = handlers.missing(&event_type::ALL);
    assert!(missing.is_empty(), "nobody handles {missing:?}");

    for (chat, content) in [("c1", "hello"), ("c1", "who are you?"), ("c2", "good morning"), ("c1", "good bye")] {
        answer(pool, topic, chat, content, true).await?;
    }
    // The request fails after it was published: nothing of it is left, and nothing is sent.
    answer(pool, topic, "c2", "never mind", false).await?;

    let stop = tokio::sync::watch::channel(false);
    let stopped = || {
        let mut stop = stop.1.clone();
        async move { _ = stop.wait_for(|stop| *stop).await }
    };
    let relay = relay::Options::new("relay");
    let consumer = bus::Options::default();
    let relaying = agent_outbox_messages::relay(pool, &publisher, &relay, stopped());
    let consuming = agent_outbox_messages::consume_from(pool, &handlers, &mut subscriber, &consumer, stopped());
    let watching = async {
        // Half a minute is more than it takes.
        for _ in 0..3_000 {
            let kept: i64 = sqlx::query_scalar("SELECT SUM(message_count) FROM agent_chats").fetch_one(pool).await?;
            if kept == 4 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.0.send_replace(true);
        Ok::<(), sqlx::Error>(())
    };
    let (relayed, consumed, watched) = tokio::join!(relaying, consuming, watching);
    watched?;
    println!("{} published, {} handled", relayed.published, consumed.handled);

    let chats: Vec<(String, i64)> =
        sqlx::query_as("SELECT chat_id, message_count FROM agent_chats ORDER BY chat_id").fetch_all(pool).await?;
    for (chat, messages) in chats {
        let turns: Vec<String> = sqlx::query_scalar("SELECT content FROM chat_histories WHERE chat_id = ? ORDER BY id")
            .bind(&chat)
            .fetch_all(pool)
            .await?;
        println!("{chat} has {messages}: {}", turns.join(" / "));
    }
    Ok(())
}

/// A request: what it writes and what it publishes is one transaction, and no broker is waited for.
async fn answer(pool: &SqlitePool, topic: &str, chat: &str, content: &str, succeeds: bool) -> Done<()> {
    let mut transaction = pool.begin().await?;
    let turn = Turn { chat_id: chat.to_owned(), user_id: 7, role: "user".to_owned(), content: content.to_owned() };
    let event = Envelope::new(TURN, 1, chat, &turn)?;
    // Events of one chat have one key, and so they stay in their order.
    let route = Route { topic, message_key: chat, max_retry: None };
    _ = agent_outbox_messages::publish(&mut transaction, Mode::Broker, &event, &route).await?;
    match succeeds {
        true => transaction.commit().await?,
        false => transaction.rollback().await?,
    }
    Ok(())
}

/// The handler: what it writes and the mark that the event is consumed are one transaction.
fn keep<'a>(connection: &'a mut SqliteConnection, _: &'a Envelope, turn: Turn) -> Handling<'a> {
    Box::pin(async move {
        sqlx::query("INSERT INTO chat_histories (chat_id, user_id, role, content) VALUES (?, ?, ?, ?)")
            .bind(&turn.chat_id)
            .bind(turn.user_id)
            .bind(&turn.role)
            .bind(&turn.content)
            .execute(&mut *connection)
            .await?;
        let count = "UPDATE agent_chats SET message_count = message_count + 1, last_message_at = CURRENT_TIMESTAMP
            WHERE chat_id = ?";
        sqlx::query(count).bind(&turn.chat_id).execute(&mut *connection).await?;
        Ok(())
    })
}
