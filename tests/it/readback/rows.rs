//! Rows for tables of any definition.

use claimsmith::schema::{Column, ColumnType as T, Table};

use crate::servers::{Scratch, Server};

/// The name, quoted.
pub fn ident(name: &str, server: Server) -> String {
    let quote = if server.is_mysql_like() { "`" } else { "\"" };
    format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)))
}

/// The table, quoted, with its database.
pub fn table_name(table: &Table, server: Server) -> String {
    let name = ident(&table.name.name, server);
    table.name.database.iter().map(|database| ident(database, server) + ".").collect::<String>() + &name
}

/// The text as a literal.
pub fn literal(text: &str, server: Server) -> String {
    let text = if server.is_mysql_like() { text.replace('\\', "\\\\") } else { text.to_owned() };
    format!("'{}'", text.replace('\'', "''"))
}

/// Bytes as a literal.
pub fn bytes(bytes: &[u8], server: Server) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    if server == Server::Postgres { format!("decode('{hex}', 'hex')") } else { format!("X'{hex}'") }
}

/// The text of the `n`-th sample of a string column: `r1`, `r2` …
pub fn sample_text(length: u32, n: usize) -> String {
    if length > 1 { format!("r{n}") } else { char::from(b'a' + n as u8).to_string() }
}

/// The `n`-th sample value of the column, from 1 to 9: the same for columns of one type, and another for every `n` where
/// the type has so many values.
pub fn sample(column: &Column, n: usize, server: Server) -> String {
    match &column.ty {
        T::Bool if server == Server::Postgres => (n % 2 == 1).to_string(),
        T::Bool => (n % 2).to_string(),
        T::Int { .. } | T::Float | T::Double => n.to_string(),
        T::Decimal { precision, scale, .. } => {
            let number = if precision > scale { n.to_string() } else { format!("0.{n}") };
            if server == Server::Sqlite { literal(&number, server) } else { number }
        }
        T::Char(length) | T::Varchar(length) => literal(&sample_text(*length, n), server),
        T::Text(_) => literal(&sample_text(9, n), server),
        T::Binary(length) => bytes(&vec![b'0' + n as u8; *length as usize], server),
        T::Varbinary(_) | T::Blob(_) => bytes(&[b'0' + n as u8], server),
        T::Date => literal(&format!("2024-01-0{n}"), server),
        T::Time(_) => literal(&format!("10:00:0{n}"), server),
        T::DateTime(_) | T::Timestamp(_) => literal(&format!("2024-01-01 10:00:0{n}"), server),
        T::Json => literal(&format!("{{\"n\": {n}}}"), server),
        T::Enum(members) => literal(&members[n % members.len()], server),
    }
}

/// `INSERT` of one row: `value` gives the literal for the column at a position; `None` leaves it to its default.
pub fn insert(table: &Table, server: Server, value: impl Fn(usize) -> Option<String>) -> String {
    let given: Vec<(String, String)> =
        (0..table.columns.len()).filter_map(|at| Some((ident(&table.columns[at].name, server), value(at)?))).collect();
    let name = table_name(table, server);
    let list = |items: Vec<&String>| items.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match (given.is_empty(), server.is_mysql_like()) {
        (true, true) => format!("INSERT INTO {name} () VALUES ()"),
        (true, false) => format!("INSERT INTO {name} DEFAULT VALUES"),
        _ => format!(
            "INSERT INTO {name} ({}) VALUES ({})",
            list(given.iter().map(|(name, _)| name).collect()),
            list(given.iter().map(|(_, value)| value).collect()),
        ),
    }
}

/// The row of all `n`-th samples.
pub fn insert_sample(table: &Table, n: usize, server: Server) -> String {
    insert(table, server, |at| Some(sample(&table.columns[at], n, server)))
}

/// Foreign keys are looked at, or not.
pub fn foreign_keys(on: bool, scratch: &mut Scratch) {
    let script = match (scratch.server, on) {
        (Server::MySql | Server::MariaDb, on) => format!("SET SESSION foreign_key_checks = {}", u8::from(on)),
        (Server::Postgres, true) => "SET session_replication_role = origin".to_owned(),
        (Server::Postgres, false) => "SET session_replication_role = replica".to_owned(),
        (Server::Sqlite, on) => format!("PRAGMA foreign_keys = {on}"),
    };
    scratch.run(&script).unwrap();
}

/// Runs the script without foreign keys.
pub fn unchecked(script: &str, scratch: &mut Scratch) {
    foreign_keys(false, scratch);
    scratch.run(script).unwrap_or_else(|refusal| panic!("{refusal}\n{script}"));
    foreign_keys(true, scratch);
}
