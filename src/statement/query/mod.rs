//! The statements of a table's workload: enqueue, claims, transitions, retention and metrics.
//!
//! Simple statements come from the query builder; those that need an index hint, a lock or a statement in a statement are
//! written here, because the builder drops or lacks what they need.

mod claim;
mod enqueue;
mod metrics;
mod retention;
mod roles;
mod sql;
mod transition;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::dialect::Dialect;
use crate::schema::names::{self, TableNames};
use crate::schema::{Catalog, Table};
use crate::workload::{self, Path, derive, serves};

use roles::Roles;

/// One statement of the workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Query {
    /// Its name, unique within the table: one word of letters, digits and `_`.
    pub name: String,
    /// What it does, one entry a line, fit for line comments.
    pub about: Vec<String>,
    /// Its parameters, in their order.
    pub parameters: Vec<Parameter>,
    /// The index that it reads, where it does not go by the primary key.
    pub index: Option<String>,
    /// The text, without a semicolon.
    pub sql: String,
}

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// As it stands in the statement: `?`, `$1`.
    pub placeholder: String,
    /// What it is: a column, or a word such as `limit`, `lease_ms`.
    pub name: String,
}

/// All statements of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableQueries {
    /// Position in [`Catalog::tables`].
    pub table: usize,
    /// In the order of a row's life.
    pub queries: Vec<Query>,
}

/// The statements of every table that has a workload.
pub fn queries(catalog: &Catalog, dialect: &dyn Dialect) -> Vec<TableQueries> {
    if !catalog.tables.iter().any(|table| table.claim.is_some() || table.retention.is_some()) {
        return Vec::new();
    }
    let indexed = workload::indexed(catalog, dialect.engine());
    let names = names::assign(&indexed, dialect.engine());
    let of_table = |(at, (table, names)): (usize, (&Table, &TableNames))| {
        let queries = of_table(&indexed, table, names, dialect);
        (!queries.is_empty()).then_some(TableQueries { table: at, queries })
    };
    indexed.tables.iter().zip(&names).enumerate().filter_map(of_table).collect()
}

fn of_table(catalog: &Catalog, table: &Table, names: &TableNames, dialect: &dyn Dialect) -> Vec<Query> {
    let context = Context { catalog, table, names, dialect };
    let mut queries = Vec::new();
    if let Some(roles) = Roles::of(table) {
        queries.extend(enqueue::queries(&context, &roles));
        queries.extend(claim::queries(&context, &roles));
        queries.extend(transition::queries(&context, &roles));
    }
    queries.extend(retention::queries(&context));
    if let Some(roles) = Roles::of(table) {
        queries.extend(metrics::queries(&context, &roles));
    }
    name_apart(&mut queries);
    queries
}

/// States are in names, and may be anything: a name is one word of letters, digits and `_`, and stands for one statement.
fn name_apart(queries: &mut [Query]) {
    let mut taken = BTreeSet::new();
    for query in queries {
        let word: String = query.name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let numbered = (2..).map(|number| format!("{word}_{number}"));
        query.name = std::iter::once(word.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(word);
        taken.insert(query.name.clone());
    }
}

/// What statements about one table need.
struct Context<'a> {
    catalog: &'a Catalog,
    /// The table with its derived indexes.
    table: &'a Table,
    names: &'a TableNames,
    dialect: &'a dyn Dialect,
}

impl<'a> Context<'a> {
    /// The table, quoted.
    fn table_name(&self) -> String {
        super::quoted(self.dialect, &self.table.name)
    }

    /// The column, quoted.
    fn column(&self, at: usize) -> String {
        self.dialect.ident(&self.table.columns[at].name)
    }

    /// The columns, quoted, with commas.
    fn columns(&self, columns: &[usize]) -> String {
        columns.iter().map(|at| self.column(*at)).collect::<Vec<_>>().join(", ")
    }

    /// All columns, quoted, with commas.
    fn all_columns(&self) -> String {
        self.columns(&(0..self.table.columns.len()).collect::<Vec<_>>())
    }

    /// The name of the index that serves the path; `None` where the primary key does.
    fn index_for(&self, path: &Path) -> Option<&'a str> {
        self.serving(path).map(|at| &*self.names.indexes[at])
    }

    /// The position of that index.
    fn serving(&self, path: &Path) -> Option<usize> {
        let engine = self.dialect.engine();
        let serving = |at: &usize| serves::serves(engine, self.table, &self.table.indexes[*at], path).is_ok();
        // The index made for the path comes first, so that every statement reads the one that its comment names.
        let own = |at: &usize| {
            let origin = &self.table.indexes[*at].origin;
            *origin == crate::schema::IndexOrigin::Workload(path.suffix(self.table))
        };
        let all = 0..self.table.indexes.len();
        all.clone().filter(serving).find(own).or_else(|| all.clone().find(serving))
    }

    /// The paths of the table's workload.
    fn paths(&self) -> Vec<Path> {
        derive::paths(self.table)
    }
}
