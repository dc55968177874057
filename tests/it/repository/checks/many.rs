//! Many rows finished at once.

use super::super::bench::{APP, Bench, OTHER};
use super::super::erased::*;

fn leases(claimed: Vec<Claimed>) -> Vec<Lease> {
    claimed.into_iter().map(|claimed| claimed.lease).collect()
}

/// Rows of two scopes, where there are any.
pub fn each_lease_has_its_answer(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(5);
    let mut of_other = 0;
    if !bench.queue.scope.is_empty() {
        for id in ["E01", "o02"] {
            bench.repository.enqueue(&mut bench.link(), OTHER, &Event::new(id)).map(drop).unwrap();
        }
        of_other = 2;
    }
    let options = ClaimOptions::new("a");
    let first = leases(bench.claim("a", 3));
    let mut all = leases(bench.claim("a", 2));
    if of_other > 0 {
        let batch = bench.repository.claim_driven(&bench.pools, OTHER, &options, Drive::Through);
        all.extend(leases(batch.unwrap().unwrap().ready));
    }
    all.extend(first);
    assert_eq!(all.len(), 5 + of_other);
    // One of them is finished already.
    bench.finish(&mut bench.link(), &all[1]).unwrap();
    let answers = bench.repository.complete_many(&mut bench.link(), all).unwrap();
    let expected: Vec<Result<(), Lost>> =
        (0..5 + of_other).map(|at| if at == 1 { Err(Lost) } else { Ok(()) }).collect();
    assert_eq!(answers, expected);
    let done = bench.in_state(&bench.finished_state());
    assert_eq!(done.len(), ids.len() + of_other);
    assert_eq!(bench.repository.complete_many(&mut bench.link(), Vec::new()).unwrap(), []);
}

pub fn stale_leases_beside_good_ones(bench: &mut Bench<'_>) {
    bench.enqueue_all(4);
    let stale = leases(bench.claim("a", 3));
    for id in ["e01", "e02"] {
        bench.expire(id);
    }
    let current = bench.claim("b", 10);
    let of = |id: &str| current.iter().position(|claimed| bench.id(&claimed.row) == id).unwrap();
    let (first, second, fourth) = (of("e01"), of("e02"), of("e04"));
    let mut current: Vec<Option<Lease>> = current.into_iter().map(|claimed| Some(claimed.lease)).collect();
    let mut stale = stale.into_iter();
    // The old lease before the new one, the new one before the old one, one that is good, and a new one.
    let all = vec![
        stale.next().unwrap(),
        current[first].take().unwrap(),
        current[second].take().unwrap(),
        stale.next().unwrap(),
        stale.next().unwrap(),
        current[fourth].take().unwrap(),
    ];
    let answers = bench.repository.complete_many(&mut bench.link(), all).unwrap();
    assert_eq!(answers, [Err(Lost), Ok(()), Ok(()), Err(Lost), Ok(()), Ok(())]);
    assert_eq!(bench.in_state(&bench.finished_state()).len(), 4);
}

pub fn answers_are_undone_with_the_transaction(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(3);
    let claimed = leases(bench.claim("a", 10));
    let mut transaction = bench.begin();
    bench.business(&mut transaction, 1);
    assert_eq!(bench.repository.complete_many(&mut transaction, claimed).unwrap(), [Ok(()); 3]);
    transaction.rollback();
    assert_eq!((bench.in_state(&bench.held_state()), bench.businesses()), (ids, 0));
}

/// Keys go into statements of a few sizes, and into several where there are too many.
pub fn more_than_a_statement_takes(bench: &mut Bench<'_>) {
    for (at, count) in [3, 101, 1_001].into_iter().enumerate() {
        bench.clear();
        let events: Vec<Event> = (0..count).map(|n| Event::new(&format!("e{at}-{n:04}"))).collect();
        let done = bench.repository.enqueue_many(&mut bench.link(), APP, &events).unwrap();
        assert_eq!(done.inserted, count);
        let claimed = leases(bench.claim("a", 2_000));
        assert_eq!(claimed.len() as u64, count);
        let answers = bench.repository.complete_many(&mut bench.link(), claimed).unwrap();
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count() as u64, count);
        assert_eq!(bench.in_state(&bench.finished_state()).len() as u64, count);
    }
}
