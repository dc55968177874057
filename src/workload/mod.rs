//! Claim and retention → access paths → the indexes that serve them.
//!
//! A statement reads as many rows as it returns exactly when its index holds first the columns that it pins by equality,
//! then its range column, then the rest of its ORDER BY. So each statement of the workload is described by that shape (a
//! [`Path`]), the index is read off it ([`index::ideal`]), and [`serves::serves`] judges any index against any path.

pub mod derive;
pub mod index;
pub mod serves;

use crate::diagnostic::Diagnostic;
use crate::engine::Engine;
use crate::schema::check::{is_allowed, keys};
use crate::schema::{Catalog, Table};

/// How one statement of the workload finds its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// What the statement is for.
    pub purpose: Purpose,
    /// The column of the lane that the statement keeps to.
    pub lane: Option<usize>,
    /// Columns pinned by equality.
    pub pins: Vec<Pin>,
    /// The column compared with a bound (`<=`), always the first of `order`.
    pub range: Option<usize>,
    /// ORDER BY, all ascending; empty where any will do.
    pub order: Vec<usize>,
}

/// A column pinned by equality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its position in the table.
    pub column: usize,
    /// What it is compared with.
    pub value: PinValue,
}

/// What a pinned column is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinValue {
    /// A parameter of the statement.
    Parameter,
    /// A state, written into the statement: a parameter could not be matched with a partial index.
    State(String),
    /// The value of a retry column before the first failure: 0, the epoch, or NULL.
    Never,
}

/// What a statement is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Claims rows that wait for their first attempt.
    Pending,
    /// Claims rows whose next attempt is due.
    Retryable,
    /// Claims rows whose lease has expired.
    Expired,
    /// Finds rows that a worker left running, where no lease says so.
    Recover,
    /// Finds rows that stayed published without being consumed.
    Sweep,
    /// Finds the newest pending row of one thing.
    Coalesce,
    /// Finds the first rows of one key in one open state.
    Order(String),
    /// Finds finished rows of one state by age.
    Retention(String),
    /// Lists dead rows.
    Dead,
    /// Lists the rows of one open state. No index is made for it.
    Open(String),
    /// Counts the rows of one open state.
    Count(String),
    /// Counts the rows of one open state that no claim can reach.
    Stranded(String),
}

impl Purpose {
    /// The ending of a derived index's name.
    pub(crate) fn suffix(&self) -> String {
        match self {
            Purpose::Pending => "pending".to_owned(),
            Purpose::Retryable => "retryable".to_owned(),
            Purpose::Expired => "expired".to_owned(),
            Purpose::Recover => "recover".to_owned(),
            Purpose::Sweep => "sweep".to_owned(),
            Purpose::Coalesce => "coalesce".to_owned(),
            Purpose::Order(state) => format!("order_{state}"),
            Purpose::Retention(state) if state.is_empty() => "retention".to_owned(),
            Purpose::Retention(state) => format!("retention_{state}"),
            Purpose::Dead => "dead".to_owned(),
            Purpose::Open(state) => format!("open_{state}"),
            Purpose::Count(state) => format!("count_{state}"),
            Purpose::Stranded(state) => format!("stranded_{state}"),
        }
    }

    /// Whether the statement belongs to retention and not to the claim.
    pub fn is_retention(&self) -> bool {
        matches!(self, Purpose::Retention(_))
    }

    /// What the statement does, for the index's comment.
    fn text(&self) -> String {
        match self {
            Purpose::Pending => "claims pending rows".to_owned(),
            Purpose::Retryable => "claims rows whose retry is due".to_owned(),
            Purpose::Expired => "claims rows whose lease has expired".to_owned(),
            Purpose::Recover => "finds rows that a worker left running".to_owned(),
            Purpose::Sweep => "finds rows that stayed published".to_owned(),
            Purpose::Coalesce => "finds the newest pending row of one thing".to_owned(),
            Purpose::Order(state) => format!("finds the first {state} rows of one key"),
            Purpose::Retention(state) if state.is_empty() => "finds rows by age".to_owned(),
            Purpose::Retention(state) => format!("finds {state} rows by age"),
            Purpose::Dead => "lists dead rows".to_owned(),
            Purpose::Open(state) => format!("lists {state} rows"),
            Purpose::Count(state) => format!("counts {state} rows"),
            Purpose::Stranded(state) => format!("counts stranded {state} rows"),
        }
    }
}

impl Path {
    /// The ending of a derived index's name.
    pub(crate) fn suffix(&self, table: &Table) -> String {
        match self.lane {
            Some(lane) => format!("{}_by_{}", self.purpose.suffix(), table.columns[lane].name),
            None => self.purpose.suffix(),
        }
    }

    /// What the statement does, for the index's comment.
    fn text(&self, table: &Table) -> String {
        match self.lane {
            Some(lane) => format!("{} of one {}", self.purpose.text(), table.columns[lane].name),
            None => self.purpose.text(),
        }
    }
}

/// The catalog with the indexes that its workload needs on `engine` added to those that are declared.
pub fn indexed(catalog: &Catalog, engine: &Engine) -> Catalog {
    let mut catalog = catalog.clone();
    for table in &mut catalog.tables {
        let derived = index::derived(table, engine);
        table.indexes.extend(derived);
    }
    catalog
}

/// What is wrong with derived indexes, such as keys of too many bytes.
pub fn check(catalog: &Catalog, engines: &[&Engine]) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for engine in engines {
        for table in &catalog.tables {
            let mut found = Vec::new();
            let derived = index::derived(table, engine);
            derived.iter().for_each(|index| keys::check_index(table, index, &[engine], &mut found));
            // The same fault on a further engine is the same fault.
            let known = |new: &Diagnostic| findings.iter().any(|old| same(old, new));
            found.retain(|new| !known(new) && !is_allowed(table, new));
            findings.extend(found);
        }
    }
    findings
}

fn same(a: &Diagnostic, b: &Diagnostic) -> bool {
    let span = |finding: &Diagnostic| finding.place.as_ref().map(|place| place.span);
    a.rule.id == b.rule.id && span(a) == span(b)
}

/// Positions of the key's columns that `pins` leave open: the tie-breakers of an order.
fn tie_breakers(table: &Table, pins: &[Pin]) -> Vec<usize> {
    let open = |column: &&usize| !pins.iter().any(|pin| pin.column == **column);
    table.primary_key.iter().filter(open).copied().collect()
}
