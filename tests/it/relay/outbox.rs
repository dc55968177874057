//! Relays of `wallet_outbox`.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::rust::generated::broker::{Memory, Message, Publisher, Subscriber, Tags};
use crate::rust::generated::queue::ClaimOptions;
use crate::rust::generated::relay::{self, Notice, Options, Outbox, Report, TagMode};
use crate::rust::generated::tables::wallet_outbox::{Key, Row, Scope};
use crate::servers::{Scratch, on_servers};

use super::publishers::{Does, Recorder};
use super::{Watcher, create, until, with_outbox};

const A: Scope<'static> = Scope { app_code: "a" };

/// The outbox of any engine.
trait Wallet: Outbox<Row = Row, Key = Key, Scope = Scope<'static>> {}

impl<O: Outbox<Row = Row, Key = Key, Scope = Scope<'static>>> Wallet for O {}

/// Adds events whose ids begin with the name of their app.
fn add(session: &mut Watcher, app: &str, events: usize) {
    let row = |nth: usize| {
        let id = format!("{app}-{nth:04}");
        let user = nth % 7;
        format!("('{app}', '{id}', 'WalletBalanceChanged', {user}, '{id}', '{{\"nth\": {nth}}}', {0}, {0})", nth + 1)
    };
    let rows: Vec<String> = (0..events).map(row).collect();
    for rows in rows.chunks(200) {
        session.run(&format!(
            "INSERT INTO wallet_outbox (app_code, event_id, event_type, user_id, idempotency_key, payload,
                    created_at_ms, updated_at_ms) VALUES {}",
            rows.join(", ")
        ));
    }
}

fn prepare(scratch: &mut Scratch) -> Watcher {
    create(scratch);
    Watcher(scratch.session())
}

fn in_state(session: &mut Watcher, state: &str) -> usize {
    session.value(&format!("SELECT COUNT(*) FROM wallet_outbox WHERE status = '{state}'")).parse().unwrap()
}

fn options() -> Options<'static> {
    Options {
        poll: Duration::from_millis(5),
        poll_at_most: Duration::from_millis(20),
        budget: Duration::from_secs(1),
        ..Options::new("relay")
    }
}

/// Relays until it holds.
async fn relay_until(
    outbox: &impl Wallet,
    scopes: &[Scope<'static>],
    publisher: &impl Publisher,
    options: &Options<'_>,
    holds: impl FnMut() -> bool + Send,
) -> Report {
    relay::relay(outbox, scopes, publisher, options, until("the relay's work", holds)).await
}

fn every_row_reaches_the_broker_once(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    for app in ["a", "b", "c"] {
        add(&mut session, app, 230);
    }
    with_outbox!(scratch, wallet_outbox, |outbox| check_every_row(&outbox, &mut session));
}
on_servers!(every_row_reaches_the_broker_once);

async fn check_every_row(outbox: &impl Wallet, session: &mut Watcher) {
    let broker = Memory::default();
    let mut subscriber = broker.subscribe("hyapp_wallet_outbox", "test", Tags::default());
    let mut others = broker.subscribe("hyapp_wallet_outbox", "typed", Tags(&["WalletBalanceChanged"]));
    let received = Mutex::new(Vec::<Message>::new());
    let scopes = ["a", "b", "c", "nobody"].map(|app_code| Scope { app_code });
    let receiving = async {
        for _ in 0..690 {
            let delivery = subscriber.receive().await.unwrap().unwrap();
            received.lock().unwrap().push(delivery.message);
            subscriber.ack(delivery.receipt).await.unwrap();
        }
    };
    let options = options();
    let relaying = relay_until(outbox, &scopes, &broker, &options, || {
        received.lock().unwrap().len() == 690 && in_state(session, "delivered") == 690
    });
    let ((), report) = futures_util::future::join(receiving, relaying).await;
    assert_eq!(report, Report { published: 690, ..Report::default() });
    let received = received.into_inner().unwrap();
    let ids: BTreeSet<&String> = received.iter().map(|message| &message.id).collect();
    assert_eq!(ids.len(), 690);
    let first = received.iter().find(|message| message.id == r#"["a","a-0003"]"#).expect("the fourth of a");
    assert_eq!(first.topic, "hyapp_wallet_outbox");
    assert_eq!(first.key.as_deref(), Some("3"));
    assert_eq!(first.tag.as_deref(), Some("wallet_outbox_event"));
    assert_eq!(first.event_type.as_deref(), Some("WalletBalanceChanged"));
    assert_eq!((first.attempt, first.most_attempts), (Some(1), Some(20)));
    let payload: serde_json::Value = serde_json::from_slice(&first.payload).unwrap();
    assert_eq!(payload, serde_json::json!({ "nth": 3 }));
    assert_eq!(Key::of_message(&first.id).unwrap(), Key { app_code: "a".to_owned(), event_id: "a-0003".to_owned() });
    assert_eq!(Key::of_message("a-0003"), None);
    // Nobody has asked for the legacy tag in the other group, until the producer switches.
    let typed = Options { tag: Some(TagMode::EventType), ..options };
    add(session, "d", 20);
    let scope = Scope { app_code: "d" };
    let report = relay_until(outbox, &[scope], &broker, &typed, || in_state(session, "delivered") == 710).await;
    assert_eq!(report.published, 20);
    for _ in 0..20 {
        let delivery = others.receive().await.unwrap().unwrap();
        assert_eq!(delivery.message.tag.as_deref(), Some("WalletBalanceChanged"));
        others.ack(delivery.receipt).await.unwrap();
    }
}

fn no_tenant_starves_another(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 600);
    add(&mut session, "b", 3);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|_, _| Does::Takes);
        let options = Options { round: 50, ..options() };
        let scopes = [A, Scope { app_code: "b" }];
        relay_until(&outbox, &scopes, &publisher, &options, || in_state(&mut session, "delivered") == 603).await;
        let ids = publisher.ids();
        let last = ids.iter().rposition(|id| id.contains("b-")).unwrap();
        assert!(last < 53, "one round of a, then b, but at {last}");
    });
}
on_servers!(no_tenant_starves_another);

fn so_many_and_no_more_are_on_their_way(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 40);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|_, _| Does::Thinks(20));
        let options = Options { in_flight: 4, ..options() };
        relay_until(&outbox, &[A], &publisher, &options, || in_state(&mut session, "delivered") == 40).await;
        assert_eq!(publisher.most.load(Ordering::SeqCst), 4);
    });
}
on_servers!(so_many_and_no_more_are_on_their_way);

fn one_at_a_time_holds_one_row(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 10);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|_, _| Does::Thinks(60_000));
        let options = Options { batch: 1, budget: Duration::from_secs(5), ..options() };
        let relaying = relay::relay(&outbox, &[A], &publisher, &options, std::future::pending());
        let dropped = tokio::time::timeout(Duration::from_millis(700), relaying).await;
        assert!(dropped.is_err());
        assert_eq!((publisher.offers(), in_state(&mut session, "delivering")), (1, 1));
        // 100 at a time, but a lease is 30 s, of which a fifth is the database's: 4 turns of 5 s and 2 at a time are 8.
        session.run("UPDATE wallet_outbox SET status = 'pending', lock_until_ms = 0, worker_id = NULL");
        let publisher = Recorder::new(|_, _| Does::Thinks(60_000));
        let options = Options { batch: 100, in_flight: 2, ..options };
        let relaying = relay::relay(&outbox, &[A], &publisher, &options, std::future::pending());
        let dropped = tokio::time::timeout(Duration::from_millis(700), relaying).await;
        assert!(dropped.is_err());
        assert_eq!((publisher.offers(), in_state(&mut session, "delivering")), (2, 8));
    });
}
on_servers!(one_at_a_time_holds_one_row);

fn each_failure_has_its_consequence(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 5);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|message: &Message, times| match (&*message.id, times) {
            (r#"["a","a-0001"]"#, 1) => Does::Refuses,
            (r#"["a","a-0002"]"#, _) => Does::NeverTakes,
            (r#"["a","a-0003"]"#, 1) => Does::TakesAndFails,
            (r#"["a","a-0004"]"#, 1) => Does::Thinks(10_000),
            _ => Does::Takes,
        });
        let notices = Mutex::new(Vec::new());
        let tell = |notice: &Notice<'_>| notices.lock().unwrap().push(format!("{notice:?}"));
        let options = Options { budget: Duration::from_millis(200), notice: Some(&tell), ..options() };
        let report =
            relay_until(&outbox, &[A], &publisher, &options, || in_state(&mut session, "retryable") == 3).await;
        assert_eq!(report, Report { published: 1, retried: 3, dead: 1, ..Report::default() });
        assert_eq!(in_state(&mut session, "dead"), 1);
        let said = |id: &str| format!("SELECT last_error FROM wallet_outbox WHERE event_id = '{id}'");
        assert_eq!(session.value(&said("a-0001")), "not now");
        assert_eq!(session.value(&said("a-0002")), "too large");
        assert_eq!(session.value(&said("a-0003")), "the line is dead");
        assert_eq!(session.value(&said("a-0004")), "no answer within 200ms");
        let waiting = "SELECT COUNT(*) FROM wallet_outbox WHERE retry_count = 1 AND next_retry_at_ms > updated_at_ms";
        assert_eq!(session.value(waiting), "3");
        let report =
            relay_until(&outbox, &[A], &publisher, &options, || in_state(&mut session, "delivered") == 4).await;
        assert_eq!(report.published, 3);
        // What nobody could know was published again, under the same id.
        let twice = publisher.ids().iter().filter(|id| id.contains("a-0003")).count();
        assert_eq!(twice, 2);
        let notices = notices.into_inner().unwrap();
        for what in ["Started", "Published", "Failed", "Dead", "Stopped"] {
            assert!(notices.iter().any(|notice| notice.starts_with(what)), "{what} in {notices:?}");
        }
    });
}
on_servers!(each_failure_has_its_consequence);

fn nothing_is_claimed_while_the_broker_is_down(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 60);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let up = std::sync::atomic::AtomicBool::new(false);
        let publisher = Recorder::new(|_, _| if up.load(Ordering::SeqCst) { Does::Takes } else { Does::Refuses });
        publisher.answers.store(false, Ordering::SeqCst);
        let options = Options { in_flight: 1, open_after: 5, ..options() };
        let report =
            relay_until(&outbox, &[A], &publisher, &options, || publisher.probes.load(Ordering::SeqCst) > 10).await;
        // 24 turns of 1 s and one at a time fit into four fifths of a lease of 30 s.
        assert_eq!(report, Report { retried: 5, released: 19, broker_down: 1, ..Report::default() });
        assert_eq!(publisher.offers(), 5, "nothing was offered to a broker that is down");
        assert_eq!((in_state(&mut session, "delivering"), in_state(&mut session, "pending")), (0, 36));
        assert_eq!(session.value("SELECT SUM(retry_count) FROM wallet_outbox").parse::<f64>().unwrap(), 5.0);
        // It answers, but takes nothing: one row is tried each time, no more.
        publisher.answers.store(true, Ordering::SeqCst);
        let report = relay_until(&outbox, &[A], &publisher, &options, || publisher.offers() >= 12).await;
        assert!(report.broker_down >= 1, "{report:?}");
        assert_eq!(report.released + report.retried, publisher.offers() as u64 - 5 + report.released);
        up.store(true, Ordering::SeqCst);
        session.run("UPDATE wallet_outbox SET next_retry_at_ms = 0");
        relay_until(&outbox, &[A], &publisher, &options, || in_state(&mut session, "delivered") == 60).await;
    });
}
on_servers!(nothing_is_claimed_while_the_broker_is_down);

fn a_stop_finishes_what_is_on_its_way_and_releases_the_rest(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 50);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|_, _| Does::Thinks(300));
        let options = Options { in_flight: 4, ..options() };
        let started = std::time::Instant::now();
        let report = relay_until(&outbox, &[A], &publisher, &options, || publisher.offers() == 4).await;
        assert_eq!(report, Report { published: 4, released: 46, ..Report::default() });
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!((in_state(&mut session, "delivered"), in_state(&mut session, "delivering")), (4, 0));
        assert_eq!(session.value("SELECT MAX(retry_count) FROM wallet_outbox WHERE status <> 'delivered'"), "0");
    });
}
on_servers!(a_stop_finishes_what_is_on_its_way_and_releases_the_rest);

fn rows_that_another_worker_has_are_not_finished(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 3);
    let mut thief = Watcher(scratch.session());
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|_, _| Does::Thinks(400));
        let lost = AtomicUsize::new(0);
        let tell = |notice: &Notice<'_>| {
            lost.fetch_add(usize::from(matches!(notice, Notice::Lost { .. })), Ordering::SeqCst);
        };
        let options = Options { notice: Some(&tell), ..options() };
        let report = {
            let mut stolen = false;
            relay_until(&outbox, &[A], &publisher, &options, || {
                if publisher.offers() == 3 && !stolen {
                    stolen = true;
                    thief.run("UPDATE wallet_outbox SET worker_id = 'thief' WHERE event_id = 'a-0001'");
                }
                stolen && in_state(&mut session, "delivered") == 2
            })
            .await
        };
        assert_eq!(report, Report { published: 2, lost: 1, ..Report::default() });
        assert_eq!(lost.into_inner(), 1);
        assert_eq!(in_state(&mut session, "delivering"), 1, "the thief's");
    });
}
on_servers!(rows_that_another_worker_has_are_not_finished);

/// A budget beyond the lease would leave no row the time to be published: it is cut, and rows go out all the same.
fn a_budget_beyond_the_lease_is_cut(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 3);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|message: &Message, times| match (message.id.contains("a-0001"), times) {
            (true, 1) => Does::Thinks(60_000),
            _ => Does::Takes,
        });
        let (lease, budget) = (Some(Duration::from_secs(2)), Duration::from_secs(60));
        let options = Options { lease, budget, ..options() };
        let report =
            relay_until(&outbox, &[A], &publisher, &options, || in_state(&mut session, "delivered") == 3).await;
        assert_eq!((report.published, report.retried, report.lost), (3, 1, 0), "{report:?}");
        assert_eq!(
            session.value("SELECT last_error FROM wallet_outbox WHERE event_id = 'a-0001'"),
            "no answer within 1.6s"
        );
    });
}
on_servers!(a_budget_beyond_the_lease_is_cut);

/// Several relays of the same tenants share their rows.
fn relays_share_a_backlog(scratch: &mut Scratch) {
    let mut session = prepare(scratch);
    add(&mut session, "a", 400);
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        let publisher = Recorder::new(|_, _| Does::Takes);
        let done = tokio::sync::watch::channel(false);
        let relays = ["r1", "r2", "r3"].map(|worker| {
            let (outbox, publisher, mut done) = (&outbox, &publisher, done.1.clone());
            async move {
                let options = Options { worker, batch: 20, ..options() };
                let stop = async move { _ = done.wait_for(|done| *done).await };
                relay::relay(outbox, &[A], publisher, &options, stop).await
            }
        });
        let [one, two, three] = relays;
        let watching = async {
            until("all rows", || in_state(&mut session, "delivered") == 400).await;
            done.0.send(true).unwrap();
        };
        let (reports, ()) = tokio::join!(async { tokio::join!(one, two, three) }, watching);
        let published = reports.0.published + reports.1.published + reports.2.published;
        assert_eq!((published, publisher.count()), (400, 400));
    });
}
on_servers!(relays_share_a_backlog);

/// A relay can be a task of its own: all of its futures can be sent.
#[test]
fn relays_can_be_spawned() {
    fn is_sent<T: Send>(_: &T) {}
    let url = "sqlite::memory:";
    super::bounded(async {
        let pool = sqlx::SqlitePool::connect(url).await.unwrap();
        let outbox = crate::rust::generated::sqlite::wallet_outbox::Outbox { pool: &pool };
        let (publisher, options) = (Memory::default(), options());
        let relaying = relay::relay(&outbox, &[A], &publisher, &options, std::future::ready(()));
        is_sent(&relaying);
        assert_eq!(relaying.await, Report::default());
        let claim = ClaimOptions::new("w");
        is_sent(&outbox.claim(A, &claim));
    });
}
