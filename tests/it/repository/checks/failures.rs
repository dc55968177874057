//! What becomes of rows that fail.

use std::time::Duration;

use claimsmith::schema::ColumnType;

use super::super::bench::{APP, Bench, now};
use super::super::erased::*;
use crate::servers::Server;

pub fn a_failed_row_waits(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let lease = bench.claim_one("a").lease;
    let before = now();
    let retried = bench.repository.retry(&mut bench.link(), &lease, "it's broken").unwrap();
    let Retried::Later { delay } = retried else { panic!("{retried:?}") };
    assert_eq!((bench.state("e01"), bench.attempts("e01")), (bench.waiting_state(), 1));
    let error = bench.queue.error.unwrap();
    assert_eq!(bench.value("e01", error).as_deref(), Some("it's broken"));
    if let Some(retry_at) = bench.queue.time() {
        // A second, less up to a fifth.
        assert!((800..=1_000).contains(&delay.as_millis()), "{delay:?}");
        let due = bench.time("e01", retry_at);
        assert!((before - 1_000..=now() + 1_001).contains(&due), "{due} at {before}");
        bench.set_time("e01", retry_at, now() + 60_000);
        assert!(bench.claim("b", 10).is_empty());
        bench.make_due("e01");
    } else {
        assert_eq!(delay, Duration::ZERO, "nothing holds the row back");
    }
    let again = bench.claim_one("b");
    let from = bench.queue.claim.status.retryable.as_ref().map_or(Branch::Pending, |_| Branch::Retryable);
    assert_eq!((again.attempt, again.from), (Some(2), from));
    assert!(matches!(bench.finish(&mut bench.link(), &lease), Err(FinishError::Lost)) || bench.queue.fence().is_none());
}

pub fn retries_end(bench: &mut Bench<'_>) {
    let most = i64::from(bench.queue.default_attempts());
    bench.enqueue("e01");
    for attempt in 1..=most {
        let claimed = bench.claim_one("a");
        assert_eq!((claimed.attempt, claimed.lease.is_last_attempt), (Some(attempt), attempt == most));
        let retried = bench.repository.retry(&mut bench.link(), &claimed.lease, "again").unwrap();
        assert_eq!(retried == Retried::Dead, attempt == most, "{attempt}: {retried:?}");
        if attempt < most {
            bench.make_due("e01");
        }
    }
    assert_eq!((bench.state("e01"), bench.attempts("e01")), (bench.dead_state(), most));
    assert!(bench.claim("a", 10).is_empty());
}

/// Any text can be the reason of a failure.
pub fn long_errors_are_cut(bench: &mut Bench<'_>) {
    let column = bench.queue.error.unwrap();
    let text = "x\0é😀".repeat(40_000);
    let clean = text.replace('\0', "\u{FFFD}");
    for shift in 0..4 {
        bench.clear();
        let (text, clean) = (&text[shift_to(&text, shift)..], &clean[shift_to(&clean, shift)..]);
        bench.enqueue("e01");
        bench.enqueue("e02");
        let claimed = bench.claim("a", 10);
        bench.repository.retry(&mut bench.link(), &claimed[0].lease, text).unwrap();
        bench.repository.dead(&mut bench.link(), &claimed[1].lease, text).unwrap();
        for id in ["e01", "e02"] {
            let kept = bench.value(id, column).unwrap();
            assert!(clean.starts_with(&kept));
            match bench.queue.table.columns[column].ty {
                ColumnType::Varchar(most) => assert_eq!(kept.chars().count(), most as usize),
                _ => assert!((65_532..=65_535).contains(&kept.len()), "{}", kept.len()),
            }
        }
    }
}

/// The byte at which the character of this number begins.
fn shift_to(text: &str, at: usize) -> usize {
    text.char_indices().nth(at).unwrap().0
}

/// Rows `e01` to `e<count>`, given up.
fn dead_rows(bench: &mut Bench<'_>, count: usize) -> Vec<Lease> {
    bench.enqueue_all(count);
    let leases: Vec<Lease> = bench.claim("a", 100).into_iter().map(|claimed| claimed.lease).collect();
    for lease in &leases {
        bench.repository.dead(&mut bench.link(), lease, "never").unwrap();
    }
    leases
}

pub fn dead_rows_are_listed_replayed_and_purged(bench: &mut Bench<'_>) {
    let leases = dead_rows(bench, 3);
    bench.enqueue("e04");
    let live = bench.claim_one("a");
    let link = &mut bench.link();
    let listed = bench.repository.list_dead(link, APP, 2).unwrap();
    assert_eq!(listed.rows.iter().map(|row| bench.id(row)).collect::<Vec<_>>(), ["e01", "e02"]);
    assert!(bench.repository.replay(link, &leases[0].key).unwrap());
    assert!(!bench.repository.replay(link, &leases[0].key).unwrap());
    assert!(bench.repository.purge(link, &leases[1].key).unwrap());
    assert!(!bench.repository.purge(link, &leases[1].key).unwrap());
    for key in [&live.lease.key, &leases[0].key] {
        assert!(!bench.repository.purge(link, key).unwrap(), "it lives");
    }
    let expected = [("e01", bench.pending_state()), ("e03", bench.dead_state()), ("e04", bench.held_state())];
    assert_eq!(bench.states(), expected.map(|(id, state)| (id.to_owned(), state)));
    let again = bench.claim_one("b");
    assert!(!again.lease.is_last_attempt);
    assert_eq!(bench.id(&again.row), "e01");
}

pub fn batches_are_replayed(bench: &mut Bench<'_>) {
    dead_rows(bench, 5);
    let replay = |bench: &Bench<'_>, limit, dry_run| {
        let batch = bench.repository.replay_batch(&mut bench.link(), APP, limit, dry_run).unwrap();
        (batch.moved, batch.more)
    };
    assert_eq!(replay(bench, 10, true), (5, false));
    assert_eq!(replay(bench, 2, true).0, 2);
    assert_eq!(bench.in_state(&bench.dead_state()).len(), 5);
    assert_eq!(replay(bench, 2, false), (2, true));
    assert_eq!(bench.in_state(&bench.pending_state()), ["e01", "e02"]);
    assert_eq!(replay(bench, 10, false), (3, false));
    assert_eq!(replay(bench, 10, false), (0, false));
    assert_eq!(bench.claim("b", 10).len(), 5);
}

/// Makes the type of an event something that is none.
fn break_type(bench: &mut Bench<'_>, id: &str) {
    let name = bench.queue.claim.event.as_ref().unwrap().type_column.clone().unwrap();
    let (table, at) = (bench.table().to_owned(), bench.position(&name));
    let column = bench.column(at);
    let ty = bench.server().dialect().column_type(&bench.queue.table.columns[at]);
    let id = bench.literal(id);
    let of = bench.column(bench.position(bench.repository.name_column()));
    let (allow, value) = match bench.server() {
        Server::MySql | Server::MariaDb => (format!("ALTER TABLE {table} MODIFY {column} {ty} NULL"), "NULL"),
        Server::Postgres => (format!("ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL"), "NULL"),
        Server::Sqlite => ("PRAGMA ignore_check_constraints = ON".to_owned(), "x'FF'"),
    };
    bench.scratch.run(&allow).unwrap();
    bench.scratch.run(&format!("UPDATE {table} SET {column} = {value} WHERE {of} = {id}")).unwrap();
}

pub fn undecodable_rows_come_beside_good_ones(bench: &mut Bench<'_>) {
    bench.enqueue_all(3);
    break_type(bench, "e02");
    let shown = bench.repository.get_pending(&mut bench.link(), APP, 10).unwrap();
    assert_eq!((shown.rows.len(), shown.undecodable.len()), (2, 1));
    let mut batch = bench.claim_by(&ClaimOptions::new("a"));
    assert_eq!(bench.ids(&batch.ready), ["e01", "e03"]);
    let (ready, lease) = (batch.ready, batch.undecodable.remove(0).unwrap());
    assert!(batch.undecodable.is_empty());
    assert_eq!((bench.state("e02"), bench.attempts("e02")), (bench.held_state(), 1));
    bench.repository.dead(&mut bench.link(), &lease, "it cannot be read").unwrap();
    assert_eq!(bench.state("e02"), bench.dead_state());
    let listed = bench.repository.list_dead(&mut bench.link(), APP, 10).unwrap();
    assert_eq!((listed.rows.len(), listed.undecodable), (0, vec![Some(lease.key.clone())]));
    let batch = bench.repository.replay_batch(&mut bench.link(), APP, 10, true).unwrap();
    assert_eq!(batch.moved, 1);
    assert!(bench.repository.purge(&mut bench.link(), &lease.key).unwrap());
    ready.iter().for_each(|claimed| bench.finish(&mut bench.link(), &claimed.lease).unwrap());
    if bench.server() == Server::Sqlite {
        bench.scratch.run("PRAGMA ignore_check_constraints = OFF").unwrap();
    }
    bench.recreate();
}

pub fn names_of_the_seed(bench: &mut Bench<'_>) {
    bench.enqueue_all(2);
    let claimed = bench.claim("a", 10);
    let link = &mut bench.link();
    bench.repository.fail(link, &claimed[0].lease, "never").unwrap();
    let retried = bench.repository.increment_retry(link, &claimed[1].lease, "again").unwrap();
    assert!(matches!(retried, Retried::Later { .. }));
    assert_eq!((bench.state("e01"), bench.state("e02")), (bench.dead_state(), bench.pending_state()));
    assert_eq!((bench.attempts("e02"), bench.claim_one("b").attempt), (1, Some(2)));
}
