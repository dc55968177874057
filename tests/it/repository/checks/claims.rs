//! Who gets which rows.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Duration;

use crate::servers::Server;

use super::super::bench::{APP, Bench, OTHER, ms, now};
use super::super::erased::*;

pub fn no_row_is_claimed_twice(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(6);
    let first = bench.claim("a", 4);
    assert_eq!(bench.ids(&first), ids[..4]);
    let second = bench.claim("b", 4);
    assert_eq!(bench.ids(&second), ids[4..]);
    assert!(bench.claim("a", 4).is_empty());
    for claimed in first.iter().chain(&second) {
        assert_eq!((claimed.attempt, claimed.lease.attempt, claimed.from), (Some(1), Some(1), Branch::Pending));
        assert!(!claimed.lease.is_last_attempt);
        assert_eq!(claimed.row[&bench.queue.claim.status.column], bench.held_state());
        let id = bench.id(&claimed.row);
        assert_eq!((bench.state(&id), bench.attempts(&id)), (bench.held_state(), 1));
    }
    assert!(bench.claim_by(&ClaimOptions { limit: 0, ..ClaimOptions::new("a") }).ready.is_empty());
}

/// The rows that each of two threads gets, which begin together.
fn two_claims(bench: &Bench<'_>, limit: u32) -> [Vec<String>; 2] {
    let barrier = Barrier::new(2);
    let (repository, pools) = (bench.repository, &bench.pools);
    let claim = |worker: &'static str| {
        let options = ClaimOptions { limit, ..ClaimOptions::new(worker) };
        barrier.wait();
        repository.claim_driven(pools, APP, &options, Drive::Through).unwrap().unwrap()
    };
    let batches = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let _in_runtime = runtime().enter();
            claim("b")
        });
        [claim("a"), other.join().unwrap()]
    });
    batches.map(|batch| bench.ids(&batch.ready))
}

pub fn workers_share_a_backlog(bench: &mut Bench<'_>) {
    for _ in 0..3 {
        bench.clear();
        bench.enqueue_all(60);
        let [first, second] = two_claims(bench, 20);
        assert_eq!((first.len(), second.len()), (20, 20));
        let both: BTreeSet<&String> = first.iter().chain(&second).collect();
        assert_eq!(both.len(), 40, "some row went to both");
    }
}

/// While another worker's claim is not committed, its rows are locked; on SQLite there is one writer at a time.
pub fn locked_rows_are_passed_over(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(8);
    if bench.server() == Server::Sqlite {
        return;
    }
    let table = bench.table().to_owned();
    let mut other = bench.scratch.session();
    other.run("BEGIN").unwrap();
    for id in &ids[..4] {
        // By its whole key, so that nothing else is locked.
        let key = bench.queue.table.primary_key.clone().into_iter().map(|at| {
            let value = bench.value(id, at).unwrap();
            format!("{} = {}", bench.column(at), bench.literal(&value))
        });
        let key = key.collect::<Vec<_>>().join(" AND ");
        assert_eq!(other.rows(&format!("SELECT CAST(1 AS CHAR) FROM {table} WHERE {key} FOR UPDATE")).len(), 1);
    }
    let claimed = bench.claim("b", 4);
    other.run("ROLLBACK").unwrap();
    assert_eq!(bench.ids(&claimed), ids[4..]);
}

/// Puts six rows into the three branches, two into each.
fn two_of_each(bench: &mut Bench<'_>) {
    bench.enqueue_all(6);
    for id in ["e03", "e04"] {
        let waiting = bench.waiting_state();
        bench.set(id, bench.queue.status, &waiting);
        bench.make_due(id);
    }
    for id in ["e05", "e06"] {
        let held = bench.held_state();
        bench.set(id, bench.queue.status, &held);
        bench.expire(id);
    }
}

pub fn each_branch_begins_once(bench: &mut Bench<'_>) {
    two_of_each(bench);
    let mut start = Branch::default();
    for (branch, id) in [(Branch::Pending, "e01"), (Branch::Retryable, "e03"), (Branch::Expired, "e05")] {
        assert_eq!(start, branch);
        let batch = bench.claim_by(&ClaimOptions { limit: 1, start, ..ClaimOptions::new("a") });
        assert_eq!((bench.ids(&batch.ready), batch.ready[0].from), (vec![id.to_owned()], branch));
        start = start.next();
    }
    assert_eq!(start, Branch::Pending);
    // The rest, from one branch on to the others.
    let batch = bench.claim_by(&ClaimOptions { limit: 3, start: Branch::Expired, ..ClaimOptions::new("a") });
    assert_eq!(bench.ids(&batch.ready), ["e06", "e02", "e04"]);
    let from: Vec<Branch> = batch.ready.iter().map(|claimed| claimed.from).collect();
    assert_eq!(from, [Branch::Expired, Branch::Pending, Branch::Retryable]);
}

/// A time, and the smallest step of the column's.
fn moment(bench: &Bench<'_>, column: usize) -> (i64, i64) {
    match bench.queue.table.columns[column].ty.is_time() {
        true => (1_800_000_000_000, 1_000),
        false => (1_800_000_000_123, 1),
    }
}

fn claimed_at(bench: &Bench<'_>, at: i64) -> Vec<Claimed> {
    bench.claim_by(&ClaimOptions { clock: Clock::At(at), ..ClaimOptions::new("a") }).ready
}

pub fn what_is_due_now_is_due(bench: &mut Bench<'_>) {
    let column = bench.queue.time().unwrap();
    assert!(!bench.queue.table.columns[column].nullable, "NULL is due by no comparison");
    let (at, step) = moment(bench, column);
    bench.enqueue("e01");
    let waiting = bench.waiting_state();
    bench.set("e01", bench.queue.status, &waiting);
    bench.set_time("e01", column, at + step);
    assert!(claimed_at(bench, at).is_empty());
    bench.set_time("e01", column, at);
    assert!(claimed_at(bench, at - 1).is_empty());
    let claimed = claimed_at(bench, at);
    assert_eq!(bench.ids(&claimed), ["e01"]);
    let lease = i64::try_from(lease_of(bench).as_millis()).unwrap();
    assert_eq!(bench.time("e01", bench.held_until()), at + lease);
}

fn lease_of(bench: &Bench<'_>) -> Duration {
    let claim = bench.queue.claim;
    let lease = claim.lease.as_ref().map(|lease| lease.lasts.0);
    Duration::from_millis(lease.or(claim.visibility.map(|visibility| visibility.0)).unwrap())
}

pub fn a_lease_that_ends_now_has_ended(bench: &mut Bench<'_>) {
    let column = bench.held_until();
    let (at, step) = moment(bench, column);
    bench.enqueue("e01");
    let held = bench.held_state();
    bench.set("e01", bench.queue.status, &held);
    bench.set_time("e01", column, at + step);
    assert!(claimed_at(bench, at).is_empty());
    bench.set_time("e01", column, at);
    let claimed = claimed_at(bench, at);
    assert_eq!((bench.ids(&claimed), claimed[0].from), (vec!["e01".to_owned()], Branch::Expired));
}

/// A worker that is told another time goes by that; by the database's clock it does not matter what a process thinks.
pub fn the_clock_of_the_options_decides(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let first = bench.claim_one("a");
    assert!(bench.claim("b", 10).is_empty(), "the lease lasts by the database's clock");
    assert!(claimed_at(bench, now() - 3_600_000).is_empty(), "a clock behind finds nothing that has ended");
    let ahead = claimed_at(bench, now() + 3_600_000);
    assert_eq!((bench.ids(&ahead), ahead[0].attempt), (vec!["e01".to_owned()], Some(2)));
    assert!(matches!(bench.finish(&mut bench.link(), &first.lease), Err(FinishError::Lost)));
    assert!(bench.claim("b", 10).is_empty(), "the clock ahead has held the row for longer");
    bench.finish(&mut bench.link(), &ahead[0].lease).unwrap();
    // And one that is behind holds it for less.
    bench.enqueue("e02");
    let behind = claimed_at(bench, now() - 1_000);
    let was_due = bench.queue.by_visibility();
    assert_eq!(behind.len(), usize::from(!was_due), "where rows are due, this one is not due yet");
    if !was_due {
        bench.set("e02", bench.queue.status, &bench.pending_state());
        let options = ClaimOptions {
            clock: Clock::At(now() - 60_000),
            lease: Some(Duration::from_secs(1)),
            ..ClaimOptions::new("a")
        };
        assert_eq!(bench.claim_by(&options).ready.len(), 1);
        assert_eq!(bench.claim_one("b").from, Branch::Expired);
    }
}

pub fn a_lane_is_kept(bench: &mut Bench<'_>) {
    for (id, kind) in [("e01", "first"), ("e02", "second"), ("e03", "first"), ("e04", "second"), ("e05", "first")] {
        bench.enqueue_event(&Event::new(id).with_kind(kind));
    }
    let (waiting, held) = (bench.waiting_state(), bench.held_state());
    bench.set("e03", bench.queue.status, &waiting);
    bench.make_due("e03");
    bench.set("e05", bench.queue.status, &held);
    bench.expire("e05");
    let claim = |bench: &Bench<'_>, scope: &str, lane: &str| {
        bench.repository.claim_lane(&bench.pools, scope, lane, &ClaimOptions::new("a")).unwrap().ready
    };
    assert!(claim(bench, OTHER, "first").is_empty());
    assert!(claim(bench, APP, "First").is_empty());
    let claimed = claim(bench, APP, "first");
    assert_eq!(bench.ids(&claimed), ["e01", "e03", "e05"]);
    let from: Vec<Branch> = claimed.iter().map(|claimed| claimed.from).collect();
    assert_eq!(from, [Branch::Pending, Branch::Retryable, Branch::Expired]);
    assert!(claim(bench, APP, "first").is_empty());
    assert_eq!(bench.ids(&bench.claim("b", 10)), ["e02", "e04"]);
}

/// Whatever order a database gives them in.
pub fn the_order_is_that_of_the_table(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(30);
    let column = bench.queue.order.or(bench.queue.time()).unwrap();
    for (at, id) in ids.iter().enumerate() {
        // All orders but that of the keys: 7 steps on each time, around 30.
        bench.set_time(id, column, 1_600_000_000_000 + (at as i64 * 7 % 30) * 1_000);
    }
    let mut expected = ids.clone();
    expected.sort_by_key(|id| {
        let at = ids.iter().position(|other| other == id).unwrap();
        at * 7 % 30
    });
    let shown = bench.repository.get_pending(&mut bench.link(), APP, 30).unwrap();
    assert_eq!(shown.rows.iter().map(|row| bench.id(row)).collect::<Vec<_>>(), expected);
    // What UPDATE gives back has no order, and where the claim has changed the column, nothing says any more what it was.
    let by_key = !bench.server().is_mysql_like() && [bench.queue.updated, bench.queue.time()].contains(&Some(column));
    let (first, second) = expected.split_at_mut(10);
    for (expected, limit) in [(first, 10), (second, 20)] {
        if by_key {
            expected.sort();
        }
        assert_eq!(bench.ids(&bench.claim("a", limit)), *expected);
    }
}

pub fn pending_rows_are_shown_and_not_taken(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(3);
    for _ in 0..2 {
        let shown = bench.repository.get_pending(&mut bench.link(), APP, 2).unwrap();
        assert_eq!(shown.rows.iter().map(|row| bench.id(row)).collect::<Vec<_>>(), ids[..2]);
        assert!(shown.undecodable.is_empty());
    }
    assert_eq!(bench.in_state(&bench.pending_state()), ids);
    assert_eq!(bench.claim("a", 10).len(), 3);
    assert_eq!(bench.repository.get_pending(&mut bench.link(), APP, 2).unwrap().rows.len(), 0);
}

/// A claim that ends anywhere: its rows are there, each either untouched or held, and all come to the next worker.
pub fn a_claim_that_is_dropped_loses_nothing(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(4);
    let options = ClaimOptions::new("a");
    for polls in 1..40 {
        let batch = bench.repository.claim_driven(&bench.pools, APP, &options, Drive::Drop(polls));
        let through = batch.is_some();
        drop(batch);
        // What was dropped goes on until the database has undone it.
        let mut left = Vec::new();
        for _ in 0..200 {
            ids.iter().for_each(|id| free(bench, id));
            left.extend(bench.ids(&bench.claim("b", 10)));
            if left.len() >= 4 {
                break;
            }
        }
        left.sort();
        left.dedup();
        assert_eq!(left, ids, "after {polls} polls");
        for id in &ids {
            let pending = bench.pending_state();
            bench.set(id, bench.queue.status, &pending);
            bench.set(id, bench.queue.count.unwrap(), "0");
            free(bench, id);
        }
        if through {
            return;
        }
    }
    panic!("a claim takes more than 40 polls");
}

/// Lets the lease of a row run out, if it has one.
fn free(bench: &mut Bench<'_>, id: &str) {
    if bench.state(id) == bench.held_state() {
        bench.expire(id);
    }
}

pub fn long_leases_do_not_overflow(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let lease = Some(Duration::from_secs(3_650 * 86_400));
    let claimed = bench.claim_by(&ClaimOptions { lease, ..ClaimOptions::new("a") }).ready;
    assert_eq!(claimed.len(), 1);
    let until = bench.time("e01", bench.held_until());
    assert!(until - now() > 3_649 * 86_400_000, "{until}");
    bench.repository.extend(&mut bench.link(), &claimed[0].lease, Duration::from_millis(0)).unwrap();
    assert_eq!(bench.claim_one("b").attempt, Some(2));
}

/// A lease may have ended before the claim has: then a later branch of the same claim finds the row.
pub fn a_row_comes_once_whatever_its_lease(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(3);
    let options = ClaimOptions { lease: Some(ms(0)), ..ClaimOptions::new("a") };
    let mut claimed = bench.claim_by(&options).ready;
    claimed.sort_by_key(|claimed| bench.id(&claimed.row));
    assert_eq!(bench.ids(&claimed), ids);
    let attempts: Vec<i64> = ids.iter().map(|id| bench.attempts(id)).collect();
    assert_eq!(claimed.iter().map(|claimed| claimed.attempt.unwrap()).collect::<Vec<_>>(), attempts);
    claimed.iter().for_each(|claimed| bench.finish(&mut bench.link(), &claimed.lease).unwrap());
    // What a claim has both taken and given up is dead.
    bench.enqueue("e04");
    let last = bench.queue.default_attempts() - 1;
    bench.set("e04", bench.queue.count.unwrap(), &last.to_string());
    let batch = bench.claim_by(&options);
    let dead = bench.state("e04") == bench.dead_state();
    assert_eq!((batch.ready.len(), batch.exhausted.len()), if dead { (0, 1) } else { (1, 0) });
}

/// However long: what no time can say is as long as a time can.
pub fn an_endless_lease_is_a_lease(bench: &mut Bench<'_>) {
    let absurd = [Duration::MAX, Duration::from_millis(u64::MAX), Duration::from_millis(i64::MAX as u64)];
    for (at, lease) in absurd.into_iter().enumerate() {
        let id = format!("e{at:02}");
        bench.enqueue(&id);
        let options = ClaimOptions { lease: Some(lease), ..ClaimOptions::new("a") };
        let claimed = bench.claim_by(&options).ready.remove(0);
        assert!(bench.claim("b", 10).is_empty());
        let centuries = now() + 36_500 * 86_400_000;
        assert!(bench.time(&id, bench.held_until()) > centuries);
        bench.repository.extend(&mut bench.link(), &claimed.lease, ms(1_000)).unwrap();
        assert!(bench.time(&id, bench.held_until()) < centuries);
        bench.repository.extend(&mut bench.link(), &claimed.lease, lease).unwrap();
        assert!(bench.time(&id, bench.held_until()) > centuries);
        bench.finish(&mut bench.link(), &claimed.lease).unwrap();
    }
}

/// The rows of earlier branches are held all the same, and the error says why there are no more.
pub fn a_later_branch_that_fails_keeps_the_rows(bench: &mut Bench<'_>) {
    let count = bench.queue.count.unwrap();
    let prepare = |bench: &mut Bench<'_>| {
        bench.clear();
        two_of_each(bench);
        // One more attempt is more than the column holds.
        bench.set("e03", count, &i32::MAX.to_string());
    };
    let claim = |bench: &Bench<'_>, start| {
        let options = ClaimOptions { start, ..ClaimOptions::new("a") };
        bench.repository.claim_driven(&bench.pools, APP, &options, Drive::Through).unwrap()
    };
    prepare(bench);
    assert!(claim(bench, Branch::Retryable).is_err(), "nothing is held yet");
    prepare(bench);
    let batch = claim(bench, Branch::Pending).unwrap();
    assert_eq!(bench.ids(&batch.ready), ["e01", "e02"]);
    assert!(batch.stopped_by.is_some());
    for claimed in batch.ready {
        bench.finish(&mut bench.link(), &claimed.lease).unwrap();
    }
    assert_eq!(bench.attempts("e04"), 0, "the branch that failed took nothing");
    bench.set("e03", count, "0");
    claim_in_time(bench, 4);
}

/// So many rows come, if need be when the database has undone what failed: that goes on in the background.
fn claim_in_time(bench: &Bench<'_>, count: usize) {
    let mut found = 0;
    for _ in 0..200 {
        found += bench.claim("b", 10).len();
        if found >= count {
            break;
        }
    }
    assert_eq!(found, count);
}
