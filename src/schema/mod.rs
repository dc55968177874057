//! The data: definitions of tables, loaded, checked and resolved into a [`Catalog`].
//!
//! [`load`] reads files and finds what is wrong with their text; [`check`] finds what is wrong with their meaning, on the
//! engines that were asked for. Both collect every fault instead of stopping at the first.

mod archive;
pub mod check;
mod coalesce;
mod collation;
mod decode;
pub mod default;
pub mod duration;
pub mod format;
mod json;
#[cfg(feature = "schema")]
pub mod json_schema;
mod keys;
pub mod load;
mod lower;
pub mod names;
pub mod order;
mod relaying;
pub mod rules;
mod sequence;
pub mod tags;
pub mod types;
mod value;

pub use archive::archive_of;
pub use coalesce::{Coalescing, coalescing};
pub use default::{DefaultValue, Literal};
pub use duration::Millis;
pub use json::Site;
pub use relaying::{Lack, unrelayed};
pub use sequence::{in_order, out_of_order};
pub use types::{ColumnType, Size};
pub use value::{Json, Number, quoted};

#[cfg(test)]
pub(crate) use json::read as read_json;

use std::collections::BTreeMap;

/// All tables of a run.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// In the order of the files and of the tables in them.
    pub tables: Vec<Table>,
    /// FNV-1a over the definitions without their white space; the same on every machine.
    pub fingerprint: u64,
}

impl Catalog {
    /// The table of exactly this name.
    pub fn table(&self, name: &TableName) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == *name)
    }
}

/// A table's name, with its database where it is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The database (MySQL, MariaDB), schema (PostgreSQL) or attached database (SQLite).
    pub database: Option<String>,
    /// The name in it.
    pub name: String,
}

impl TableName {
    /// Splits `db.table` at its first point.
    pub fn parse(text: &str) -> TableName {
        match text.split_once('.') {
            Some((database, name)) => TableName { database: Some(database.to_owned()), name: name.to_owned() },
            None => TableName { database: None, name: text.to_owned() },
        }
    }
}

impl std::fmt::Display for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.database {
            Some(database) => write!(f, "{database}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// One table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name.
    pub name: TableName,
    /// The definition's `tableType`.
    pub table_type: Option<String>,
    /// The definition's `category`.
    pub category: Option<String>,
    /// What the table is for.
    pub description: Option<String>,
    /// The only service that may scan it.
    pub owner: Option<String>,
    /// Its name before.
    pub renamed_from: Option<String>,
    /// Columns in their order.
    pub columns: Vec<Column>,
    /// Positions of the primary key's columns, in the key's order; empty: none.
    pub primary_key: Vec<usize>,
    /// Declared indexes, and one unique index for each column that is `unique`.
    pub indexes: Vec<Index>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// How workers claim rows.
    pub claim: Option<format::Claim>,
    /// How finished rows leave.
    pub retention: Option<format::Retention>,
    /// Where a relay publishes rows.
    pub publish: Option<format::Publish>,
    /// The table is an event bus.
    pub bus: Option<format::Bus>,
    /// The table is the memory of idempotent consumers.
    pub inbox: Option<format::Inbox>,
    /// Bounds of the metrics queries.
    pub metrics: Option<format::Metrics>,
    /// Findings left out, with the reasons.
    pub allow: BTreeMap<String, String>,
    /// The table whose archive this one is.
    pub archive_of: Option<TableName>,
    /// A claim that lacks something required: its columns are looked at all the same.
    pub(crate) claim_draft: Option<format::Claim>,
    /// Columns that were defined but not understood: nothing is said about their absence.
    pub(crate) broken: Vec<String>,
    /// Where it is defined.
    pub site: Site,
}

impl Table {
    /// Position of the column of exactly this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The column of exactly this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether an integer column holds epoch milliseconds: it is a time of the workload, or says so by the end of its name.
    pub fn holds_epoch_ms(&self, column: &Column) -> bool {
        let ColumnType::Int { bytes: 8, .. } = column.ty else { return false };
        let claim = self.claim.as_ref();
        let times = claim.and_then(|claim| claim.times.as_ref());
        let roles = [
            claim.and_then(|claim| claim.due.as_ref()),
            claim.and_then(|claim| claim.retry.as_ref()?.at.as_ref()),
            claim.and_then(|claim| claim.lease.as_ref().map(|lease| &lease.until)),
            times.and_then(|times| times.updated.as_ref()),
            times.and_then(|times| times.published.as_ref()),
            times.and_then(|times| times.finished.as_ref()),
            self.retention.as_ref().map(|retention| &retention.age),
            self.inbox.as_ref().and_then(|inbox| inbox.at.as_ref()),
        ];
        roles.contains(&Some(&column.name)) || ["_ms", "Ms", "_MS"].iter().any(|end| column.name.ends_with(end))
    }

    /// Whether the column is known to hold a moment, so that the clock may be written into it.
    pub fn holds_time(&self, column: &Column) -> bool {
        column.ty.is_time() || self.holds_epoch_ms(column)
    }

    /// Whether the column belongs to a key: the primary one, a unique one or a foreign one.
    pub fn is_in_key(&self, at: usize) -> bool {
        let unique = self.indexes.iter().filter(|index| index.unique).map(|index| &index.columns);
        let foreign = self.foreign_keys.iter().map(|key| &key.columns);
        unique.chain(foreign).chain([&self.primary_key]).any(|columns| columns.contains(&at))
    }

    /// Names of the columns at `positions`.
    pub fn names<'a>(&'a self, positions: &'a [usize]) -> impl Iterator<Item = &'a str> {
        positions.iter().map(|position| &*self.columns[*position].name)
    }
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name.
    pub name: String,
    /// What it holds.
    pub ty: ColumnType,
    /// May be NULL.
    pub nullable: bool,
    /// Default.
    pub default: Option<DefaultValue>,
    /// Numbered by the database.
    pub auto_increment: bool,
    /// Holds numbers of the database: it is numbered, or a foreign key or an archive ties it to a column that is.
    pub numbered: bool,
    /// How many characters (bytes, for BLOB) of a long column a key holds, where the engine needs a prefix.
    pub key_length: Option<u32>,
    /// Short name for people.
    pub label: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it means to the application.
    pub logical_type: Option<String>,
    /// Tables whose key it holds, without a foreign key.
    pub reference_to: Vec<String>,
    /// It names a row to people.
    pub is_name_field: bool,
    /// It belongs to the system.
    pub is_system: bool,
    /// Strings compare byte by byte.
    pub binary: bool,
    /// What the definition says of the collation.
    pub collation: Option<format::Collation>,
    /// Its name before.
    pub renamed_from: Option<String>,
    /// Where it is defined.
    pub site: Site,
}

impl Column {
    /// Label and description as one text for the column's comment.
    pub fn comment(&self) -> Option<String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        match (given(&self.label), given(&self.description)) {
            (Some(label), Some(description)) => Some(format!("{label}: {description}")),
            (label, description) => label.or(description),
        }
    }
}

/// One index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Declared name.
    pub name: Option<String>,
    /// Positions of its columns.
    pub columns: Vec<usize>,
    /// No two rows agree in all columns.
    pub unique: bool,
    /// Where it comes from.
    pub origin: IndexOrigin,
    /// The index holds only the rows for which this is true.
    pub predicate: Option<Predicate>,
    /// What it is for.
    pub description: Option<String>,
    /// Where it is defined.
    pub site: Site,
}

/// Where an index comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexOrigin {
    /// The definition's `indices`.
    Declared,
    /// A column's `unique: true`.
    Column,
    /// The table's workload; the text ends the derived name.
    Workload(String),
}

/// A column that has one value in all rows of a partial index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Position of the column.
    pub column: usize,
    /// The value.
    pub value: String,
}

/// One foreign key.
#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// Declared name.
    pub name: Option<String>,
    /// Positions of the referencing columns.
    pub columns: Vec<usize>,
    /// The referenced table.
    pub target: TableName,
    /// The referenced columns, in the same order.
    pub target_columns: Vec<String>,
    /// What happens when the referenced row goes.
    pub on_delete: Option<Action>,
    /// What happens when the referenced key changes.
    pub on_update: Option<Action>,
    /// Where it is defined.
    pub site: Site,
}

/// What a foreign key does to its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The rows go (change) too.
    Cascade,
    /// The columns become NULL.
    SetNull,
    /// The columns take their defaults.
    SetDefault,
    /// The change is refused.
    Restrict,
    /// The change is refused, at the end of the statement where the engine waits that long.
    NoAction,
}

impl Action {
    /// All, for parsing and messages.
    pub const ALL: [Action; 5] =
        [Action::Cascade, Action::SetNull, Action::SetDefault, Action::Restrict, Action::NoAction];

    /// The SQL words, the same on all engines.
    pub fn sql(self) -> &'static str {
        match self {
            Action::Cascade => "CASCADE",
            Action::SetNull => "SET NULL",
            Action::SetDefault => "SET DEFAULT",
            Action::Restrict => "RESTRICT",
            Action::NoAction => "NO ACTION",
        }
    }

    /// Reads the SQL words, in upper or lower case.
    pub fn parse(text: &str) -> Option<Action> {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase();
        Action::ALL.into_iter().find(|action| action.sql() == words)
    }
}
