//! How events come in.

use std::time::Duration;

use super::super::bench::{APP, Bench, OTHER};
use super::super::erased::*;

pub fn a_duplicate_leaves_the_transaction_alone(bench: &mut Bench<'_>) {
    let (first, second) = (Event::new("e01"), Event::new("e02"));
    bench.enqueue_event(&first);
    assert_eq!(bench.repository.enqueue(&mut bench.link(), APP, &first).unwrap(), Enqueued::Duplicate);
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 1);
    assert_eq!(bench.repository.enqueue(&mut transaction, APP, &first).unwrap(), Enqueued::Duplicate);
    assert_eq!(bench.repository.enqueue(&mut transaction, APP, &second).unwrap(), Enqueued::Inserted);
    assert_eq!(bench.repository.enqueue(&mut transaction, APP, &second).unwrap(), Enqueued::Duplicate);
    bench.business(&mut transaction, 2);
    transaction.commit();
    assert_eq!((bench.businesses(), bench.states().len()), (2, 2));
    // The first one's content stays.
    let other = first.clone().with_payload(serde_json::json!({ "changed": true }));
    assert_eq!(bench.repository.enqueue(&mut bench.link(), APP, &other).unwrap(), Enqueued::Duplicate);
    let payload = bench.queue.claim.event.as_ref().unwrap().payload.clone().unwrap();
    assert!(!bench.value("e01", bench.position(&payload)).unwrap().contains("changed"));
}

pub fn another_key_that_is_taken_is_an_error(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let event = Event::new("e01").with_key("another");
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 1);
    let error = bench.repository.enqueue(&mut transaction, APP, &event).unwrap_err();
    transaction.rollback();
    assert!(error.is_unique_violation() && !error.is_retryable(), "{error:?}");
    let violated = error.violated().unwrap().to_owned();
    let named = match bench.server() {
        crate::servers::Server::MySql | crate::servers::Server::MariaDb => violated == "PRIMARY",
        crate::servers::Server::Postgres => violated.starts_with("pk_") || violated.ends_with("_pkey"),
        crate::servers::Server::Sqlite => violated.contains(bench.repository.name_column()),
    };
    assert!(named, "{violated}");
    assert_eq!((bench.businesses(), bench.states().len()), (0, 1));
}

/// The second waits for what becomes of the first.
pub fn two_transactions_enqueue_the_same(bench: &mut Bench<'_>) {
    for commit in [true, false] {
        bench.clear();
        let event = Event::new("e01");
        let mut first = bench.begin();
        assert_eq!(bench.repository.enqueue(&mut first, APP, &event).unwrap(), Enqueued::Inserted);
        let (repository, pools) = (bench.repository, &bench.pools);
        let second = std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let _in_runtime = runtime().enter();
                let mut link = pools.link();
                repository.enqueue(&mut link, APP, &event)
            });
            std::thread::sleep(Duration::from_millis(15));
            if commit {
                first.commit()
            } else {
                first.rollback()
            }
            second.join().unwrap().unwrap()
        });
        assert_eq!(second, if commit { Enqueued::Duplicate } else { Enqueued::Inserted });
        assert_eq!(bench.states().len(), 1);
    }
}

pub fn a_rollback_takes_the_event_along(bench: &mut Bench<'_>) {
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 1);
    let enqueued = bench.repository.enqueue(&mut transaction, APP, &Event::new("e01")).unwrap();
    let events = [Event::new("e02"), Event::new("e03")];
    let many = bench.repository.enqueue_many(&mut transaction, APP, &events).unwrap();
    assert_eq!((enqueued, many.inserted), (Enqueued::Inserted, 2));
    transaction.rollback();
    assert_eq!((bench.businesses(), bench.states().len()), (0, 0));
}

pub fn case_makes_another_id(bench: &mut Bench<'_>) {
    for id in ["e01", "E01", "é01"] {
        bench.enqueue(id);
    }
    if !bench.queue.scope.is_empty() {
        let other = Event::new("o01");
        assert_eq!(bench.repository.enqueue(&mut bench.link(), OTHER, &other).unwrap(), Enqueued::Inserted);
    }
    let mut claimed = bench.ids(&bench.claim("a", 10));
    claimed.sort();
    assert_eq!(claimed, ["E01", "e01", "é01"], "and nothing of the other scope");
}

/// Not every collation of MySQL and MariaDB says so.
pub fn blanks_make_another_id(bench: &mut Bench<'_>) {
    for id in ["e01", "e01 ", " e01"] {
        bench.enqueue(id);
    }
    assert_eq!(bench.claim("a", 10).len(), 3);
}

pub fn many_with_duplicates(bench: &mut Bench<'_>) {
    bench.enqueue("e02");
    let events: Vec<Event> = ["e01", "e02", "e03", "e03", "e01"].into_iter().map(Event::new).collect();
    let mut transaction = bench.begin();
    let done = bench.repository.enqueue_many(&mut transaction, APP, &events).unwrap();
    transaction.commit();
    assert_eq!((done.inserted, done.duplicates, done.coalesced, done.skipped), (2, 3, 0, 0));
    let done = bench.repository.enqueue_many(&mut bench.link(), APP, &events).unwrap();
    assert_eq!((done.inserted, done.duplicates), (0, 5));
    assert_eq!(bench.states().len(), 3);
    assert_eq!(bench.repository.enqueue_many(&mut bench.link(), APP, &[]).unwrap(), EnqueuedMany::default());
}

/// One statement is all or nothing; one that joins others goes on one by one.
pub fn many_without_a_key_are_all_or_none(bench: &mut Bench<'_>) {
    bench.enqueue("e02");
    let events: Vec<Event> =
        [("e01", "k1"), ("e02", "k2")].into_iter().map(|(id, key)| Event::new(id).with_key(key)).collect();
    let mut transaction = bench.begin();
    let error = bench.repository.enqueue_many(&mut transaction, APP, &events).unwrap_err();
    transaction.rollback();
    assert!(error.is_unique_violation(), "{error:?}");
    assert_eq!(bench.states().len(), 1);
}

pub fn what_is_too_long_is_refused(bench: &mut Bench<'_>) {
    let name = bench.repository.name_column();
    let refused = |bench: &Bench<'_>, event: &Event| {
        let mut link = bench.link();
        let many = bench.repository.enqueue_many(&mut link, APP, &[Event::new("e00"), event.clone()]).unwrap_err();
        let EnqueueError::TooLong(many) = many else { panic!("{many:?}") };
        let one = bench.repository.enqueue(&mut link, APP, event).unwrap_err();
        let EnqueueError::TooLong(one) = one else { panic!("{one:?}") };
        assert_eq!(one, many);
        one
    };
    let most = refused(bench, &Event::new(&"x".repeat(300)).with_key("k")).max;
    assert_eq!(most, length(bench, name));
    // Characters count, and not bytes.
    let longest = Event::new(&"😀".repeat(most)).with_key("k");
    bench.enqueue_event(&longest);
    let too_long = refused(bench, &Event::new(&"😀".repeat(most + 1)).with_key("k"));
    assert_eq!((too_long.column, too_long.max, too_long.got), (name, most, most + 1));
    assert_eq!(bench.states().len(), 1, "none of the others came in");
    if let Some(scope) = bench.queue.claim.scope.iter().find(|scope| *scope != "source_name") {
        let most = length(bench, scope);
        let app = "😀".repeat(most + 1);
        let error = bench.repository.enqueue(&mut bench.link(), &app, &Event::new("e02")).unwrap_err();
        let EnqueueError::TooLong(error) = error else { panic!("{error:?}") };
        assert_eq!((error.column, error.max, error.got), (&**scope, most, most + 1));
        let app = "😀".repeat(most);
        assert_eq!(bench.repository.enqueue(&mut bench.link(), &app, &Event::new("e02")).unwrap(), Enqueued::Inserted);
    }
}

/// How many characters a column holds.
fn length(bench: &Bench<'_>, column: &str) -> usize {
    match bench.queue.table.columns[bench.position(column)].ty {
        claimsmith::schema::ColumnType::Varchar(length) => length as usize,
        ref other => panic!("{column} is {other:?}"),
    }
}

pub fn coalescing(bench: &mut Bench<'_>) {
    let change = |id: &str, kind: &str, record: &str, version: i32| {
        let payload = serde_json::json!({ "version": version });
        Event::new(id).with_key(record).with_kind(kind).with_payload(payload)
    };
    let enqueue = |bench: &Bench<'_>, event: &Event| bench.repository.enqueue(&mut bench.link(), APP, event).unwrap();
    assert_eq!(enqueue(bench, &change("e01", "update", "r1", 1)), Enqueued::Inserted);
    assert_eq!(enqueue(bench, &change("e02", "update", "r1", 2)), Enqueued::Coalesced);
    assert_eq!(enqueue(bench, &change("e03", "delete", "r1", 3)), Enqueued::Inserted, "another type");
    assert_eq!(enqueue(bench, &change("e04", "update", "r2", 4)), Enqueued::Inserted, "another record");
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 1);
    let events = [change("e05", "update", "r2", 5), change("e06", "update", "r3", 6), change("e07", "update", "r3", 7)];
    let done = bench.repository.enqueue_many(&mut transaction, APP, &events).unwrap();
    transaction.commit();
    assert_eq!((done.inserted, done.coalesced), (1, 2));
    assert_eq!(bench.businesses(), 1);
    let other = bench.repository.enqueue(&mut bench.link(), OTHER, &change("o01", "update", "r1", 8)).unwrap();
    assert_eq!(other, Enqueued::Inserted, "another destination");
    let claimed = bench.claim("a", 10);
    let versions: Vec<String> = claimed.iter().map(|claimed| claimed.row["Payload"]["version"].to_string()).collect();
    assert_eq!(bench.ids(&claimed), ["e01", "e03", "e04", "e06"]);
    assert_eq!(versions, ["2", "3", "5", "7"]);
    // What is on its way already is joined by nothing.
    assert_eq!(enqueue(bench, &change("e08", "update", "r2", 9)), Enqueued::Inserted);
}

pub fn what_comes_from_there_is_skipped(bench: &mut Bench<'_>) {
    let from = |id: &str, origin: &str| {
        Event::new(id).with_payload(serde_json::json!({ "metadata": { "sync_source": origin } }))
    };
    let events = [from("e01", APP), from("e02", OTHER), Event::new("e03")];
    let enqueued: Vec<Enqueued> =
        events.iter().map(|event| bench.repository.enqueue(&mut bench.link(), APP, event).unwrap()).collect();
    assert_eq!(enqueued, [Enqueued::Skipped, Enqueued::Inserted, Enqueued::Inserted]);
    let events = [from("e04", APP), from("e05", "third")];
    let done = bench.repository.enqueue_many(&mut bench.link(), APP, &events).unwrap();
    assert_eq!((done.inserted, done.skipped), (1, 1));
    assert_eq!(bench.in_state(&bench.pending_state()), ["e02", "e03", "e05"]);
}
