//! Messages that would go to where their events come from.

use std::time::Duration;

use crate::loaded::{load, repository};
use crate::rust::generated::broker::{Memory, Subscriber, Tags};
use crate::rust::generated::relay::{self, Options, Outbox, Report};
use crate::rust::generated::seq;
use crate::servers::{Scratch, on_servers};

use super::{Watcher, bounded, on_engine, until};

use seq::tables::seq_outbox::Scope;

const HUBSPOT: Scope<'static> = Scope { app_code: "hubspot" };

/// What another program has written: `enqueue` would have skipped the first one.
const ROWS: [(&str, &str); 4] = [
    ("e1", r#"{"metadata": {"sync_source": "hubspot"}}"#),
    ("e2", r#"{"metadata": {"sync_source": "salesforce"}}"#),
    ("e3", r#"{"metadata": {}}"#),
    ("e4", r#"{"metadata": {"sync_source": 7}}"#),
];

fn what_would_come_back_is_finished_and_not_published(scratch: &mut Scratch) {
    let text = std::fs::read_to_string(repository("tests/cases/rust/claim_seq.json")).unwrap();
    let schema = load(&[("claim_seq.json", &text)], &[scratch.server.id()]).sql().remove(0);
    scratch.run(&schema).unwrap();
    let mut session = Watcher(scratch.session());
    for (id, payload) in ROWS {
        session.run(&format!(
            "INSERT INTO seq_outbox (app_code, event_id, event_type, user_id, payload, created_at_ms, updated_at_ms)
            VALUES ('hubspot', '{id}', 'ContactChanged', 7, '{payload}', 1, 1)"
        ));
    }
    let url = scratch.url();
    macro_rules! on {
        ($engine:ident, $pool:ty) => {
            bounded(async {
                let pool: &'static $pool = Box::leak(Box::new(<$pool>::connect(&url).await.unwrap()));
                check(&seq::$engine::seq_outbox::Outbox { pool }, &mut session).await;
                pool.close().await;
            })
        };
    }
    on_engine!(scratch, on);
}
on_servers!(what_would_come_back_is_finished_and_not_published);

async fn check(outbox: &impl Outbox<Scope = Scope<'static>>, session: &mut Watcher) {
    let broker = Memory::default();
    let mut subscriber = broker.subscribe("seq_events", "test", Tags::default());
    let options = Options { poll: Duration::from_millis(5), ..Options::new("relay") };
    let open = "SELECT COUNT(*) FROM seq_outbox WHERE status <> 'delivered'";
    let stop = until("all rows are done with", || session.value(open) == "0");
    let report = relay::relay(outbox, &[HUBSPOT], &broker, &options, stop).await;
    assert_eq!(report, Report { published: 3, skipped: 1, ..Report::default() });
    let mut received = Vec::new();
    for _ in 0..3 {
        let delivery = subscriber.receive().await.unwrap().unwrap();
        received.push(delivery.message.id);
        subscriber.ack(delivery.receipt).await.unwrap();
    }
    received.sort();
    assert_eq!(received, ["e2", "e3", "e4"].map(|id| format!("[\"hubspot\",\"{id}\"]")));
}
