//! The processes of one run, as their parent sees them. They end with it, however that ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::random::Random;
use super::worker::{ORDERS, Orders};

/// How many processes work on events.
const WORKERS: usize = 8;
/// How many add some.
const PRODUCERS: usize = 2;
/// How long a process may take to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process that is ended with this value.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // What has ended has ended.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

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
    /// All processes, at work.
    pub fn start(server: &str, url: &str, outages: bool, random: Random) -> Crowd {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let folder = tempfile::tempdir().unwrap();
        let (server, url) = (server.to_owned(), url.to_owned());
        let (name, report) = (String::new(), String::new());
        let orders = Orders { server, url, name, seed: 0, report, produces: false, began, outages };
        let mut crowd =
            Crowd { processes: Vec::new(), folder, orders, random, started: 0, killed: 0, faults: Vec::new() };
        for nth in 0..WORKERS + PRODUCERS {
            let process = crowd.process(nth >= WORKERS);
            crowd.processes.push(process);
        }
        crowd
    }

    fn process(&mut self, produces: bool) -> (Orders, Process) {
        self.started += 1;
        let name = format!("{}{}", if produces { "producer" } else { "worker" }, self.started);
        let report = self.folder.path().join(&name).to_str().unwrap().to_owned();
        let orders = Orders { name, report, produces, seed: self.random.next(), ..self.orders.clone() };
        let errors = File::create(self.errors(&orders)).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["chaos::worker::worker", "--exact", "--nocapture"])
            .env(ORDERS, serde_json::to_string(&orders).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .unwrap();
        (orders, Process(child))
    }

    fn errors(&self, orders: &Orders) -> std::path::PathBuf {
        Path::new(&orders.report).with_extension("errors")
    }

    /// Kills one of the processes as nothing else does, and starts another in its place.
    pub fn kill_one(&mut self) {
        let nth = self.random.below(self.processes.len() as u64) as usize;
        let (orders, mut process) = self.processes.swap_remove(nth);
        if process.0.try_wait().unwrap().is_none() {
            process.0.kill().unwrap();
            self.killed += 1;
        }
        self.end(&orders, process, true);
        let process = self.process(orders.produces);
        self.processes.push(process);
    }

    /// Takes down how a process ended that has ended.
    fn end(&mut self, orders: &Orders, mut process: Process, may_be_killed: bool) {
        let status = process.0.wait().unwrap();
        let is_right = status.success() || may_be_killed && status.signal() == Some(9);
        if !is_right {
            let errors = std::fs::read_to_string(self.errors(orders)).unwrap();
            self.faults.push(format!("{} ended with {status}:\n{errors}", orders.name));
        }
    }

    /// Whether all that were not killed are at work.
    pub fn is_well(&mut self) -> bool {
        let ended = |(_, process): &mut (Orders, Process)| process.0.try_wait().unwrap().is_some();
        self.faults.is_empty() && !self.processes.iter_mut().any(ended)
    }

    /// Stops all processes, and reads what they have said: of each word, how often it was said of which event.
    pub fn stop(mut self) -> Reports {
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
            self.end(&orders, process, false);
        }
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n"));
        self.reports()
    }

    fn reports(&self) -> Reports {
        let mut reports = Reports::default();
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none() {
                reports.add(&std::fs::read_to_string(path).unwrap());
            }
        }
        reports
    }
}

/// What the processes have said: of each word, how often of which event.
#[derive(Default)]
pub struct Reports(BTreeMap<String, BTreeMap<String, usize>>);

impl Reports {
    /// Adds the report of one process.
    pub fn add(&mut self, report: &str) {
        // The last line of a process that was killed may not be whole.
        for line in report.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let (word, id) = line.split_once(' ').unwrap();
            *self.0.entry(word.to_owned()).or_default().entry(id.to_owned()).or_default() += 1;
        }
    }

    /// The events of which the word was said, and how often.
    pub fn of(&self, word: &str) -> impl Iterator<Item = (&str, usize)> {
        self.0.get(word).into_iter().flatten().map(|(id, count)| (id.as_str(), *count))
    }

    /// How often the word was said.
    pub fn count(&self, word: &str) -> usize {
        self.of(word).map(|(_, count)| count).sum()
    }

    /// All words, and how often each was said.
    pub fn summary(&self) -> String {
        let words = self.0.keys().map(|word| format!("{word} {}", self.count(word)));
        words.collect::<Vec<_>>().join(", ")
    }
}
