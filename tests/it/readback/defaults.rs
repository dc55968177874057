//! A row that says nothing of the columns with a default gets just those defaults.

use claimsmith::schema::{Catalog, Column, ColumnType as T, Literal, Table};

use crate::servers::{Scratch, Server};

use super::rows::{ident, insert, sample, table_name, unchecked};

/// Inserts such a row into each table, in a session of another time zone, and looks at it.
pub fn prove(catalog: &Catalog, scratch: &mut Scratch) {
    match scratch.server {
        Server::MySql | Server::MariaDb => scratch.run("SET time_zone = '+08:00'").unwrap(),
        // In this notation east is negative.
        Server::Postgres => scratch.run("SET TIME ZONE '-08'").unwrap(),
        Server::Sqlite => {}
    }
    for table in catalog.tables.iter().filter(|table| table.columns.iter().any(|column| column.default.is_some())) {
        let server = scratch.server;
        let name = table_name(table, server);
        unchecked(&format!("DELETE FROM {name}"), scratch);
        let value = |at: usize| {
            let column = &table.columns[at];
            column.default.is_none().then(|| sample(column, 5, server))
        };
        unchecked(&insert(table, server, value), scratch);
        for column in &table.columns {
            if let Some(default) = &column.default {
                look(table, column, &default.value, scratch);
            }
        }
    }
}

fn look(table: &Table, column: &Column, default: &Literal, scratch: &mut Scratch) {
    let server = scratch.server;
    let (name, column_name) = (table_name(table, server), ident(&column.name, server));
    let what = format!("{}.{}", table.name, column.name);
    if let Literal::Now(_) | Literal::Today = default {
        let late = scratch.value(&format!("SELECT {} FROM {name}", seconds(&column_name, column, server)));
        assert!(late.parse::<f64>().unwrap().abs() < 60.0, "{what} is {late} s from now");
        return;
    }
    let rows = scratch.rows(&format!("SELECT {column_name} FROM {name}"));
    let found = rows[0][0].as_deref();
    let same = match (default, &column.ty, found) {
        (Literal::Null, _, found) => found.is_none(),
        (_, _, None) => false,
        (Literal::Bool(value), _, Some(found)) => *value == matches!(found, "1" | "t"),
        (Literal::Number(number), T::Bool, Some(found)) => (number == "1") == matches!(found, "1" | "t"),
        (Literal::Number(number), T::Float | T::Double, Some(found)) => {
            number.parse::<f64>().unwrap() == found.parse::<f64>().unwrap()
        }
        (Literal::Number(number), _, Some(found)) => plain(number) == plain(found),
        (Literal::Text(text), T::Json, Some(found)) => {
            let json = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
            json(text) == json(found)
        }
        (Literal::Text(text), T::Timestamp(_) | T::DateTime(_) | T::Time(_), Some(found)) => {
            // PostgreSQL adds the zone of the session.
            plain(text) == plain(found.split('+').next().unwrap())
        }
        (Literal::Text(text), T::Char(_), Some(found)) => text.trim_end() == found.trim_end(),
        (Literal::Text(text), _, Some(found)) => text == found,
        (Literal::Now(_) | Literal::Today, ..) => unreachable!(),
    };
    assert!(same, "the default of {what} is {default:?}, but it came out as {found:?}");
}

/// A decimal or a time without zeros at the end of its fraction.
fn plain(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// By how many seconds the column is behind the clock, or ahead of it. DATETIME is UTC on PostgreSQL and SQLite, and in
/// the zone of the session on MySQL and MariaDB.
fn seconds(name: &str, column: &Column, server: Server) -> String {
    match (server, &column.ty) {
        (Server::MySql | Server::MariaDb, T::Date) => format!("DATEDIFF({name}, CURDATE())"),
        (Server::MySql | Server::MariaDb, _) => format!("TIMESTAMPDIFF(SECOND, {name}, NOW())"),
        (Server::Postgres, T::Date) => format!("{name} - CURRENT_DATE"),
        (Server::Postgres, T::DateTime(_)) => format!("extract(epoch FROM {name} - (now() AT TIME ZONE 'UTC'))"),
        (Server::Postgres, _) => format!("extract(epoch FROM {name} - now())"),
        (Server::Sqlite, T::Date) => format!("julianday({name}) - julianday(CURRENT_DATE)"),
        (Server::Sqlite, _) => format!("(julianday({name}) - julianday('now')) * 86400"),
    }
}
