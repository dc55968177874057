//! A model of a queue, written from the contract, beside the generated functions on a real database: after every step both
//! say the same. [`random`] takes many steps with many rows, [`exhaustive`] every step from everything that one row can be.
//!
//! Time is a number of hours after the beginning, by which claims are told what time it is: 0 is the database's own clock.
//! What waits for some seconds waits for half an hour here, so that the time a test takes does not matter.

mod exhaustive;
mod random;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::bench::{APP, Bench, ms};
use super::erased::*;

const HOUR: i64 = 3_600_000;

/// How long a row is held: until half past the hour of the claim.
const LEASE_MS: u64 = 1_800_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
#[derive(Clone)]
struct Holding {
    worker: &'static str,
    id: String,
    lease: Rc<Lease>,
    claim: u64,
    attempt: i64,
}

/// What a worker does with a lease.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    Finish,
    Retry,
    Dead,
    Release,
    Extend,
}

impl Work {
    const ALL: [Work; 5] = [Work::Finish, Work::Retry, Work::Dead, Work::Release, Work::Extend];
}

/// What the consumer of a bus does with a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Consumed {
    Done,
    Retried,
    GivenUp,
}

impl Consumed {
    const ALL: [Consumed; 3] = [Consumed::Done, Consumed::Retried, Consumed::GivenUp];
}

/// The model, and the database that it is compared with.
struct Run<'b, 's> {
    bench: &'b mut Bench<'s>,
    began: i64,
    rows: BTreeMap<String, Row>,
    holdings: Vec<Holding>,
    claims: u64,
    /// What was done, for who reads a failure.
    log: Vec<String>,
}

impl<'b, 's> Run<'b, 's> {
    /// An empty table.
    fn new(bench: &'b mut Bench<'s>) -> Run<'b, 's> {
        bench.clear();
        let began = super::bench::now() / 1_000 * 1_000;
        Run { bench, began, rows: BTreeMap::new(), holdings: Vec::new(), claims: 0, log: Vec::new() }
    }

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

    fn enqueue(&mut self, id: &str) {
        let expected = match self.rows.contains_key(id) {
            true if self.bench.queue.claim.idempotency_key.is_empty() => return,
            true => Enqueued::Duplicate,
            false => Enqueued::Inserted,
        };
        self.log.push(format!("enqueue {id}: {expected:?}"));
        let enqueued = self.bench.repository.enqueue(&mut self.bench.link(), APP, &Event::new(id)).unwrap();
        assert_eq!(enqueued, expected);
        let most = i64::from(self.bench.queue.default_attempts());
        let row = Row { state: State::Pending, attempts: 0, most, from: 0, claim: 0, key: None };
        self.rows.entry(id.to_owned()).or_insert(row);
    }

    fn claim(&mut self, worker: &'static str, hour: i64, limit: u32, start: Branch) {
        self.log.push(format!("{worker} claims {limit} at {hour} from {start:?}"));
        self.claims += 1;
        let clock = if hour == 0 { Clock::Db } else { Clock::At(self.began + hour * HOUR) };
        let lease = Some(ms(LEASE_MS));
        let batch = self.bench.claim_by(&ClaimOptions { limit, lease, start, clock, ..ClaimOptions::new(worker) });
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
            self.holdings.push(Holding { worker, id, lease: Rc::new(claimed.lease), claim, attempt });
        }
    }

    /// What a worker does with one of its leases, which it has no longer then, unless it extends it.
    fn work(&mut self, at: usize, what: Work) {
        if what == Work::Extend && !self.bench.has("extend") {
            return;
        }
        let holding = self.holdings.swap_remove(at);
        let (good, id) = (self.is_good(&holding), holding.id.clone());
        self.log.push(format!("{}: {what:?} on {id}, which is held: {good}", holding.worker));
        let (repository, link, lease) = (self.bench.repository, &mut self.bench.link(), &holding.lease);
        let done = match what {
            // The consumer was faster, whoever holds the lease.
            Work::Finish if self.rows[&id].state == State::Consumed => {
                assert_eq!(repository.mark_published(link, lease).unwrap(), Marked::AlreadyDone);
                return;
            }
            Work::Finish => self.bench.finish(link, lease),
            Work::Retry => repository.retry(link, lease, "it's broken").map(|retried| {
                assert_eq!(retried == Retried::Dead, lease.is_last_attempt);
            }),
            Work::Dead => repository.dead(link, lease, "never"),
            Work::Release => repository.release(link, lease),
            Work::Extend => repository.extend(link, lease, ms(LEASE_MS)),
        };
        match done {
            Ok(()) => assert!(good, "a lease that is lost was good for {what:?}"),
            Err(FinishError::Lost) => assert!(!good, "a good lease was lost"),
            Err(error) => panic!("{error}"),
        }
        if !good {
            return;
        }
        let (waiting, counts_on, last) = (self.waiting(), self.by_visibility(), holding.lease.is_last_attempt);
        let row = self.row(&id);
        match what {
            Work::Finish => row.state = State::Finished,
            Work::Retry if !last => {
                (row.state, row.from) = (waiting, 1);
                self.wait_until_half_past(&id);
            }
            Work::Retry | Work::Dead => row.state = State::Dead,
            Work::Release => {
                (row.state, row.from) = (waiting, 0);
                row.attempts -= i64::from(!counts_on);
            }
            Work::Extend => {
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

    /// Time passes for one row.
    fn expire(&mut self, id: &str) {
        self.log.push(format!("time passes for {id}"));
        match self.rows[id].state {
            State::Held if self.leased() => self.bench.expire(id),
            State::Waiting => self.bench.make_due(id),
            State::Pending if self.by_visibility() => self.bench.make_due(id),
            _ => return,
        }
        self.row(id).from = 0;
    }

    /// A row has had all attempts but so many.
    fn wear_out(&mut self, id: &str, left: i64) {
        let attempts = self.rows[id].most - left;
        // A row that waits has an attempt left, or it would be dead.
        let open =
            matches!(self.rows[id].state, State::Held) || self.by_visibility() && self.rows[id].state == State::Pending;
        if open && self.rows[id].key.is_some() {
            self.log.push(format!("{id} has had {attempts} attempts"));
            let count = self.bench.queue.count.unwrap();
            self.bench.set(id, count, &attempts.to_string());
            self.row(id).attempts = attempts;
        }
    }

    /// Silent workers' rows go back; where no lease says who is silent, those of all workers.
    fn reap(&mut self) {
        let recovers = self.bench.has("recover");
        if !self.bench.has("reap") && !recovers {
            return;
        }
        let due: Vec<String> = self
            .rows
            .iter()
            .filter(|(_, row)| row.state == State::Held && (recovers || row.from <= 0))
            .map(|(id, _)| id.clone())
            .collect();
        self.log.push(format!("{} {due:?}", if recovers { "recover" } else { "reap" }));
        let (repository, pools) = (self.bench.repository, &self.bench.pools);
        let batch = if recovers { repository.recover(pools, APP, 100) } else { repository.reap(pools, APP, 100) };
        assert_eq!(batch.unwrap().moved, due.len() as u64);
        let waiting = self.waiting();
        for id in due {
            let row = self.row(&id);
            row.state = if row.attempts >= row.most { State::Dead } else { waiting };
            row.from = 0;
        }
    }

    fn replay(&mut self, id: &str) {
        let Some(key) = self.rows[id].key.clone() else { return };
        let was_dead = self.rows[id].state == State::Dead;
        self.log.push(format!("replay {id}: {was_dead}"));
        assert_eq!(self.bench.repository.replay(&mut self.bench.link(), &key).unwrap(), was_dead);
        let (fenced, most) =
            (self.bench.queue.attempts_are_the_fence(), i64::from(self.bench.queue.default_attempts()));
        let row = self.row(id);
        if was_dead {
            (row.state, row.from) = (State::Pending, 0);
            row.attempts = if fenced { row.attempts + 1 } else { 0 };
            row.most = if fenced { row.attempts + most } else { most };
        }
    }

    fn consume(&mut self, id: &str, what: Consumed) {
        let Some(key) = self.rows[id].key.clone().filter(|_| self.bench.has("bus")) else { return };
        let state = self.rows[id].state;
        self.log.push(format!("consumer: {what:?} {id}"));
        let (repository, link) = (self.bench.repository, &mut self.bench.link());
        let done = match what {
            Consumed::Done => repository.consume(link, &key).unwrap() == Consume::Fresh,
            Consumed::Retried => repository.retry_published(link, &key, 1, "it's broken").is_ok(),
            Consumed::GivenUp => repository.dead_published(link, &key, "never").is_ok(),
        };
        assert_eq!(done, matches!(state, State::Finished | State::Pending));
        let row = self.row(id);
        match what {
            _ if !done => {}
            Consumed::Done => row.state = State::Consumed,
            Consumed::Retried => {
                (row.state, row.from) = (State::Pending, 1);
                (row.attempts, row.most) = (row.attempts + 1, row.most + 1);
                self.wait_until_half_past(id);
            }
            Consumed::GivenUp => row.state = State::Dead,
        }
    }
}
