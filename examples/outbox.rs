//! Bookings and their events, each pair in one transaction, and workers that deliver the events.
//!
//! ```sh
//! cargo run --example outbox
//! ```
//!
//! Tables and functions come from the definition of `wallet_outbox` in `schemas/governed_outboxes.json`; in your own program
//! they come from yours. On MySQL, MariaDB and PostgreSQL it is the same but for the names of two modules and the pool.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use generated::queue::{ClaimOptions, Enqueued, FinishError, Retried};
use generated::sqlite::wallet_outbox;
use generated::tables::wallet_outbox::{Claimed, NewEvent, Scope, event_type};

/// What `claimsmith generate` has written.
#[rustfmt::skip]
#[path = "../generated/rust/mod.rs"]
mod generated;

const SCHEMA: &str = include_str!("../generated/sql/sqlite/schema.sql");

/// The tables that are this program's own.
const OWN: &str = "CREATE TABLE balances (user_id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
    CREATE TABLE statements (booking TEXT PRIMARY KEY, line TEXT NOT NULL)";

/// Every function asks for the tenant: no query can forget it.
const SCOPE: Scope<'static> = Scope { app_code: "shop" };

type Done<T> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done<()> {
    let folder = tempfile::tempdir()?;
    let options = SqliteConnectOptions::new().filename(folder.path().join("shop.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await?;
    sqlx::raw_sql(SCHEMA).execute(&pool).await?;
    sqlx::raw_sql(OWN).execute(&pool).await?;

    for (booking, user, amount) in [("b1", 7, 100), ("b2", 8, 250), ("b3", 7, -30), ("b4", 9, 5)] {
        book(&pool, booking, user, amount).await?;
    }
    // Someone has not seen the answer and tries again.
    book(&pool, "b1", 7, 100).await?;

    // The first worker is stopped after two events, as a new version of a program stops the old one.
    work(&pool, "first", 2).await?;
    work(&pool, "second", 2).await?;

    let balance: i64 = sqlx::query_scalar("SELECT amount FROM balances WHERE user_id = 7").fetch_one(&pool).await?;
    let metrics = wallet_outbox::metrics(&pool, SCOPE, 1_000).await?;
    println!("user 7 has {balance}; {} events are pending, {} are dead", metrics.pending, metrics.dead);
    pool.close().await;
    Ok(())
}

/// Books, and writes the event of it: both or none.
async fn book(pool: &SqlitePool, booking: &str, user: i64, amount: i64) -> Done<()> {
    let mut transaction = pool.begin().await?;
    let event = NewEvent {
        event_id: booking,
        event_type: event_type::WALLET_BALANCE_CHANGED,
        user_id: user,
        idempotency_key: booking,
        payload: &serde_json::json!({ "amount": amount }),
    };
    // The idempotency key tells the same booking from a new one. Who drops a transaction rolls it back.
    if wallet_outbox::enqueue(&mut *transaction, SCOPE, &event).await? == Enqueued::Duplicate {
        println!("{booking} was booked before");
        return Ok(());
    }
    sqlx::query("INSERT INTO balances VALUES (?, ?) ON CONFLICT DO UPDATE SET amount = amount + excluded.amount")
        .bind(user)
        .bind(amount)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    println!("{booking} is booked");
    Ok(())
}

/// Delivers events until so many are delivered; a real worker runs until it is stopped.
async fn work(pool: &SqlitePool, worker: &str, most: usize) -> Done<()> {
    let mut options = ClaimOptions { limit: 10, ..ClaimOptions::new(worker) };
    let mut left = most;
    while left > 0 {
        let batch = wallet_outbox::claim(pool, SCOPE, &options).await?;
        // New events, failed ones and what silent workers left: each kind comes first in turn.
        options.start = options.start.next();
        if batch.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for claimed in &batch.ready {
            let id = &claimed.row.event_id;
            if left == 0 {
                // Others can have it at once, and the attempt does not count.
                wallet_outbox::release(pool, &claimed.lease).await?;
                println!("{worker}: {id} is released");
                continue;
            }
            match deliver(pool, claimed).await {
                Ok(()) => {
                    left -= 1;
                    println!("{worker}: {id} is delivered");
                }
                Err(error) => println!("{worker}: {id} {}", put_back(pool, claimed, &*error).await?),
            }
        }
        // A row that is not what the definition says would come back for ever.
        for broken in &batch.undecodable {
            if let Some(lease) = &broken.of {
                wallet_outbox::dead(pool, lease, &broken.error.to_string()).await?;
            }
        }
    }
    Ok(())
}

/// Writes what this worker is for, and finishes the event: both or none.
async fn deliver(pool: &SqlitePool, claimed: &Claimed) -> Done<()> {
    if claimed.row.user_id == 8 && claimed.attempt == Some(1) {
        return Err("the printer is out of paper".into());
    }
    let mut transaction = pool.begin().await?;
    sqlx::query("INSERT INTO statements VALUES (?, ?)")
        .bind(&claimed.row.event_id)
        .bind(claimed.row.payload.to_string())
        .execute(&mut *transaction)
        .await?;
    // An error if the lease ran out and another worker has the event: `?` rolls back what is written above.
    wallet_outbox::complete(&mut *transaction, &claimed.lease).await?;
    transaction.commit().await?;
    Ok(())
}

/// Puts an event back after a failure, to be tried again later, and later with each attempt.
async fn put_back(pool: &SqlitePool, claimed: &Claimed, error: &dyn Error) -> Done<String> {
    match wallet_outbox::retry(pool, &claimed.lease, &error.to_string()).await {
        Ok(Retried::Later { .. }) => Ok(format!("is put back: {error}")),
        Ok(Retried::Dead) => Ok(format!("is dead: {error}")),
        Err(FinishError::Lost) => Ok("is another worker's by now".to_owned()),
        Err(error) => Err(error.into()),
    }
}
