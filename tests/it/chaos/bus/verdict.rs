//! The account at the end: what was committed, what became of it, and in which order it was applied.

use std::collections::{BTreeMap, BTreeSet};

use crate::relay::bus::Turn;
use crate::rust::generated::bus::Envelope;
use crate::servers::Session;

use super::super::crowd::Reports;
use super::worker::word;

/// An event by its chat and its number there.
type Event = (String, u64);

#[derive(Default)]
pub struct Account {
    /// Requests that producers have committed, in their own table.
    requests: BTreeSet<Event>,
    /// Requests that producers were told to be committed.
    told: BTreeSet<Event>,
    /// All rows in their order, with the state of each.
    rows: Vec<(Event, String)>,
    /// What was applied, in this order.
    history: Vec<Event>,
    /// How many turns each chat has counted, and whether it knows of a last one.
    chats: BTreeMap<String, (u64, bool)>,
    duplicates: usize,
}

impl Account {
    pub fn new(session: &mut Session, reports: &Reports) -> Account {
        let text = |value: &Option<String>| value.clone().unwrap();
        let number = |value: &Option<String>| value.as_ref().unwrap().parse::<u64>().unwrap();
        // As text on every engine.
        let cast = |column: &str| match session.server.is_mysql_like() {
            true => format!("CAST({column} AS CHAR)"),
            false => format!("CAST({column} AS TEXT)"),
        };
        let (turn, count) = (cast("turn"), cast("message_count"));
        let requests = session.rows(&format!("SELECT chat_id, {turn} FROM request"));
        let rows = session.rows("SELECT payload, status FROM agent_outbox_messages ORDER BY id");
        let event = |payload: &str| {
            let turn: Turn = Envelope::read(payload.as_bytes()).unwrap().payload().unwrap();
            (turn.chat_id, turn.content.parse().unwrap())
        };
        let history = session.rows("SELECT chat_id, content FROM chat_histories ORDER BY id");
        let dated = "CASE WHEN last_message_at IS NULL THEN 'no' ELSE 'yes' END";
        let chats = session.rows(&format!("SELECT chat_id, {count}, {dated} FROM agent_chats"));
        let told = reports.of(word::COMMITTED).map(|(of, _)| {
            let (chat, turn) = of.split_once('/').unwrap();
            (chat.to_owned(), turn.parse().unwrap())
        });
        Account {
            requests: requests.iter().map(|row| (text(&row[0]), number(&row[1]))).collect(),
            told: told.collect(),
            rows: rows.iter().map(|row| (event(row[0].as_ref().unwrap()), text(&row[1]))).collect(),
            history: history.iter().map(|row| (text(&row[0]), number(&row[1]))).collect(),
            chats: chats.iter().map(|row| (text(&row[0]), (number(&row[1]), text(&row[2]) == "yes"))).collect(),
            duplicates: reports.count(word::DUPLICATE),
        }
    }

    pub fn figures(&self) -> String {
        format!(
            "{} events, {} applied, {} duplicates skipped, lost {}, applied twice {}, out of order {}",
            self.requests.len(),
            self.history.len(),
            self.duplicates,
            self.lost().len(),
            self.twice().len(),
            self.out_of_order().len(),
        )
    }

    pub fn check(&self, open: u64) {
        let faults = self.faults();
        let first: Vec<&str> = faults.iter().take(30).map(String::as_str).collect();
        assert!(faults.is_empty(), "{} faults, {open} rows left:\n{}", faults.len(), first.join("\n"));
        assert!(self.history.len() > 20, "nothing has happened: {}", self.figures());
    }

    fn faults(&self) -> Vec<String> {
        [self.apart(), self.lost(), self.twice(), self.miscounted(), self.misplaced(), self.out_of_order()].concat()
    }

    /// Of a request and its event there are both or none, and what a producer was told is true.
    fn apart(&self) -> Vec<String> {
        let rows: BTreeSet<Event> = self.rows.iter().map(|(event, _)| event.clone()).collect();
        let apart = rows.symmetric_difference(&self.requests);
        let apart = apart.map(|event| format!("{}: a request or an event without the other", name(event)));
        let untrue = self.told.difference(&self.requests).map(|event| format!("{} was not committed", name(event)));
        apart.chain(untrue).collect()
    }

    /// What was committed and is not applied, or not marked so.
    fn lost(&self) -> Vec<String> {
        let applied: BTreeSet<&Event> = self.history.iter().collect();
        let wrong = |(event, state): &&(Event, String)| state != "consumed" || !applied.contains(event);
        let wrong = self.rows.iter().filter(wrong);
        wrong
            .map(|(event, state)| format!("{} is {state}, applied: {}", name(event), applied.contains(event)))
            .collect()
    }

    /// What is in the history more than once, or of no committed event.
    fn twice(&self) -> Vec<String> {
        let mut rest: BTreeSet<&Event> = self.requests.iter().collect();
        let again = self.history.iter().filter(|event| !rest.remove(event));
        again.map(|event| format!("{} was applied once too often", name(event))).collect()
    }

    /// A chat's count is what its history has.
    fn miscounted(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (chat, (count, is_dated)) in &self.chats {
            let applied = self.history.iter().filter(|(of, _)| of == chat).count() as u64;
            if *count != applied || *is_dated != (applied > 0) {
                faults.push(format!("{chat} counts {count}, dated: {is_dated}; its history has {applied}"));
            }
        }
        faults
    }

    /// What the test takes for granted: rows of a chat are in the order of their numbers.
    fn misplaced(&self) -> Vec<String> {
        let rows: Vec<&Event> = self.rows.iter().map(|(event, _)| event).collect();
        behind(&rows).into_iter().map(|event| format!("{} is a row behind its turn", name(event))).collect()
    }

    fn out_of_order(&self) -> Vec<String> {
        let history: Vec<&Event> = self.history.iter().collect();
        behind(&history).into_iter().map(|event| format!("{} was applied after a later one", name(event))).collect()
    }
}

fn name((chat, turn): &Event) -> String {
    format!("{chat}/{turn}")
}

/// Those that stand behind a later one of their chat.
fn behind<'a>(events: &[&'a Event]) -> Vec<&'a Event> {
    let mut latest: BTreeMap<&str, u64> = BTreeMap::new();
    let mut behind = Vec::new();
    for event in events {
        let latest = latest.entry(&event.0).or_default();
        if event.1 < *latest {
            behind.push(*event);
        }
        *latest = event.1.max(*latest);
    }
    behind
}

/// A run in which all went well, with one thing changed.
fn faults_of(change: impl FnOnce(&mut Account)) -> String {
    let events = [("a", 1), ("b", 1), ("a", 2), ("a", 4)].map(|(chat, turn): (&str, u64)| (chat.to_owned(), turn));
    let mut account = Account {
        requests: events.clone().into(),
        told: events.clone().into(),
        rows: events.clone().map(|event| (event, "consumed".to_owned())).into(),
        history: events.into(),
        chats: [("a".to_owned(), (3, true)), ("b".to_owned(), (1, true)), ("c".to_owned(), (0, false))].into(),
        duplicates: 0,
    };
    change(&mut account);
    account.faults().join("; ")
}

/// The verdict is worth something: it finds whatever a run may do wrong.
#[test]
fn each_fault_is_found() {
    assert_eq!(faults_of(|_| {}), "");
    let of = |chat: &str, turn| (chat.to_owned(), turn);
    let rolled_back = faults_of(|account| _ = account.requests.remove(&of("b", 1)));
    assert_eq!(
        rolled_back,
        "b/1: a request or an event without the other; b/1 was not committed; b/1 was applied once too often"
    );
    let no_event = faults_of(|account| drop(account.rows.pop()));
    assert_eq!(no_event, "a/4: a request or an event without the other");
    let told = faults_of(|account| _ = account.told.insert(of("b", 2)));
    assert_eq!(told, "b/2 was not committed");
    let open = faults_of(|account| account.rows[1].1 = "published".to_owned());
    assert_eq!(open, "b/1 is published, applied: true");
    let never_applied = faults_of(|account| drop(account.history.pop()));
    assert_eq!(never_applied, "a/4 is consumed, applied: false; a counts 3, dated: true; its history has 2");
    let twice = faults_of(|account| account.history.push(of("a", 4)));
    assert_eq!(twice, "a/4 was applied once too often; a counts 3, dated: true; its history has 4");
    let miscounted = faults_of(|account| _ = account.chats.insert("a".to_owned(), (4, true)));
    assert_eq!(miscounted, "a counts 4, dated: true; its history has 3");
    let undated = faults_of(|account| _ = account.chats.insert("b".to_owned(), (1, false)));
    assert_eq!(undated, "b counts 1, dated: false; its history has 1");
    let misplaced = faults_of(|account| account.rows.swap(0, 2));
    assert_eq!(misplaced, "a/1 is a row behind its turn");
    let out_of_order = faults_of(|account| account.history.swap(2, 3));
    assert_eq!(out_of_order, "a/2 was applied after a later one");
}
