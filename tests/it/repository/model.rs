//! A model of a queue, written from the contract, beside the generated functions on a real database: after every one of
//! many random steps both say the same.
//!
//! Time is a number of hours after the beginning, by which claims are told what time it is: 0 is the database's own clock.
//! What waits for some seconds waits for half an hour here, so that the time a test takes does not matter.

use std::collections::BTreeMap;

use crate::servers::{Scratch, on_servers};

use super::bench::{APP, Bench, ms, now};
use super::erased::*;

const HOUR: i64 = 3_600_000;

/// Steps of one run.
const STEPS: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Pending,
    Waiting,
    Held,
    /// As far as its worker can finish it.
    Finished,
    Consumed,
    Dead,
}

/// A row.
#[derive(Clone, Debug)]
struct Row {
    state: State,
    attempts: i64,
    most: i64,
    /// The half hour from which on it is due, or its lease has ended.
    from: i64,
    /// Which claim took it last.
    claim: u64,
    key: Option<Key>,
}

/// A lease that a worker still has, whether or not it is good for anything.
struct Holding {
    id: String,
    lease: Lease,
    claim: u64,
    attempt: i64,
}

/// Numbers that look random, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

struct Run<'b, 's> {
    bench: &'b mut Bench<'s>,
    random: Random,
    began: i64,
    rows: BTreeMap<String, Row>,
    holdings: Vec<Holding>,
    claims: u64,
    /// What was done, for who reads a failure.
    log: Vec<String>,
}

impl Run<'_, '_> {
    fn by_visibility(&self) -> bool {
        self.bench.queue.by_visibility()
    }

    fn fenced(&self) -> bool {
        self.bench.queue.fence().is_some()
    }

    fn leased(&self) -> bool {
        self.bench.queue.until.is_some()
    }

    /// The state of a row that failed.
    fn waiting(&self) -> State {
        match self.bench.queue.claim.status.retryable {
            Some(_) => State::Waiting,
            None => State::Pending,
        }
    }

    fn is_good(&self, holding: &Holding) -> bool {
        let row = &self.rows[&holding.id];
        match self.by_visibility() {
            true => row.state == State::Pending && row.attempts == holding.attempt,
            false => row.state == State::Held && (!self.fenced() || row.claim == holding.claim),
        }
    }

    /// Whether a claim at this hour finds the row.
    fn is_due(&self, row: &Row, hour: i64) -> bool {
        let timed = self.bench.queue.time().is_some();
        match row.state {
            State::Pending => !self.by_visibility() || row.from <= 2 * hour,
            State::Waiting => !timed || row.from <= 2 * hour,
            State::Held => self.leased() && row.from <= 2 * hour,
            _ => false,
        }
    }

    /// It would be its attempt after the last one.
    fn is_exhausted(&self, row: &Row) -> bool {
        (row.state == State::Held || self.by_visibility()) && row.attempts >= row.most
    }

    fn text(&self, state: State) -> String {
        let status = &self.bench.queue.claim.status;
        match state {
            State::Pending => status.pending.clone(),
            State::Waiting => self.bench.waiting_state(),
            State::Held => self.bench.held_state(),
            State::Finished => self.bench.finished_state(),
            State::Consumed => status.done.0[0].clone(),
            State::Dead => self.bench.dead_state(),
        }
    }

    fn row(&mut self, id: &str) -> &mut Row {
        self.rows.get_mut(id).unwrap()
    }

    /// Both say the same of each row.
    fn compare(&mut self) {
        let states: Vec<_> = self.rows.iter().map(|(id, row)| (id.clone(), self.text(row.state))).collect();
        assert_eq!(self.bench.states(), states);
        let count = self.bench.queue.count.unwrap();
        let attempts: Vec<_> = self.rows.iter().map(|(id, row)| (id.clone(), Some(row.attempts.to_string()))).collect();
        assert_eq!(self.bench.values(count), attempts);
    }

    fn enqueue(&mut self) {
        let id = format!("e{:02}", self.random.below(12));
        let expected = match self.rows.contains_key(&id) {
            true if self.bench.queue.claim.idempotency_key.is_empty() => return,
            true => Enqueued::Duplicate,
            false => Enqueued::Inserted,
        };
        self.log.push(format!("enqueue {id}: {expected:?}"));
        let enqueued = self.bench.repository.enqueue(&mut self.bench.link(), APP, &Event::new(&id)).unwrap();
        assert_eq!(enqueued, expected);
        let most = i64::from(self.bench.queue.default_attempts());
        let row = Row { state: State::Pending, attempts: 0, most, from: 0, claim: 0, key: None };
        self.rows.entry(id).or_insert(row);
    }

    fn claim(&mut self, hour: i64, limit: u32) {
        let start = [Branch::Pending, Branch::Retryable, Branch::Expired][self.random.below(3)];
        self.log.push(format!("claim {limit} at {hour} from {start:?}"));
        self.claims += 1;
        let clock = if hour == 0 { Clock::Db } else { Clock::At(self.began + hour * HOUR) };
        let batch = self.bench.claim_by(&ClaimOptions { limit, start, clock, ..ClaimOptions::new("w") });
        let due: Vec<String> =
            self.rows.iter().filter(|(_, row)| self.is_due(row, hour)).map(|(id, _)| id.clone()).collect();
        let found = batch.ready.len() + batch.exhausted.len();
        match due.len() < limit as usize {
            true => assert_eq!(found, due.len(), "{batch:?} of {due:?}"),
            false => assert!(batch.ready.len() <= limit as usize && found > 0, "{batch:?} of {due:?}"),
        }
        for key in batch.exhausted {
            let id = self.rows.iter().find(|(_, row)| row.key.as_ref() == Some(&key)).unwrap().0.clone();
            assert!(due.contains(&id) && self.is_exhausted(&self.rows[&id]), "{id}");
            self.row(&id).state = State::Dead;
        }
        for claimed in batch.ready {
            let id = self.bench.id(&claimed.row);
            assert!(due.contains(&id) && !self.is_exhausted(&self.rows[&id]), "{id}");
            let (claim, state) = (self.claims, if self.by_visibility() { State::Pending } else { State::Held });
            let row = self.row(&id);
            assert_eq!(claimed.attempt, Some(row.attempts + 1));
            assert_eq!(claimed.lease.is_last_attempt, row.attempts + 1 >= row.most);
            *row = Row {
                state,
                attempts: row.attempts + 1,
                from: 2 * hour + 1,
                claim,
                key: Some(claimed.lease.key.clone()),
                ..*row
            };
            let attempt = row.attempts;
            self.holdings.push(Holding { id, lease: claimed.lease, claim, attempt });
        }
    }

    /// What a worker does with one of its leases.
    fn work(&mut self) {
        if self.holdings.is_empty() {
            return;
        }
        let at = self.random.below(self.holdings.len());
        let what = self.random.below(5);
        let holding = self.holdings.swap_remove(at);
        let (good, id) = (self.is_good(&holding), holding.id.clone());
        self.log.push(format!("work {what} on {id}, which is held: {good}"));
        let (repository, link, lease) = (self.bench.repository, &mut self.bench.link(), &holding.lease);
        let done = match what {
            // The consumer was faster, whoever holds the lease.
            0 if self.rows[&id].state == State::Consumed => {
                assert_eq!(repository.mark_published(link, lease).unwrap(), Marked::AlreadyDone);
                return;
            }
            0 => self.bench.finish(link, lease),
            1 => repository.retry(link, lease, "it's broken").map(|retried| {
                assert_eq!(retried == Retried::Dead, lease.is_last_attempt);
            }),
            2 => repository.dead(link, lease, "never"),
            3 => repository.release(link, lease),
            _ if self.bench.has("extend") => repository.extend(link, lease, ms(30_000)),
            _ => return self.holdings.push(holding),
        };
        match done {
            Ok(()) => assert!(good),
            Err(FinishError::Lost) => assert!(!good),
            Err(error) => panic!("{error}"),
        }
        if !good {
            return;
        }
        let (waiting, counts_on, last) = (self.waiting(), self.by_visibility(), holding.lease.is_last_attempt);
        let row = self.row(&id);
        match what {
            0 => row.state = State::Finished,
            1 if !last => {
                (row.state, row.from) = (waiting, 1);
                self.wait_until_half_past(&id);
            }
            1 | 2 => row.state = State::Dead,
            3 => {
                (row.state, row.from) = (waiting, 0);
                row.attempts -= i64::from(!counts_on);
            }
            _ => {
                row.from = 1;
                self.holdings.push(holding);
            }
        }
    }

    /// A row that waits for some seconds waits for half an hour.
    fn wait_until_half_past(&mut self, id: &str) {
        if let Some(due) = self.bench.queue.time() {
            self.bench.set_time(id, due, self.began + HOUR / 2);
        }
    }

    fn pick(&mut self) -> Option<String> {
        let ids: Vec<String> = self.rows.keys().cloned().collect();
        (!ids.is_empty()).then(|| ids[self.random.below(ids.len())].clone())
    }

    /// Time passes for one row.
    fn expire(&mut self) {
        let Some(id) = self.pick() else { return };
        let state = self.rows[&id].state;
        self.log.push(format!("time passes for {id}"));
        match state {
            State::Held if self.leased() => self.bench.expire(&id),
            State::Waiting => self.bench.make_due(&id),
            State::Pending if self.by_visibility() => self.bench.make_due(&id),
            _ => return,
        }
        self.row(&id).from = 0;
    }

    /// A row has had all attempts but one or all of them.
    fn wear_out(&mut self) {
        let Some(id) = self.pick() else { return };
        let attempts = self.rows[&id].most - self.random.below(2) as i64;
        // A row that waits has an attempt left, or it would be dead.
        let open = matches!(self.rows[&id].state, State::Held)
            || self.by_visibility() && self.rows[&id].state == State::Pending;
        if open && self.rows[&id].key.is_some() {
            self.log.push(format!("{id} has had {attempts} attempts"));
            let count = self.bench.queue.count.unwrap();
            self.bench.set(&id, count, &attempts.to_string());
            self.row(&id).attempts = attempts;
        }
    }

    fn reap(&mut self) {
        if !self.bench.has("reap") {
            return;
        }
        let due: Vec<String> = self
            .rows
            .iter()
            .filter(|(_, row)| row.state == State::Held && row.from <= 0)
            .map(|(id, _)| id.clone())
            .collect();
        self.log.push(format!("reap {due:?}"));
        assert_eq!(self.bench.repository.reap(&self.bench.pools, APP, 100).unwrap().moved, due.len() as u64);
        let waiting = self.waiting();
        for id in due {
            let row = self.row(&id);
            row.state = if row.attempts >= row.most { State::Dead } else { waiting };
            row.from = 0;
        }
    }

    fn replay(&mut self) {
        let Some(id) = self.pick() else { return };
        let Some(key) = self.rows[&id].key.clone() else { return };
        let was_dead = self.rows[&id].state == State::Dead;
        self.log.push(format!("replay {id}: {was_dead}"));
        assert_eq!(self.bench.repository.replay(&mut self.bench.link(), &key).unwrap(), was_dead);
        let (fenced, most) =
            (self.bench.queue.attempts_are_the_fence(), i64::from(self.bench.queue.default_attempts()));
        let row = self.row(&id);
        if was_dead {
            (row.state, row.from) = (State::Pending, 0);
            row.attempts = if fenced { row.attempts + 1 } else { 0 };
            row.most = if fenced { row.attempts + most } else { most };
        }
    }

    /// What the consumer of a bus does.
    fn consume(&mut self) {
        let Some(id) = self.pick().filter(|_| self.bench.has("bus")) else { return };
        let Some(key) = self.rows[&id].key.clone() else { return };
        let (state, what) = (self.rows[&id].state, self.random.below(3));
        self.log.push(format!("consume {what} {id}"));
        let (repository, link) = (self.bench.repository, &mut self.bench.link());
        let done = match what {
            0 => repository.consume(link, &key).unwrap() == Consume::Fresh,
            1 => repository.retry_published(link, &key, 1, "it's broken").is_ok(),
            _ => repository.dead_published(link, &key, "never").is_ok(),
        };
        assert_eq!(done, state == State::Finished || what == 0 && state == State::Pending);
        let row = self.row(&id);
        match what {
            _ if !done => {}
            0 => row.state = State::Consumed,
            1 => {
                (row.state, row.from) = (State::Pending, 1);
                (row.attempts, row.most) = (row.attempts + 1, row.most + 1);
                self.wait_until_half_past(&id);
            }
            _ => row.state = State::Dead,
        }
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0 | 1 => self.enqueue(),
            2 => self.claim(0, 100),
            3 => self.claim(0, 2),
            4 => {
                let hour = self.random.below(4) as i64;
                self.claim(hour, 100);
            }
            5..=7 => self.work(),
            8 => self.expire(),
            9 => self.wear_out(),
            10 => self.replay(),
            _ if self.random.below(2) == 0 => self.reap(),
            _ => self.consume(),
        }
    }

    /// Every row that is not finished comes to a worker, sooner or later.
    fn drain(&mut self) {
        self.holdings.clear();
        let open = |run: &Self| {
            let open = |row: &&Row| {
                matches!(row.state, State::Pending | State::Waiting) || row.state == State::Held && run.leased()
            };
            run.rows.values().filter(open).count()
        };
        for round in 1..=40 {
            if open(self) == 0 {
                return;
            }
            self.claim(100 + round, 100);
            self.compare();
            for holding in std::mem::take(&mut self.holdings) {
                self.bench.finish(&mut self.bench.link(), &holding.lease).unwrap();
                self.row(&holding.id).state = State::Finished;
            }
        }
        panic!("{} rows come to nobody", open(self));
    }
}

/// One run of random steps.
fn run(bench: &mut Bench<'_>, seed: u64) {
    bench.clear();
    let began = now() / 1_000 * 1_000;
    let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut run = Run { bench, random, began, rows: BTreeMap::new(), holdings: Vec::new(), claims: 0, log: Vec::new() };
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for _ in 0..STEPS {
            run.step();
            run.compare();
        }
        run.drain();
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
