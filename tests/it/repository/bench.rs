//! One table in a database of its own, and what checks do with it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use claimsmith::schema::format::Strategy;
use serde_json::Value;
use sqlx::mysql::MySqlPoolOptions;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use tokio::runtime::EnterGuard;

use crate::loaded::{Loaded, load, repository};
use crate::queries::queue::Queue;
use crate::servers::{Scratch, Server};

use super::erased::*;
use super::tables;

/// The scope of most checks, and another one that differs in case only.
pub const APP: &str = "app";
pub const OTHER: &str = "APP";

/// The definitions of all tables of `schemas/`, and of one whose claims are numbered.
pub fn definitions() -> Vec<Value> {
    let files = std::fs::read_dir(repository("schemas")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let files = files.chain([repository("tests/cases/rust/claim_seq.json")]);
    let tables = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let mut file: Value = serde_json::from_str(&text).unwrap();
        file["tables"].as_array_mut().map(std::mem::take).unwrap()
    };
    files.flat_map(tables).collect()
}

/// The definition of one table, for one engine.
pub fn definition(table: &str, server: Server) -> &'static Loaded {
    let table = definitions().into_iter().find(|definition| definition["tableName"] == table).unwrap();
    let text = serde_json::json!({ "tables": [table] }).to_string();
    Box::leak(Box::new(load(&[("one.json", &text)], &[server.id()])))
}

/// A pool as a program would have it.
pub fn pools(server: Server, url: &str, most: u32) -> Pools {
    wait(async {
        match server {
            Server::MySql | Server::MariaDb => {
                Pools::MySql(MySqlPoolOptions::new().max_connections(most).connect(url).await.unwrap())
            }
            Server::Postgres => Pools::Postgres(PgPoolOptions::new().max_connections(most).connect(url).await.unwrap()),
            Server::Sqlite => {
                let options: SqliteConnectOptions = url.parse().unwrap();
                // A scratch file need not survive a loss of power.
                let options = options.synchronous(SqliteSynchronous::Off);
                Pools::Sqlite(SqlitePoolOptions::new().max_connections(most).connect_with(options).await.unwrap())
            }
        }
    })
}

/// One table on one engine.
pub struct Bench<'s> {
    pub scratch: &'s mut Scratch,
    pub pools: Pools,
    pub repository: &'static dyn Repository,
    pub queue: Queue<'static>,
    /// Statements that make the table and its archive.
    schema: String,
    /// The names of both, quoted.
    names: Vec<String>,
    /// The position of the column that names an event.
    name: usize,
    _in_runtime: EnterGuard<'static>,
}

impl<'s> Bench<'s> {
    pub fn new(table: &str, scratch: &'s mut Scratch) -> Bench<'s> {
        let server = scratch.server;
        let loaded = definition(table, server);
        let queue = Queue::of(&loaded.catalog.tables[0]).unwrap();
        let quoted = |table: &claimsmith::schema::Table| server.dialect().ident(&table.name.name);
        let repository = tables::find(server, table);
        if server == Server::Sqlite {
            scratch.run("PRAGMA journal_mode = WAL").unwrap();
        }
        let bench = Bench {
            name: queue.table.position(repository.name_column()).unwrap(),
            names: loaded.catalog.tables.iter().map(quoted).collect(),
            schema: loaded.sql().remove(0),
            pools: pools(server, &scratch.url(), 6),
            repository,
            queue,
            _in_runtime: runtime().enter(),
            scratch,
        };
        bench.scratch.run(&bench.schema).unwrap();
        bench.scratch.run("CREATE TABLE business (id INT PRIMARY KEY)").unwrap();
        bench
    }

    /// The groups of functions that the definition asks for.
    pub fn parts(&self) -> Vec<&'static str> {
        let claim = self.queue.claim;
        let strategy = self.queue.table.retention.as_ref().unwrap().strategy;
        let parts = [
            ("complete", claim.status.published.is_none()),
            ("extend", claim.lease.is_some() || claim.visibility.is_some()),
            ("reap", claim.lease.is_some()),
            ("recover", claim.status.running.is_some() && claim.lease.is_none()),
            ("lane", claim.lane.is_some()),
            ("archive", strategy == Strategy::Archive),
            ("cleanup", strategy == Strategy::Delete),
            ("names", claim.lease.is_none() && claim.visibility.is_none()),
            ("bus", claim.status.published.is_some()),
        ];
        parts.into_iter().filter(|(_, wanted)| *wanted).map(|(name, _)| name).collect()
    }

    pub fn server(&self) -> Server {
        self.scratch.server
    }

    /// An empty table again.
    pub fn clear(&mut self) {
        let deletes = self.names.iter().map(|name| format!("DELETE FROM {name};"));
        let script = deletes.collect::<String>() + "DELETE FROM business";
        self.scratch.run(&script).unwrap();
    }

    /// A new table, after one whose columns were changed.
    pub fn recreate(&mut self) {
        let drops: String = self.names.iter().map(|name| format!("DROP TABLE {name};")).collect();
        self.scratch.run(&drops).unwrap();
        self.scratch.run(&self.schema).unwrap();
    }

    pub fn table(&self) -> &str {
        &self.names[0]
    }

    pub fn archive(&self) -> &str {
        &self.names[1]
    }

    pub fn link(&self) -> Link {
        self.pools.link()
    }

    pub fn begin(&self) -> Link {
        self.pools.begin()
    }

    /// Runs a statement of the caller's own business.
    pub fn business(&self, link: &mut Link, id: u32) {
        link.run(&format!("INSERT INTO business VALUES ({id})")).unwrap();
    }

    /// How many of these there are.
    pub fn businesses(&mut self) -> usize {
        self.scratch.rows("SELECT id FROM business").len()
    }

    // Doing things.

    pub fn enqueue(&self, id: &str) {
        self.enqueue_event(&Event::new(id));
    }

    pub fn enqueue_event(&self, event: &Event) {
        let enqueued = self.repository.enqueue(&mut self.link(), APP, event).unwrap();
        assert_eq!(enqueued, Enqueued::Inserted, "{event:?}");
    }

    /// Events `e01` to `e<count>`.
    pub fn enqueue_all(&self, count: usize) -> Vec<String> {
        let ids: Vec<String> = (1..=count).map(|at| format!("e{at:02}")).collect();
        let events: Vec<Event> = ids.iter().map(|id| Event::new(id)).collect();
        let done = self.repository.enqueue_many(&mut self.link(), APP, &events).unwrap();
        assert_eq!((done.inserted, done.duplicates), (count as u64, 0));
        ids
    }

    pub fn claim_by(&self, options: &ClaimOptions<'_>) -> Taken {
        let batch = self.repository.claim_driven(&self.pools, APP, options, Drive::Through).unwrap().unwrap();
        assert!(batch.stopped_by.is_none(), "{batch:?}");
        batch
    }

    pub fn claim(&self, worker: &str, limit: u32) -> Vec<Claimed> {
        let batch = self.claim_by(&ClaimOptions { limit, ..ClaimOptions::new(worker) });
        assert!(batch.undecodable.is_empty() && batch.exhausted.is_empty(), "{batch:?}");
        batch.ready
    }

    /// The only row that there is to claim.
    pub fn claim_one(&self, worker: &str) -> Claimed {
        let mut ready = self.claim(worker, 10);
        assert_eq!(ready.len(), 1, "{ready:?}");
        ready.remove(0)
    }

    /// Finishes a row, as far as its worker can.
    pub fn finish(&self, link: &mut Link, lease: &Lease) -> Finished {
        if self.has("bus") {
            return self.repository.mark_published(link, lease).map(|marked| assert_eq!(marked, Marked::Published));
        }
        self.repository.complete(link, lease)
    }

    pub fn has(&self, part: &str) -> bool {
        self.repository.parts().contains(&part)
    }

    /// The state that [`Self::finish`] leads to.
    pub fn finished_state(&self) -> String {
        let status = &self.queue.claim.status;
        status.published.clone().unwrap_or_else(|| status.done.0[0].clone())
    }

    pub fn dead_state(&self) -> String {
        self.queue.claim.status.dead.clone().unwrap()
    }

    pub fn held_state(&self) -> String {
        self.queue.held_state().unwrap().to_owned()
    }

    pub fn pending_state(&self) -> String {
        self.queue.claim.status.pending.clone()
    }

    pub fn waiting_state(&self) -> String {
        self.queue.waiting().to_owned()
    }

    // Looking at rows, and changing them behind the repository's back.

    pub fn column(&self, at: usize) -> String {
        self.server().dialect().ident(&self.queue.table.columns[at].name)
    }

    pub fn literal(&self, text: &str) -> String {
        self.server().dialect().literal(text)
    }

    /// The position of a column, by its name.
    pub fn position(&self, name: &str) -> usize {
        self.queue.table.position(name).unwrap()
    }

    /// The name of an event, out of its row.
    pub fn id(&self, row: &Value) -> String {
        row[self.repository.name_column()].as_str().unwrap().to_owned()
    }

    pub fn ids(&self, claimed: &[Claimed]) -> Vec<String> {
        claimed.iter().map(|claimed| self.id(&claimed.row)).collect()
    }

    /// The state of each event, by its name.
    pub fn states(&mut self) -> Vec<(String, String)> {
        self.values(self.queue.status).into_iter().map(|(id, value)| (id, value.unwrap())).collect()
    }

    pub fn state(&mut self, id: &str) -> String {
        self.value(id, self.queue.status).unwrap()
    }

    pub fn attempts(&mut self, id: &str) -> i64 {
        self.value(id, self.queue.count.unwrap()).unwrap().parse().unwrap()
    }

    /// The names of the events in one state.
    pub fn in_state(&mut self, state: &str) -> Vec<String> {
        self.states().into_iter().filter(|(_, of)| of == state).map(|(id, _)| id).collect()
    }

    pub fn value(&mut self, id: &str, column: usize) -> Option<String> {
        let found = self.values(column).into_iter().find(|(name, _)| name == id);
        found.unwrap_or_else(|| panic!("{id} is gone")).1
    }

    /// A column of all rows, by the names of the events.
    pub fn values(&mut self, column: usize) -> Vec<(String, Option<String>)> {
        let (name, value, table) = (self.column(self.name), self.column(column), self.table().to_owned());
        let text = if self.server().is_mysql_like() { "CHAR" } else { "TEXT" };
        let rows = self.scratch.rows(&format!("SELECT {name}, CAST({value} AS {text}) FROM {table}"));
        let mut values: Vec<_> = rows
            .into_iter()
            .map(|row| <[Option<String>; 2]>::try_from(row).unwrap())
            .map(|[id, value]| (id.unwrap(), value))
            .collect();
        values.sort();
        values
    }

    pub fn set(&mut self, id: &str, column: usize, value: &str) {
        let (name, id) = (self.column(self.name), self.literal(id));
        self.set_where(column, value, &format!("{name} = {id}"));
    }

    pub fn set_where(&mut self, column: usize, value: &str, condition: &str) {
        let literal = self.literal(value);
        let (column, table) = (self.column(column), self.table().to_owned());
        self.scratch.run(&format!("UPDATE {table} SET {column} = {literal} WHERE {condition}")).unwrap();
    }

    pub fn set_time(&mut self, id: &str, column: usize, ms: i64) {
        let value = self.queue.at(column, ms).unwrap();
        self.set(id, column, &value);
    }

    pub fn time(&mut self, id: &str, column: usize) -> i64 {
        let value = self.value(id, column).unwrap();
        crate::queries::time::read(&self.queue.table.columns[column].ty, &value)
    }

    /// The column that says until when a row is held.
    pub fn held_until(&self) -> usize {
        self.queue.until.or(self.queue.time()).unwrap()
    }

    /// Lets the lease of a row run out.
    pub fn expire(&mut self, id: &str) {
        self.set_time(id, self.held_until(), 1_000);
    }

    /// Makes a row that waits due.
    pub fn make_due(&mut self, id: &str) {
        if let Some(due) = self.queue.time() {
            self.set_time(id, due, 1_000);
        }
    }
}

/// The milliseconds of the system's clock.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

/// So many milliseconds.
pub fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}
