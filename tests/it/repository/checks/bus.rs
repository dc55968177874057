//! A bus: the broker between the worker and the consumer.

use std::time::Duration;

use super::super::bench::{APP, Bench, ms};
use super::super::erased::*;

fn published(bench: &mut Bench<'_>, id: &str) -> Claimed {
    bench.enqueue(id);
    let claimed = bench.claim_one("a");
    assert_eq!(bench.repository.mark_published(&mut bench.link(), &claimed.lease).unwrap(), Marked::Published);
    claimed
}

pub fn the_consumer_may_be_faster(bench: &mut Bench<'_>) {
    bench.enqueue("e01");
    let claimed = bench.claim_one("a");
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 1);
    assert_eq!(bench.repository.consume(&mut transaction, &claimed.lease.key).unwrap(), Consume::Fresh);
    transaction.commit();
    let link = &mut bench.link();
    assert_eq!(bench.repository.mark_published(link, &claimed.lease).unwrap(), Marked::AlreadyDone);
    assert_eq!(bench.repository.mark_published(link, &claimed.lease).unwrap(), Marked::AlreadyDone);
    assert!(matches!(bench.repository.retry(link, &claimed.lease, "late"), Err(FinishError::Lost)));
    assert_eq!(bench.state("e01"), bench.queue.claim.status.done.0[0]);
    // What was deleted meanwhile is lost.
    bench.clear();
    assert!(matches!(bench.repository.mark_published(link, &claimed.lease), Err(FinishError::Lost)));
}

pub fn a_message_is_consumed_once(bench: &mut Bench<'_>) {
    let key = published(bench, "e01").lease.key;
    let mut transaction = bench.begin();
    assert_eq!(bench.repository.consume(&mut transaction, &key).unwrap(), Consume::Fresh);
    transaction.rollback();
    let link = &mut bench.link();
    assert_eq!(bench.repository.consume(link, &key).unwrap(), Consume::Fresh);
    assert_eq!(bench.repository.consume(link, &key).unwrap(), Consume::Duplicate);
    assert!(matches!(bench.repository.retry_published(link, &key, 1, "late"), Err(FinishError::Lost)));
    assert!(matches!(bench.repository.dead_published(link, &key, "late"), Err(FinishError::Lost)));
    assert_eq!(bench.state("e01"), bench.queue.claim.status.done.0[0]);
}

pub fn failed_handlers_try_again(bench: &mut Bench<'_>) {
    let first = published(bench, "e01");
    let link = &mut bench.link();
    let key = &first.lease.key;
    let delay = bench.repository.retry_published(link, key, 1, "it's broken").unwrap();
    assert!((800..=1_000).contains(&delay.as_millis()), "{delay:?}");
    assert_eq!(bench.state("e01"), bench.pending_state());
    assert!(
        matches!(bench.repository.mark_published(link, &first.lease), Err(FinishError::Lost)),
        "it would hide the row"
    );
    bench.make_due("e01");
    let again = bench.claim_one("b");
    assert!(!again.lease.is_last_attempt);
    bench.repository.mark_published(link, &again.lease).unwrap();
    bench.repository.dead_published(link, key, "never").unwrap();
    assert_eq!(bench.state("e01"), bench.dead_state());
    assert_eq!(bench.repository.consume(link, key).unwrap(), Consume::Duplicate);
    let listed = bench.repository.list_dead(link, APP, 10).unwrap();
    assert_eq!(listed.rows[0]["last_error"], "never");
}

pub fn lost_messages_are_swept(bench: &mut Bench<'_>) {
    let first = published(bench, "e01").lease;
    published(bench, "e02");
    let at = bench.queue.published.unwrap();
    bench.set_time("e01", at, 1_000);
    let sweep = |bench: &Bench<'_>| bench.repository.sweep(&bench.pools, ms(60_000), 10).unwrap();
    assert_eq!(bench.repository.sweep(&bench.pools, Duration::MAX, 10).unwrap().moved, 0);
    assert_eq!(sweep(bench).moved, 1);
    assert_eq!(sweep(bench).moved, 0);
    assert_eq!(bench.in_state(&bench.pending_state()), ["e01"]);
    assert!(matches!(bench.repository.mark_published(&mut bench.link(), &first), Err(FinishError::Lost)));
    let again = bench.claim_one("b");
    bench.repository.mark_published(&mut bench.link(), &again.lease).unwrap();
}
