//! Messages of one key in the order of their rows, whatever fails and whoever publishes: `game_level_event_outbox`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use crate::rust::generated::broker::Message;
use crate::rust::generated::relay::{self, Options, Outbox, Report};
use crate::rust::generated::tables::game_level_event_outbox::{Key, Row, Scope};
use crate::servers::{Scratch, on_servers};

use super::publishers::{Does, Recorder};
use super::{Watcher, create, until, with_outbox};

const A: Scope<'static> = Scope { app_code: "a" };
const KEYS: usize = 5;

/// Adds events, whose ids say nothing of their order.
fn add(session: &mut Watcher, events: usize) {
    let row = |nth: usize| {
        let id = format!("e-{:04}", nth * 7_919 % 10_007);
        format!("('a', '{id}', 'GameLevelReached', {}, '{{\"nth\": {nth}}}', {1}, {1})", nth % KEYS, nth + 1)
    };
    let rows: Vec<String> = (0..events).map(row).collect();
    session.run(&format!(
        "INSERT INTO game_level_event_outbox (app_code, event_id, event_type, user_id, payload,
            created_at_ms, updated_at_ms) VALUES {}",
        rows.join(", ")
    ));
}

fn in_state(session: &mut Watcher, state: &str) -> usize {
    session.value(&format!("SELECT COUNT(*) FROM game_level_event_outbox WHERE status = '{state}'")).parse().unwrap()
}

fn options(worker: &'static str) -> Options<'static> {
    Options {
        batch: 8,
        poll: Duration::from_millis(5),
        poll_at_most: Duration::from_millis(20),
        budget: Duration::from_secs(1),
        wait_for_key: Duration::from_millis(20),
        open_after: 1_000,
        ..Options::new(worker)
    }
}

/// The numbers of the messages of each key, as the broker got them.
fn by_key(taken: &[Message]) -> BTreeMap<&str, Vec<u64>> {
    let mut by_key = BTreeMap::<&str, Vec<u64>>::new();
    for message in taken {
        let payload: serde_json::Value = serde_json::from_slice(&message.payload).unwrap();
        by_key.entry(message.key.as_deref().unwrap()).or_default().push(payload["nth"].as_u64().unwrap());
    }
    by_key
}

trait Levels: Outbox<Row = Row, Key = Key, Scope = Scope<'static>> {}

impl<O: Outbox<Row = Row, Key = Key, Scope = Scope<'static>>> Levels for O {}

/// Three relays until all events are delivered. Failed rows are due at once.
async fn relay_all(
    outbox: impl Levels + Copy + Send + 'static,
    session: &mut Watcher,
    publisher: &Arc<Recorder<impl Fn(&Message, usize) -> Does + Send + Sync + 'static>>,
    events: usize,
) -> Vec<Report> {
    let done = tokio::sync::watch::channel(false);
    // Tasks of their own: the session waits for locks that a relay may hold.
    let relays = ["r1", "r2", "r3"].map(|worker| {
        let (publisher, mut done) = (publisher.clone(), done.1.clone());
        tokio::spawn(async move {
            let options = options(worker);
            let stop = async move { _ = done.wait_for(|done| *done).await };
            relay::relay(&outbox, &[A], &publisher, &options, stop).await
        })
    });
    until("all rows", || {
        session.run("UPDATE game_level_event_outbox SET next_retry_at_ms = 0 WHERE status = 'retryable'");
        in_state(session, "done") == events
    })
    .await;
    done.0.send(true).unwrap();
    let mut reports = Vec::new();
    for relay in relays {
        reports.push(relay.await.unwrap());
    }
    reports
}

fn messages_of_one_key_stay_in_order(scratch: &mut Scratch) {
    const EVENTS: usize = 50;
    create(scratch);
    let mut session = Watcher(scratch.session());
    with_outbox!(scratch, game_level_event_outbox, |outbox| async {
        add(&mut session, EVENTS);
        let publisher = Arc::new(Recorder::new(|message: &Message, times| {
            let mut hasher = DefaultHasher::new();
            (&message.id, times).hash(&mut hasher);
            match hasher.finish() % 6 {
                0 if times < 4 => Does::Refuses,
                1 if times < 4 => Does::TakesAndFails,
                2 => Does::Thinks(3),
                _ => Does::Takes,
            }
        }));
        let reports = relay_all(outbox, &mut session, &publisher, EVENTS).await;
        let taken = publisher.taken.lock().unwrap();
        let by_key = by_key(&taken);
        assert_eq!(by_key.len(), KEYS);
        for (key, numbers) in &by_key {
            assert!(numbers.is_sorted(), "{key}: {numbers:?}");
            let mut once = numbers.clone();
            once.dedup();
            assert_eq!(once.len(), EVENTS / KEYS, "{key}: {numbers:?}");
        }
        let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>();
        assert_eq!((sum(|report| report.published), sum(|report| report.dead)), (EVENTS as u64, 0), "{reports:?}");
        assert!(sum(|report| report.retried) > 3 && sum(|report| report.postponed) > 3, "{reports:?}");
    });
}
on_servers!(messages_of_one_key_stay_in_order);

/// A row that waits for another one loses no attempt, and goes once the other is given up.
fn a_row_waits_for_an_earlier_one_of_its_key(scratch: &mut Scratch) {
    create(scratch);
    let mut session = Watcher(scratch.session());
    with_outbox!(scratch, game_level_event_outbox, |outbox| async {
        add(&mut session, 2 * KEYS);
        // Another worker has the first one.
        let first = "event_id = 'e-0000'";
        session.run(&format!(
            "UPDATE game_level_event_outbox SET status = 'running', worker_id = 'other', lock_until_ms = 9000000000000
             WHERE {first}"
        ));
        let publisher = Recorder::new(|_, _| Does::Takes);
        let options = options("relay");
        let stop = until("what may go", || in_state(&mut session, "done") == 2 * KEYS - 2);
        let report = relay::relay(&outbox, &[A], &publisher, &options, stop).await;
        assert!(report.postponed > 0, "{report:?}");
        assert_eq!((in_state(&mut session, "running"), in_state(&mut session, "retryable")), (1, 1));
        assert_eq!(session.value("SELECT retry_count FROM game_level_event_outbox WHERE status = 'retryable'"), "0");
        session.run(&format!("UPDATE game_level_event_outbox SET status = 'dead' WHERE {first}"));
        let stop = until("the other one", || in_state(&mut session, "done") == 2 * KEYS - 1);
        relay::relay(&outbox, &[A], &publisher, &options, stop).await;
        let taken = publisher.taken.lock().unwrap();
        assert_eq!(by_key(&taken)["0"], [KEYS as u64]);
    });
}
on_servers!(a_row_waits_for_an_earlier_one_of_its_key);
