//! Who may finish a row.

use super::super::bench::{APP, Bench, ms, now};
use super::super::erased::*;
use crate::servers::Server;

fn is_lost<T>(answer: Result<T, FinishError>) -> bool {
    matches!(answer, Err(FinishError::Lost))
}

pub fn a_stale_worker_cannot_finish(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let stale = bench.claim_one("a");
    bench.expire("e01");
    // The same worker is another one when it claims again.
    let current = bench.claim_one("a");
    let handle = |bench: &Bench<'_>, lease: &Lease, business: u32| -> Finished {
        let mut transaction = bench.begin();
        bench.business(&mut transaction, business);
        let finished = bench.finish(&mut transaction, lease);
        match &finished {
            Ok(()) => transaction.commit(),
            Err(_) => transaction.rollback(),
        }
        finished
    };
    assert!(is_lost(handle(bench, &stale.lease, 1)));
    assert_eq!(bench.businesses(), 0);
    let link = &mut bench.link();
    assert!(is_lost(bench.repository.retry(link, &stale.lease, "late")));
    assert!(is_lost(bench.repository.dead(link, &stale.lease, "late")));
    assert!(is_lost(bench.repository.release(link, &stale.lease)));
    assert!(is_lost(bench.repository.extend(link, &stale.lease, ms(60_000))));
    assert_eq!((bench.state("e01"), bench.attempts("e01")), (bench.held_state(), 2));
    handle(bench, &current.lease, 2).unwrap();
    assert_eq!((bench.businesses(), bench.state("e01")), (1, bench.finished_state()));
    assert!(is_lost(bench.repository.retry(link, &current.lease, "late")));
}

pub fn an_unheld_row_cannot_be_finished(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let lease = bench.claim_one("a").lease;
    let link = &mut bench.link();
    bench.finish(link, &lease).unwrap();
    assert!(is_lost(bench.finish(link, &lease)));
    assert!(is_lost(bench.repository.retry(link, &lease, "late")));
    assert!(is_lost(bench.repository.dead(link, &lease, "late")));
    assert!(is_lost(bench.repository.release(link, &lease)));
    assert_eq!(bench.state("e01"), bench.finished_state());
}

pub fn an_extension_keeps_the_lease(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let options = ClaimOptions { lease: Some(ms(0)), ..ClaimOptions::new("a") };
    let lease = bench.claim_by(&options).ready.remove(0).lease;
    // Late, but before anybody else.
    bench.repository.extend(&mut bench.link(), &lease, ms(30_000)).unwrap();
    assert!(bench.claim("b", 10).is_empty());
    let until = bench.time("e01", bench.held_until());
    assert!((now() + 28_000..now() + 31_000).contains(&until), "{until}");
    bench.finish(&mut bench.link(), &lease).unwrap();
}

pub fn another_worker_takes_over(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(3);
    let crashed = bench.claim("a", 2);
    drop(crashed);
    ids[..2].iter().for_each(|id| bench.expire(id));
    let mut taken = bench.claim("b", 10);
    taken.sort_by_key(|claimed| bench.id(&claimed.row));
    assert_eq!(bench.ids(&taken), ids);
    let attempts: Vec<_> = taken.iter().map(|claimed| claimed.attempt).collect();
    assert_eq!(attempts, [Some(2), Some(2), Some(1)]);
    let expired = if bench.queue.by_visibility() { Branch::Pending } else { Branch::Expired };
    assert_eq!(taken.iter().map(|claimed| claimed.from).collect::<Vec<_>>(), [expired, expired, Branch::Pending]);
    taken.iter().for_each(|claimed| bench.finish(&mut bench.link(), &claimed.lease).unwrap());
}

pub fn a_crash_loop_ends(bench: &mut Bench<'_>) {
    let most = i64::from(bench.queue.default_attempts());
    bench.enqueue("e01");
    let mut last = None;
    for attempt in 1..=most {
        let claimed = bench.claim_one("a");
        assert_eq!(claimed.attempt, Some(attempt));
        assert_eq!(claimed.lease.is_last_attempt, attempt == most);
        bench.expire("e01");
        last = Some(claimed.lease);
    }
    bench.enqueue("e02");
    let batch = bench.claim_by(&ClaimOptions::new("b"));
    assert_eq!(bench.ids(&batch.ready), ["e02"]);
    assert_eq!(batch.exhausted, [last.as_ref().unwrap().key.clone()]);
    assert_eq!((bench.state("e01"), bench.attempts("e01")), (bench.dead_state(), most));
    assert!(is_lost(bench.finish(&mut bench.link(), &last.unwrap())));
    assert!(bench.claim_by(&ClaimOptions::new("b")).exhausted.is_empty());
}

pub fn releasing_gives_the_attempt_back(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let lease = bench.claim_one("a").lease;
    bench.repository.release(&mut bench.link(), &lease).unwrap();
    assert_eq!(bench.state("e01"), bench.waiting_state());
    // Where the attempts are the fence they cannot go back.
    let kept = i64::from(bench.queue.attempts_are_the_fence());
    assert_eq!(bench.attempts("e01"), kept);
    assert!(is_lost(bench.repository.release(&mut bench.link(), &lease)) || bench.queue.attempts_are_the_fence());
    let again = bench.claim_one("b");
    assert_eq!(again.attempt, Some(kept + 1));
    bench.finish(&mut bench.link(), &again.lease).unwrap();
}

/// The row that a worker held is dead, lives again, and is another's.
pub fn a_new_life_is_not_the_old_worker_s(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let stale = bench.claim_one("a");
    bench.expire("e01");
    let killer = bench.claim_one("b");
    let link = &mut bench.link();
    bench.repository.dead(link, &killer.lease, "never").unwrap();
    assert!(bench.repository.replay(link, &killer.lease.key).unwrap());
    assert!(!bench.repository.replay(link, &killer.lease.key).unwrap());
    let current = bench.claim_one("c");
    if !bench.queue.attempts_are_the_fence() {
        assert_eq!(current.attempt, Some(1));
    }
    for old in [&stale.lease, &killer.lease] {
        assert!(is_lost(bench.finish(link, old)));
        assert!(is_lost(bench.repository.retry(link, old, "late")));
        assert!(is_lost(bench.repository.dead(link, old, "late")));
        assert!(is_lost(bench.repository.release(link, old)));
        assert!(is_lost(bench.repository.extend(link, old, ms(1_000))));
    }
    bench.finish(link, &current.lease).unwrap();
    assert!(!bench.repository.replay(link, &current.lease.key).unwrap());
}

pub fn finishing_is_undone_with_the_transaction(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let lease = bench.claim_one("a").lease;
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 1);
    bench.finish(&mut transaction, &lease).unwrap();
    transaction.rollback();
    assert_eq!((bench.state("e01"), bench.businesses()), (bench.held_state(), 0));
    // And what a program drops is rolled back, too.
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 2);
    bench.finish(&mut transaction, &lease).unwrap();
    drop(transaction);
    bench.finish(&mut bench.link(), &lease).unwrap();
    assert_eq!((bench.state("e01"), bench.businesses()), (bench.finished_state(), 0));
}

pub fn silent_workers_are_reaped(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(4);
    let claimed = bench.claim("a", 3);
    bench.expire("e01");
    bench.expire("e02");
    let most = bench.queue.default_attempts().to_string();
    bench.set("e02", bench.queue.count.unwrap(), &most);
    let reap = |bench: &Bench<'_>, limit| bench.repository.reap(&bench.pools, APP, limit).unwrap();
    let batch = reap(bench, 1);
    assert_eq!((batch.moved, batch.more), (1, true));
    let batch = reap(bench, 10);
    assert_eq!((batch.moved, batch.more), (1, false));
    assert_eq!(reap(bench, 10).moved, 0);
    let states: Vec<String> = ids.iter().map(|id| bench.state(id)).collect();
    assert_eq!(states, [bench.waiting_state(), bench.dead_state(), bench.held_state(), bench.pending_state()]);
    for lease in claimed.iter().take(2).map(|claimed| &claimed.lease) {
        assert!(is_lost(bench.finish(&mut bench.link(), lease)));
    }
    let mut next = bench.claim("b", 10);
    next.sort_by_key(|claimed| bench.id(&claimed.row));
    assert_eq!((bench.ids(&next), next[0].attempt), (vec!["e01".to_owned(), "e04".to_owned()], Some(2)));
}

pub fn the_only_worker_recovers_its_rows(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(4);
    bench.claim("a", 3);
    let most = bench.queue.default_attempts().to_string();
    bench.set("e02", bench.queue.count.unwrap(), &most);
    let recover = |bench: &Bench<'_>, limit| bench.repository.recover(&bench.pools, APP, limit).unwrap();
    let batch = recover(bench, 2);
    assert_eq!((batch.moved, batch.more), (2, true));
    let batch = recover(bench, 2);
    assert_eq!((batch.moved, batch.more), (1, false));
    assert_eq!(recover(bench, 2).moved, 0);
    let states: Vec<String> = ids.iter().map(|id| bench.state(id)).collect();
    assert_eq!(states, [bench.waiting_state(), bench.dead_state(), bench.waiting_state(), bench.pending_state()]);
    // The crash has counted as an attempt, so that a row that ends each worker is dead one day.
    let mut next = bench.claim("b", 10);
    next.sort_by_key(|claimed| bench.id(&claimed.row));
    assert_eq!((bench.ids(&next), next[0].attempt), (["e01", "e03", "e04"].map(str::to_owned).to_vec(), Some(2)));
    if !bench.queue.scope.is_empty() {
        assert_eq!(bench.repository.recover(&bench.pools, "another", 10).unwrap().moved, 0);
    }
}

/// Two workers that finish the same rows in another order: the database gives one of them up.
pub fn who_is_given_up_may_try_again(bench: &mut Bench<'_>) {
    bench.enqueue_all(2);
    let leases: Vec<Lease> = bench.claim("a", 10).into_iter().map(|claimed| claimed.lease).collect();
    if bench.server() == Server::Sqlite {
        return busy_is_tried_again(bench, &leases[0]);
    }
    let (repository, pools) = (bench.repository, &bench.pools);
    let barrier = std::sync::Barrier::new(2);
    let finish = |first: &Lease, second: &Lease| {
        let _in_runtime = runtime().enter();
        let mut transaction = pools.begin();
        if matches!(pools, Pools::Postgres(_)) {
            transaction.run("SET deadlock_timeout = '5ms'").unwrap();
        }
        repository.complete(&mut transaction, first).unwrap();
        barrier.wait();
        let done = repository.complete(&mut transaction, second);
        match &done {
            Ok(()) => transaction.commit(),
            Err(_) => transaction.rollback(),
        }
        done
    };
    let done = std::thread::scope(|scope| {
        let other = scope.spawn(|| finish(&leases[1], &leases[0]));
        [finish(&leases[0], &leases[1]), other.join().unwrap()]
    });
    let [given_up] = &*done.iter().filter_map(|done| done.as_ref().err()).collect::<Vec<_>>() else {
        panic!("{done:?}")
    };
    assert!(given_up.is_retryable(), "{given_up:?}");
    assert_eq!(bench.in_state(&bench.finished_state()).len(), 2);
}

/// A writer that does not wait is told so.
fn busy_is_tried_again(bench: &mut Bench<'_>, lease: &Lease) {
    let mut other = bench.begin();
    bench.business(&mut other, 1);
    let mut link = bench.link();
    link.run("PRAGMA busy_timeout = 1").unwrap();
    let error = bench.finish(&mut link, lease).unwrap_err();
    assert!(error.is_retryable(), "{error:?}");
    let error = bench.repository.enqueue(&mut link, APP, &Event::new("e03")).unwrap_err();
    assert!(error.is_retryable() && !error.is_unique_violation(), "{error:?}");
    other.rollback();
    bench.finish(&mut link, lease).unwrap();
    link.run("PRAGMA busy_timeout = 5000").unwrap();
}
