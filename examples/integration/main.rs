//! A CRM that keeps its contacts the same as those of another platform: what the platform tells by its webhook is stored,
//! each event once, and becomes records; what users of the CRM change is stored with the record and sent in batches; and
//! nothing goes back to where it comes from.
//!
//! ```sh
//! cargo run --example integration
//! ```
//!
//! Tables and functions come from `schemas/integration.json`. `tests/it/integration` runs the same code on every engine, as
//! processes that are killed.
#![allow(clippy::print_stdout)]

mod crm;
mod hubspot;
mod workers;

use std::error::Error;
use std::sync::Mutex;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use generated::{queue, sqlite as db, tables};

use crm::{Contact, Context};
use hubspot::{Answer, Api, Change, Portal};

/// What `claimsmith generate` has written.
#[rustfmt::skip]
#[path = "../../generated/rust/mod.rs"]
mod generated;

const SCHEMA: &str = include_str!("../../generated/sql/sqlite/schema.sql");

type Done<T> = Result<T, Box<dyn Error>>;

/// The platform, within this process.
#[derive(Default)]
struct HubSpot {
    portal: Mutex<Portal>,
}

impl HubSpot {
    fn portal(&self) -> std::sync::MutexGuard<'_, Portal> {
        self.portal.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Api for HubSpot {
    async fn push(&self, changes: &[Change]) -> Result<Vec<Answer>, String> {
        Ok(self.portal().take(changes))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done<()> {
    let folder = tempfile::tempdir()?;
    let options = SqliteConnectOptions::new().filename(folder.path().join("crm.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await?;
    crm::create(&mut *pool.acquire().await?, SCHEMA).await?;
    let hubspot = HubSpot::default();

    // Each worker of a platform is the only one: what its predecessor left is its own.
    workers::recover_sync(&pool).await?;
    println!("somebody changes a contact over there");
    hubspot.portal().edit("1", "ada@example.com");
    deliver(&pool, &hubspot).await?;
    deliver(&pool, &hubspot).await?;
    hubspot.portal().arrived(&[1]);
    let round = workers::sync(&pool, "sync").await?;
    println!("sync: {} claimed, {} done, {} not sent back", round.claimed, round.done, round.skipped);
    let round = workers::push(&pool, "push", &hubspot).await?;
    println!("push: {} claimed", round.claimed);

    println!("users of the CRM change two contacts, one of them twice");
    edit(&pool, "1", "Ada").await?;
    edit(&pool, "2", "").await?;
    edit(&pool, "1", "Ada Lovelace").await?;
    let round = workers::push(&pool, "push", &hubspot).await?;
    println!("push: {} claimed, {} done, {} dead", round.claimed, round.done, round.dead);
    println!("over there: {:?}", hubspot.portal().contacts["1"].name);

    println!("the platform tells of what it was sent");
    deliver(&pool, &hubspot).await?;
    let round = workers::sync(&pool, "sync").await?;
    println!("sync: {} done, {} not sent back", round.done, round.skipped);

    println!("a worker is killed after its claim");
    edit(&pool, "1", "Ada King").await?;
    let scope = tables::system_integration_outbound::Scope { destination: crm::HUBSPOT };
    let options = queue::ClaimOptions::new("killed");
    let killed = db::system_integration_outbound::claim(&pool, scope, &options).await?;
    println!("its successor puts {} of {} back", workers::recover_push(&pool).await?, killed.held());
    let round = workers::push(&pool, "push", &hubspot).await?;
    println!("push: {} claimed, {} done", round.claimed, round.done);
    println!("over there: {:?}", hubspot.portal().contacts["1"].name);

    println!("the contact without a name gets one, and its dead letter a new life");
    edit(&pool, "2", "Charles").await?;
    println!("{} revived", workers::retry_dead_letters(&pool, crm::HUBSPOT).await?);
    let round = workers::push(&pool, "push", &hubspot).await?;
    println!("push: {} claimed, {} done", round.claimed, round.done);
    println!("over there: {:?}", hubspot.portal().contacts["2"].name);
    Ok(())
}

/// The platform tells what it has to tell.
async fn deliver(pool: &db::Pool, hubspot: &HubSpot) -> Done<()> {
    let events = hubspot.portal().events.clone();
    let stored = workers::webhook(pool, &events).await?;
    println!("webhook: {} stored, {} known", stored.inserted, stored.duplicates);
    Ok(())
}

/// A user of the CRM renames a contact, which may be new.
async fn edit(pool: &db::Pool, id: &str, name: &str) -> Done<()> {
    let mut transaction = pool.begin_with(db::BEGIN).await?;
    let old = crm::find(&mut transaction, id).await?;
    let known = old.clone().unwrap_or_default();
    let new = Contact { name: name.to_owned(), version: known.version + 1, ..known };
    let change = crm::save(&mut transaction, Context::default(), id, old.as_ref(), &new).await?;
    transaction.commit().await?;
    println!("{id} is {name:?}: {change:?}");
    Ok(())
}
