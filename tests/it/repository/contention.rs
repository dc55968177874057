//! Several pools that write to one SQLite file at the same time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::servers::{Scratch, on_servers};

use super::bench::{APP, Bench, pools};
use super::erased::*;

/// Events of each producer.
const EVENTS: usize = 40;
const PRODUCERS: usize = 2;
const WORKERS: usize = 3;

/// Each event is handled by one worker, once, whoever waits for whom.
fn writers_wait_for_each_other(scratch: &mut Scratch) {
    let mut bench = Bench::new("wallet_outbox", scratch);
    let (server, url, repository) = (bench.server(), bench.scratch.url(), bench.repository);
    let handled = Mutex::new(BTreeMap::<String, usize>::new());
    let left = AtomicUsize::new(EVENTS * PRODUCERS);
    std::thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let url = &url;
            scope.spawn(move || {
                let _in_runtime = runtime().enter();
                let pools = pools(server, url, 1);
                for at in 0..EVENTS {
                    let mut transaction = pools.begin();
                    let business = producer * EVENTS + at;
                    // The first statement writes: one that has read before cannot always go on to write.
                    transaction.run(&format!("INSERT INTO business VALUES ({business})")).unwrap();
                    let event = Event::new(&format!("e{producer}-{at:02}"));
                    assert_eq!(repository.enqueue(&mut transaction, APP, &event).unwrap(), Enqueued::Inserted);
                    transaction.commit();
                }
            });
        }
        for worker in 0..WORKERS {
            let (url, handled, left) = (&url, &handled, &left);
            scope.spawn(move || {
                let _in_runtime = runtime().enter();
                let pools = pools(server, url, 1);
                let worker = format!("w{worker}");
                let options = ClaimOptions { limit: 7, ..ClaimOptions::new(&worker) };
                for _ in 0..2_000 {
                    let batch = repository.claim_driven(&pools, APP, &options, Drive::Through).unwrap().unwrap();
                    let mut link = pools.link();
                    for claimed in batch.ready {
                        repository.complete(&mut link, &claimed.lease).unwrap();
                        *handled.lock().unwrap().entry(claimed.lease.key.text.clone()).or_default() += 1;
                        left.fetch_sub(1, Ordering::SeqCst);
                    }
                    if left.load(Ordering::SeqCst) == 0 {
                        return;
                    }
                    drop(link);
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            });
        }
    });
    let handled = handled.into_inner().unwrap();
    assert_eq!(handled.len(), EVENTS * PRODUCERS);
    assert!(handled.values().all(|times| *times == 1), "{handled:?}");
    assert_eq!(bench.businesses(), EVENTS * PRODUCERS);
    assert_eq!(bench.in_state(&bench.finished_state()).len(), EVENTS * PRODUCERS);
}
on_servers!(writers_wait_for_each_other);
