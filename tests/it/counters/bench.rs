//! A table whose indexes are changed, and what its statements cost then.

use std::collections::BTreeSet;

use claimsmith::schema::Index;
use claimsmith::statement::query::Query;

use crate::servers::{Scratch, Server};

use super::Queue;
use super::contracts::{breaches, is_of_cost};
use super::probe::Probe;
use super::running::{is_reading, run};
use super::statements::{Kind, Values, kind};

/// A table whose indexes are changed.
pub struct Bench<'a> {
    pub probe: Probe,
    queue: &'a Queue,
    /// So many rows are old enough to leave, if they are finished.
    old: u64,
    /// What is not as it should be.
    pub found: Vec<String>,
}

/// What a statement costs.
pub struct Cost {
    /// How it breaks its contract, but for the name of the index.
    found: Vec<String>,
    /// SQLite: the steps of its machine.
    steps: u64,
    /// PostgreSQL: pages touched by finding the rows.
    pages: u64,
}

impl<'a> Bench<'a> {
    pub fn of(scratch: &Scratch, queue: &'a Queue, rows: u64) -> Bench<'a> {
        Bench { probe: Probe::open(scratch), queue, old: rows / 2, found: Vec::new() }
    }

    fn server(&self) -> Server {
        self.probe.server
    }

    /// What the statement costs; an error where it is refused.
    pub fn cost(&mut self, queue: &Queue, query: &Query, scope: &'static str) -> Result<Cost, sqlx::Error> {
        let limit = if kind(query) == Kind::Claim { 100 } else { 1_000 };
        let values = Values { scope, old: self.old, ..Values::new(queue, self.server(), limit) };
        self.probe.begin();
        let counted = run(&mut self.probe, &values, query);
        self.probe.rollback();
        let (counted, about) = counted?;
        let expected = about.unwrap_or(counted.returned);
        assert!(expected > 0, "{:?}, {} {}, {scope}: no row", self.server(), queue.name(), query.name);
        let mut found = breaches(self.server(), queue.name(), query, &counted, expected);
        found.retain(|breach| is_of_cost(breach));
        let steps = if self.server() == Server::Sqlite { counted.examined } else { 0 };
        Ok(Cost { found, steps, pages: counted.pages })
    }

    /// Whether the statement costs more than its contract allows, or than it did before.
    pub fn breaks(&mut self, queue: &Queue, query: &Query, scope: &'static str, before: &Cost) -> bool {
        match self.cost(queue, query, scope) {
            Ok(cost) => {
                !cost.found.is_empty() || cost.steps * 100 > before.steps * 105 || cost.pages > before.pages + 10
            }
            // SQLite refuses an index that is there and cannot be used.
            Err(error) if self.server() == Server::Sqlite && error.to_string().contains("no query solution") => true,
            Err(error) => panic!("{:?}, {} {}: {error}", self.server(), queue.name(), query.name),
        }
    }

    /// What the statement costs while it keeps its contract.
    pub fn keeps(&mut self, query: &Query, scope: &'static str) -> Cost {
        let cost = self.cost(self.queue, query, scope).unwrap();
        let what = format!("{:?}, {} {}, {scope}", self.server(), self.queue.name(), query.name);
        self.found.extend(cost.found.iter().map(|breach| format!("{what}: {breach}")));
        cost
    }

    /// The index of this name, with these of its columns.
    pub fn create(&mut self, name: &str, index: &Index, columns: &[usize]) {
        let (dialect, table) = (self.server().dialect(), &self.queue.table);
        let columns: Vec<String> = columns.iter().map(|at| dialect.ident(&table.columns[*at].name)).collect();
        let only = index.predicate.as_ref().map(|predicate| {
            let column = dialect.ident(&table.columns[predicate.column].name);
            format!(" WHERE {column} = {}", dialect.literal(&predicate.value))
        });
        let (name, of) = (dialect.ident(name), dialect.ident(&table.name.name));
        let only = only.unwrap_or_default();
        self.probe.run(&format!("CREATE INDEX {name} ON {of} ({}){only}", columns.join(", ")));
    }

    pub fn drop(&mut self, name: &str) {
        self.probe.run(&drop_index(self.server(), self.queue, name));
    }

    /// Takes away what undone changes left, however few pages it is on.
    pub fn tidy(&mut self) {
        if self.server() == Server::Postgres {
            self.probe.run(&format!("VACUUM (INDEX_CLEANUP ON) {}", self.server().dialect().ident(self.queue.name())));
        }
    }

    /// The indexes that statements read, and those statements.
    pub fn used(&self) -> Vec<(String, Index, Vec<Query>)> {
        let names: BTreeSet<&String> = self.queue.queries.iter().filter_map(|query| query.index.as_ref()).collect();
        let of_name = |name: &String| {
            let at = self.queue.index_names.iter().position(|index| index == name).unwrap();
            let queries = self.queue.queries.iter().filter(|query| query.index.as_ref() == Some(name)).cloned();
            // Undone changes would leave entries in PostgreSQL's indexes.
            let (reading, changing): (Vec<_>, Vec<_>) = queries.partition(|query| is_reading(kind(query)));
            (name.clone(), self.queue.table.indexes[at].clone(), [reading, changing].concat())
        };
        names.into_iter().map(of_name).collect()
    }
}

/// The statement without the hint of its index, or of the primary key.
pub fn unhinted(server: Server, query: &Query) -> Query {
    let mut free = query.clone();
    for index in query.index.iter().map(String::as_str).chain(["PRIMARY"]) {
        let hint = server.dialect().index_hint(index);
        if !hint.is_empty() {
            let before = free.keys_at.map(|at| free.sql[..at].replace(&hint, "").len());
            (free.sql, free.keys_at) = (free.sql.replace(&hint, ""), before);
        }
    }
    free
}

/// The statement that drops the index.
pub fn drop_index(server: Server, queue: &Queue, name: &str) -> String {
    let quoted = |name: &str| server.dialect().ident(name);
    let of = if server.is_mysql_like() { format!(" ON {}", quoted(queue.name())) } else { String::new() };
    format!("DROP INDEX {}{of}", quoted(name))
}
