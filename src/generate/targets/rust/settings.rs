//! What a program may choose about generated Rust code.

use crate::diagnostic::suggest;
use crate::error::{Error, Result};
use crate::schema::format::Broker;
use crate::schema::{Catalog, Column, Table};

/// Choices about Rust code.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Attributes of row structs, each behind the tables that get it: a name, or `*` for all.
    pub table_attributes: Vec<(String, String)>,
    /// Attributes of fields, each behind the columns that get it: `table.column`, `table.*`, `*.column` or `*`.
    pub column_attributes: Vec<(String, String)>,
    /// Relays and consumers count what happens by the crate metrics.
    pub metrics: bool,
    /// Relays and consumers show what happens by the crate tracing.
    pub tracing: bool,
    /// Kinds of brokers that the program uses beside those that its definitions name.
    pub brokers: Vec<Broker>,
}

/// The kinds of brokers for which there is generated code, by their names.
pub const BROKERS: [(&str, Broker); 2] = [("kafka", Broker::Kafka), ("nats", Broker::Nats)];

/// The kind of broker of this name.
pub fn broker(name: &str) -> Option<Broker> {
    BROKERS.iter().find(|(known, _)| *known == name).map(|(_, broker)| *broker)
}

impl Settings {
    /// The attributes of the table's row, in the order in which they were given.
    pub fn of_table(&self, table: &Table) -> Vec<String> {
        let of = self.table_attributes.iter().filter(|(path, _)| is_table(path, table));
        of.map(|(_, attribute)| attribute.clone()).collect()
    }

    /// The attributes of the column's field, in the order in which they were given.
    pub fn of_column(&self, table: &Table, column: &Column) -> Vec<String> {
        let of = self.column_attributes.iter().filter(|(path, _)| is_column(path, table, column));
        of.map(|(_, attribute)| attribute.clone()).collect()
    }

    /// Whether everything named is there, and every attribute is one.
    pub fn check(&self, catalog: &Catalog) -> Result<()> {
        let attributes = self.table_attributes.iter().chain(&self.column_attributes);
        for (path, attribute) in attributes {
            if !attribute.starts_with("#[") || !attribute.ends_with(']') || attribute.contains('\n') {
                return Err(Error::new(format!("`{attribute}`, given for `{path}`, is not an attribute"))
                    .help("an attribute is one line such as `#[derive(Hash)]`"));
            }
        }
        let tables = || catalog.tables.iter();
        for (path, _) in &self.table_attributes {
            if !tables().any(|table| is_table(path, table)) {
                let names: Vec<String> = tables().map(|table| table.name.to_string()).collect();
                return Err(missing("table", path, &names));
            }
        }
        for (path, _) in &self.column_attributes {
            let columns = || tables().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
            if !columns().any(|(table, column)| is_column(path, table, column)) {
                let names: Vec<String> =
                    columns().map(|(table, column)| format!("{}.{}", table.name, column.name)).collect();
                return Err(missing("column", path, &names));
            }
        }
        Ok(())
    }
}

fn is_table(path: &str, table: &Table) -> bool {
    path == "*" || path == table.name.to_string()
}

fn is_column(path: &str, table: &Table, column: &Column) -> bool {
    // A name may have points of its own, so that the path is not taken apart but put together.
    let tables = ["*".to_owned(), table.name.to_string()];
    path == "*"
        || tables.iter().any(|table| ["*", &column.name].iter().any(|column| path == format!("{table}.{column}")))
}

fn missing(what: &str, path: &str, names: &[String]) -> Error {
    let error = Error::new(format!("there is no {what} `{path}` to give an attribute to"));
    match suggest::closest(path, names.iter().map(String::as_str)) {
        Some(closest) => error.help(format!("did you mean `{closest}`?")),
        None => error,
    }
}
