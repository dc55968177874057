//! Writes an event in the transaction of a customer, and reads both back, through code that `build.rs` had generated.

use sqlx::Connection;

use db::tables::customers::{self, Type};
use db::tables::order_outbox::{self, Status};
use db::types::{DateTime, EpochMs};

/// The tables.
mod db {
    include!(concat!(env!("OUT_DIR"), "/sqlite.rs"));
}

/// Creates what is missing.
const SCHEMA: &str = include_str!(concat!(env!("OUT_DIR"), "/sql/sqlite/schema.sql"));

/// The statements of the outbox.
const STATEMENTS: &str = include_str!(concat!(env!("OUT_DIR"), "/sql/sqlite/queries/order_outbox.sql"));

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut connection = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
    sqlx::raw_sql(SCHEMA).execute(&mut connection).await?;

    let (customer, event) = (customer()?, event());
    let mut transaction = connection.begin().await?;
    db::sqlite::customers::insert(&mut *transaction, &customer).await?;
    db::sqlite::order_outbox::insert(&mut *transaction, &event).await?;
    transaction.commit().await?;

    let customers: Vec<customers::Row> = sqlx::query_as("SELECT * FROM customers").fetch_all(&mut connection).await?;
    let events: Vec<order_outbox::Row> =
        sqlx::query_as("SELECT * FROM order_outbox").fetch_all(&mut connection).await?;
    assert_eq!((&customers[..], &events[..]), (&[customer][..], &[event][..]));
    assert!(STATEMENTS.contains("-- name: claim_pending\n"));
    println!("{} of {} is {}", events[0].event_type, customers[0].name, events[0].status);
    Ok(())
}

fn customer() -> Result<customers::Row, chrono::ParseError> {
    Ok(customers::Row {
        id: i64::MAX,
        name: "Grüße & Co".to_owned(),
        r#type: Type::Company,
        note: None,
        created_at: "2026-01-31T23:59:59.123Z".parse::<DateTime<3>>()?,
    })
}

fn event() -> order_outbox::Row {
    order_outbox::Row {
        app_code: "shop".to_owned(),
        event_id: "e1".to_owned(),
        event_type: "customer.created".to_owned(),
        payload: "{}".to_owned(),
        status: Status::Pending,
        retry_count: 0,
        next_retry_at_ms: EpochMs(0),
        last_error: None,
        worker_id: String::new(),
        lock_until_ms: EpochMs(0),
        created_at_ms: EpochMs(1),
        updated_at_ms: EpochMs(1),
    }
}
