//! Every step from everything that one row can be while two workers have to do with it: its state, its attempts, what it
//! waits for, and whether the lease that each of them has is good. What is the same to the model is gone on from once, so
//! that few steps reach all of it.

use std::collections::{BTreeSet, VecDeque};

use crate::servers::{Scratch, on_servers};

use super::*;

/// The row.
const ID: &str = "e01";

const WORKERS: [&str; 2] = ["a", "b"];

/// Steps in a row: enough for a worker to come back with its lease after the row was dead and lives again with the other one.
const DEPTH: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Enqueue,
    /// By this worker, at this hour.
    Claim(&'static str, i64),
    Work(&'static str, Work),
    TimePasses,
    /// The row has had all attempts but so many.
    WearOut(i64),
    Reap,
    Replay,
    Consume(Consumed),
}

/// All steps, whether or not there is something for them to do.
fn steps() -> Vec<Step> {
    let claims = WORKERS.into_iter().flat_map(|worker| [0, 1, 2].map(|hour| Step::Claim(worker, hour)));
    let work = WORKERS.into_iter().flat_map(|worker| Work::ALL.map(|what| Step::Work(worker, what)));
    let others = [Step::Enqueue, Step::TimePasses, Step::WearOut(0), Step::WearOut(1), Step::Reap, Step::Replay];
    let consumed = Consumed::ALL.map(Step::Consume);
    others.into_iter().chain(claims).chain(work).chain(consumed).collect()
}

/// Something that the row can be, in the model and in the database, and how it came to it.
struct Node {
    depth: usize,
    rows: BTreeMap<String, Row>,
    holdings: Vec<Holding>,
    claims: u64,
    log: Vec<String>,
    stored: Vec<Vec<Option<String>>>,
}

struct Explorer<'b, 's> {
    run: Run<'b, 's>,
    /// The columns and what writes them as literals, separated by commas.
    columns: String,
    quoted: String,
}

impl Explorer<'_, '_> {
    fn new<'b, 's>(bench: &'b mut Bench<'s>) -> Explorer<'b, 's> {
        let names: Vec<String> = (0..bench.queue.table.columns.len()).map(|at| bench.column(at)).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("quote({name})")).collect();
        Explorer { run: Run::new(bench), columns: names.join(", "), quoted: quoted.join(", ") }
    }

    /// What the table holds.
    fn stored(&mut self) -> Vec<Vec<Option<String>>> {
        let (quoted, table) = (&self.quoted, self.run.bench.table());
        let sql = format!("SELECT {quoted} FROM {table}");
        self.run.bench.scratch.rows(&sql)
    }

    fn node(&mut self, depth: usize) -> Node {
        let stored = self.stored();
        let Run { rows, holdings, claims, log, .. } = &self.run;
        let (rows, holdings, log) = (rows.clone(), holdings.clone(), log.clone());
        Node { depth, rows, holdings, claims: *claims, log, stored }
    }

    fn go_to(&mut self, node: &Node) {
        let table = self.run.bench.table().to_owned();
        let mut script = format!("DELETE FROM {table}");
        for row in &node.stored {
            let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap()).collect();
            script += &format!("; INSERT INTO {table} ({}) VALUES ({})", self.columns, values.join(", "));
        }
        self.run.bench.scratch.run(&script).unwrap();
        self.run.rows.clone_from(&node.rows);
        self.run.holdings.clone_from(&node.holdings);
        self.run.log.clone_from(&node.log);
        self.run.claims = node.claims;
    }

    /// What makes a difference to the model; and the number of the claim, which must not begin again.
    fn seen(&self, node: &Node) -> String {
        let row = node.rows.get(ID);
        let about = row.map(|row| (row.state, row.attempts, row.most, row.from, row.key.is_some()));
        let mut holdings: Vec<_> = node
            .holdings
            .iter()
            .map(|holding| {
                let is_last_claim = row.is_some_and(|row| row.claim == holding.claim);
                (holding.worker, is_last_claim, holding.attempt, holding.lease.is_last_attempt)
            })
            .collect();
        holdings.sort_unstable();
        let seq = self.run.bench.queue.seq.and_then(|at| node.stored.first()?[at].clone());
        format!("{about:?} {holdings:?} {seq:?}")
    }

    /// Whether there was something to do. What is refused changes nothing in the database.
    fn take(&mut self, step: Step, from: &Node) -> bool {
        let run = &mut self.run;
        let holding = |run: &Run<'_, '_>, worker| run.holdings.iter().position(|of| of.worker == worker);
        match step {
            Step::Enqueue => run.enqueue(ID),
            _ if run.rows.is_empty() => return false,
            Step::Claim(worker, hour) => {
                let had = run.holdings.len();
                run.claim(worker, hour, 10, Branch::Pending);
                // Of its leases a worker goes on with the last one.
                if run.holdings.len() > had
                    && let Some(at) = holding(run, worker).filter(|at| *at < had)
                {
                    run.holdings.remove(at);
                }
            }
            Step::Work(worker, what) => {
                let Some(at) = holding(run, worker) else { return false };
                let (is_good, kept) = (run.is_good(&run.holdings[at]), run.holdings[at].clone());
                run.work(at, what);
                // It has the lease still, and may come again with it, late or twice.
                if holding(run, worker).is_none() {
                    run.holdings.push(kept);
                }
                if !is_good {
                    assert_eq!(self.stored(), from.stored, "a step that is refused changes the row");
                }
            }
            Step::TimePasses => run.expire(ID),
            Step::WearOut(left) => run.wear_out(ID, left),
            Step::Reap => run.reap(),
            Step::Replay => run.replay(ID),
            Step::Consume(what) => run.consume(ID, what),
        }
        self.run.log.len() > from.log.len()
    }
}

/// Everything that [`DEPTH`] steps lead to, which is at least so much.
fn explore(table: &str, scratch: &mut Scratch, least: usize) {
    let mut bench = Bench::new(table, scratch);
    let mut explorer = Explorer::new(&mut bench);
    let first = explorer.node(0);
    let mut seen = BTreeSet::from([explorer.seen(&first)]);
    let mut open = VecDeque::from([first]);
    let mut taken = 0;
    while let Some(from) = open.pop_front() {
        for step in steps() {
            explorer.go_to(&from);
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let done = explorer.take(step, &from);
                if done {
                    explorer.run.compare();
                }
                done
            }));
            let Ok(done) = done else { panic!("{step:?} after:\n{}", from.log.join("\n")) };
            if !done {
                continue;
            }
            taken += 1;
            let node = explorer.node(from.depth + 1);
            if seen.insert(explorer.seen(&node)) && node.depth < DEPTH {
                open.push_back(node);
            }
        }
    }
    assert!(seen.len() >= least, "{table}: only {} states by {taken} steps", seen.len());
}

fn tokens(scratch: &mut Scratch) {
    explore("wallet_outbox", scratch, 800);
}
on_servers!(tokens: sqlite);

fn numbered_claims(scratch: &mut Scratch) {
    explore("seq_outbox", scratch, 1000);
}
on_servers!(numbered_claims: sqlite);

fn visibility(scratch: &mut Scratch) {
    explore("agent_outbox_messages", scratch, 750);
}
on_servers!(visibility: sqlite);

fn no_fence(scratch: &mut Scratch) {
    explore("_System_IntegrationInbound", scratch, 450);
}
on_servers!(no_fence: sqlite);
