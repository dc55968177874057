//! The platform as a server of the test's own: it is slow, busy, and closes connections before and after it has taken
//! something.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::chaos::random::Random;

use super::hubspot::{Answer, Api, Change, Event, Portal};

/// How long either side waits for the other.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Deserialize, Serialize)]
enum Request {
    Push(Vec<Change>),
    Events,
    Arrived(Vec<u64>),
}

/// A contact that people over there change.
pub fn theirs(nth: u64) -> String {
    format!("h{nth}")
}

pub struct Served {
    pub address: String,
    portal: Arc<Mutex<Portal>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    pub fn start(random: Random) -> Served {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (portal, stopped) = (Arc::new(Mutex::new(Portal::default())), Arc::new(AtomicBool::new(false)));
        let mut server = Server { portal: portal.clone(), random, edits: 0 };
        let is_stopped = stopped.clone();
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming() {
                if is_stopped.load(Ordering::Relaxed) {
                    return;
                }
                server.people();
                // A client that was killed does not read.
                _ = server.serve(connection.unwrap());
            }
        });
        Served { address, portal, stopped, thread: Some(thread) }
    }

    pub fn portal(&self) -> MutexGuard<'_, Portal> {
        self.portal.lock().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        _ = TcpStream::connect(&self.address);
        self.thread.take().map(JoinHandle::join);
    }
}

struct Server {
    portal: Arc<Mutex<Portal>>,
    random: Random,
    edits: u64,
}

impl Server {
    /// People over there change contacts.
    fn people(&mut self) {
        self.edits += 1;
        let contact = theirs(self.random.below(6));
        self.portal.lock().unwrap().edit(&contact, &format!("{}@example.com", self.edits));
    }

    fn serve(&mut self, connection: TcpStream) -> std::io::Result<()> {
        connection.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new(&connection).read_line(&mut line)?;
        let Ok(request) = serde_json::from_str(&line) else { return Ok(()) };
        let mut portal = self.portal.lock().unwrap();
        let answer = match request {
            Request::Push(_) if self.random.percent(5) => return Ok(()),
            Request::Push(changes) => {
                let (now, later): (Vec<Change>, Vec<Change>) =
                    changes.iter().cloned().partition(|_| !self.random.percent(10));
                portal.take(&now);
                let answer = |change| if later.contains(change) { Answer::Busy } else { Answer::Done };
                serde_json::to_string(&changes.iter().map(answer).collect::<Vec<_>>())
            }
            Request::Events => serde_json::to_string(&portal.events),
            Request::Arrived(ids) => {
                portal.arrived(&ids);
                Ok("null".to_owned())
            }
        };
        drop(portal);
        if self.random.percent(5) {
            return Ok(());
        }
        std::thread::sleep(self.random.millis(0, 5));
        (&connection).write_all((answer? + "\n").as_bytes())
    }
}

/// What a process of the CRM knows of it.
pub struct Client {
    pub address: String,
}

impl Client {
    fn ask<T: serde::de::DeserializeOwned>(&self, request: &Request) -> Result<T, String> {
        let ask = || {
            let connection = TcpStream::connect(&self.address)?;
            connection.set_read_timeout(Some(PATIENCE))?;
            (&connection).write_all((serde_json::to_string(request)? + "\n").as_bytes())?;
            let mut line = String::new();
            BufReader::new(&connection).read_line(&mut line)?;
            Ok::<_, std::io::Error>(serde_json::from_str(&line)?)
        };
        ask().map_err(|error| error.to_string())
    }

    pub fn events(&self) -> Result<Vec<Event>, String> {
        self.ask(&Request::Events)
    }

    pub fn arrived(&self, ids: Vec<u64>) -> Result<(), String> {
        self.ask(&Request::Arrived(ids))
    }
}

impl Api for Client {
    async fn push(&self, changes: &[Change]) -> Result<Vec<Answer>, String> {
        self.ask(&Request::Push(changes.to_vec()))
    }
}

/// The platform without any trouble.
impl Api for Served {
    async fn push(&self, changes: &[Change]) -> Result<Vec<Answer>, String> {
        Ok(self.portal().take(changes))
    }
}
