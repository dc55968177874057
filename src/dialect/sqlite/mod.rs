//! SQLite 3.37 and later.

mod clock;
mod driver;
#[cfg(feature = "live")]
pub mod live;
mod types;

use crate::engine::{Comments, Engine, Limit, NameScope};
use crate::schema::{Column, ColumnType, DefaultValue, TableName};

#[cfg(feature = "live")]
use super::catalogue::{Catalogue, Unreachable};
use super::{Backend, Dialect, Driver, Frame, InlineUnique, Layout, Needs, Take, Wire, quoted};

/// SQLite.
pub struct Sqlite;

/// What SQLite can do.
pub static ENGINE: Engine = Engine {
    id: "sqlite",
    title: "SQLite",
    identifier: Limit::None,
    supplementary_identifiers: true,
    table_file_bytes: None,
    reserved_columns: &[],
    row_number: Some("rowid"),
    reserved_prefix: Some("sqlite_"),
    reserved_database_prefix: None,
    folds_columns: true,
    folds_tables: true,
    index_names: NameScope::Schema,
    foreign_key_names: None,
    foreign_key_makes_index: false,
    key_bytes: None,
    row_bytes: None,
    page: None,
    columns: 2000,
    index_columns: 2000,
    text_key_needs_length: false,
    literal_text_default: true,
    now_needs_precision: false,
    timestamp_32_bit: false,
    unsigned_big: false,
    unique_is_constraint: false,
    set_default: true,
    comments: Comments::Text,
    auto_increment_is_key: true,
    auto_increment_leads_key: true,
    enum_trims: false,
    enum_folds_accents: false,
    partial_indexes: true,
    appends_primary_key: false,
    appended_key_has_gaps: false,
    null_is_equality: true,
    enforces_foreign_keys: false,
    databases: false,
    foreign_keys_cross_databases: false,
    lock_before_limit: false,
    text_meets_number: true,
    roles: None,
};

impl Dialect for Sqlite {
    fn engine(&self) -> &'static Engine {
        &ENGINE
    }

    fn ident(&self, name: &str) -> String {
        quoted(name, '"')
    }

    fn literal(&self, text: &str) -> String {
        quoted(text, '\'')
    }

    fn column_type(&self, column: &Column) -> String {
        types::column_type(column)
    }

    fn check(&self, column: &Column) -> Option<String> {
        types::check(column)
    }

    fn default(&self, ty: &ColumnType, value: &DefaultValue) -> String {
        types::default(ty, value)
    }

    fn difference(&self, column: &Column, in_key: bool) -> Option<String> {
        types::difference(column, in_key)
    }

    fn auto_increment(&self, _: Option<&str>) -> String {
        // Without AUTOINCREMENT the numbers of deleted rows come back.
        "PRIMARY KEY AUTOINCREMENT".to_owned()
    }

    fn key_part(&self, column: &Column) -> String {
        self.ident(&column.name)
    }

    fn layout(&self) -> Layout {
        Layout {
            inline_indexes: false,
            inline_uniques: InlineUnique::Statement,
            database_on_index: true,
            database_in_references: false,
            numbered_is_primary_key: true,
            table_options: "",
        }
    }

    fn frame(&self, _: &Needs) -> Frame {
        Frame::default()
    }

    fn create_database(&self, _: &str) -> Option<String> {
        None
    }

    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    fn now(&self, ty: &ColumnType) -> String {
        clock::now(ty)
    }

    fn later(&self, ty: &ColumnType, millis: &str) -> String {
        clock::later(ty, millis)
    }

    fn earlier(&self, ty: &ColumnType, millis: &str) -> String {
        clock::earlier(ty, millis)
    }

    fn moment(&self, ty: &ColumnType) -> (String, String) {
        clock::moment(ty)
    }

    fn begin(&self) -> &'static str {
        "BEGIN IMMEDIATE"
    }

    fn pause(&self) -> Option<&'static str> {
        None
    }

    fn differing_columns(&self, one: &TableName, other: &TableName) -> String {
        let table = |name: &TableName| {
            let database = name.database.as_ref().map(|database| format!(", {}", self.literal(database)));
            format!("pragma_table_info({}{})", self.literal(&name.name), database.unwrap_or_default())
        };
        format!(
            "SELECT name\nFROM (\n  SELECT name, type, \"notnull\" FROM {}\n  UNION ALL\n  SELECT name, type, \"notnull\" FROM {}\n)\nGROUP BY name, type, \"notnull\"\nHAVING COUNT(*) <> 2",
            table(one),
            table(other)
        )
    }

    fn index_hint(&self, index: &str) -> String {
        format!(" INDEXED BY {}", self.ident(index))
    }

    fn rows_of_values(&self) -> &'static str {
        "VALUES "
    }

    fn equals_beside_indexes(&self, column: &str, value: &str) -> String {
        // An expression is in no index.
        format!("+{column} = {value}")
    }

    #[cfg(feature = "lint")]
    fn syntax(&self) -> crate::sql::Syntax {
        crate::sql::Syntax::default()
    }

    #[cfg(feature = "lint")]
    fn signs(&self) -> &'static [&'static str] {
        &["AUTOINCREMENT", "INDEXED BY", "STRFTIME(", "DATETIME('NOW'", "JULIANDAY(", "PRAGMA "]
    }

    fn take(&self) -> Take {
        Take::UpdateByRowId
    }

    fn driver(&self) -> &'static Driver {
        &driver::DRIVER
    }

    fn wire(&self, column: &Column) -> Wire {
        driver::wire(column)
    }

    fn backend(&self) -> Backend {
        Backend::Sqlite
    }

    #[cfg(feature = "live")]
    fn schemes(&self) -> &'static [&'static str] {
        &["sqlite"]
    }

    #[cfg(feature = "live")]
    fn catalogue(&self, url: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Catalogue, Unreachable> {
        live::catalogue(url, wanted)
    }

    fn add_constraint(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
