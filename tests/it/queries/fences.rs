//! Whoever lost a row cannot change it any more: not while the next worker holds it, not after that one gave it back, and
//! not in its next life.

use crate::servers::{Scratch, on_servers};

use super::case::{Case, Faults, Given, cases, committed, prepared};
use super::driver::Driver;
use super::matrix::{blank, scopes};
use super::model::branch;
use super::queue::rows;
use super::time::{DAY, NOON};

fn a_lost_row_stays_lost(scratch: &mut Scratch) {
    let catalog = committed();
    let mut driver = prepared(scratch, &catalog);
    let mut faults = Faults::default();
    for case in cases(&catalog, scratch.server).into_iter().filter(|case| case.queue.fence().is_some()) {
        driver.run("BEGIN");
        faults.collect(|| Story::of(case, &mut driver).tell());
        driver.undo();
        driver.set_clock(NOON);
    }
    faults.report();
}
on_servers!(a_lost_row_stays_lost);

/// One row and its workers, one after the other.
struct Story<'a, 'd> {
    case: Case<'a>,
    driver: &'d mut Driver,
    /// The fences of those who lost it.
    lost: Vec<String>,
    days: i64,
}

impl<'a, 'd> Story<'a, 'd> {
    fn of(case: Case<'a>, driver: &'d mut Driver) -> Self {
        Story { case, driver, lost: Vec::new(), days: 0 }
    }

    fn tell(mut self) {
        let mut new = blank(&self.case.queue, 1);
        self.case.queue.scope.iter().zip(&scopes(3)[0]).for_each(|(at, value)| new[*at] = Some(value.clone()));
        self.case.run(self.driver, self.case.get("enqueue"), &Given { row: Some(&new), ..Given::default() });
        let silent = self.claim();
        self.lost.push(silent);
        let second = self.claim();
        self.nobody_else("while the next one holds it");
        self.act("release", &second);
        // Attempts go on only with the next claim: until then, who gave the row back may still finish it.
        let kept = self.case.queue.attempts_are_the_fence();
        self.lost.extend(Some(&second).filter(|_| !kept).cloned());
        self.nobody_else("after the next one has given it back");
        let third = self.claim();
        self.lost.extend(Some(second).filter(|_| kept));
        self.nobody_else("while a third one holds it");
        let third = self.publishes(third);
        if self.case.find("dead").is_some() {
            self.act("dead", &third);
            self.lost.push(third);
            self.nobody_else("once it is dead");
            self.act("replay", "");
            self.nobody_else("once it is replayed");
            let starts_anew = self.case.queue.attempts_are_the_fence() && self.case.queue.max.is_none();
            if !starts_anew {
                self.claim();
                self.nobody_else("in its second life");
            }
        }
    }

    /// Where there is a bus: the row is published and comes back, by its handler and by the sweep. With the last fence.
    fn publishes(&mut self, mut fence: String) -> String {
        let is_bus = self.case.find("mark_published").is_some();
        let in_order = self.case.find("postpone_published").is_some();
        let backs = ["retry_published", "postpone_published", "postpone_early", "sweep"].into_iter().filter(|_| is_bus);
        for back in backs.filter(|back| in_order || !back.starts_with("postpone")) {
            // Whose message came early need not be marked yet.
            if back != "postpone_early" {
                self.act("mark_published", &fence);
            }
            if back == "sweep" {
                self.sweep()
            } else {
                self.act(back, "")
            }
            self.lost.push(fence);
            self.nobody_else(&format!("after {back}"));
            fence = self.claim();
            self.nobody_else(&format!("while it is held after {back}"));
        }
        fence
    }

    fn sweep(&mut self) {
        let row = rows(self.driver, self.case.table()).remove(0);
        let cutoff = self.case.now.unwrap();
        let mut given = Given { row: Some(&row), cutoff, limit: 10, ..Given::default() };
        if self.driver.server.is_mysql_like() {
            self.case.run(self.driver, self.case.get("sweep_find"), &given);
            given.keys = vec![row.clone()];
        }
        assert_eq!(self.case.run(self.driver, self.case.get("sweep"), &given).affected, 1);
    }

    /// Takes the row once all its times have come, and gives the new fence.
    fn claim(&mut self) -> String {
        self.days += 1;
        self.case.now = Some(NOON + self.days * DAY);
        self.driver.set_clock(NOON + self.days * DAY);
        let token = format!("token-{:02}-0123456789abcdef/worker", self.days);
        let row = rows(self.driver, self.case.table()).remove(0);
        for query in self.case.queries.iter().filter(|query| branch(&self.case.queue, &query.name).is_some()) {
            let mut given = Given { row: Some(&row), fence: Some(token.clone()), limit: 1, ..Given::default() };
            let claimed = self.case.run(self.driver, query, &given).rows;
            if claimed.is_empty() {
                continue;
            }
            if self.driver.server.is_mysql_like() {
                given.keys = claimed;
                self.case.run(self.driver, self.case.get("take"), &given);
            }
            let row = rows(self.driver, self.case.table()).remove(0);
            return row[self.case.queue.fence().unwrap().0].clone().unwrap();
        }
        panic!("no claim takes the row of {}: {row:?}", self.case.table().name);
    }

    fn act(&mut self, name: &str, fence: &str) {
        assert_eq!(self.attempt(name, fence), 1, "{name} of {} by its holder", self.case.table().name);
    }

    fn attempt(&mut self, name: &str, fence: &str) -> u64 {
        let row = rows(self.driver, self.case.table()).remove(0);
        let mut given = Given { row: Some(&row), fence: Some(fence.to_owned()), ..Given::default() };
        if name == "postpone_published" {
            given.cutoff = self.case.now.unwrap();
        }
        if name == "complete_many" {
            let (column, _) = self.case.queue.fence().unwrap();
            let mut key = row.clone();
            key[column] = Some(fence.to_owned());
            given.keys = vec![key];
            if self.driver.server.is_mysql_like() {
                // The caller compares.
                let found = self.case.run(self.driver, self.case.get("complete_many_find"), &given).rows;
                return found.iter().filter(|row| row.last().unwrap().as_deref() == Some(fence)).count() as u64;
            }
        }
        self.case.run(self.driver, self.case.get(name), &given).affected
    }

    /// Everyone who lost the row tries everything.
    fn nobody_else(&mut self, when: &str) {
        let fenced = ["complete", "complete_many", "retry", "dead", "extend", "release", "postpone", "mark_published"];
        for name in fenced.into_iter().filter(|name| self.case.find(name).is_some()).collect::<Vec<_>>() {
            for fence in self.lost.clone() {
                let changed = self.attempt(name, &fence);
                assert_eq!(changed, 0, "{name} of {} under the lost fence {fence} {when}", self.case.table().name);
            }
        }
    }
}
