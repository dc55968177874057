//! What the processes do with the event bus, once for each engine.

use std::time::Duration;

use sqlx::mysql::MySqlConnectOptions;
use sqlx::pool::PoolOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Pool, query_scalar};

use crate::relay::bus::{Runs, Turn};
use crate::rust::generated as db;

use db::broker::{Publisher, Subscriber};
use db::bus::{self, Consumed, EmitError, Envelope, Handle, HandleError, Handlers, Handling, Mode};
use db::relay::{self, Report};
use db::tables::agent_outbox_messages::{Route, event_type};

use super::TOPIC;

const TYPE: &str = event_type::CHAT_HISTORY_PERSIST_REQUESTED;

/// What producers write themselves: a request with its event, by a number that goes up with each of its chat.
pub const TABLES: &str = "CREATE TABLE turn_count (chat_id VARCHAR(36) PRIMARY KEY, turns INT NOT NULL);
    CREATE TABLE request (chat_id VARCHAR(36), turn INT, PRIMARY KEY (chat_id, turn))";

pub fn chat(nth: u64) -> String {
    format!("c{nth}")
}

/// The event of a request.
fn event(chat: &str, turn: i32) -> Envelope {
    let turn = Turn { chat_id: chat.to_owned(), user_id: 7, role: "user".to_owned(), content: turn.to_string() };
    Envelope::new(TYPE, 1, chat, &turn).unwrap()
}

/// Applies an event: the chat counts its turn, and the history has it.
pub struct Keep {
    /// Whether it shall fail this time, after it has written.
    pub fails: fn() -> bool,
}

impl<C: Runs> Handle<C> for Keep {
    fn handle<'a>(&'a self, connection: &'a mut C, envelope: &'a Envelope) -> Handling<'a> {
        Box::pin(async move {
            let Turn { chat_id, user_id, role, content } = envelope.payload()?;
            // First the chat: who has it holds it to the end, and so the numbers of the history are in the order of the
            // transactions.
            let count = format!(
                "UPDATE agent_chats SET message_count = message_count + 1, last_message_at = CURRENT_TIMESTAMP
                 WHERE chat_id = '{chat_id}'"
            );
            connection.run(count).await?;
            let columns = "chat_id, user_id, role, content, created_at";
            let values = format!("'{chat_id}', {user_id}, '{role}', '{content}', CURRENT_TIMESTAMP");
            connection.run(format!("INSERT INTO chat_histories ({columns}) VALUES ({values})")).await?;
            match (self.fails)() {
                true => Err(HandleError::Retryable("not today".into())),
                false => Ok(()),
            }
        })
    }
}

/// An engine and the code for it.
pub trait Engine {
    type Db: sqlx::Database;

    async fn open(url: &str) -> sqlx::Result<Pool<Self::Db>>;

    /// A request of a chat and its event in one transaction, which is kept or not: the request's number.
    async fn request(pool: &Pool<Self::Db>, chat: &str, keeps: bool) -> Result<i32, EmitError>;

    async fn relay(
        pool: &Pool<Self::Db>,
        publisher: &impl Publisher,
        options: &relay::Options<'_>,
        stop: impl Future<Output = ()> + Send,
    ) -> Report;

    /// Puts back what was published so long ago; how many rows.
    async fn sweep(pool: &Pool<Self::Db>, after: Duration) -> sqlx::Result<u64>;

    async fn consume(
        pool: &Pool<Self::Db>,
        keep: Keep,
        subscriber: &mut impl Subscriber,
        options: &bus::Options<'_>,
        stop: impl Future<Output = ()> + Send,
    ) -> Consumed;
}

pub struct MySql;
pub struct MariaDb;
pub struct Postgres;
pub struct Sqlite;

fn pool_options<Db: sqlx::Database>() -> PoolOptions<Db> {
    PoolOptions::new().max_connections(2).acquire_timeout(Duration::from_secs(10))
}

macro_rules! engine {
    ($engine:ident, $db:ident, $database:ty, $options:expr) => {
        impl Engine for $engine {
            type Db = $database;

            async fn open(url: &str) -> sqlx::Result<Pool<Self::Db>> {
                pool_options().connect_with($options(url.parse()?)).await
            }

            async fn request(pool: &Pool<Self::Db>, chat: &str, keeps: bool) -> Result<i32, EmitError> {
                let failed = |error: sqlx::Error| EmitError::Enqueue(error.into());
                let mut transaction = pool.begin().await.map_err(failed)?;
                // Whoever has the number has the chat until the end: its rows are in the order of their numbers.
                let next = format!("UPDATE turn_count SET turns = turns + 1 WHERE chat_id = '{chat}'");
                transaction.run(next).await.map_err(failed)?;
                let turn = format!("SELECT turns FROM turn_count WHERE chat_id = '{chat}'");
                let turn: i32 = query_scalar(AssertSqlSafe(turn)).fetch_one(&mut *transaction).await.map_err(failed)?;
                let request = format!("INSERT INTO request VALUES ('{chat}', {turn})");
                transaction.run(request).await.map_err(failed)?;
                let route = Route { topic: TOPIC, message_key: chat, max_retry: None };
                let event = event(chat, turn);
                _ = db::$db::agent_outbox_messages::publish(&mut transaction, Mode::Broker, &event, &route).await?;
                match keeps {
                    true => transaction.commit().await.map_err(failed)?,
                    false => transaction.rollback().await.map_err(failed)?,
                }
                Ok(turn)
            }

            async fn relay(
                pool: &Pool<Self::Db>,
                publisher: &impl Publisher,
                options: &relay::Options<'_>,
                stop: impl Future<Output = ()> + Send,
            ) -> Report {
                db::$db::agent_outbox_messages::relay(pool, publisher, options, stop).await
            }

            async fn sweep(pool: &Pool<Self::Db>, after: Duration) -> sqlx::Result<u64> {
                Ok(db::$db::agent_outbox_messages::sweep(pool, after, 1_000).await?.moved)
            }

            async fn consume(
                pool: &Pool<Self::Db>,
                keep: Keep,
                subscriber: &mut impl Subscriber,
                options: &bus::Options<'_>,
                stop: impl Future<Output = ()> + Send,
            ) -> Consumed {
                let handlers = Handlers::new().on(TYPE, 1, keep);
                db::$db::agent_outbox_messages::consume_from(pool, &handlers, subscriber, options, stop).await
            }
        }
    };
}

engine!(MySql, mysql, sqlx::MySql, |options: MySqlConnectOptions| options);
engine!(MariaDb, mariadb, sqlx::MySql, |options: MySqlConnectOptions| options);
engine!(Postgres, postgres, sqlx::Postgres, |options: PgConnectOptions| options);
engine!(Sqlite, sqlite, sqlx::Sqlite, |options: SqliteConnectOptions| {
    // Processes end here, but not the machine.
    options.synchronous(SqliteSynchronous::Normal).busy_timeout(Duration::from_secs(5))
});
