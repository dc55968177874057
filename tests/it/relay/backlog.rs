//! What waits in `agent_outbox_messages` is judged before a consumer handles it, and as the consumer then does.

use std::collections::BTreeMap;

use crate::rust::generated::backlog::{self, Backlog, Options};
use crate::rust::generated::bus::Envelope;
use crate::servers::{Scratch, on_servers};

use super::bus::{Agent, TYPE, add, handlers, in_state, prepare, run_until, turn};
use super::{Watcher, with_outbox};

/// Contents that the consumer refuses, each with its type and the reason.
fn refused() -> Vec<(String, String, &'static str)> {
    let json = |envelope: &Envelope| serde_json::to_string(envelope).unwrap();
    let without = |key: &str| {
        let mut value = serde_json::to_value(turn(1)).unwrap();
        value.as_object_mut().unwrap().remove(key);
        value.to_string()
    };
    let other_type = Envelope { event_type: "chat.title.requested".to_owned(), ..turn(1) };
    let old = |payload: serde_json::Value| Envelope { payload, ..turn(1) };
    let of = |content: String, reason| (TYPE.to_owned(), content, reason);
    vec![
        // The format of before the envelope.
        of(turn(1).payload.to_string(), "not an envelope: unknown field `chat_id`"),
        of(without("event_type"), "not an envelope: missing field `event_type`"),
        of(without("aggregate_id"), "not an envelope: missing field `aggregate_id`"),
        of(without("payload"), "not an envelope: missing field `payload`"),
        of(json(&turn(1)).replace("}}", "}, \"more\": 1}"), "not an envelope: unknown field `more`"),
        of("no JSON".to_owned(), "not an envelope: expected"),
        (other_type.event_type.clone(), json(&other_type), "nobody handles events of the type chat.title.requested"),
        of(
            json(&Envelope { event_version: 2, ..turn(1) }),
            "nobody handles version 2 of chat.history.persist_requested",
        ),
        of(json(&old(serde_json::json!({ "chat": "c1" }))), "version 1: missing field `chat_id`"),
        of(json(&old(serde_json::json!("c1"))), "version 1: invalid type: string"),
    ]
}

/// Good rows in both states, four of a second, with bad ones among them; by id why each bad one is refused.
fn fill(session: &mut Watcher) -> BTreeMap<String, (&'static str, &'static str)> {
    let mut expected = BTreeMap::new();
    let mut number = 0;
    for state in ["pending", "published"] {
        for (event_type, content, reason) in refused() {
            for nth in 0..2 {
                add(session, TYPE, &serde_json::to_string(&turn(number * 2 + nth)).unwrap(), 20);
            }
            add(session, &event_type, &content, 20);
            number += 1;
            let id = session.value("SELECT MAX(id) FROM agent_outbox_messages");
            expected.insert(id, (state, reason));
        }
        if state == "pending" {
            session.run("UPDATE agent_outbox_messages SET status = 'waiting'");
        } else {
            let at = "SET status = 'published', published_at = '2026-01-02 03:04:05'";
            session.run(&format!("UPDATE agent_outbox_messages {at} WHERE status = 'pending' AND id % 8 < 4"));
            let at = at.replace("04:05", "04:06");
            session.run(&format!("UPDATE agent_outbox_messages {at} WHERE status = 'pending'"));
            session.run("UPDATE agent_outbox_messages SET status = 'pending' WHERE status = 'waiting'");
        }
    }
    // Each row has a message key of its own: none waits for another.
    session.run("UPDATE agent_outbox_messages SET message_key = id");
    // What is finished is looked at by nobody, whatever it is.
    for state in ["consumed", "dead"] {
        add(session, TYPE, "finished", 20);
        session.run(&format!(
            "UPDATE agent_outbox_messages SET status = '{state}' WHERE payload = 'finished' AND status = 'pending'"
        ));
    }
    expected
}

async fn check<O: Agent>(outbox: O, options: &Options) -> Backlog {
    backlog::check(&outbox, &[()], &handlers(), options).await.unwrap()
}

const ALL: Options = Options { page: 3, most: 1_000_000, shown: 1_000 };

fn shown(backlog: &Backlog) -> BTreeMap<String, (&'static str, String)> {
    let row = |row: &backlog::Refused| (row.id.clone().unwrap(), (row.state, row.reason.clone()));
    backlog.first.iter().map(row).collect()
}

fn what_is_refused_is_what_goes_dead(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    let mut other = Watcher(scratch.session());
    let expected = fill(&mut session);
    let (good, bad) = (40, expected.len());
    let dump = "SELECT id, status, payload, retry_count, next_retry_at, last_error, updated_at FROM agent_outbox_messages ORDER BY id";
    let before = session.rows(dump);
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        // Whatever the pages are, and in which seconds.
        for page in [0, 1, 2, 3, 4, 5, 7, 29, 30, 31, 1_000] {
            let backlog = check(outbox, &Options { page, ..ALL }).await;
            assert_eq!((backlog.looked_at, backlog.refused), ((good + bad) as u64, bad as u64), "pages of {page}");
            let shown = shown(&backlog);
            assert_eq!(shown.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "pages of {page}");
            for ((id, found), (state, reason)) in shown.iter().zip(expected.values()) {
                assert_eq!(found.0, *state, "{id}");
                assert!(found.1.contains(reason), "{id}: {} is not {reason}", found.1);
            }
            assert!(!backlog.is_clean() && !backlog.is_cut && backlog.stranded == 0);
        }
        let some = check(outbox, &Options { shown: 2, ..ALL }).await;
        assert_eq!((some.refused, some.first.len()), (bad as u64, 2));
        let text = some.to_string();
        assert!(text.starts_with("20 of 60 open rows would be refused\n"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
        let cut = check(outbox, &Options { most: 7, ..ALL }).await;
        assert!(cut.is_cut && (7..10).contains(&cut.looked_at), "{cut:?}");
        assert_eq!(session.rows(dump), before, "it changes nothing");
        // The real consumer, with the same handlers: the relay publishes what is published again, since nobody consumed it.
        // On a slow machine a message may be refused so long before its row is marked as published that the row waits for the
        // sweep: then it is swept at once.
        let mut is_done =
            || in_state(&mut session, "consumed") == good + 1 && in_state(&mut session, "dead") == bad + 1;
        for _ in 0..8 {
            let mut polls = 0;
            let done_or_stuck = || {
                polls += 1;
                polls > 300 || is_done()
            };
            run_until(outbox, done_or_stuck).await;
            if is_done() {
                break;
            }
            other.run(
                "UPDATE agent_outbox_messages SET published_at = '2026-01-02 03:04:05' WHERE status = 'published'",
            );
        }
        let done = check(outbox, &ALL).await;
        assert_eq!(done, Backlog::default());
        assert!(done.is_clean());
    });
    let dead = session
        .rows("SELECT id, last_error FROM agent_outbox_messages WHERE status = 'dead' AND payload <> 'finished'");
    assert_eq!(dead.len(), bad);
    for row in dead {
        let (_, reason) = expected[row[0].as_ref().unwrap()];
        let error = row[1].as_deref().unwrap_or_default();
        assert!(error.contains(reason), "{error} is not {reason}");
    }
}
on_servers!(what_is_refused_is_what_goes_dead);

fn a_migrated_backlog_is_consumed_without_a_dead_row(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    let expected = fill(&mut session);
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        for (nth, id) in expected.keys().enumerate() {
            let payload = serde_json::to_string(&turn(1_000 + nth)).unwrap();
            session.run(&format!("UPDATE agent_outbox_messages SET payload = '{payload}' WHERE id = {id}"));
        }
        let backlog = check(outbox, &ALL).await;
        assert!(backlog.is_clean(), "{backlog}");
        assert_eq!(backlog.looked_at, 60);
        run_until(outbox, || in_state(&mut session, "consumed") == 61).await;
        assert_eq!(in_state(&mut session, "dead"), 1);
    });
}
on_servers!(a_migrated_backlog_is_consumed_without_a_dead_row);

fn rows_that_nobody_finds_are_not_passed_over(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, TYPE, &serde_json::to_string(&turn(1)).unwrap(), 20);
    session.run("UPDATE agent_outbox_messages SET status = 'published'");
    with_outbox!(scratch, agent_outbox_messages, |outbox| async {
        let backlog = check(outbox, &ALL).await;
        assert_eq!((backlog.looked_at, backlog.stranded), (0, 1));
        assert!(!backlog.is_clean());
        assert_eq!(backlog.to_string(), "0 of 0 open rows would be refused, 1 are found by nobody");
    });
}
on_servers!(rows_that_nobody_finds_are_not_passed_over);
