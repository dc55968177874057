//! Many random steps with many rows. A run that fails names its seed.

use crate::servers::{Scratch, on_servers};

use super::super::bench::now;
use super::*;

/// Steps of one run.
const STEPS: usize = 60;

/// Numbers that look random, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn row(&mut self, run: &Run<'_, '_>) -> Option<String> {
        let ids: Vec<&String> = run.rows.keys().collect();
        (!ids.is_empty()).then(|| self.one_of(&ids).clone())
    }

    fn claim(&mut self, run: &mut Run<'_, '_>, hour: i64, limit: u32) {
        let start = self.one_of(&[Branch::Pending, Branch::Retryable, Branch::Expired]);
        run.claim("w", hour, limit, start);
    }

    fn step(&mut self, run: &mut Run<'_, '_>) {
        let what = self.below(12);
        match what {
            0 | 1 => return run.enqueue(&format!("e{:02}", self.below(12))),
            2 => return self.claim(run, 0, 100),
            3 => return self.claim(run, 0, 2),
            4 => {
                let hour = self.below(4) as i64;
                return self.claim(run, hour, 100);
            }
            5..=7 if run.holdings.is_empty() => return,
            5..=7 => return run.work(self.below(run.holdings.len()), self.one_of(&Work::ALL)),
            8..=10 => {}
            _ if self.below(2) == 0 => return run.reap(),
            _ => {}
        }
        let Some(id) = self.row(run) else { return };
        match what {
            8 => run.expire(&id),
            9 => run.wear_out(&id, self.below(2) as i64),
            10 => run.replay(&id),
            _ => run.consume(&id, self.one_of(&Consumed::ALL)),
        }
    }

    /// Every row that is not finished comes to a worker, sooner or later.
    fn drain(&mut self, run: &mut Run<'_, '_>) {
        run.holdings.clear();
        let open = |run: &Run<'_, '_>| {
            let open = |row: &&Row| {
                matches!(row.state, State::Pending | State::Waiting) || row.state == State::Held && run.leased()
            };
            run.rows.values().filter(open).count()
        };
        for round in 1..=40 {
            if open(run) == 0 {
                return;
            }
            self.claim(run, 100 + round, 100);
            run.compare();
            for holding in std::mem::take(&mut run.holdings) {
                run.bench.finish(&mut run.bench.link(), &holding.lease).unwrap();
                run.row(&holding.id).state = State::Finished;
            }
        }
        panic!("{} rows come to nobody", open(run));
    }
}

/// One run of random steps.
fn run(bench: &mut Bench<'_>, seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut run = Run::new(bench);
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for _ in 0..STEPS {
            random.step(&mut run);
            run.compare();
        }
        random.drain(&mut run);
        run.compare();
    }));
    assert!(done.is_ok(), "seed {seed}:\n{}", run.log.join("\n"));
}

/// Many runs with the same numbers always, and one with others each time.
fn runs(table: &str, scratch: &mut Scratch) {
    let mut bench = Bench::new(table, scratch);
    let fresh = now() as u64;
    for seed in (1..=40).chain([fresh]) {
        run(&mut bench, seed);
    }
}

fn a_queue_with_tokens(scratch: &mut Scratch) {
    runs("wallet_outbox", scratch);
}
on_servers!(a_queue_with_tokens: sqlite);

fn a_queue_with_numbered_claims(scratch: &mut Scratch) {
    runs("seq_outbox", scratch);
}
on_servers!(a_queue_with_numbered_claims: sqlite);

fn a_bus_by_visibility(scratch: &mut Scratch) {
    runs("agent_outbox_messages", scratch);
}
on_servers!(a_bus_by_visibility: sqlite);

fn a_queue_without_leases(scratch: &mut Scratch) {
    runs("_System_IntegrationInbound", scratch);
}
on_servers!(a_queue_without_leases: sqlite);
