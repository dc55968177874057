//! The statements of a table's workload: enqueue, claims, transitions, retention and metrics.
//!
//! Simple statements come from the query builder; those that need an index hint, a lock or a statement in a statement are
//! written here, because the builder drops or lacks what they need.

mod bus;
mod claim;
mod coalesce;
mod consume;
mod dead;
mod enqueue;
mod many;
mod metrics;
mod open;
mod order;
mod parameter;
mod republish;
mod restore;
mod retention;
mod roles;
mod sql;
mod transition;

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::schema::names::{self, TableNames};
use crate::schema::{Catalog, Table};
use crate::workload::{self, Path, PinValue, derive, serves};

pub use consume::message;
pub use enqueue::given;
pub use open::open_states;
pub use parameter::{Meaning, Parameter};

use roles::Roles;

/// One statement of the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Its name, unique within the table: one word of letters, digits and `_`.
    pub name: String,
    /// What it does, whatever state or branch it is about: `claim`, `complete`, `cleanup` …
    pub base: String,
    /// The state or the branch that it is about, where others do the same for other ones.
    pub state: Option<String>,
    /// What it does, one entry a line, fit for line comments.
    pub about: Vec<String>,
    /// Its parameters, in their order.
    pub parameters: Vec<Parameter>,
    /// The index that it reads, where it does not go by the primary key.
    pub index: Option<String>,
    /// The text, without a semicolon.
    pub sql: String,
    /// The byte of [`Query::sql`] at which the placeholder of a list of keys begins. In its place come as many keys as there
    /// are: of one column `?, ?, …`, of several `(?, ?), (?, ?), …`. It is the last parameter, so that numbered ones go on
    /// from its own number.
    pub keys_at: Option<usize>,
    /// The positions of the columns that make up one key of that list, in their order.
    pub key_columns: Vec<usize>,
}

impl Query {
    /// The same as one of several that do `base`, each for a state or a branch of its own.
    fn of(mut self, base: &str, state: &str) -> Query {
        self.base = base.to_owned();
        self.state = Some(state.to_owned());
        self
    }
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
    let has_some = |table: &Table| table.claim.is_some() || table.retention.is_some() || table.inbox.is_some();
    if !catalog.tables.iter().any(has_some) {
        return Vec::new();
    }
    let indexed = workload::indexed(catalog, dialect.engine());
    let names = names::assign(&indexed, dialect.engine());
    let of_table = |(at, (table, table_names)): (usize, (&Table, &TableNames))| {
        let archive = indexed.tables.iter().position(|archive| archive.archive_of.as_ref() == Some(&table.name));
        let archive = archive.map(|archive| (&indexed.tables[archive], &names[archive]));
        let queries = of_table(&indexed, (table, table_names), archive, dialect);
        (!queries.is_empty()).then_some(TableQueries { table: at, queries })
    };
    indexed.tables.iter().zip(&names).enumerate().filter_map(of_table).collect()
}

fn of_table(
    catalog: &Catalog,
    (table, names): (&Table, &TableNames),
    archive: Option<(&Table, &TableNames)>,
    dialect: &dyn Dialect,
) -> Vec<Query> {
    let context = Context { catalog, table, names, dialect };
    let mut queries = Vec::new();
    if let Some(roles) = Roles::of(table) {
        queries.extend(enqueue::queries(&context, &roles));
        queries.extend(coalesce::queries(&context, &roles));
        queries.extend(claim::queries(&context, &roles));
        queries.extend(transition::queries(&context, &roles));
        queries.extend(order::queries(&context, &roles));
        queries.extend(open::queries(&context, &roles));
        let archive = archive.map(|(table, names)| Context { catalog, table, names, dialect });
        queries.extend(archive.iter().flat_map(|archive| restore::queries(&context, &roles, archive)));
    }
    queries.extend(consume::begin(&context));
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

/// A name as programs may write it: without regard to case and `_`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
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

    /// The name of a parameter; of one that is no column, told apart from those that are.
    fn parameter_name(&self, meaning: Meaning) -> String {
        match (meaning, meaning.word()) {
            (Meaning::Column(at), _) => self.table.columns[at].name.clone(),
            (_, word) => self.word(word.unwrap_or_default()),
        }
    }

    fn word(&self, word: &str) -> String {
        let is_column = |name: &str| {
            let columns = self.table.columns.iter().enumerate();
            let mut same = columns.filter(|(_, column)| plain(&column.name) == plain(name));
            same.any(|(at, column)| name != word || !self.means(word, at, &column.name))
        };
        let numbered = (2..).map(|number| format!("{word}_{number}"));
        std::iter::once(word.to_owned()).chain(numbered).find(|name| !is_column(name)).unwrap_or(word.to_owned())
    }

    /// Whether the word is about this very column, which no statement has as a parameter of its own beside it.
    fn means(&self, word: &str, at: usize, name: &str) -> bool {
        let Some(claim) = &self.table.claim else { return false };
        let (retry, lease) = (claim.retry.as_ref(), claim.lease.as_ref());
        let meant = match word {
            "error" => retry.and_then(|retry| retry.error.as_deref()),
            "attempt" => retry.and_then(|retry| retry.count.as_deref()),
            "token" => lease.and_then(|lease| lease.by.as_deref()),
            "claim_seq" => lease.and_then(|lease| lease.seq.as_deref()),
            _ => None,
        };
        let pinned =
            self.table.primary_key.contains(&at) || claim.scope.iter().chain(&claim.lane).any(|pin| pin == name);
        meant == Some(name) && !pinned
    }

    /// How the path's rows are ordered, for comments.
    fn in_order(&self, path: &Path) -> String {
        let key = |at: &usize| self.table.primary_key.contains(at);
        match path.order.first() {
            Some(at) if self.table.holds_time(&self.table.columns[*at]) => "the oldest first".to_owned(),
            Some(at) if !key(at) => format!("in the order of {}", self.column(*at)),
            _ => "in the order of their keys".to_owned(),
        }
    }

    /// The name of the index that serves the path; `None` where the primary key does.
    fn index_for(&self, path: &Path) -> Option<&'a str> {
        self.serving(path).map(|at| &*self.names.indexes[at])
    }

    /// The order in which that index has the rows of the path.
    fn order_of_index(&self, path: &Path) -> Vec<usize> {
        let Some(index) = self.serving(path) else { return Vec::new() };
        let index = &self.table.indexes[index];
        let is_one = |column: &usize| {
            path.pins.iter().any(|pin| pin.column == *column && pin.value != PinValue::Never)
                || index.predicate.as_ref().is_some_and(|predicate| predicate.column == *column)
        };
        index.columns.iter().filter(|column| !is_one(column)).copied().collect()
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
