//! A server of a test's own, which it may kill.

use std::env;
use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::servers::{Scratch, Server, Session, say};

use super::crowd::Process;
use super::random::Random;

/// How long a server may take to be there, its first data and its recovery included.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Private {
    server: Server,
    /// The program that becomes the server, see `tests/run.sh`.
    program: PathBuf,
    /// Ended before its folder goes.
    process: Option<Process>,
    port: u16,
    folder: TempDir,
}

impl Private {
    /// A new server; `None` if no program is named that starts one, which `test` is the name of in the notice.
    pub fn start(server: Server, random: &mut Random, test: &str) -> Option<Private> {
        let variable = server.variable()?.replace("_URL", "_SERVER");
        let Some(program) = env::var_os(&variable).map(PathBuf::from) else {
            say(&format!("skipped: {test} on {}: no {variable}\n", server.engine().title));
            return None;
        };
        // Not in TMPDIR: a socket's path is short, and the server's user must be able to get there.
        let folder = tempfile::Builder::new().prefix(Scratch::PREFIX).tempdir_in("/tmp").unwrap();
        let mut private = Private { server, program, process: None, port: free_port(random), folder };
        private.run();
        let home = if server == Server::Postgres { "postgres" } else { "mysql" };
        private.await_session(home).run("CREATE DATABASE chaos").unwrap();
        Some(private)
    }

    /// What it has committed is on the disk, as it is with the settings that servers come with.
    fn run(&mut self) {
        let log = File::options().append(true).create(true).open(self.log()).unwrap();
        let lasting: &[&str] = match self.server {
            Server::Postgres => &["-c", "fsync=on"],
            _ => &["--innodb-flush-log-at-trx-commit=1"],
        };
        let mut command = Command::new(&self.program);
        command.arg(self.folder.path()).arg(self.port.to_string()).args(lasting);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.process = Some(Process(command.spawn().unwrap()));
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// The URL of the database for the run.
    pub fn url(&self) -> String {
        self.url_of("chaos")
    }

    fn url_of(&self, database: &str) -> String {
        let scheme = if self.server == Server::Postgres { "postgres://postgres" } else { "mysql://root" };
        format!("{scheme}@127.0.0.1:{}/{database}", self.port)
    }

    pub fn session(&self) -> Session {
        Session::open(self.server, &self.url()).unwrap()
    }

    /// Kills it in the midst of all that it does, and starts it again.
    pub fn kill_and_restart(&mut self) {
        self.process = None;
        self.run();
        self.await_session("chaos").close();
    }

    /// A session as soon as there is one.
    fn await_session(&mut self, database: &str) -> Session {
        let until = Instant::now() + PATIENCE;
        loop {
            let error = match Session::open(self.server, &self.url_of(database)) {
                Ok(session) => return session,
                Err(error) => error,
            };
            assert!(Instant::now() < until, "{error}\n{}", self.end_of_log());
            std::thread::sleep(Duration::from_millis(50));
            // PostgreSQL refuses to start while what the killed one has left behind is about to end.
            if self.process.as_mut().is_none_or(|process| process.0.try_wait().unwrap().is_some()) {
                self.run();
            }
        }
    }

    fn end_of_log(&self) -> String {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        // PostgreSQL ends at once, but frees its shared memory first.
        if let Some(Process(child)) = self.process.as_mut().filter(|_| self.server == Server::Postgres) {
            let quit = format!("kill -QUIT {}", child.id());
            _ = Command::new("sh").args(["-c", &quit]).status();
            let until = Instant::now() + Duration::from_secs(10);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        self.process = None;
    }
}

/// Below those that the system hands out by itself.
fn free_port(random: &mut Random) -> u16 {
    let mut ports = (0..1_000).map(|_| 20_000 + random.below(12_000) as u16);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}
