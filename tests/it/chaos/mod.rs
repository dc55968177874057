//! Workers and producers as processes of their own, which are killed at any moment, on servers which are killed, too: no
//! committed event is lost, and none is finished by two claims.
//!
//! Each process is this test program once more ([`worker`]). It says what became of each event in a file; events, bookings
//! and accounts are in the database. When the time is up, the processes are stopped, what is left is worked off, and then
//! all of that must agree ([`verdict`]).
//!
//! `CLAIMSMITH_CHAOS_SECONDS` says how long each run takes; `CLAIMSMITH_CHAOS_SEED` takes the kills of a run that failed,
//! which has printed its seed.
#![allow(clippy::print_stdout)] // the harness shows what a test has printed that fails

mod bus;
pub mod crowd;
mod engine;
pub mod random;
mod server;
mod verdict;
mod worker;

use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::servers::{Scratch, Server, Session, on_servers};

use crowd::Crowd;
use random::Random;
use server::Private;

/// The value of an environment variable.
fn setting<T: FromStr>(variable: &str) -> Option<T> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: {text}")))
}

/// How long each run takes.
pub fn seconds() -> Duration {
    Duration::from_secs(setting("CLAIMSMITH_CHAOS_SECONDS").unwrap_or(6))
}

/// What the moments of the kills come from.
pub fn seed() -> Random {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = setting("CLAIMSMITH_CHAOS_SEED").unwrap_or_else(now);
    println!("CLAIMSMITH_CHAOS_SEED={seed}");
    Random(seed)
}

/// The tables of all definitions, those that processes write themselves, and events that are in their last attempts.
fn create(session: &mut Session) {
    let path = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), session.server.id());
    session.run(&std::fs::read_to_string(path).unwrap()).unwrap();
    session.run(engine::TABLES).unwrap();
    let rows = |row: fn(usize) -> String| (0..400).map(row).collect::<Vec<_>>().join(", ");
    session.run(&format!("INSERT INTO booking VALUES {}", rows(|nth| format!("('tired-{nth}')")))).unwrap();
    let events = rows(|nth| {
        let (id, attempts) = (format!("tired-{nth}"), 18 + nth % 2);
        format!("('chaos', '{id}', 'WalletBalanceChanged', 7, '{id}', '{{}}', 'pending', 0, {attempts}, 0, 1, 1)")
    });
    let columns =
        "app_code, event_id, event_type, user_id, idempotency_key, payload, status, lock_until_ms, retry_count,
        next_retry_at_ms, created_at_ms, updated_at_ms";
    session.run(&format!("INSERT INTO wallet_outbox ({columns}) VALUES {events}")).unwrap();
}

/// Kills a process every now and then.
fn kill_for(time: Duration, crowd: &mut Crowd, random: &mut Random) {
    let until = Instant::now() + time;
    while Instant::now() < until && crowd.is_well() {
        std::thread::sleep(random.millis(40, 160));
        crowd.kill_one();
    }
}

fn processes_that_are_killed_lose_nothing(scratch: &mut Scratch) {
    create(scratch);
    if scratch.server == Server::Sqlite {
        scratch.run("PRAGMA journal_mode = WAL").unwrap();
    }
    let mut random = seed();
    let mut crowd = Crowd::start(scratch.server.id(), &scratch.url(), false, random.clone());
    kill_for(seconds(), &mut crowd, &mut random);
    let killed = crowd.killed;
    let reports = crowd.stop();
    let url = scratch.url();
    verdict::check(scratch, &url, &reports);
    println!("{killed} killed; {}", reports.summary());
}
on_servers!(processes_that_are_killed_lose_nothing);

fn a_server_that_is_killed_loses_nothing(server: Server, test: &str) {
    let mut random = seed();
    let Some(mut private) = Private::start(server, &mut random, test) else { return };
    let mut session = private.session();
    create(&mut session);
    session.close();
    let mut crowd = Crowd::start(server.id(), &private.url(), true, random.clone());
    for _ in 0..2 {
        kill_for(seconds() / 3, &mut crowd, &mut random);
        private.kill_and_restart();
    }
    kill_for(seconds() / 3, &mut crowd, &mut random);
    let killed = crowd.killed;
    let reports = crowd.stop();
    verdict::check(&mut private.session(), &private.url(), &reports);
    println!("{killed} killed; {}", reports.summary());
}

#[test]
fn a_mysql_that_is_killed_loses_nothing() {
    a_server_that_is_killed_loses_nothing(Server::MySql, "chaos::a_mysql_that_is_killed_loses_nothing");
}

#[test]
fn a_mariadb_that_is_killed_loses_nothing() {
    a_server_that_is_killed_loses_nothing(Server::MariaDb, "chaos::a_mariadb_that_is_killed_loses_nothing");
}

#[test]
fn a_postgres_that_is_killed_loses_nothing() {
    a_server_that_is_killed_loses_nothing(Server::Postgres, "chaos::a_postgres_that_is_killed_loses_nothing");
}
