//! What workers and producers do with the outbox, once for each engine: the generated functions, and the business data that
//! is written with them.

use std::time::Duration;

use sqlx::mysql::MySqlConnectOptions;
use sqlx::pool::PoolOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Pool, raw_sql};

use crate::rust::generated as db;

use db::queue::{ClaimOptions, EnqueueError, Enqueued, EnqueuedMany, FinishError, Lost, Retried};
use db::tables::wallet_outbox::{ClaimBatch, Claimed, Lease, NewEvent, Scope};

/// The tenant of all events.
pub const SCOPE: Scope<'static> = Scope { app_code: "chaos" };

/// What producers and workers write themselves: a booking with its event, and who has handled it, by which claim. That no
/// event is handled by two claims is for the fence to say, and not for a key of the account.
pub const TABLES: &str = "CREATE TABLE booking (event_id VARCHAR(64) PRIMARY KEY);
    CREATE TABLE account (event_id VARCHAR(64), fence VARCHAR(64), attempt INT NOT NULL, PRIMARY KEY (event_id, fence))";

type Answers = sqlx::Result<Vec<Result<(), Lost>>>;

/// An engine and the code for it.
pub trait Outbox {
    type Db: sqlx::Database;

    /// One connection at most, so that a function that needs a second one while it has the first is found out.
    async fn open(url: &str) -> sqlx::Result<Pool<Self::Db>>;

    /// A booking and its event, in one transaction; nothing of an event that is there already.
    async fn produce(pool: &Pool<Self::Db>, event: &NewEvent<'_>) -> Result<Enqueued, EnqueueError>;

    /// The same of several, which only this producer has.
    async fn produce_many(pool: &Pool<Self::Db>, events: &[NewEvent<'_>]) -> Result<EnqueuedMany, EnqueueError>;

    async fn claim(pool: &Pool<Self::Db>, options: &ClaimOptions<'_>) -> sqlx::Result<ClaimBatch>;

    /// Handles an event and finishes it in one transaction, in the midst of which the worker may be slow.
    async fn complete(pool: &Pool<Self::Db>, claimed: &Claimed, slow: Duration) -> Result<(), FinishError>;

    /// Finishes events, and then handles those of them that were not lost, all in one transaction.
    async fn complete_together(pool: &Pool<Self::Db>, leases: &[Lease], rows: &[String]) -> Answers;

    /// Finishes events without a transaction of the caller's.
    async fn complete_many(pool: &Pool<Self::Db>, leases: &[Lease]) -> Answers;

    async fn retry(pool: &Pool<Self::Db>, lease: &Lease) -> Result<Retried, FinishError>;
    async fn dead(pool: &Pool<Self::Db>, lease: &Lease) -> Result<(), FinishError>;
    async fn extend(pool: &Pool<Self::Db>, lease: &Lease, by: Duration) -> Result<(), FinishError>;
    async fn release(pool: &Pool<Self::Db>, lease: &Lease) -> Result<(), FinishError>;
    async fn reap(pool: &Pool<Self::Db>) -> sqlx::Result<u64>;
}

pub struct MySql;
pub struct MariaDb;
pub struct Postgres;
pub struct Sqlite;

/// A row of the account, as SQL.
pub fn account(claimed: &Claimed) -> String {
    let fence = claimed.row.worker_id.as_deref().unwrap();
    format!("('{}', '{fence}', {})", claimed.row.event_id, claimed.attempt.unwrap())
}

fn pool_options<Db: sqlx::Database>() -> PoolOptions<Db> {
    PoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(10))
}

macro_rules! outbox {
    ($engine:ident, $db:ident, $database:ty, $options:expr) => {
        impl Outbox for $engine {
            type Db = $database;

            async fn open(url: &str) -> sqlx::Result<Pool<Self::Db>> {
                pool_options().connect_with($options(url.parse()?)).await
            }

            async fn produce(pool: &Pool<Self::Db>, event: &NewEvent<'_>) -> Result<Enqueued, EnqueueError> {
                let mut transaction = pool.begin().await?;
                let enqueued = db::$db::wallet_outbox::enqueue(&mut *transaction, SCOPE, event).await?;
                if enqueued == Enqueued::Inserted {
                    let booking = format!("INSERT INTO booking VALUES ('{}')", event.event_id);
                    raw_sql(AssertSqlSafe(booking)).execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
                Ok(enqueued)
            }

            async fn produce_many(
                pool: &Pool<Self::Db>,
                events: &[NewEvent<'_>],
            ) -> Result<EnqueuedMany, EnqueueError> {
                let mut transaction = pool.begin().await?;
                let enqueued = db::$db::wallet_outbox::enqueue_many(&mut transaction, SCOPE, events).await?;
                if enqueued.inserted > 0 {
                    let bookings: Vec<String> = events.iter().map(|event| format!("('{}')", event.event_id)).collect();
                    let bookings = format!("INSERT INTO booking VALUES {}", bookings.join(", "));
                    raw_sql(AssertSqlSafe(bookings)).execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
                Ok(enqueued)
            }

            async fn claim(pool: &Pool<Self::Db>, options: &ClaimOptions<'_>) -> sqlx::Result<ClaimBatch> {
                db::$db::wallet_outbox::claim(pool, SCOPE, options).await
            }

            async fn complete(pool: &Pool<Self::Db>, claimed: &Claimed, slow: Duration) -> Result<(), FinishError> {
                let mut transaction = pool.begin().await?;
                let handled = format!("INSERT INTO account VALUES {}", account(claimed));
                raw_sql(AssertSqlSafe(handled)).execute(&mut *transaction).await?;
                tokio::time::sleep(slow).await;
                db::$db::wallet_outbox::complete(&mut *transaction, &claimed.lease).await?;
                transaction.commit().await?;
                Ok(())
            }

            async fn complete_together(pool: &Pool<Self::Db>, leases: &[Lease], rows: &[String]) -> Answers {
                let mut transaction = pool.begin().await?;
                let answers = db::$db::wallet_outbox::complete_many(&mut transaction, leases).await?;
                let handled = rows.iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
                let handled: Vec<&str> = handled.map(|(row, _)| row.as_str()).collect();
                if !handled.is_empty() {
                    let handled = format!("INSERT INTO account VALUES {}", handled.join(", "));
                    raw_sql(AssertSqlSafe(handled)).execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
                Ok(answers)
            }

            async fn complete_many(pool: &Pool<Self::Db>, leases: &[Lease]) -> Answers {
                let mut connection = pool.acquire().await?;
                db::$db::wallet_outbox::complete_many(&mut connection, leases).await
            }

            async fn retry(pool: &Pool<Self::Db>, lease: &Lease) -> Result<Retried, FinishError> {
                db::$db::wallet_outbox::retry(pool, lease, "it did not work").await
            }

            async fn dead(pool: &Pool<Self::Db>, lease: &Lease) -> Result<(), FinishError> {
                db::$db::wallet_outbox::dead(pool, lease, "it will never work").await
            }

            async fn extend(pool: &Pool<Self::Db>, lease: &Lease, by: Duration) -> Result<(), FinishError> {
                db::$db::wallet_outbox::extend(pool, lease, by).await
            }

            async fn release(pool: &Pool<Self::Db>, lease: &Lease) -> Result<(), FinishError> {
                db::$db::wallet_outbox::release(pool, lease).await
            }

            async fn reap(pool: &Pool<Self::Db>) -> sqlx::Result<u64> {
                Ok(db::$db::wallet_outbox::reap(pool, SCOPE, 5).await?.moved)
            }
        }
    };
}

outbox!(MySql, mysql, sqlx::MySql, |options: MySqlConnectOptions| options);
outbox!(MariaDb, mariadb, sqlx::MySql, |options: MySqlConnectOptions| options);
outbox!(Postgres, postgres, sqlx::Postgres, |options: PgConnectOptions| options);
outbox!(Sqlite, sqlite, sqlx::Sqlite, |options: SqliteConnectOptions| {
    // Processes end here, but not the machine.
    options.synchronous(SqliteSynchronous::Normal).busy_timeout(Duration::from_secs(5))
});
