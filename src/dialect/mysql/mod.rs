//! MySQL 8.0.17 and later.

mod clock;
mod ddl;
mod driver;
#[cfg(feature = "live")]
pub(super) mod live;
mod types;

pub(super) use ddl::{frame, literal};
pub(super) use types::{column_type, default, difference};

use crate::engine::{Comments, Engine, Limit, NameScope, Page, Roles};
use crate::schema::{Column, ColumnType, DefaultValue, TableName};

#[cfg(feature = "live")]
use super::catalogue::{Catalogue, Unreachable};
use super::{Backend, Dialect, Driver, Frame, InlineUnique, Layout, Needs, Take, Wire, quoted};

/// MySQL.
pub struct MySql;

/// What MySQL can do.
pub static ENGINE: Engine = Engine {
    id: "mysql",
    title: "MySQL",
    identifier: Limit::Chars(64),
    supplementary_identifiers: false,
    // 255 bytes of a file name, less its ending.
    table_file_bytes: Some(251),
    reserved_columns: &["db_row_id", "db_trx_id", "db_roll_ptr", "fts_doc_id"],
    row_number: None,
    reserved_prefix: None,
    reserved_database_prefix: None,
    folds_columns: true,
    folds_tables: true,
    index_names: NameScope::Table,
    foreign_key_names: Some(NameScope::Schema),
    foreign_key_makes_index: true,
    key_bytes: Some(3072),
    row_bytes: Some(65_535),
    page: Some(Page { bytes: 8126, whole_below: 40, kept: 40 }),
    columns: 1017,
    index_columns: 16,
    text_key_needs_length: true,
    literal_text_default: false,
    now_needs_precision: true,
    timestamp_32_bit: true,
    unsigned_big: true,
    unique_is_constraint: false,
    set_default: false,
    comments: Comments::Inline { table: 2048, column: 1024 },
    auto_increment_is_key: false,
    auto_increment_leads_key: true,
    enum_trims: true,
    enum_folds_accents: true,
    partial_indexes: false,
    appends_primary_key: true,
    appended_key_has_gaps: false,
    null_is_equality: true,
    enforces_foreign_keys: true,
    databases: true,
    foreign_keys_cross_databases: true,
    lock_before_limit: false,
    text_meets_number: false,
    roles: Some(Roles::Variables),
};

/// The layout of `CREATE TABLE`, with the table's options.
pub(super) const fn layout(table_options: &'static str) -> Layout {
    Layout {
        inline_indexes: true,
        inline_uniques: InlineUnique::Key,
        database_on_index: false,
        database_in_references: true,
        numbered_is_primary_key: false,
        table_options,
    }
}

impl Dialect for MySql {
    fn engine(&self) -> &'static Engine {
        &ENGINE
    }

    fn ident(&self, name: &str) -> String {
        quoted(name, '`')
    }

    fn literal(&self, text: &str) -> String {
        literal(text)
    }

    fn column_type(&self, column: &Column) -> String {
        // utf8mb4_bin would ignore blanks at the end.
        column_type(column, "utf8mb4_0900_bin")
    }

    fn check(&self, _: &Column) -> Option<String> {
        None
    }

    fn default(&self, ty: &ColumnType, value: &DefaultValue) -> String {
        default(ty, value)
    }

    fn difference(&self, column: &Column, _: bool) -> Option<String> {
        types::difference(column)
    }

    fn auto_increment(&self, _: Option<&str>) -> String {
        "AUTO_INCREMENT".to_owned()
    }

    fn key_part(&self, column: &Column) -> String {
        ddl::key_part(column)
    }

    fn layout(&self) -> Layout {
        // Named in full, so that the table does not depend on the settings of its server or database.
        layout(" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci")
    }

    fn frame(&self, needs: &Needs) -> Frame {
        frame(needs)
    }

    fn create_database(&self, name: &str) -> Option<String> {
        Some(format!("CREATE DATABASE IF NOT EXISTS {}", self.ident(name)))
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
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION"
    }

    fn pause(&self) -> Option<&'static str> {
        Some("SELECT SLEEP(?)")
    }

    fn differing_columns(&self, one: &TableName, other: &TableName) -> String {
        let table = |name: &TableName| {
            let database = name.database.as_ref().map_or("DATABASE()".to_owned(), |database| self.literal(database));
            format!("({database}, {})", self.literal(&name.name))
        };
        format!(
            "SELECT COLUMN_NAME\nFROM information_schema.COLUMNS\nWHERE (TABLE_SCHEMA, TABLE_NAME) IN ({}, {})\nGROUP BY COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE\nHAVING COUNT(*) <> 2",
            table(one),
            table(other)
        )
    }

    fn index_hint(&self, index: &str) -> String {
        // A hint in a comment would be ignored where the name is wrong, and on MariaDB always.
        format!(" FORCE INDEX ({})", self.ident(index))
    }

    fn delete_hint(&self) -> &'static str {
        // Without it, and with statistics that are old, MySQL reads and locks the whole table; FORCE INDEX is not possible
        // in a DELETE of one table, and not kept in one of several.
        " /*+ INDEX(t `PRIMARY`) */"
    }

    #[cfg(feature = "lint")]
    fn syntax(&self) -> crate::sql::Syntax {
        crate::sql::Syntax {
            backslash: true,
            hash_comment: true,
            logical_pipes: true,
            double_quoted_strings: true,
            nested_comments: false,
        }
    }

    #[cfg(feature = "lint")]
    fn signs(&self) -> &'static [&'static str] {
        &[
            "`",
            "FORCE INDEX",
            "ON DUPLICATE KEY",
            "ENGINE=",
            "AUTO_INCREMENT",
            "UTC_TIMESTAMP(",
            "NOW(3)",
            "NOW(6)",
            "DELIMITER ",
        ]
    }

    fn take(&self) -> Take {
        Take::SelectThenUpdate
    }

    fn driver(&self) -> &'static Driver {
        &driver::DRIVER
    }

    fn wire(&self, _: &Column) -> Wire {
        Wire::Same
    }

    fn backend(&self) -> Backend {
        Backend::MySql
    }

    #[cfg(feature = "live")]
    fn schemes(&self) -> &'static [&'static str] {
        &["mysql"]
    }

    #[cfg(feature = "live")]
    fn catalogue(&self, url: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Catalogue, Unreachable> {
        live::catalogue(url, wanted)
    }

    fn add_constraint(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
