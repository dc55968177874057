//! What `CREATE TABLE`, `CREATE INDEX` and `ALTER TABLE` say of a table, as far as it decides how statements find rows.

mod read;

use crate::diagnostic::Span;

use super::Expr;
pub(super) use read::read;

/// One statement about a table or an index.
#[derive(Debug)]
pub struct Ddl {
    /// The table; empty for `DROP INDEX name`.
    pub table: String,
    /// Where its name stands.
    pub span: Span,
    /// What happens to it, in the order of the statement.
    pub changes: Vec<Change>,
}

/// One change of a table.
#[derive(Debug)]
pub enum Change {
    /// The table is made; what it has follows.
    Create,
    /// The table is made like another.
    Like(String),
    /// The table goes.
    Drop,
    /// The table is called so from now on.
    Rename(String),
    /// It has a column.
    Column(Column),
    /// It loses a column.
    DropColumn(String),
    /// A column is called otherwise.
    RenameColumn(String, String),
    /// It has a primary key.
    PrimaryKey(Vec<Part>),
    /// It has an index.
    Index(Index),
    /// It loses an index.
    DropIndex(String),
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type as it is written.
    pub type_text: String,
    /// May be NULL.
    pub nullable: bool,
    /// Numbered by the database.
    pub numbered: bool,
    /// PRIMARY KEY stands behind it.
    pub primary: bool,
    /// UNIQUE stands behind it.
    pub unique: bool,
    /// It becomes the time of each change.
    pub touched_by_updates: bool,
    /// It is computed from other columns.
    pub computed: bool,
}

/// An index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Name, if it has one.
    pub name: Option<String>,
    /// Its parts.
    pub parts: Vec<Part>,
    /// No two rows agree in all parts.
    pub unique: bool,
    /// It holds only rows for which this is true.
    pub predicate: Option<Expr>,
}

/// A part of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The column; `None` for an expression.
    pub column: Option<String>,
    /// The greatest first.
    pub descending: bool,
    /// Only the beginning of the value.
    pub prefix: bool,
}
