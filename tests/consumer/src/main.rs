//! Enqueues an event in the transaction of a customer, claims it, finishes it in the transaction of a further customer, and
//! reads all back, through code that `build.rs` had generated.

use sqlx::sqlite::{SqlitePool, SqlitePoolOptions};

use db::queue::{Branch, ClaimOptions, Enqueued, FinishError};
use db::sqlite as functions;
use db::tables::customers::{self, Type};
use db::tables::order_outbox::{self, NewEvent, Scope, Status};
use db::types::DateTime;

/// The tables.
mod db {
    include!(concat!(env!("OUT_DIR"), "/sqlite.rs"));
}

/// Creates what is missing.
const SCHEMA: &str = include_str!(concat!(env!("OUT_DIR"), "/sql/sqlite/schema.sql"));

/// The statements of the outbox.
const STATEMENTS: &str = include_str!(concat!(env!("OUT_DIR"), "/sql/sqlite/queries/order_outbox.sql"));

const SCOPE: Scope<'static> = Scope { app_code: "shop" };

type Done<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Done<()> {
    // The database is gone with its connection: there is one.
    let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    sqlx::raw_sql(SCHEMA).execute(&pool).await?;
    assert!(STATEMENTS.contains("-- name: claim_pending\n"));
    let created = [customer(1, "Grüße & Co")?, customer(i64::MAX, "copy")?];
    produce(&pool, &created[0]).await?;
    work(&pool, &created[1]).await?;

    let customers: Vec<customers::Row> = sqlx::query_as("SELECT * FROM customers ORDER BY id").fetch_all(&pool).await?;
    assert_eq!(customers, created);
    let events: Vec<order_outbox::Row> = sqlx::query_as("SELECT * FROM order_outbox").fetch_all(&pool).await?;
    assert_eq!((events.len(), events[0].status, events[0].retry_count), (1, Status::Delivered, 1));
    println!("{} of {} is {}", events[0].event_type, customers[0].name, events[0].status);
    Ok(())
}

/// The customer and the event of it.
async fn produce(pool: &SqlitePool, customer: &customers::Row) -> Done<()> {
    let mut transaction = pool.begin().await?;
    functions::customers::insert(&mut *transaction, customer).await?;
    let event = NewEvent { event_id: "e1", event_type: "customer.created", payload: "{}" };
    let enqueued = functions::order_outbox::enqueue(&mut *transaction, SCOPE, &event).await?;
    assert_eq!(enqueued, Enqueued::Inserted);
    transaction.commit().await?;
    Ok(())
}

/// Claims the event, and finishes it together with what it makes of it.
async fn work(pool: &SqlitePool, copy: &customers::Row) -> Done<()> {
    let batch = functions::order_outbox::claim(pool, SCOPE, &ClaimOptions::new("worker")).await?;
    assert_eq!((batch.ready.len(), batch.undecodable.len()), (1, 0));
    let claimed = &batch.ready[0];
    assert_eq!((claimed.attempt, claimed.from, claimed.row.status), (Some(1), Branch::Pending, Status::Delivering));
    let others = functions::order_outbox::claim(pool, SCOPE, &ClaimOptions::new("another worker")).await?;
    assert!(others.is_empty());

    let mut transaction = pool.begin().await?;
    functions::customers::insert(&mut *transaction, copy).await?;
    functions::order_outbox::complete(&mut *transaction, &claimed.lease).await?;
    transaction.commit().await?;
    let again = functions::order_outbox::complete(pool, &claimed.lease).await;
    assert!(matches!(again, Err(FinishError::Lost)), "{again:?}");
    Ok(())
}

fn customer(id: i64, name: &str) -> Result<customers::Row, chrono::ParseError> {
    Ok(customers::Row {
        id,
        name: name.to_owned(),
        r#type: Type::Company,
        note: None,
        created_at: "2026-01-31T23:59:59.123Z".parse::<DateTime<3>>()?,
    })
}
