//! The processes of one run, as their parent sees them. They end with it, however that ends.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::crowd::{Process, Reports};
use super::super::random::Random;
use super::worker::{ORDERS, Orders, Role};

/// How long a process may take to stop.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Crowd {
    processes: Vec<(Orders, Process)>,
    /// Where the processes write, which is gone with the run.
    folder: tempfile::TempDir,
    orders: Orders,
    random: Random,
    started: usize,
    pub killed: usize,
    faults: Vec<String>,
}

impl Crowd {
    pub fn new(server: &str, url: &str, broker: &str, address: &str, random: Random) -> Crowd {
        let folder = tempfile::tempdir().unwrap();
        let orders = Orders {
            server: server.to_owned(),
            url: url.to_owned(),
            broker: broker.to_owned(),
            address: address.to_owned(),
            role: Role::Relays,
            name: String::new(),
            seed: 0,
            folder: folder.path().to_str().unwrap().to_owned(),
        };
        Crowd { processes: Vec::new(), folder, orders, random, started: 0, killed: 0, faults: Vec::new() }
    }

    /// Two of each kind.
    pub fn start_all(&mut self) {
        for nth in 0..2 {
            [Role::Produces, Role::Relays, Role::Consumes(nth, true)].into_iter().for_each(|role| self.start(role));
        }
    }

    /// One relay, and consumers that do not fail.
    pub fn start_those_who_finish(&mut self) {
        [Role::Relays, Role::Consumes(0, false), Role::Consumes(1, false)]
            .into_iter()
            .for_each(|role| self.start(role));
    }

    fn start(&mut self, role: Role) {
        self.started += 1;
        let name = format!(
            "{}-{}",
            format!("{role:?}").to_lowercase().replace(|char| "(, )".contains(char), ""),
            self.started
        );
        let orders = Orders { role, name, seed: self.random.next(), ..self.orders.clone() };
        let errors = File::create(self.errors(&orders)).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["chaos::bus::worker::worker", "--exact", "--nocapture"])
            .env(ORDERS, serde_json::to_string(&orders).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .unwrap();
        self.processes.push((orders, Process(child)));
    }

    fn errors(&self, orders: &Orders) -> std::path::PathBuf {
        self.folder.path().join(format!("{}.errors", orders.name))
    }

    /// Kills one of the processes as nothing else does, and starts another in its place.
    pub fn kill_one(&mut self) {
        let nth = self.random.below(self.processes.len() as u64) as usize;
        let (orders, mut process) = self.processes.swap_remove(nth);
        if process.0.try_wait().unwrap().is_none() {
            process.0.kill().unwrap();
            self.killed += 1;
        }
        self.ended(&orders, process, true);
        self.start(orders.role);
    }

    /// Takes down how a process ended that has ended.
    fn ended(&mut self, orders: &Orders, mut process: Process, may_be_killed: bool) {
        let status = process.0.wait().unwrap();
        if !(status.success() || may_be_killed && status.signal() == Some(9)) {
            let errors = std::fs::read_to_string(self.errors(orders)).unwrap();
            self.faults.push(format!("{} ended with {status}:\n{errors}", orders.name));
        }
    }

    /// Whether all that were not killed are at work.
    pub fn is_well(&mut self) -> bool {
        let ended = |(_, process): &mut (Orders, Process)| process.0.try_wait().unwrap().is_some();
        self.faults.is_empty() && !self.processes.iter_mut().any(ended)
    }

    /// Stops all processes.
    pub fn stop_all(&mut self) {
        self.processes.iter_mut().for_each(|(_, process)| drop(process.0.stdin.take()));
        let until = Instant::now() + PATIENCE;
        for (orders, mut process) in std::mem::take(&mut self.processes) {
            while process.0.try_wait().unwrap().is_none() {
                if Instant::now() > until {
                    self.faults.push(format!("{} does not stop", orders.name));
                    process.0.kill().unwrap();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            self.ended(&orders, process, false);
        }
    }

    /// What the processes have said, all of which did as they should.
    pub fn end(self) -> Reports {
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n"));
        let mut reports = Reports::default();
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "report") {
                reports.add(&std::fs::read_to_string(path).unwrap());
            }
        }
        reports
    }
}
