//! What each statement should do, by its name and the roles of the columns: written from the contract, not from the SQL.

use crate::servers::Row;

use super::matrix::{HOLDER, LANES, OLD, scopes};
use super::queue::Queue;
use super::time::{NOON, SECOND};

/// The values of the parameters.
pub const DELAY: i64 = 90_000;
pub const LEASE: i64 = 30_000;
pub const ERROR: &str = "it's broken";
pub const TOKEN: &str = "token-0123456789abcdefghi/other";

/// What a claim is by the branch in its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    Pending,
    Retryable,
    Expired,
}

/// A claim's branch, and whether it keeps to a lane.
pub fn branch(queue: &Queue<'_>, name: &str) -> Option<(Branch, bool)> {
    let name = name.strip_prefix("claim_")?;
    let lane = queue.lane.map(|lane| format!("_by_{}", queue.table.columns[lane].name)).unwrap_or("-".to_owned());
    let (name, in_lane) = name.strip_suffix(&lane).map_or((name, false), |name| (name, true));
    let branch = match name {
        "pending" => Branch::Pending,
        "retryable" => Branch::Retryable,
        "expired" => Branch::Expired,
        other => panic!("an unknown branch: {other}"),
    };
    Some((branch, in_lane))
}

/// A change of one row.
pub struct Change<'q, 'a> {
    queue: &'q Queue<'a>,
    row: Row,
    now: i64,
}

impl<'q, 'a> Change<'q, 'a> {
    pub fn of(queue: &'q Queue<'a>, row: &Row) -> Self {
        let change = Change { queue, row: row.clone(), now: NOON };
        // Every change of a row says when it was.
        change.time(queue.updated, 0)
    }

    fn set(mut self, column: Option<usize>, value: Option<String>) -> Self {
        if let Some(column) = column {
            self.row[column] = value;
        }
        self
    }

    fn time(self, column: Option<usize>, after: i64) -> Self {
        let value = column.and_then(|column| self.queue.at(column, self.now + after));
        self.set(column, value)
    }

    fn never(self, column: Option<usize>) -> Self {
        let value = column.and_then(|column| self.queue.never(column));
        self.set(column, value)
    }

    fn add(self, column: Option<usize>, number: i64) -> Self {
        let value = column.map(|column| (self.queue.number(column, &self.row) + number).to_string());
        self.set(column, value)
    }

    fn status(self, state: &str) -> Self {
        let status = self.queue.status;
        self.set(Some(status), Some(state.to_owned()))
    }

    fn released(self) -> Self {
        let by = self.queue.by;
        let nobody = by.filter(|by| !self.queue.table.columns[*by].nullable).map(|_| String::new());
        let until = self.queue.until;
        self.never(until).set(by, nobody)
    }

    fn finished(self, state: &str) -> Self {
        let finished = self.queue.finished;
        self.status(state).released().time(finished, 0)
    }

    pub fn taken(self) -> Row {
        let queue = self.queue;
        let visible = queue.time().filter(|_| queue.by_visibility());
        let state = queue.held_state().unwrap();
        let change = self.status(state).time(queue.until, LEASE).time(visible, LEASE);
        change.set(queue.by, Some(TOKEN.to_owned())).add(queue.seq, 1).add(queue.count, 1).row
    }

    pub fn exhausted(self) -> Row {
        let dead = self.queue.claim.status.dead.clone().unwrap();
        self.finished(&dead).row
    }

    pub fn reaped(self) -> Row {
        let (time, waiting) = (self.queue.time(), self.queue.waiting());
        self.status(waiting).time(time, 0).released().row
    }

    fn pending(self) -> Self {
        let queue = self.queue;
        let pending = &queue.claim.status.pending;
        let now = queue.retry_at.filter(|_| queue.pending_is_timed());
        self.status(pending).released().never(queue.retry_at).time(now, 0).time(queue.due, 0)
    }

    /// The worker of before knows the old count, where that is the fence; and no attempt is lost by it where that is possible.
    fn fenced_off(self) -> Self {
        let (count, max) = (self.queue.count, self.queue.max);
        match self.queue.attempts_are_the_fence() {
            true => self.add(count, 1).add(max, 1),
            false => self,
        }
    }

    fn new_life(self) -> Self {
        let (queue, row) = (self.queue, self.row.clone());
        let change = self.pending().never(queue.finished);
        match queue.max.filter(|_| queue.attempts_are_the_fence()) {
            Some(max) => {
                let attempts = queue.number(queue.count.unwrap(), &row) + 1;
                let most = attempts + i64::from(queue.default_attempts());
                change.add(queue.count, 1).set(Some(max), Some(most.to_string()))
            }
            None => change.set(queue.count, Some("0".to_owned())),
        }
    }

    pub fn republished(self) -> Row {
        self.new_life().row
    }

    /// Published for nothing: the row loses no attempt where that is possible, and who has published it is fenced off.
    fn untried(self) -> Self {
        let (count, max) = (self.queue.count, self.queue.max);
        if self.queue.attempts_are_the_fence() {
            return self.add(count, 1).add(max, 2);
        }
        let tried = count.filter(|count| self.queue.number(*count, &self.row) > 0);
        self.add(tried, -1)
    }

    pub fn swept(self) -> Row {
        self.pending().untried().row
    }
}

/// The row after a transition of one row; `None` where it does not apply. `fenced` says whether the fence is right.
pub fn transition(queue: &Queue<'_>, name: &str, row: &Row, fence_is_right: bool) -> Option<Row> {
    let status = &queue.claim.status;
    let held = queue.held_state() == row[queue.status].as_deref();
    let mine = fence_is_right || queue.fence().is_none();
    let change = Change::of(queue, row);
    let done = status.done.0.first().unwrap();
    let (applies, change) = match name {
        "complete" => (held && mine, change.finished(done)),
        "retry" => {
            let change = change.status(queue.waiting()).time(queue.time(), DELAY).released();
            (held && mine, change.set(queue.error, Some(ERROR.to_owned())))
        }
        "dead" => {
            (held && mine, change.finished(status.dead.as_ref().unwrap()).set(queue.error, Some(ERROR.to_owned())))
        }
        "extend" => (held && mine, change.time(queue.until.or(queue.time()), LEASE)),
        "release" => {
            let change = change.status(queue.waiting()).time(queue.time(), 0).released();
            // Where the attempts are the fence, they never go back.
            let given_back = queue.count.filter(|_| !queue.attempts_are_the_fence());
            (held && mine, change.add(given_back, -1))
        }
        "postpone" => {
            let change = change.status(queue.waiting()).time(queue.time(), DELAY).released();
            let is_fence = queue.attempts_are_the_fence();
            // Either way the row loses no attempt.
            let given_back = queue.count.filter(|_| !is_fence);
            (held && mine, change.add(given_back, -1).add(queue.max.filter(|_| is_fence), 1))
        }
        "mark_published" => {
            let change = change.status(status.published.as_ref().unwrap()).time(queue.published, 0);
            (queue.is_waiting(row) && mine, change)
        }
        "retry_published" => {
            let change = change.status(queue.waiting()).time(queue.time(), DELAY).fenced_off();
            let change = change.set(queue.error, Some(ERROR.to_owned()));
            (queue.is_waiting(row) || queue.is(row, status.published.as_ref()), change.released())
        }
        "postpone_published" | "postpone_early" => {
            let change = change.status(queue.waiting()).time(queue.time(), DELAY).released().untried();
            let is_old = queue.published.is_none_or(|at| queue.read(at, row).is_some_and(|at| at <= CUTOFF));
            let is_published = queue.is(row, status.published.as_ref());
            let applies =
                if name == "postpone_early" { is_published || queue.is_waiting(row) } else { is_published && is_old };
            (applies, change)
        }
        "dead_published" => {
            let change = change.finished(status.dead.as_ref().unwrap()).set(queue.error, Some(ERROR.to_owned()));
            (queue.is_waiting(row) || queue.is(row, status.published.as_ref()), change)
        }
        "consume" => (queue.is_waiting(row) || queue.is(row, status.published.as_ref()), change.finished(done)),
        "replay" => {
            let change = change.new_life();
            (queue.is(row, status.dead.as_ref()), change)
        }
        other => panic!("an unknown transition: {other}"),
    };
    applies.then_some(change.row)
}

/// The fence that the holder of the row has.
pub fn fence_of(queue: &Queue<'_>, row: &Row) -> Option<String> {
    let (column, parameter) = queue.fence()?;
    if parameter == "token" { Some(HOLDER.to_owned()) } else { row[column].clone() }
}

/// Whether a row is in the first scope, and in the first lane where that is asked for.
pub fn asked_for(queue: &Queue<'_>, row: &Row, scope: &[usize], in_lane: bool) -> bool {
    let first = &scopes(queue.scope.len().max(scope.len()))[0];
    scope.iter().zip(first).all(|(column, value)| row[*column].as_ref() == Some(value))
        && (!in_lane || queue.lane.is_none_or(|lane| row[lane].as_deref() == Some(LANES[0])))
}

/// The rows that have the same message key as this one and wait for a worker or are held by one, in their order.
pub fn unfinished<'r>(queue: &Queue<'_>, of: &Row, rows: &'r [Row], with_published: bool) -> Vec<&'r Row> {
    let key = queue.table.publish.as_ref().and_then(|publish| publish.key.as_ref()).unwrap();
    let key = queue.table.position(key).unwrap();
    let is_published = |row: &Row| with_published && queue.is(row, queue.claim.status.published.as_ref());
    let is_running = |row: &Row| queue.is(row, queue.claim.status.running.as_ref());
    let is_open = |row: &Row| queue.is_waiting(row) || is_running(row) || is_published(row);
    let same = |row: &&Row| queue.scope.iter().chain([&key]).all(|column| row[*column] == of[*column]);
    sorted(queue, rows.iter().filter(|row| is_open(row)).filter(same), &[queue.order])
}

/// What orders rows by the given columns and then by key.
fn place(queue: &Queue<'_>, row: &Row, by: &[Option<usize>]) -> Vec<(i64, Option<String>)> {
    let numeric = |column: usize| match &queue.table.columns[column].ty {
        claimsmith::schema::ColumnType::Int { .. } => (queue.number(column, row), None),
        ty if ty.is_time() => (queue.read(column, row).unwrap_or(i64::MIN), None),
        _ => (0, row[column].clone()),
    };
    by.iter().flatten().chain(&queue.table.primary_key).map(|column| numeric(*column)).collect()
}

/// Rows by the given columns and then by key.
fn sorted<'r>(queue: &Queue<'_>, rows: impl Iterator<Item = &'r Row>, by: &[Option<usize>]) -> Vec<&'r Row> {
    let mut rows: Vec<&Row> = rows.collect();
    rows.sort_by_cached_key(|row| place(queue, row, by));
    rows
}

/// The column that orders the open rows of an event bus.
fn open_by(queue: &Queue<'_>, state: Option<&String>) -> Option<usize> {
    if state == queue.claim.status.published.as_ref() { queue.published } else { queue.time() }
}

/// The open rows of an event bus in one state, in the order in which they are walked: those without a time have no place.
pub fn open<'r>(queue: &Queue<'_>, state: &str, rows: &'r [Row]) -> Vec<&'r Row> {
    let state = Some(state.to_owned());
    let by = open_by(queue, state.as_ref());
    let is_open = |row: &&Row| queue.is(row, state.as_ref()) && asked_for(queue, row, &queue.scope, false);
    sorted(queue, rows.iter().filter(is_open).filter(|row| by.is_none_or(|by| row[by].is_some())), &[by])
}

/// Whether a row is like the other one in all columns of that order before this one, and behind it in this one.
pub fn is_behind(queue: &Queue<'_>, other: &Row, row: &Row, depth: usize) -> bool {
    let by = [open_by(queue, row[queue.status].as_ref())];
    let (row, other) = (place(queue, row, &by), place(queue, other, &by));
    row[..depth - 1] == other[..depth - 1] && row[depth - 1] > other[depth - 1]
}

/// The rows of a claim's branch, in its order.
pub fn in_branch<'r>(queue: &Queue<'_>, branch: Branch, in_lane: bool, rows: &'r [Row], now: i64) -> Vec<&'r Row> {
    let status = &queue.claim.status;
    let due = |column: Option<usize>, row: &Row| match column {
        Some(column) => queue.read(column, row).is_some_and(|at| at <= now),
        None => true,
    };
    let waits = queue.due.is_some() || status.retryable.is_none();
    let seed = queue.order.filter(|_| queue.is_seed());
    let (state, time, order): (_, Option<usize>, [Option<usize>; 2]) = match branch {
        Branch::Pending if queue.is_seed() => (Some(&status.pending), None, [queue.order, None]),
        Branch::Pending if waits && queue.time().is_some() => {
            (Some(&status.pending), queue.time(), [queue.time(), None])
        }
        Branch::Pending => (Some(&status.pending), None, [queue.order, None]),
        Branch::Retryable => (status.retryable.as_ref(), queue.time(), [queue.time().or(queue.order), seed]),
        Branch::Expired => (status.running.as_ref(), queue.until, [queue.until, seed]),
    };
    let pinned = |row: &Row| {
        let pin = queue.retry_at.filter(|_| branch == Branch::Pending && queue.is_seed());
        pin.is_none_or(|at| row[at] == queue.never(at))
    };
    let rows = rows.iter().filter(|row| {
        queue.is(row, state) && due(time, row) && pinned(row) && asked_for(queue, row, &queue.scope, in_lane)
    });
    sorted(queue, rows, &order)
}

/// Rows of a state that no claim and no sweep will find, whatever the time; `None` where there can be none.
pub fn stranded<'r>(queue: &Queue<'_>, state: &str, rows: &'r [Row]) -> Option<Vec<&'r Row>> {
    let status = &queue.claim.status;
    let is = |role: Option<&String>| role.is_some_and(|role| role == state);
    let nullable = |at: &usize| queue.table.columns[*at].nullable;
    let swept = queue.published.filter(|_| queue.table.bus.as_ref().is_some_and(|bus| bus.sweep.is_some()));
    let waits = queue.due.is_some() || status.retryable.is_none();
    let (column, stays): (Option<usize>, bool) = match () {
        () if is(Some(&status.pending)) && queue.is_seed() => (queue.retry_at, true),
        () if is(Some(&status.pending)) => (queue.time().filter(|_| waits).filter(nullable), false),
        () if is(status.retryable.as_ref()) => (queue.time().filter(nullable), false),
        () if is(status.running.as_ref()) => (queue.until.filter(nullable), false),
        () => (swept.filter(nullable), false),
    };
    let column = column?;
    let found = |row: &&Row| {
        let value = &row[column];
        queue.is(row, Some(&state.to_owned()))
            && asked_for(queue, row, &queue.scope, false)
            && if stays { *value != queue.never(column) } else { value.is_none() }
    };
    Some(rows.iter().filter(found).collect())
}

/// Whether a row that a branch found has used up its attempts, and so goes to dead.
pub fn is_exhausted(queue: &Queue<'_>, branch: Branch, row: &Row) -> bool {
    let silent = branch == Branch::Expired || branch == Branch::Pending && queue.by_visibility();
    let Some(count) = queue.count.filter(|_| silent && queue.claim.status.dead.is_some()) else { return false };
    queue.number(count, row) >= queue.most(row)
}

/// Rows of a state that are as old as the cutoff, the oldest first.
pub fn aged<'r>(queue: &Queue<'_>, state: &str, age: usize, scope: &[usize], rows: &'r [Row]) -> Vec<&'r Row> {
    let old = |row: &&Row| {
        row[queue.status].as_deref() == Some(state)
            && asked_for(queue, row, scope, false)
            && queue.read(age, row).is_some_and(|at| at <= CUTOFF)
    };
    sorted(queue, rows.iter().filter(old), &[Some(age)])
}

/// What is older than this is old.
pub const CUTOFF: i64 = NOON - OLD;

/// Rows from the one time on and before the other are republished: some of the old ones are younger, and some older.
pub const WINDOW: (i64, i64) = (CUTOFF - 3 * SECOND, CUTOFF);

/// Rows of a state within the window, the oldest first.
pub fn in_window<'r>(queue: &Queue<'_>, state: &str, age: usize, scope: &[usize], rows: &'r [Row]) -> Vec<&'r Row> {
    let rows = aged(queue, state, age, scope, rows).into_iter();
    rows.filter(|row| queue.read(age, row).is_some_and(|at| at >= WINDOW.0 && at < WINDOW.1)).collect()
}

/// Dead rows, in the order in which they are listed.
pub fn dead<'r>(queue: &Queue<'_>, rows: &'r [Row]) -> Vec<&'r Row> {
    let age = queue.table.retention.as_ref().and_then(|retention| queue.table.position(&retention.age));
    let by = if queue.is_seed() { age.or(queue.order) } else { queue.order.or(age) };
    let dead =
        |row: &&Row| queue.is(row, queue.claim.status.dead.as_ref()) && asked_for(queue, row, &queue.scope, false);
    sorted(queue, rows.iter().filter(dead), &[by])
}
