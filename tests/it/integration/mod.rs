//! The CRM of `examples/integration` as processes that are killed at any moment, and a platform that is slow, busy and closes
//! connections: in the end both have the same contacts, nothing was lost, and nothing went round in circles.

mod account;
#[path = "../../../examples/integration/hubspot.rs"]
mod hubspot;
#[allow(clippy::duplicate_mod)] // the same code with the functions of another engine
mod mariadb;
#[allow(clippy::duplicate_mod)]
mod mysql;
mod portal;
#[allow(clippy::duplicate_mod)]
mod postgres;
mod process;
#[allow(clippy::duplicate_mod)]
mod sqlite;

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::chaos::crowd::{Process, Reports};
use crate::chaos::random::Random;
use crate::chaos::{seconds, seed};
use crate::servers::{Scratch, Server, on_servers};

use crate::rust::generated::queue::Enqueued;

use hubspot::Round;
use portal::Served;
use process::{ORDERS, Orders, Role};

/// One worker for each way, and two of the others.
const ROLES: [Role; 6] = [Role::Webhook, Role::Webhook, Role::Sync, Role::Push, Role::User, Role::User];

/// How long a process may take to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// The processes of one run.
struct Crm<'a> {
    orders: Orders,
    folder: &'a Path,
    processes: Vec<(Orders, Process)>,
    started: usize,
    random: Random,
}

impl Crm<'_> {
    fn start(&mut self, role: Role) {
        self.started += 1;
        let name = format!("{role:?}{}", self.started);
        let report = self.folder.join(&name).to_str().unwrap().to_owned();
        let orders = Orders { role, name, report, seed: self.random.next(), ..self.orders.clone() };
        let child: Child = Command::new(std::env::current_exe().unwrap())
            .args(["integration::process::process", "--exact", "--nocapture"])
            .env(ORDERS, serde_json::to_string(&orders).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(File::create(errors(&orders)).unwrap())
            .spawn()
            .unwrap();
        self.processes.push((orders, Process(child)));
    }

    /// Kills one of the processes, and starts another in its place once it is gone.
    fn kill_one(&mut self) {
        let nth = self.random.below(self.processes.len() as u64) as usize;
        let (orders, mut process) = self.processes.swap_remove(nth);
        if let Some(status) = process.0.try_wait().unwrap() {
            panic!("{} ended with {status}:\n{}", orders.name, said(&orders));
        }
        process.0.kill().unwrap();
        process.0.wait().unwrap();
        self.start(orders.role);
    }

    fn stop(&mut self) {
        self.processes.iter_mut().for_each(|(_, process)| drop(process.0.stdin.take()));
        let until = Instant::now() + PATIENCE;
        for (orders, mut process) in self.processes.drain(..) {
            let status = loop {
                match process.0.try_wait().unwrap() {
                    Some(status) => break status,
                    None => assert!(Instant::now() < until, "{} does not stop", orders.name),
                }
                std::thread::sleep(Duration::from_millis(5));
            };
            assert!(status.success(), "{} ended with {status}:\n{}", orders.name, said(&orders));
        }
    }
}

/// Where a process writes why it failed.
fn errors(orders: &Orders) -> std::path::PathBuf {
    Path::new(&orders.report).with_extension("errors")
}

fn said(orders: &Orders) -> String {
    std::fs::read_to_string(errors(orders)).unwrap()
}

fn reports(folder: &Path) -> Reports {
    let mut reports = Reports::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none() {
            reports.add(&std::fs::read_to_string(path).unwrap());
        }
    }
    reports
}

/// Runs an async function of the scratch database's engine.
macro_rules! on_engine {
    ($scratch:expr, $function:ident($($argument:expr),*)) => {{
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            match $scratch.server {
                Server::MySql => mysql::$function($($argument),*).await,
                Server::MariaDb => mariadb::$function($($argument),*).await,
                Server::Postgres => postgres::$function($($argument),*).await,
                Server::Sqlite => sqlite::$function($($argument),*).await,
            }
        })
    }};
}

/// The tables of the CRM.
fn create(scratch: &mut Scratch) {
    let schema = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), scratch.server.id());
    let (schema, url) = (std::fs::read_to_string(schema).unwrap(), scratch.url());
    on_engine!(scratch, create(&url, &schema));
    scratch.run(account::SAVES).unwrap();
}

#[allow(clippy::print_stdout)] // the harness shows what a test has printed that fails
fn nothing_is_lost_between_two_platforms(scratch: &mut Scratch) {
    create(scratch);
    if scratch.server == Server::Sqlite {
        scratch.run("PRAGMA journal_mode = WAL").unwrap();
    }
    let mut random = seed();
    let served = Served::start(random.clone());
    let (server, url) = (scratch.server.id().to_owned(), scratch.url());
    let (name, report, portal) = (String::new(), String::new(), served.address.clone());
    let orders = Orders { server, url, role: Role::User, name, seed: 0, portal, report };
    let folder = tempfile::tempdir().unwrap();
    let mut crm =
        Crm { orders, folder: folder.path(), processes: Vec::new(), started: 0, random: Random(random.next()) };
    ROLES.into_iter().for_each(|role| crm.start(role));
    let until = Instant::now() + seconds() / 2;
    let mut killed = 0;
    while Instant::now() < until {
        std::thread::sleep(random.millis(40, 160));
        crm.kill_one();
        killed += 1;
    }
    crm.stop();
    let reports = reports(folder.path());
    let url = scratch.url();
    let (rounds, revived) = on_engine!(scratch, drain(&url, &served));
    println!("{killed} killed; {}; drained in {rounds} rounds, {revived} revived", reports.summary());
    account::check(scratch, &served.portal());
    for word in ["stored", "known", "done", "skipped", "retried", "recovered", "sent", "joined"] {
        assert!(reports.count(word) > 0, "nothing was {word}: {}", reports.summary());
    }
}
on_servers!(nothing_is_lost_between_two_platforms);

/// Each layer alone keeps a change from going to where it comes from; and dead letters of one platform get a new life without
/// those of another.
fn each_layer_stops_a_loop(scratch: &mut Scratch) {
    create(scratch);
    let ident = |name: &str| scratch.server.dialect().ident(name);
    let list = |names: &[&str]| names.iter().map(|name| ident(name)).collect::<Vec<_>>().join(", ");
    let (into, out) = (ident("_System_IntegrationInbound"), ident("_System_IntegrationOutbound"));
    let (id, status) = (ident("Id"), ident("Status"));
    let columns = list(&["Id", "Destination", "ObjectType", "RecordID", "EventType", "Payload"]);
    // A program has written this that knows of no check.
    let change = r#"{"record": {"name": "Ada"}, "metadata": {"sync_source": "hubspot"}}"#;
    let outbound =
        format!("INSERT INTO {out} ({columns}) VALUES ('o1', 'hubspot', 'Contact', 'h1', 'update', '{change}')");
    let columns =
        list(&["Id", "Source", "ExternalID", "ObjectType", "EventType", "Payload", "IdempotencyKey", "Status"]);
    let inbound = |id: &str, source: &str, status: &str| {
        format!(
            "INSERT INTO {into} ({columns}) VALUES ('{id}', '{source}', 'h2', 'Contact', 'update', '{{}}', '{id}', '{status}')"
        )
    };
    let inbound = [inbound("i1", "hubspot", "pending"), inbound("i2", "salesforce", "failed")];
    let events = format!("SELECT payload FROM {}", ident("_System_OutboxEvent"));
    scratch.run(&outbound).unwrap();
    inbound.iter().for_each(|row| scratch.run(row).unwrap());
    let served = Served::start(Random(1));
    let url = scratch.url();
    let (saved, [synced, pushed], revived) = on_engine!(scratch, layers(&url, &served));
    assert_eq!(saved, Enqueued::Skipped, "the layer of the hook");
    assert_eq!(pushed, Round { claimed: 1, done: 1, skipped: 1, ..Round::default() }, "the layer of the worker");
    assert_eq!(served.portal().taken, 0);
    assert_eq!(scratch.value(&format!("SELECT COUNT(*) FROM {out}")), "1", "what was skipped is not stored");
    let event: serde_json::Value = serde_json::from_str(&scratch.value(&events)).unwrap();
    assert_eq!(event["metadata"]["sync_source"], "hubspot", "the layer of the record's own event");
    assert_eq!((synced, revived), (Round { claimed: 1, dead: 1, ..Round::default() }, 1));
    let states = scratch.rows(&format!("SELECT {status} FROM {into} ORDER BY {id}"));
    assert_eq!(states.concat(), ["pending", "failed"].map(|state| Some(state.to_owned())));
}
on_servers!(each_layer_stops_a_loop);
