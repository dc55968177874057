//! Messages that come more than once, and are handled once.
//!
//! ```sh
//! cargo run --example inbox
//! ```
//!
//! The table and the function come from the definition of `inbox_messages` in `schemas/inbox.json`; in your own program they
//! come from yours.
#![allow(clippy::print_stdout)]

use std::error::Error;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use generated::queue::Consume;
use generated::sqlite::inbox_messages;
use generated::tables::inbox_messages::Message;

/// What `claimsmith generate` has written.
#[rustfmt::skip]
#[path = "../generated/rust/mod.rs"]
mod generated;

const SCHEMA: &str = include_str!("../generated/sql/sqlite/schema.sql");

/// The table that is this program's own.
const OWN: &str = "CREATE TABLE stock (item TEXT PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount >= 0));
    INSERT INTO stock VALUES ('tea', 10)";

type Done<T> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done<()> {
    let folder = tempfile::tempdir()?;
    let options = SqliteConnectOptions::new().filename(folder.path().join("stock.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await?;
    sqlx::raw_sql(SCHEMA).execute(&pool).await?;
    sqlx::raw_sql(OWN).execute(&pool).await?;

    // A broker delivers at least once: m1 comes twice, and m2 again after it failed.
    for (message, sold) in [("m1", 4), ("m1", 4), ("m2", 8)] {
        report(message, handle(&pool, message, sold).await);
    }
    sqlx::query("UPDATE stock SET amount = amount + 20").execute(&pool).await?;
    report("m2", handle(&pool, "m2", 8).await);

    let amount: i64 = sqlx::query_scalar("SELECT amount FROM stock").fetch_one(&pool).await?;
    println!("{amount} are left");
    pool.close().await;
    Ok(())
}

/// Handles a message, unless it was handled before. The message is written down in the transaction that handles it: what
/// fails half way leaves nothing, and the message is new when it comes again.
async fn handle(pool: &SqlitePool, message_id: &str, sold: i64) -> Done<Consume> {
    let mut transaction = pool.begin().await?;
    // Each consumer has its own: two programs may handle the same message.
    let message = Message { consumer: "stock", message_id };
    let consume = inbox_messages::begin_consume(&mut transaction, message).await?;
    if consume == Consume::Fresh {
        sqlx::query("UPDATE stock SET amount = amount - ?").bind(sold).execute(&mut *transaction).await?;
        transaction.commit().await?;
    }
    Ok(consume)
}

fn report(message: &str, handled: Done<Consume>) {
    match handled {
        Ok(Consume::Fresh) => println!("{message} is handled"),
        Ok(Consume::Duplicate) => println!("{message} was handled before"),
        Err(error) => println!("{message} failed: {error}"),
    }
}
