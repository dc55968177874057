//! All that differs between databases: facts, quoting, types, and the pieces of DDL.
//!
//! Outside this folder no code names a database: it reads a fact of [`Engine`] or asks a [`Dialect`].
//! To add a database: a folder with the same file names, and one line in [`ALL`].

#[cfg(feature = "live")]
pub mod catalogue;
mod driver;
mod mariadb;
mod mysql;
mod postgres;
mod sqlite;

pub use driver::{Driver, HeldTime, Wire};

use crate::engine::Engine;
use crate::schema::{Column, ColumnType, DefaultValue, TableName};

/// Every dialect, in the order of its documentation.
pub static ALL: [&dyn Dialect; 4] = [&mysql::MySql, &mariadb::MariaDb, &postgres::Postgres, &sqlite::Sqlite];

/// The dialect of the database that runs inside the process.
pub static EMBEDDED: &dyn Dialect = &sqlite::Sqlite;

#[cfg(feature = "live")]
pub use sqlite::live;

/// The dialect of this name.
pub fn find(id: &str) -> Option<&'static dyn Dialect> {
    ALL.into_iter().find(|dialect| dialect.engine().id == id)
}

/// The names of all dialects.
pub fn ids() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|dialect| dialect.engine().id)
}

/// How one database spells things.
pub trait Dialect: Sync {
    /// What it can do.
    fn engine(&self) -> &'static Engine;

    /// The name, quoted: it cannot end early, whatever is in it.
    fn ident(&self, name: &str) -> String;

    /// The text as a string literal: it cannot end early, whatever is in it.
    fn literal(&self, text: &str) -> String;

    /// The column's type, collation included.
    fn column_type(&self, column: &Column) -> String;

    /// What the column's type does not say by itself, as a condition for CHECK.
    fn check(&self, column: &Column) -> Option<String>;

    /// The default, as it stands behind DEFAULT.
    fn default(&self, ty: &ColumnType, default: &DefaultValue) -> String;

    /// How the column differs from what the definition says, for a reader who knows the other databases.
    fn difference(&self, column: &Column, in_key: bool) -> Option<String>;

    /// What numbers the column, behind its type; with the name of its sequence, where the usual one is taken.
    fn auto_increment(&self, sequence: Option<&str>) -> String;

    /// The column in a key: quoted, with its prefix length where the engine needs one.
    fn key_part(&self, column: &Column) -> String;

    /// Where the pieces of a table's definition stand.
    fn layout(&self) -> Layout;

    /// Statements that come before all tables and after them.
    fn frame(&self, needs: &Needs) -> Frame;

    /// Creates a database (schema) if it is missing; `None` where that is not for a script to do.
    fn create_database(&self, name: &str) -> Option<String>;

    /// The `n`th parameter of a statement, from 1.
    fn placeholder(&self, n: usize) -> String;

    /// The current time by the database's own clock, as a value of the type, the same throughout one statement and usable
    /// as the bound of an index range. Integers are epoch milliseconds.
    fn now(&self, ty: &ColumnType) -> String;

    /// The current time plus so many milliseconds, which are given as the text of a parameter.
    fn later(&self, ty: &ColumnType, millis: &str) -> String;

    /// The current time less so many milliseconds, which are given as the text of a parameter.
    fn earlier(&self, ty: &ColumnType, millis: &str) -> String;

    /// The current time as a statement says it for values of the type, and a given one as it could say it instead: the text
    /// with `{}` in the place of its milliseconds since 1970.
    fn moment(&self, ty: &ColumnType) -> (String, String);

    /// What begins a transaction that sees what others commit meanwhile and, where only one may write, is that one.
    fn begin(&self) -> &'static str;

    /// A statement that waits for the seconds that its one parameter says; `None` where connections wait by themselves.
    fn pause(&self) -> Option<&'static str>;

    /// Numbers of keys that a statement by keys is written for, the greatest last: shorter lists are filled up.
    fn key_counts(&self) -> &'static [usize] {
        &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]
    }

    /// A statement that asks the catalogue for the columns, by name, that only one of two tables has or that differ in
    /// type, collation or NULL.
    fn differing_columns(&self, one: &TableName, other: &TableName) -> String;

    /// What makes a statement read through this index and no other, behind the table's name; empty where there is nothing.
    fn index_hint(&self, index: &str) -> String;

    /// What makes a DELETE of the table `t` read through its primary key and nothing else, behind DELETE; empty where
    /// nothing is needed, and then the table has no alias.
    fn delete_hint(&self) -> &'static str {
        ""
    }

    /// What stands before a list of rows of several values behind IN.
    fn rows_of_values(&self) -> &'static str {
        ""
    }

    /// The condition that the column equals the value, which is not NULL, in a form that makes no statement read through an
    /// index of it, partial ones included; the plain one where a hint sees to that.
    fn equals_beside_indexes(&self, column: &str, value: &str) -> String {
        format!("{column} = {value}")
    }

    /// How the statements of others are to be read.
    #[cfg(feature = "lint")]
    fn syntax(&self) -> crate::sql::Syntax;

    /// What statements for this database hold and others do not, in upper case.
    #[cfg(feature = "lint")]
    fn signs(&self) -> &'static [&'static str];

    /// How rows are taken.
    fn take(&self) -> Take;

    /// sqlx's driver of the database.
    fn driver(&self) -> &'static Driver;

    /// What the driver reads and writes for the column.
    fn wire(&self, column: &Column) -> Wire;

    /// Which spelling of the query builder is right.
    fn backend(&self) -> Backend;

    /// What the URLs of such databases begin with, before `:`.
    #[cfg(feature = "live")]
    fn schemes(&self) -> &'static [&'static str];

    /// What a database says of its tables whose names are `wanted`.
    #[cfg(feature = "live")]
    fn catalogue(
        &self,
        url: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<catalogue::Catalogue, catalogue::Unreachable>;

    /// Adds a constraint to a table that exists, unless it has it; `None` where foreign keys always stand inline.
    fn add_constraint(&self, table: &str, constraint: &str) -> Option<String>;
}

/// How a claim takes its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// A locking SELECT that skips locked rows, then an UPDATE by their keys, in one transaction.
    SelectThenUpdate,
    /// One UPDATE of the rows that a materialized, locking and lock-skipping SELECT finds.
    UpdateFromSelect,
    /// One UPDATE of the rows whose numbers a SELECT finds: nobody else writes meanwhile.
    UpdateByRowId,
}

/// A spelling of the query builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// MySQL and MariaDB.
    MySql,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

impl Backend {
    /// The statement's text, and the values of its parameters in their order.
    pub fn build(self, statement: &impl sea_query::QueryStatementWriter) -> (String, sea_query::Values) {
        match self {
            Backend::MySql => statement.build(sea_query::MysqlQueryBuilder),
            Backend::Postgres => statement.build(sea_query::PostgresQueryBuilder),
            Backend::Sqlite => statement.build(sea_query::SqliteQueryBuilder),
        }
    }
}

/// Where the pieces of a table's definition stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Non-unique indexes stand in `CREATE TABLE`.
    pub inline_indexes: bool,
    /// Unique indexes stand in `CREATE TABLE`: as keys, as constraints, or not.
    pub inline_uniques: InlineUnique,
    /// The database stands before the index's name and not before the table's in `CREATE INDEX`.
    pub database_on_index: bool,
    /// The database stands before the name of a table that a foreign key references.
    pub database_in_references: bool,
    /// A numbered column is the primary key by its own definition.
    pub numbered_is_primary_key: bool,
    /// What stands behind the closing parenthesis, before the comment.
    pub table_options: &'static str,
}

/// How a unique index stands in `CREATE TABLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineUnique {
    /// `UNIQUE KEY name (…)`.
    Key,
    /// `CONSTRAINT name UNIQUE (…)`.
    Constraint,
    /// As a statement of its own.
    Statement,
}

/// What a script holds that settings of the session could stand in the way of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// A literal with a backslash.
    pub backslash: bool,
    /// Characters beyond ASCII.
    pub beyond_ascii: bool,
    /// A foreign key to a table that is created later.
    pub circular: bool,
    /// A TIMESTAMP column that is NOT NULL and has no default.
    pub bare_timestamp: bool,
}

/// Statements around all tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Before the first table.
    pub before: Vec<String>,
    /// After the last table.
    pub after: Vec<String>,
}

/// `text` between `quote`s, every `quote` in it doubled.
fn quoted(text: &str, quote: char) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(quote);
    // Each piece but the last ends with a quote, which is then said twice.
    for (at, piece) in text.split(quote).enumerate() {
        if at > 0 {
            quoted.extend([quote, quote]);
        }
        quoted.push_str(piece);
    }
    quoted.push(quote);
    quoted
}
