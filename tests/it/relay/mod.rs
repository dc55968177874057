//! Relays, consumers and the event bus on every engine, with the broker inside the process and with publishers that
//! misbehave.

mod backlog;
pub mod bus;
mod order;
mod origin;
mod outbox;
mod publishers;
mod tags;

use std::future::Future;
use std::time::Duration;

use crate::repository::erased::wait;
use crate::servers::{Scratch, Session};

/// A session that may be used while a relay runs in the same thread: in threads of its own, since a runtime within a runtime
/// can take away what would wake the outer one.
struct Watcher(Session);

impl Watcher {
    fn apart<T: Send>(&mut self, does: impl FnOnce(&mut Session) -> T + Send) -> T {
        let session = &mut self.0;
        std::thread::scope(|scope| scope.spawn(|| does(session)).join().unwrap())
    }

    fn value(&mut self, sql: &str) -> String {
        self.apart(|session| session.value(sql))
    }

    fn rows(&mut self, sql: &str) -> Vec<Vec<Option<String>>> {
        self.apart(|session| session.rows(sql))
    }

    fn run(&mut self, sql: &str) {
        self.apart(|session| session.run(sql)).unwrap();
    }
}

/// All tables of the definitions.
fn create(scratch: &mut Scratch) {
    let path = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), scratch.server.id());
    scratch.run(&std::fs::read_to_string(path).unwrap()).unwrap();
}

/// Expands `$call!(engine, pool)` for the scratch database's engine.
macro_rules! on_engine {
    ($scratch:expr, $call:ident) => {
        match $scratch.server {
            crate::servers::Server::MySql => $call!(mysql, sqlx::MySqlPool),
            crate::servers::Server::MariaDb => $call!(mariadb, sqlx::MySqlPool),
            crate::servers::Server::Postgres => $call!(postgres, sqlx::PgPool),
            crate::servers::Server::Sqlite => $call!(sqlite, sqlx::SqlitePool),
        }
    };
}

/// Runs the body with the `Outbox` of a table on the scratch database's engine.
macro_rules! with_outbox {
    ($scratch:expr, $table:ident, |$outbox:ident| $body:expr) => {{
        use crate::rust::generated;
        let url = $scratch.url();
        macro_rules! on {
            ($engine:ident, $pool:ty) => {
                $crate::relay::bounded(async {
                    // The pool lives as long as the test program, as scopes do that are constants.
                    let pool: &'static $pool = Box::leak(Box::new(<$pool>::connect(&url).await.unwrap()));
                    let $outbox = generated::$engine::$table::Outbox { pool };
                    $body.await;
                    pool.close().await;
                })
            };
        }
        $crate::relay::on_engine!($scratch, on)
    }};
}
use {on_engine, with_outbox};

/// Runs a future to its end, which must come within a minute.
fn bounded<F: Future>(future: F) -> F::Output {
    wait(async { tokio::time::timeout(Duration::from_secs(60), future).await.expect("no end within a minute") })
}

/// Waits until it holds, at most half a minute.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited in vain for: {what}");
}
