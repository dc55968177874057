//! The memory of idempotent consumers.

use crate::rust::generated as of;
use crate::servers::{Scratch, Server, on_servers};

use super::bench::{definition, now, pools};
use super::erased::*;

macro_rules! on {
    ($server:expr, $kind:ident($of:expr), $module:ident, $bound:ident => $body:expr) => {
        match ($server, $of) {
            (Server::MySql, $kind::MySql($bound)) => {
                use of::mysql::inbox_messages as $module;
                $body
            }
            (Server::MariaDb, $kind::MySql($bound)) => {
                use of::mariadb::inbox_messages as $module;
                $body
            }
            (_, $kind::Postgres($bound)) => {
                use of::postgres::inbox_messages as $module;
                $body
            }
            (_, $kind::Sqlite($bound)) => {
                use of::sqlite::inbox_messages as $module;
                $body
            }
            _ => unreachable!("another engine"),
        }
    };
}

fn begin(server: Server, link: &mut Link, consumer: &str, message_id: &str) -> sqlx::Result<Consume> {
    let message = of::tables::inbox_messages::Message { consumer, message_id };
    on!(server, Link(link), module, on => wait(module::begin_consume(on.connection(), message)))
}

/// A message is handled once by each consumer, and again where its handler was rolled back.
fn a_message_is_handled_once(scratch: &mut Scratch) {
    let server = scratch.server;
    scratch.run(&definition("inbox_messages", server).sql().remove(0)).unwrap();
    scratch.run("CREATE TABLE business (id INT PRIMARY KEY)").unwrap();
    let _in_runtime = runtime().enter();
    let pools = pools(server, &scratch.url(), 3);
    let handle = |consumer: &str, message: &str, business: u32, commit: bool| {
        let mut transaction = pools.begin();
        let consume = begin(server, &mut transaction, consumer, message).unwrap();
        if consume == Consume::Fresh {
            transaction.run(&format!("INSERT INTO business VALUES ({business})")).unwrap();
        } else {
            // The transaction of a message that was handled before lives on.
            transaction.run(&format!("DELETE FROM business WHERE id = {business} + 100")).unwrap();
        }
        if commit {
            transaction.commit()
        } else {
            transaction.rollback()
        }
        consume
    };
    assert_eq!(handle("mail", "m1", 1, false), Consume::Fresh);
    assert_eq!(handle("mail", "m1", 1, true), Consume::Fresh);
    assert_eq!(handle("mail", "m1", 2, true), Consume::Duplicate);
    assert_eq!(handle("push", "m1", 3, true), Consume::Fresh, "another consumer");
    assert_eq!(handle("mail", "M1", 4, true), Consume::Fresh, "another message");
    assert_eq!(scratch.rows("SELECT id FROM business").len(), 3);
    begin(server, &mut pools.link(), "mail", &"x".repeat(129)).unwrap_err();
    let until = |age: i64, limit| {
        let cutoff = of::tables::inbox_messages::Cutoff(Moment::at(now() - age));
        on!(server, Pools(&pools), module, pool => wait(module::cleanup(pool, cutoff, limit))).unwrap()
    };
    assert_eq!(until(60_000, 10).moved, 0);
    let batch = until(-60_000, 2);
    assert_eq!((batch.moved, batch.more), (2, true));
    let batch = until(-60_000, 2);
    assert_eq!((batch.moved, batch.more), (1, false));
    assert_eq!(handle("mail", "m1", 5, true), Consume::Fresh, "what is forgotten is new");
}
on_servers!(a_message_is_handled_once);
