//! What is left is worked off; then tables and reports must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::rust::generated::queue::{ClaimOptions, Clock};
use crate::servers::{Server, Session};

use super::crowd::Reports;
use super::engine::{MariaDb, MySql, Outbox, Postgres, Sqlite};
use super::worker::word;

/// Works off what is left, and checks that each committed event is finished by one claim.
pub fn check(session: &mut Session, url: &str, reports: &Reports) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let exhausted = runtime.block_on(async {
        match session.server {
            Server::MySql => drain::<MySql>(url).await,
            Server::MariaDb => drain::<MariaDb>(url).await,
            Server::Postgres => drain::<Postgres>(url).await,
            Server::Sqlite => drain::<Sqlite>(url).await,
        }
    });
    let faults = Verdict::new(session, reports, exhausted).faults();
    let first: Vec<&str> = faults.iter().take(50).map(String::as_str).collect();
    assert!(faults.is_empty(), "{}\n{} faults:\n{}", reports.summary(), faults.len(), first.join("\n"));
    let ends = [word::DONE, word::BARE, word::DEAD, word::EXHAUSTED];
    for word in [word::ENQUEUED, word::RETRIED, word::RELEASED, word::EXTENDED, word::LOST].into_iter().chain(ends) {
        assert!(reports.count(word) > 0, "no event was {word}: {}", reports.summary());
    }
}

/// Finishes all events, at a time at which no retry and no lease is still to come. The keys of those that are dead then.
async fn drain<O: Outbox>(url: &str) -> Vec<String> {
    let pool = O::open(url).await.unwrap();
    let later = SystemTime::now() + Duration::from_secs(3_600);
    let clock = Clock::At(later.duration_since(UNIX_EPOCH).unwrap().as_millis() as i64);
    let options = ClaimOptions { limit: 200, clock, ..ClaimOptions::new("drain") };
    let mut exhausted = Vec::new();
    for _ in 0..1_000 {
        let batch = O::claim(&pool, &options).await.unwrap();
        if batch.is_empty() {
            pool.close().await;
            return exhausted;
        }
        assert!(batch.stopped_by.is_none() && batch.undecodable.is_empty(), "{batch:?}");
        exhausted.extend(batch.exhausted.into_iter().map(|key| key.event_id));
        let accounts: Vec<String> = batch.ready.iter().map(super::engine::account).collect();
        let leases: Vec<_> = batch.ready.into_iter().map(|claimed| claimed.lease).collect();
        let answers = O::complete_together(&pool, &leases, &accounts).await.unwrap();
        assert!(answers.iter().all(Result::is_ok), "nobody else works: {answers:?}");
    }
    panic!("the queue does not become empty");
}

/// An event at the end.
struct Event {
    status: String,
    attempts: i64,
}

struct Verdict<'a> {
    reports: &'a Reports,
    events: BTreeMap<String, Event>,
    /// Events of committed bookings.
    booked: BTreeSet<String>,
    /// The attempts by which each event was handled.
    accounts: BTreeMap<String, Vec<i64>>,
    /// Found dead after the end.
    exhausted: Vec<String>,
}

impl Verdict<'_> {
    fn new<'a>(session: &mut Session, reports: &'a Reports, exhausted: Vec<String>) -> Verdict<'a> {
        let text = |value: &Option<String>| value.clone().unwrap();
        let number = |value: &Option<String>| value.as_ref().unwrap().parse().unwrap();
        // As text on every engine.
        let attempt = if session.server.is_mysql_like() { "CAST({} AS CHAR)" } else { "CAST({} AS TEXT)" };
        let attempt = |column| attempt.replace("{}", column);
        let events = session.rows(&format!("SELECT event_id, status, {} FROM wallet_outbox", attempt("retry_count")));
        let event =
            |row: &Vec<Option<String>>| (text(&row[0]), Event { status: text(&row[1]), attempts: number(&row[2]) });
        let events = events.iter().map(event).collect();
        let booked = session.rows("SELECT event_id FROM booking").iter().map(|row| text(&row[0])).collect();
        let mut accounts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for row in session.rows(&format!("SELECT event_id, {} FROM account", attempt("attempt"))) {
            accounts.entry(text(&row[0])).or_default().push(number(&row[1]));
        }
        Verdict { reports, events, booked, accounts, exhausted }
    }

    fn status(&self, id: &str) -> &str {
        self.events.get(id).map_or("lost", |event| &event.status)
    }

    fn faults(&self) -> Vec<String> {
        [self.lost(), self.unfinished(), self.twice(), self.unaccounted(), self.wrongly_dead()].concat()
    }

    /// Of a booking and its event there are both or none, and what a producer was told is true.
    fn lost(&self) -> Vec<String> {
        let ids: BTreeSet<&str> = self.events.keys().map(String::as_str).collect();
        let booked: BTreeSet<&str> = self.booked.iter().map(String::as_str).collect();
        let told: BTreeSet<&str> = self.reports.of(word::ENQUEUED).map(|(id, _)| id).collect();
        let apart =
            ids.symmetric_difference(&booked).map(|id| format!("{id}: a booking or an event without the other"));
        apart.chain(told.difference(&ids).map(|id| format!("{id} is lost, although it was committed"))).collect()
    }

    fn unfinished(&self) -> Vec<String> {
        let open = self.events.iter().filter(|(_, event)| !matches!(&*event.status, "delivered" | "dead"));
        open.map(|(id, event)| format!("{id} is {}", event.status)).collect()
    }

    /// An event is handled by one claim, namely that which has finished it, and told to be finished by one worker.
    fn twice(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (id, attempts) in &self.accounts {
            let finished = self.events.get(id).map(|event| event.attempts);
            if attempts.len() > 1 || finished != attempts.first().copied() {
                faults.push(format!("{id} was handled in the attempts {attempts:?}, and finished in {finished:?}"));
            }
        }
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        for word in [word::DONE, word::BARE, word::DEAD, word::EXHAUSTED] {
            self.reports.of(word).for_each(|(id, count)| *ends.entry(id).or_default() += count);
        }
        let twice = ends.into_iter().filter(|(_, count)| *count > 1);
        faults.extend(twice.map(|(id, count)| format!("{id} was finished {count} times")));
        faults
    }

    /// Who is handled is delivered; who is delivered is handled, or a worker has finished it without an account.
    fn unaccounted(&self) -> Vec<String> {
        let trying: BTreeSet<&str> = self.reports.of(word::TRYING).map(|(id, _)| id).collect();
        let mut faults = Vec::new();
        for id in self.events.keys().map(String::as_str) {
            let is_handled = self.accounts.contains_key(id);
            let is_right = match self.status(id) {
                "delivered" => is_handled || trying.contains(id),
                _ => !is_handled,
            };
            if !is_right {
                faults.push(format!("{id} is {}; handled: {is_handled}", self.status(id)));
            }
        }
        for (id, _) in self.reports.of(word::DONE).filter(|(id, _)| !self.accounts.contains_key(*id)) {
            faults.push(format!("{id} was said to be done and has no account"));
        }
        let bare = self.reports.of(word::BARE);
        let bare = bare.filter(|(id, _)| self.accounts.contains_key(*id) || self.status(id) != "delivered");
        faults.extend(bare.map(|(id, _)| format!("{id} was finished without an account and is {}", self.status(id))));
        faults
    }

    /// Who was told to be dead is dead.
    fn wrongly_dead(&self) -> Vec<String> {
        let told = [word::DEAD, word::EXHAUSTED].into_iter().flat_map(|word| self.reports.of(word)).map(|(id, _)| id);
        let told = told.chain(self.exhausted.iter().map(String::as_str));
        told.filter(|id| self.status(id) != "dead")
            .map(|id| format!("{id} was dead and is {}", self.status(id)))
            .collect()
    }
}

/// A run in which each event met another end, with one thing changed.
fn faults_of(change: impl FnOnce(&mut Verdict<'_>), reported: &str) -> String {
    let mut reports = Reports::default();
    reports.add("enqueued e1\ndone e1\nenqueued e2\ntrying e2\nbare e2\ndead e3\nexhausted e4\nlost e1\n");
    reports.add(reported);
    let event =
        |(id, status, attempts): (&str, &str, i64)| (id.to_owned(), Event { status: status.to_owned(), attempts });
    let events = [("e1", "delivered", 2), ("e2", "delivered", 1), ("e3", "dead", 1), ("e4", "dead", 20)].map(event);
    let booked = ["e1", "e2", "e3", "e4"].map(str::to_owned).into();
    let accounts = [("e1".to_owned(), vec![2])].into();
    let mut verdict = Verdict { reports: &reports, events: events.into(), booked, accounts, exhausted: Vec::new() };
    change(&mut verdict);
    verdict.faults().join("; ")
}

/// The verdict is worth something: it finds whatever a run may do wrong.
#[test]
fn each_fault_is_found() {
    assert_eq!(faults_of(|_| {}, "lost e2\nretried e3\nlost e"), "");
    let lost = faults_of(|verdict| drop(verdict.events.remove("e3")), "");
    assert_eq!(lost, "e3: a booking or an event without the other; e3 was dead and is lost");
    let told = faults_of(|_| {}, "enqueued e5\n");
    assert_eq!(told, "e5 is lost, although it was committed");
    let open = faults_of(|verdict| verdict.events.get_mut("e2").unwrap().status = "delivering".to_owned(), "");
    assert_eq!(open, "e2 is delivering; e2 was finished without an account and is delivering");
    let two_claims = faults_of(|verdict| verdict.accounts.get_mut("e1").unwrap().push(1), "");
    assert_eq!(two_claims, "e1 was handled in the attempts [2, 1], and finished in Some(2)");
    let other_claim = faults_of(|verdict| verdict.events.get_mut("e1").unwrap().attempts = 3, "");
    assert_eq!(other_claim, "e1 was handled in the attempts [2], and finished in Some(3)");
    assert_eq!(faults_of(|_| {}, "bare e2\n"), "e2 was finished 2 times");
    let rolled_back = faults_of(|verdict| drop(verdict.accounts.remove("e1")), "");
    assert_eq!(rolled_back, "e1 is delivered; handled: false; e1 was said to be done and has no account");
    let revived = faults_of(|verdict| verdict.exhausted.push("e2".to_owned()), "");
    assert_eq!(revived, "e2 was dead and is delivered");
}
