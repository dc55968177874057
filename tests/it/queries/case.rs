//! A queue table on a server, with its statements ready to run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use claimsmith::schema::{Catalog, Table, load};
use claimsmith::statement::query::{Meaning, Query, queries};
use claimsmith::statement::schema;

use crate::servers::{Row, Scratch, Server};

use super::driver::{Bind, Driver, Outcome};
use super::matrix::OLD;
use super::model::{CUTOFF, DELAY, ERROR, LEASE, TOKEN, WINDOW, asked_for};
use super::queue::{Queue, bind, canonical};
use super::time::{NOON, frozen, held};

/// The committed definitions, and some of tests with roles that those do without.
pub fn committed() -> Catalog {
    let paths = ["schemas", "tests/it/queries/shapes.json"];
    let paths = paths.map(|path| Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    load::load(&load::read(&paths, |path| path.display().to_string()).unwrap()).0
}

/// A connection to a database with the queue tables of the catalog and their archives, whose clock stands.
pub fn prepared(scratch: &mut Scratch, catalog: &Catalog) -> Driver {
    let catalog = &Catalog {
        tables: catalog
            .tables
            .iter()
            .filter(|table| table.claim.is_some() || table.archive_of.is_some())
            .cloned()
            .collect(),
        ..catalog.clone()
    };
    let script = schema(catalog, scratch.server.dialect());
    let tables = script.tables.iter().flat_map(|table| &table.statements);
    let statements =
        script.before.iter().chain(tables).chain(&script.after).map(|statement| format!("{};\n", statement.sql));
    scratch.run(&statements.collect::<String>()).unwrap();
    let mut driver = Driver::open(scratch);
    driver.set_clock(NOON);
    driver
}

/// One table and its statements.
pub struct Case<'a> {
    pub queue: Queue<'a>,
    pub queries: Vec<Query>,
    pub server: Server,
    /// Where the clock stands; `None` lets it run.
    pub now: Option<i64>,
}

/// Every queue table of the catalog.
pub fn cases(catalog: &Catalog, server: Server) -> Vec<Case<'_>> {
    let case = |queries: claimsmith::statement::query::TableQueries| {
        let queue = Queue::of(&catalog.tables[queries.table])?;
        Some(Case { queue, queries: queries.queries, server, now: Some(NOON) })
    };
    queries(catalog, server.dialect()).into_iter().filter_map(case).collect()
}

/// What a parameter is given beside the values of a row.
#[derive(Default)]
pub struct Given<'g> {
    pub row: Option<&'g Row>,
    /// The fence of the lease that the statement is for.
    pub fence: Option<String>,
    pub keys: Vec<Row>,
    pub limit: i64,
    pub cutoff: i64,
    /// From when on and before when rows are republished; [`WINDOW`] where nothing is said.
    pub window: Option<(i64, i64)>,
}

impl Case<'_> {
    /// Parameters for a statement about the first scope and lane, of which there are rows.
    pub fn asking<'r>(&self, rows: &'r [Row], limit: i64) -> Given<'r> {
        let row = rows.iter().find(|row| asked_for(&self.queue, row, &self.queue.scope, true));
        Given { row, limit, ..Given::default() }
    }

    pub fn table(&self) -> &Table {
        self.queue.table
    }

    pub fn find(&self, name: &str) -> Option<&Query> {
        self.queries.iter().find(|query| query.name == name)
    }

    /// The statement of this name.
    /// The statement that finds the rows that `name` moves: a SELECT before it, or itself.
    pub fn first_step(&self, name: &str) -> String {
        let find = format!("{name}_find");
        if self.find(&find).is_some() { find } else { name.to_owned() }
    }

    pub fn get(&self, name: &str) -> &Query {
        self.find(name).unwrap_or_else(|| panic!("{} has no {name}", self.table().name))
    }

    /// Runs a statement; panics where it fails.
    pub fn run(&self, driver: &mut Driver, query: &Query, given: &Given<'_>) -> Outcome {
        let what = || format!("{} of {} on {:?}", query.name, self.table().name, self.server);
        self.attempt(driver, query, given).unwrap_or_else(|error| panic!("{}: {error}\n{}", what(), query.sql))
    }

    /// Runs a statement. `keys` becomes as many parameters as there are keys.
    pub fn attempt(&self, driver: &mut Driver, query: &Query, given: &Given<'_>) -> Result<Outcome, sqlx::Error> {
        let frozen_at = |sql: &str| self.now.map_or(sql.to_owned(), |now| frozen(self.server, sql, now));
        let mut sql = frozen_at(&query.sql);
        let mut binds = Vec::new();
        for parameter in &query.parameters {
            if parameter.meaning != Meaning::Keys {
                binds.push(self.value(query, parameter.meaning, given));
                continue;
            }
            let columns = &query.key_columns;
            let mut number = binds.len();
            let mut placeholder = || {
                number += 1;
                self.server.dialect().placeholder(number)
            };
            let mut key = || match columns.len() {
                1 => placeholder(),
                _ => format!("({})", columns.iter().map(|_| placeholder()).collect::<Vec<_>>().join(", ")),
            };
            let list = given.keys.iter().map(|_| key()).collect::<Vec<_>>().join(", ");
            let at = query.keys_at.unwrap();
            let before = frozen_at(&query.sql[..at]);
            sql = format!("{before}{list}{}", frozen_at(&query.sql[at + parameter.placeholder.len()..]));
            let value = |row: &Row, at: usize| bind(&self.table().columns[at].ty, row[at].clone());
            binds.extend(given.keys.iter().flat_map(|row| columns.iter().map(move |at| value(row, *at))));
        }
        let mut outcome = driver.execute(&sql, &binds)?;
        if outcome.rows.first().is_some_and(|row| row.len() == self.table().columns.len()) {
            outcome.rows.iter_mut().for_each(|row| canonical(self.table(), row));
        }
        Ok(outcome)
    }

    fn value(&self, query: &Query, meaning: Meaning, given: &Given<'_>) -> Bind {
        let (table, queue) = (self.table(), &self.queue);
        let fence = |column: Option<usize>| bind(&table.columns[column.unwrap()].ty, given.fence.clone());
        match meaning {
            Meaning::Limit | Meaning::Cap => Bind::Int(given.limit),
            Meaning::LeaseMs | Meaning::VisibilityMs => Bind::Int(LEASE),
            Meaning::DelayMs => Bind::Int(DELAY),
            Meaning::AgeMs => Bind::Int(OLD),
            Meaning::SweepMs if given.cutoff == 0 => Bind::Int(OLD),
            Meaning::SweepMs => Bind::Int(self.now.unwrap_or(NOON) - given.cutoff),
            Meaning::Cutoff => {
                let age = table.retention.as_ref().and_then(|retention| table.position(&retention.age));
                let ty = &table.columns[age.unwrap()].ty;
                bind(ty, Some(held(ty, if given.cutoff == 0 { CUTOFF } else { given.cutoff })))
            }
            Meaning::Since | Meaning::Until => {
                let age = table.retention.as_ref().and_then(|retention| table.position(&retention.age));
                let ty = &table.columns[age.unwrap()].ty;
                let (since, until) = given.window.unwrap_or(WINDOW);
                bind(ty, Some(held(ty, if meaning == Meaning::Since { since } else { until })))
            }
            // A claim gives a token, and what follows shows it.
            Meaning::Token => Bind::Text(Some(given.fence.clone().unwrap_or(TOKEN.to_owned()))),
            Meaning::ClaimSeq => fence(queue.seq),
            Meaning::Attempt => fence(queue.count),
            Meaning::Error => Bind::Text(Some(ERROR.to_owned())),
            Meaning::Column(at) => {
                let row =
                    given.row.unwrap_or_else(|| panic!("no row for {} of {}", table.columns[at].name, query.name));
                bind(&table.columns[at].ty, row[at].clone())
            }
            Meaning::Keys => panic!("a list of keys is no single value"),
        }
    }
}

/// All that went wrong in one test, so that one fault does not hide the others.
#[derive(Default)]
pub struct Faults(Vec<String>);

impl Faults {
    /// Runs a check, and notes how it failed.
    pub fn collect(&mut self, check: impl FnOnce()) {
        let Err(fault) = catch_unwind(AssertUnwindSafe(check)) else { return };
        let text = fault.downcast_ref::<String>().cloned();
        self.0.push(text.or(fault.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default());
    }

    /// Fails if a check failed.
    pub fn report(self) {
        assert!(self.0.is_empty(), "{} faults:\n\n{}", self.0.len(), self.0.join("\n\n"));
    }
}

/// Fails with the first difference between two lists of rows.
pub fn assert_rows(table: &Table, what: &str, found: &[Row], expected: &[Row]) {
    if found == expected {
        return;
    }
    let what = format!("{what} of {}", table.name);
    let key = |row: &Row| table.primary_key.iter().map(|at| row[*at].clone().unwrap_or_default()).collect::<Vec<_>>();
    let (found_keys, expected_keys) =
        (found.iter().map(key).collect::<Vec<_>>(), expected.iter().map(key).collect::<Vec<_>>());
    assert_eq!(found_keys, expected_keys, "{what}: other rows");
    for (found, expected) in found.iter().zip(expected) {
        for (column, (found_value, expected_value)) in table.columns.iter().zip(found.iter().zip(expected)) {
            assert_eq!(found_value, expected_value, "{what}: {} in\n{found:?}\ninstead of\n{expected:?}", column.name);
        }
    }
    panic!("{what}: rows of another width: {found:?}");
}
