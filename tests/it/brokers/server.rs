//! Where brokers are, and one of a test's own.

use std::env;
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::servers::{Scratch, say};

/// How long a broker may take to be there.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address `host:port` of the broker that all tests share, and says why the test is skipped where there is none.
pub fn shared(name: &str, test: &str) -> Option<String> {
    let url = variable(name, "URL", test)?;
    Some(url.split_once("://").map_or(url.clone(), |(_, address)| address.to_owned()))
}

fn variable(name: &str, kind: &str, test: &str) -> Option<String> {
    let variable = format!("CLAIMSMITH_TEST_{}_{kind}", name.to_uppercase());
    let value = env::var(&variable).ok();
    if value.is_none() {
        let notice = format!("skipped: {test} on {name}: no {variable}\n");
        // A broker that is given by its URL cannot be killed.
        let given = kind == "SERVER" && env::var(variable.replace("_SERVER", "_URL")).is_ok();
        assert!(given || env::var("CLAIMSMITH_REQUIRE_SERVERS").as_deref() != Ok("1"), "{notice}");
        say(&notice);
    }
    value
}

/// A broker that goes with this value.
pub struct Private {
    program: PathBuf,
    arguments: Vec<String>,
    port: u16,
    process: Option<Child>,
    folder: TempDir,
}

impl Private {
    /// A new broker, once it answers.
    pub fn start(name: &str, test: &str, arguments: &[&str]) -> Option<Private> {
        let program = variable(name, "SERVER", test)?.into();
        // Not in TMPDIR: the server's user must be able to get there.
        let folder = tempfile::Builder::new().prefix(Scratch::PREFIX).tempdir_in("/tmp").unwrap();
        let arguments = arguments.iter().map(ToString::to_string).collect();
        let mut private = Private { program, arguments, port: free_port(), process: None, folder };
        private.revive();
        Some(private)
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// In the midst of all that it does.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Starts it again, with what it has on the disk.
    pub fn revive(&mut self) {
        let log = self.folder.path().join("log");
        let until = Instant::now() + PATIENCE;
        loop {
            let file = File::options().append(true).create(true).open(&log).unwrap();
            let mut command = Command::new(&self.program);
            command.arg(self.folder.path()).arg(self.port.to_string()).args(&self.arguments);
            command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
            let mut process = command.spawn().unwrap();
            while process.try_wait().unwrap().is_none() {
                if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                    self.process = Some(process);
                    return;
                }
                if Instant::now() > until {
                    _ = process.kill();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            // Connections of the killed one may hold its port for a moment.
            assert!(Instant::now() < until, "{}", std::fs::read_to_string(&log).unwrap_or_default());
        }
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            _ = process.kill();
            _ = process.wait();
        }
    }
}

/// Below those that the system hands out by itself, and another one for each test of this process.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = std::process::id() as u16;
    let ports = (0..1_000).map(|_| begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(7)));
    let mut ports = ports.map(|port| 20_000 + port % 12_000);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}
