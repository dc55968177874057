//! The event bus of `agent_outbox_messages`: chats are kept by the handler of its events.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::AssertSqlSafe;

use crate::rust::generated::backlog::Stored;
use crate::rust::generated::broker::{Memory, Message, PublishError, Publisher, Tags};
use crate::rust::generated::bus::{
    self, Bus, Consumed, EmitError, Emitted, Envelope, HandleError, Handlers, Handling, Mode,
};
use crate::rust::generated::queue::Enqueued;
use crate::rust::generated::relay::{self, Options, Outbox, Report};
use crate::rust::generated::tables::agent_outbox_messages::{Key, Route, Row, event_type};
use crate::servers::{Scratch, on_servers};

use super::publishers::{Does, Recorder};
use super::{Watcher, create, on_engine, until, with_outbox};

pub const TYPE: &str = event_type::CHAT_HISTORY_PERSIST_REQUESTED;

/// A connection that runs statements: the same on every engine.
pub trait Runs: Send {
    fn run(&mut self, sql: String) -> impl Future<Output = sqlx::Result<()>> + Send;
}

macro_rules! runs {
    ($($connection:ty)+) => {
        $(impl Runs for $connection {
            async fn run(&mut self, sql: String) -> sqlx::Result<()> {
                sqlx::raw_sql(AssertSqlSafe(sql)).execute(self).await.map(|_| ())
            }
        })+
    };
}

runs!(sqlx::MySqlConnection sqlx::PgConnection sqlx::SqliteConnection);

/// A turn of a chat: the payload of version 1.
#[derive(serde::Deserialize, serde::Serialize)]
pub struct Turn {
    pub chat_id: String,
    pub user_id: i64,
    pub role: String,
    pub content: String,
}

pub fn turn(nth: usize) -> Envelope {
    let turn = Turn { chat_id: "c1".to_owned(), user_id: 7, role: "user".to_owned(), content: format!("turn {nth}") };
    Envelope::new(TYPE, 1, "c1", &turn).unwrap()
}

const ROUTE: Route<'static> = Route { topic: "agent-events", message_key: "c1", max_retry: None };

/// The business example of the seed: the turn is kept, and the chat says so.
fn keep<'a, C: Runs>(connection: &'a mut C, _: &'a Envelope, turn: Turn) -> Handling<'a> {
    Box::pin(async move {
        let Turn { chat_id, user_id, role, content } = turn;
        let columns = "chat_id, user_id, role, content, created_at";
        let values = format!("'{chat_id}', {user_id}, '{role}', '{content}', CURRENT_TIMESTAMP");
        connection.run(format!("INSERT INTO chat_histories ({columns}) VALUES ({values})")).await?;
        let update = format!(
            "UPDATE agent_chats SET message_count = message_count + 1, last_message_at = CURRENT_TIMESTAMP
             WHERE chat_id = '{chat_id}'"
        );
        connection.run(update).await?;
        // A content that fails, after it was written: nothing of it may be kept.
        match content.as_str() {
            "turn 900" => Err(HandleError::Retryable("not today".into())),
            "turn 901" => Err(HandleError::Unrecoverable("not ever".into())),
            _ => Ok(()),
        }
    })
}

pub fn handlers<C: Runs + 'static>() -> Handlers<C> {
    Handlers::new().on_payload(TYPE, 1, keep::<C>)
}

pub(super) fn prepare(scratch: &mut Scratch) -> Watcher {
    create(scratch);
    scratch
        .run(
            "INSERT INTO agent_chats (chat_id, user_id, created_at, updated_at)
              VALUES ('c1', 7, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)",
        )
        .unwrap();
    Watcher(scratch.session())
}

pub(super) fn in_state(session: &mut Watcher, state: &str) -> usize {
    session.value(&format!("SELECT COUNT(*) FROM agent_outbox_messages WHERE status = '{state}'")).parse().unwrap()
}

/// So many turns are kept, each once, and the chat says the same.
fn kept(session: &mut Watcher, turns: usize) {
    assert_eq!(session.value("SELECT COUNT(*) FROM chat_histories"), turns.to_string());
    assert_eq!(session.value("SELECT COUNT(DISTINCT content) FROM chat_histories"), turns.to_string());
    assert_eq!(session.value("SELECT message_count FROM agent_chats"), turns.to_string());
    let dated = session.value("SELECT COUNT(*) FROM agent_chats WHERE last_message_at IS NOT NULL");
    assert_eq!(dated, usize::from(turns > 0).to_string());
}

/// Adds a row as a program does that has other ideas of the payload.
pub(super) fn add(session: &mut Watcher, event_type: &str, payload: &str, max_retry: u32) {
    session
        .run(&format!(
            "INSERT INTO agent_outbox_messages (biz_type, topic, message_key, payload, max_retry, created_at, updated_at)
             VALUES ('{event_type}', 'agent-events', 'c1', '{payload}', {max_retry}, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
        ));
}

fn options() -> Options<'static> {
    Options {
        poll: Duration::from_millis(5),
        poll_at_most: Duration::from_millis(20),
        budget: Duration::from_secs(1),
        ..Options::new("relay")
    }
}

/// An outbox that is a bus.
pub trait Agent:
    Outbox<Row = Row, Key = Key, Scope = ()> + Bus<Key = Key, Connection: Runs + 'static> + Stored + Copy
{
}

impl<O> Agent for O where
    O: Outbox<Row = Row, Key = Key, Scope = ()> + Bus<Key = Key, Connection: Runs + 'static> + Stored + Copy
{
}

/// Publishes each message twice, as a broker may deliver it.
struct Twice(Memory);

impl Publisher for Twice {
    async fn publish(&self, message: &Message) -> Result<(), PublishError> {
        self.0.publish(message).await?;
        self.0.publish(message).await
    }
}

/// Relays and consumes until it holds.
pub async fn run_until<O: Agent>(outbox: O, holds: impl FnMut() -> bool + Send) -> (Report, Consumed) {
    let broker = Memory::default();
    let mut subscriber = broker.subscribe("agent-events", "keeper", Tags::default());
    let handlers = handlers();
    let done = tokio::sync::watch::channel(false);
    let stop = || {
        let mut done = done.1.clone();
        async move { _ = done.wait_for(|done| *done).await }
    };
    let (options, consumer) = (options(), bus::Options::default());
    let publisher = Twice(broker);
    let relaying = relay::relay(&outbox, &[()], &publisher, &options, stop());
    let consuming = bus::consume(&outbox, &handlers, &mut subscriber, &consumer, stop());
    let watching = async {
        until("the bus's work", holds).await;
        done.0.send(true).unwrap();
    };
    let (report, consumed, ()) = tokio::join!(relaying, consuming, watching);
    (report, consumed)
}

fn events_reach_their_handler_once(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    macro_rules! publish {
        ($engine:ident, $pool:ty) => {
            super::bounded(async {
                use crate::rust::generated::$engine::agent_outbox_messages as table;
                let pool = <$pool>::connect(&scratch.url()).await.unwrap();
                for nth in 0..60 {
                    let mut transaction = pool.begin().await.unwrap();
                    let emitted = table::publish(&mut transaction, Mode::Broker, &turn(nth), &ROUTE).await.unwrap();
                    assert_eq!(emitted, Emitted::Waiting(Enqueued::Inserted));
                    // Every third request comes to nothing, and so does its event.
                    match nth % 3 {
                        0 => transaction.rollback().await.unwrap(),
                        _ => transaction.commit().await.unwrap(),
                    }
                }
                pool.close().await;
            })
        };
    }
    on_engine!(scratch, publish);
    assert_eq!(in_state(&mut session, "pending"), 40);
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        let (report, consumed) = run_until(outbox, || in_state(&mut session, "consumed") == 40).await;
        assert_eq!(report, Report { published: 40, ..Report::default() });
        assert_eq!(consumed.handled, 40);
        assert!(consumed.duplicates >= 39, "each came twice: {consumed:?}");
        assert_eq!(consumed, Consumed { handled: 40, duplicates: consumed.duplicates, ..Consumed::default() });
    });
    kept(&mut session, 40);
}
on_servers!(events_reach_their_handler_once);

fn what_cannot_be_handled_is_dead(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    let json = |envelope: &Envelope| serde_json::to_string(envelope).unwrap();
    let other_type = Envelope { event_type: "chat.title.requested".to_owned(), ..turn(1) };
    let other_version = Envelope { event_version: 2, ..turn(1) };
    let other_payload = Envelope { payload: serde_json::json!({ "chat": "c1" }), ..turn(1) };
    add(&mut session, TYPE, "{\"chat_id\": \"c1\"}", 20);
    add(&mut session, TYPE, &json(&turn(1)).replace("}}", "}, \"more\": 1}"), 20);
    for envelope in [&other_type, &other_version, &other_payload, &turn(901)] {
        add(&mut session, &envelope.event_type, &json(envelope), 20);
    }
    // In its last attempt.
    add(&mut session, TYPE, &json(&turn(900)), 1);
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        let (_, consumed) = run_until(outbox, || in_state(&mut session, "dead") == 7).await;
        assert_eq!((consumed.dead, consumed.handled), (7, 0), "{consumed:?}");
    });
    let errors = session.rows("SELECT last_error FROM agent_outbox_messages ORDER BY id");
    let expected = [
        "not an envelope: unknown field `chat_id`",
        "not an envelope: unknown field `more`",
        "nobody handles events of the type chat.title.requested",
        "nobody handles version 2 of chat.history.persist_requested",
        "not the payload of chat.history.persist_requested version 1: missing field",
        "not ever",
        "not today",
    ];
    for (row, expected) in errors.iter().zip(expected) {
        let error = row[0].as_deref().unwrap_or_default();
        assert!(error.contains(expected), "{error} is not {expected}");
    }
    kept(&mut session, 0);
}
on_servers!(what_cannot_be_handled_is_dead);

fn a_failed_handler_tries_again_later(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    let mut other = Watcher(scratch.session());
    add(&mut session, TYPE, &serde_json::to_string(&turn(900)).unwrap(), 20);
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        let failed = "SELECT COUNT(*) FROM agent_outbox_messages WHERE status = 'pending' AND last_error = 'not today'";
        let (_, consumed) = run_until(outbox, || session.value(failed) == "1").await;
        // Its second copy may come while the row waits, and the wait may be over.
        assert!(consumed.failed >= 1, "{consumed:?}");
        assert_eq!((consumed.dead, consumed.handled), (0, 0), "{consumed:?}");
        let payload = serde_json::to_string(&turn(1)).unwrap();
        other.run(&format!("UPDATE agent_outbox_messages SET payload = '{payload}'"));
        let (_, consumed) = run_until(outbox, || in_state(&mut session, "consumed") == 1).await;
        assert_eq!(consumed.handled, 1);
    });
    kept(&mut session, 1);
}
on_servers!(a_failed_handler_tries_again_later);

fn a_message_that_never_arrives_is_published_again(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, TYPE, &serde_json::to_string(&turn(1)).unwrap(), 20);
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        // A broker that has it, and loses it.
        let publisher = Recorder::new(|_, _| Does::Takes);
        let options = options();
        let stop = until("published", || in_state(&mut session, "published") == 1);
        relay::relay(&outbox, &[()], &publisher, &options, stop).await;
        // Nothing is swept before its time.
        let stop = tokio::time::sleep(Duration::from_millis(200));
        let often = Options { sweep_every: Duration::ZERO, ..options };
        assert_eq!(relay::relay(&outbox, &[()], &publisher, &often, stop).await, Report::default());
        session.run("UPDATE agent_outbox_messages SET published_at = '2026-01-02 03:04:05'");
        let (report, consumed) = run_until(outbox, || in_state(&mut session, "consumed") == 1).await;
        assert_eq!((report.swept, report.published, consumed.handled), (1, 1, 1));
    });
    kept(&mut session, 1);
}
on_servers!(a_message_that_never_arrives_is_published_again);

/// Its broker has lost the first one, and the second one comes: both are published again, long before the sweep.
fn an_event_waits_for_an_earlier_one_that_was_lost(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    for nth in 0..3 {
        add(&mut session, TYPE, &serde_json::to_string(&turn(nth)).unwrap(), 20);
    }
    let first = "(SELECT id FROM (SELECT MIN(id) AS id FROM agent_outbox_messages) AS first)";
    session.run(&format!(
        "UPDATE agent_outbox_messages SET status = 'published', published_at = created_at, max_retry = 1, retry_count = 1
         WHERE id = {first}"
    ));
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        let (report, consumed) = run_until(outbox, || in_state(&mut session, "consumed") == 3).await;
        assert_eq!(
            (report.swept, report.dead, consumed.handled),
            (0, 0, 3),
            "it was in its last attempt, and lost none"
        );
        assert!(consumed.early >= 2, "{consumed:?}");
    });
    kept(&mut session, 3);
    let order = session.rows("SELECT content FROM chat_histories ORDER BY id");
    assert_eq!(order, ["turn 0", "turn 1", "turn 2"].map(|content| [Some(content.to_owned())]));
}
on_servers!(an_event_waits_for_an_earlier_one_that_was_lost);

fn without_a_broker_events_are_handled_in_place(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    macro_rules! publish {
        ($engine:ident, $pool:ty) => {
            super::bounded(async {
                use crate::rust::generated::$engine::agent_outbox_messages as table;
                let pool = <$pool>::connect(&scratch.url()).await.unwrap();
                let handlers = handlers();
                let mode = Mode::Sync(&handlers);
                let mut transaction = pool.begin().await.unwrap();
                let emitted = table::publish(&mut transaction, mode, &turn(1), &ROUTE).await.unwrap();
                assert_eq!(emitted, Emitted::Handled);
                transaction.commit().await.unwrap();
                for nth in [900, 901] {
                    let mut transaction = pool.begin().await.unwrap();
                    let refused = table::publish(&mut transaction, mode, &turn(nth), &ROUTE).await;
                    assert!(matches!(refused, Err(EmitError::Handle(_))), "{refused:?}");
                    transaction.rollback().await.unwrap();
                }
                pool.close().await;
            })
        };
    }
    on_engine!(scratch, publish);
    assert_eq!(session.value("SELECT COUNT(*) FROM agent_outbox_messages"), "0");
    kept(&mut session, 1);
}
on_servers!(without_a_broker_events_are_handled_in_place);

fn a_table_can_be_drained_without_a_broker(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    for nth in 0..30 {
        add(&mut session, TYPE, &serde_json::to_string(&turn(nth)).unwrap(), 20);
    }
    for (nth, max_retry) in [(900, 1), (901, 20)] {
        add(&mut session, TYPE, &serde_json::to_string(&turn(nth)).unwrap(), max_retry);
    }
    // One was published, and the broker is no more.
    session.run(
        "UPDATE agent_outbox_messages SET status = 'published', published_at = '2026-01-02 03:04:05'
              WHERE id = (SELECT id FROM (SELECT MIN(id) AS id FROM agent_outbox_messages) AS first)",
    );
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        let handlers = handlers();
        let publisher = bus::InPlace { bus: outbox, handlers: &handlers };
        let options = options();
        let seen = AtomicUsize::new(0);
        let stop = until("drained", || {
            seen.fetch_add(1, Ordering::SeqCst);
            in_state(&mut session, "consumed") == 30 && in_state(&mut session, "dead") == 2
        });
        let report = relay::relay(&outbox, &[()], &publisher, &options, stop).await;
        // The one that was published is put back by the next one of its key, and no sweep is waited for.
        assert_eq!((report.published, report.dead, report.swept), (30, 2, 0), "{report:?}");
    });
    kept(&mut session, 30);
}
on_servers!(a_table_can_be_drained_without_a_broker);

#[test]
fn who_handles_what_is_known_at_the_start() {
    let handlers: Handlers<sqlx::SqliteConnection> = handlers();
    assert_eq!(handlers.missing(&event_type::ALL), Vec::<&str>::new());
    assert_eq!(handlers.missing(&[TYPE, "chat.title.requested"]), ["chat.title.requested"]);
    assert_eq!(format!("{handlers:?}"), "{\"chat.history.persist_requested\": [1]}");
}

/// Each is new, and nothing of it is missing when it is read again.
#[test]
fn envelopes_come_back_as_they_were() {
    let (one, other) = (turn(1), turn(1));
    assert_ne!(one.event_id, other.event_id);
    assert_eq!(one.event_id.len(), 22, "{}", one.event_id);
    let text = serde_json::to_vec(&one).unwrap();
    assert_eq!(Envelope::read(&text).unwrap(), one);
    for broken in ["", "{}", "[]", "null", "{\"event_id\": 1}", "\u{feff}{}"] {
        let error = Envelope::read(broken.as_bytes()).unwrap_err();
        assert!(matches!(error, HandleError::Unrecoverable(_)), "{broken}: {error}");
    }
}
