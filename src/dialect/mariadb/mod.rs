//! MariaDB 10.6 and later: MySQL's spelling, with facts of its own.

mod types;

use crate::engine::{Engine, Page};
use crate::schema::{Column, ColumnType, DefaultValue, TableName};

#[cfg(feature = "live")]
use super::catalogue::{Catalogue, Unreachable};
use super::mysql::{self, MySql};
use super::{Backend, Dialect, Driver, Frame, Layout, Needs, Take, Wire};

/// MariaDB.
pub struct MariaDb;

/// What MariaDB can do.
pub static ENGINE: Engine = Engine {
    id: "mariadb",
    title: "MariaDB",
    page: Some(Page { bytes: 8126, whole_below: 256, kept: 20 }),
    index_columns: 32,
    literal_text_default: true,
    now_needs_precision: false,
    appended_key_has_gaps: true,
    ..mysql::ENGINE
};

impl Dialect for MariaDb {
    fn engine(&self) -> &'static Engine {
        &ENGINE
    }

    fn ident(&self, name: &str) -> String {
        MySql.ident(name)
    }

    fn literal(&self, text: &str) -> String {
        MySql.literal(text)
    }

    fn column_type(&self, column: &Column) -> String {
        // utf8mb4_bin would ignore blanks at the end.
        mysql::column_type(column, "utf8mb4_nopad_bin")
    }

    fn check(&self, column: &Column) -> Option<String> {
        MySql.check(column)
    }

    fn default(&self, ty: &ColumnType, value: &DefaultValue) -> String {
        MySql.default(ty, value)
    }

    fn difference(&self, column: &Column, _: bool) -> Option<String> {
        types::difference(column)
    }

    fn auto_increment(&self, sequence: Option<&str>) -> String {
        MySql.auto_increment(sequence)
    }

    fn key_part(&self, column: &Column) -> String {
        MySql.key_part(column)
    }

    fn layout(&self) -> Layout {
        // Unlike utf8mb4_unicode_ci this collation tells characters beyond U+FFFF apart, and every version has it.
        mysql::layout(" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci")
    }

    fn frame(&self, needs: &Needs) -> Frame {
        MySql.frame(needs)
    }

    fn create_database(&self, name: &str) -> Option<String> {
        MySql.create_database(name)
    }

    fn placeholder(&self, n: usize) -> String {
        MySql.placeholder(n)
    }

    fn now(&self, ty: &ColumnType) -> String {
        MySql.now(ty)
    }

    fn later(&self, ty: &ColumnType, millis: &str) -> String {
        MySql.later(ty, millis)
    }

    fn earlier(&self, ty: &ColumnType, millis: &str) -> String {
        MySql.earlier(ty, millis)
    }

    fn moment(&self, ty: &ColumnType) -> (String, String) {
        MySql.moment(ty)
    }

    fn begin(&self) -> &'static str {
        MySql.begin()
    }

    fn pause(&self) -> Option<&'static str> {
        MySql.pause()
    }

    fn differing_columns(&self, one: &TableName, other: &TableName) -> String {
        MySql.differing_columns(one, other)
    }

    fn index_hint(&self, index: &str) -> String {
        MySql.index_hint(index)
    }

    #[cfg(feature = "lint")]
    fn syntax(&self) -> crate::sql::Syntax {
        MySql.syntax()
    }

    #[cfg(feature = "lint")]
    fn signs(&self) -> &'static [&'static str] {
        MySql.signs()
    }

    fn take(&self) -> Take {
        MySql.take()
    }

    fn driver(&self) -> &'static Driver {
        mysql::MySql.driver()
    }

    fn wire(&self, _: &Column) -> Wire {
        Wire::Same
    }

    fn backend(&self) -> Backend {
        MySql.backend()
    }

    #[cfg(feature = "live")]
    fn schemes(&self) -> &'static [&'static str] {
        &["mariadb"]
    }

    #[cfg(feature = "live")]
    fn catalogue(&self, url: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Catalogue, Unreachable> {
        super::mysql::live::catalogue(url, wanted)
    }

    fn add_constraint(&self, table: &str, constraint: &str) -> Option<String> {
        MySql.add_constraint(table, constraint)
    }
}
