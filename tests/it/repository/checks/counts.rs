//! What the metrics say.

use super::super::bench::{APP, Bench, OTHER};
use super::super::erased::*;

/// Every field of the metrics, on rows of every kind.
pub fn metrics_are_right(bench: &mut Bench<'_>) {
    let empty = bench.repository.metrics(&mut bench.link(), APP, 100).unwrap();
    let zero =
        |(name, value): (&String, &String)| if name.starts_with("oldest") { value == "None" } else { value == "0" };
    assert!(empty.iter().all(zero), "{empty:?}");
    let status = &bench.queue.claim.status;
    let (retryable, running, published) = (status.retryable.clone(), status.running.clone(), status.published.clone());
    bench.enqueue_all(20);
    let oldest = bench.queue.order.or(bench.queue.time()).unwrap();
    bench.set_time("e02", oldest, 1_500_000_000_000);
    let mut expected = vec![("dead".to_owned(), 2)];
    if bench.queue.is_seed() {
        // A pending row with a retry time is in no branch's part of the seed's index.
        bench.set_time("e03", bench.queue.retry_at.unwrap(), 1_000);
        expected.push((format!("stranded_{}", bench.pending_state()), 1));
    }
    let set = |bench: &mut Bench<'_>, ids: &[&str], state: &str| {
        ids.iter().for_each(|id| bench.set(id, bench.queue.status, state));
        ids.len()
    };
    let dead = bench.dead_state();
    let mut taken = set(bench, &["e19", "e20"], &dead);
    let done = status.done.0[0].clone();
    taken += set(bench, &["e18"], &done);
    if let Some(state) = retryable {
        taken += set(bench, &["e15", "e16", "e17"], &state);
        bench.make_due("e15");
        bench.make_due("e16");
        bench.set_time("e17", bench.queue.retry_at.unwrap(), 4_000_000_000_000);
        expected.extend([(state, 3), ("due_retries".to_owned(), 2)]);
    }
    if let Some(state) = running {
        taken += set(bench, &["e11", "e12", "e13", "e14"], &state);
        if let Some(until) = bench.queue.until {
            for (id, at) in
                [("e11", 1_000), ("e12", 4_000_000_000_000), ("e13", 4_000_000_000_000), ("e14", 4_000_000_000_000)]
            {
                bench.set_time(id, until, at);
            }
            expected.push(("expired".to_owned(), 1));
        }
        expected.push((state, 4));
    }
    if let Some(state) = published {
        taken += set(bench, &["e07", "e08", "e09"], &state);
        bench.set_time("e07", bench.queue.published.unwrap(), 1_000);
        expected.extend([(format!("stranded_{state}"), 2), (state, 3)]);
    }
    expected.push((bench.pending_state(), 20 - taken));
    if !bench.queue.scope.is_empty() {
        _ = bench.repository.enqueue(&mut bench.link(), OTHER, &Event::new("o01")).unwrap();
    }
    for cap in [100, 2] {
        let mut metrics = bench.repository.metrics(&mut bench.link(), APP, cap).unwrap();
        let oldest: Vec<String> = metrics.keys().filter(|name| name.starts_with("oldest")).cloned().collect();
        let oldest: Vec<String> = oldest.iter().map(|name| metrics.remove(name).unwrap()).collect();
        assert_eq!(oldest.len(), 1);
        assert!(oldest[0].contains("1500000000000") || oldest[0].contains("2017-07-14T02:40:00Z"), "{oldest:?}");
        let capped = |(name, count): &(String, usize)| (name.clone(), (*count).min(cap as usize).to_string());
        assert_eq!(metrics, expected.iter().map(capped).collect());
    }
}
