//! Two transactions add the same event at the same moment: one of them is told that it is a duplicate, and both commit.

use std::time::Duration;

use sqlx::{MySqlPool, PgPool};

use crate::rust::generated::queue::Enqueued;
use crate::rust::generated::tables::wallet_outbox::{NewEvent, Scope};
use crate::rust::generated::{mariadb, mysql, postgres};
use crate::servers::{Scratch, Server, on_servers};

use super::erased::wait;

const SCOPE: Scope<'static> = Scope { app_code: "chat" };

macro_rules! race {
    ($name:ident, $pool:ty, $dialect:ident) => {
        async fn $name(url: &str) {
            let pool = <$pool>::connect(url).await.unwrap();
            let payload = serde_json::json!({});
            let event = NewEvent {
                event_id: "e1",
                event_type: "WalletGiftDebited",
                user_id: 1,
                idempotency_key: "k1",
                payload: &payload,
            };
            let mut first = pool.begin().await.unwrap();
            let mut second = pool.begin().await.unwrap();
            let added = $dialect::wallet_outbox::enqueue(&mut first, SCOPE, &event).await.unwrap();
            assert_eq!(added, Enqueued::Inserted);
            let waiting = async {
                let again = $dialect::wallet_outbox::enqueue(&mut second, SCOPE, &event).await;
                assert_eq!(again.unwrap(), Enqueued::Duplicate);
                // The transaction of the business data is none the worse for it.
                let other = NewEvent { event_id: "e2", idempotency_key: "k2", ..event.clone() };
                let added = $dialect::wallet_outbox::enqueue(&mut second, SCOPE, &other).await.unwrap();
                assert_eq!(added, Enqueued::Inserted);
                second.commit().await.unwrap();
            };
            let ending = async {
                // Long enough for the second to wait for the first, in most cases; where it does not, nothing is wrong.
                tokio::time::sleep(Duration::from_millis(40)).await;
                first.commit().await.unwrap();
            };
            tokio::join!(waiting, ending);
            let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM wallet_outbox").fetch_one(&pool).await.unwrap();
            assert_eq!(rows, 2);
            pool.close().await;
        }
    };
}
race!(on_mysql, MySqlPool, mysql);
race!(on_mariadb, MySqlPool, mariadb);
race!(on_postgres, PgPool, postgres);

fn an_event_of_two_transactions_is_there_once(scratch: &mut Scratch) {
    let path = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), scratch.server.id());
    scratch.run(&std::fs::read_to_string(path).unwrap()).unwrap();
    let url = scratch.url();
    match scratch.server {
        Server::MySql => wait(on_mysql(&url)),
        Server::MariaDb => wait(on_mariadb(&url)),
        Server::Postgres => wait(on_postgres(&url)),
        Server::Sqlite => unreachable!("one transaction writes at a time"),
    }
}
on_servers!(an_event_of_two_transactions_is_there_once: mysql, mariadb, postgres);
