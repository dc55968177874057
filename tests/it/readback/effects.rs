//! What the tables do: every promise of the definitions that an engine could silently break is broken once, and must be
//! refused.

use claimsmith::schema::{Catalog, Column, ColumnType as T, Table};

use crate::servers::{Scratch, Server};

use super::rows::{bytes, ident, insert, literal, sample, sample_text, table_name, unchecked};

/// A way to break a promise.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Null,
    Duplicate,
    NoParent,
    TooLong,
    TooLarge,
    Negative,
    NoMember,
    NoBoolean,
    NoNumber,
    NoJson,
    NoTime,
}

/// The codes with which MySQL, MariaDB, PostgreSQL and SQLite may refuse a fault. No code: the engine may take it. On
/// SQLite a number may be any text, and a time too.
fn codes(fault: Fault, server: Server) -> &'static [&'static str] {
    let of_all: [&[&str]; 4] = match fault {
        Fault::Null => [&["1048"], &["1048"], &["23502"], &["1299"]],
        Fault::Duplicate => [&["1062"], &["1062"], &["23505"], &["1555", "2067"]],
        Fault::NoParent => [&["1452"], &["1452"], &["23503"], &["787"]],
        Fault::TooLong => [&["1406"], &["1406"], &["22001", "23514"], &["275"]],
        Fault::TooLarge => [&["1264"], &["1264"], &["22003", "23514"], &["275"]],
        Fault::Negative => [&["1264", "3819"], &["1264", "4025"], &["23514"], &["275"]],
        Fault::NoMember => [&["1265"], &["1265"], &["22001", "23514"], &["275"]],
        Fault::NoBoolean => [&[], &[], &["42804"], &["275"]],
        Fault::NoNumber => [&["1265", "1366"], &["1265", "1366"], &["22P02"], &[]],
        Fault::NoJson => [&["3140"], &["4025"], &["22P02"], &["275"]],
        Fault::NoTime => [&["1292"], &["1292"], &["22007"], &[]],
    };
    of_all[Server::ALL.iter().position(|other| *other == server).unwrap()]
}

/// A value outside the column's type, for each way in which it can be.
fn outsiders(column: &Column, server: Server) -> Vec<(Fault, String)> {
    let text = |text: &str| literal(text, server);
    match &column.ty {
        T::Bool => vec![(Fault::NoBoolean, "2".to_owned())],
        T::Int { bytes, unsigned } => {
            let mut values = vec![(Fault::NoNumber, text("many"))];
            let bits = u32::from(*bytes) * 8;
            // An identity column of PostgreSQL is a BIGINT.
            let half = server == Server::Postgres && column.auto_increment && *bytes == 8;
            let (least, most) = match unsigned {
                true => (0, if half { i128::from(i64::MAX) } else { (1 << bits) - 1 }),
                false => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            };
            // SQLite takes a number beyond its integers for a REAL.
            if server != Server::Sqlite || *bytes < 8 {
                values.push((Fault::TooLarge, (most + 1).to_string()));
            }
            match unsigned {
                true => values.push((Fault::Negative, "-1".to_owned())),
                false if server == Server::Sqlite && *bytes == 8 => {}
                false => values.push((Fault::TooLarge, (least - 1).to_string())),
            }
            values
        }
        T::Decimal { precision, scale, unsigned } => {
            let mut values = vec![(Fault::NoNumber, text("many"))];
            if *unsigned {
                values.push((Fault::Negative, text(if precision > scale { "-1" } else { "-0.1" })));
            }
            // A decimal is a text on SQLite.
            if server != Server::Sqlite {
                values.push((Fault::TooLarge, format!("1{}", "0".repeat(usize::from(precision - scale)))));
            }
            values
        }
        T::Float | T::Double => vec![(Fault::NoNumber, text("many"))],
        T::Char(length) | T::Varchar(length) => vec![(Fault::TooLong, text(&"x".repeat(*length as usize + 1)))],
        T::Binary(length) | T::Varbinary(length) => {
            vec![(Fault::TooLong, bytes(&vec![b'x'; *length as usize + 1], server))]
        }
        T::Enum(_) => vec![(Fault::NoMember, text("~"))],
        T::Json => vec![(Fault::NoJson, text("{"))],
        T::Date | T::Time(_) | T::DateTime(_) | T::Timestamp(_) => vec![(Fault::NoTime, text("soon"))],
        T::Text(_) | T::Blob(_) => Vec::new(),
    }
}

/// Breaks every promise of every table. The tables hold the samples 1 and 2 of every row.
pub fn prove(catalog: &Catalog, scratch: &mut Scratch) {
    for table in catalog.tables.iter().filter(|table| !table.primary_key.is_empty()) {
        let server = scratch.server;
        let key = table.primary_key.iter().map(|at| &table.columns[*at]);
        let is_second = key.map(|column| format!("{} = {}", ident(&column.name, server), sample(column, 2, server)));
        let is_second = is_second.collect::<Vec<_>>().join(" AND ");
        unchecked(&format!("DELETE FROM {} WHERE {is_second}", table_name(table, server)), scratch);
        for (fault, what, statement) in broken(table, server) {
            let allowed = codes(fault, server);
            match scratch.run(&statement) {
                Err(refusal) => {
                    let expected = allowed.is_empty() || allowed.contains(&&*refusal.code);
                    assert!(expected, "{what}: {fault:?}: {refusal}\n{statement}");
                }
                Ok(()) if allowed.is_empty() => {
                    unchecked(&format!("DELETE FROM {} WHERE {is_second}", table_name(table, server)), scratch);
                }
                Ok(()) => panic!("{what}: {fault:?} is not refused\n{statement}"),
            }
        }
        let whole = second(table, server, &[]);
        scratch.run(&whole).unwrap_or_else(|refusal| panic!("the row that was broken in all ways: {refusal}\n{whole}"));
        case(table, scratch);
    }
}

/// The second sample, with other values at some positions. It refers to the first row where the table refers to itself,
/// because the second is not there yet.
fn second(table: &Table, server: Server, other: &[(usize, String)]) -> String {
    let of_itself =
        |at: usize| table.foreign_keys.iter().any(|key| key.target == table.name && key.columns.contains(&at));
    insert(table, server, |at| {
        let changed = other.iter().find(|(position, _)| *position == at).map(|(_, value)| value.clone());
        Some(changed.unwrap_or_else(|| sample(&table.columns[at], if of_itself(at) { 1 } else { 2 }, server)))
    })
}

/// Whether the engine puts a value of its own in the place of NULL.
fn numbers_itself(table: &Table, at: usize, server: Server) -> bool {
    let column = &table.columns[at];
    let whole_key = table.primary_key == [at];
    column.auto_increment
        // A TIMESTAMP of MariaDB takes NULL for the current time.
        || server == Server::MariaDb && matches!(column.ty, T::Timestamp(_))
        // `INTEGER PRIMARY KEY` is the number of the row: see `facts::an_integer_key_is_not_null`.
        || server == Server::Sqlite && whole_key && matches!(column.ty, T::Int { .. })
}

/// The second sample, broken in one way each.
fn broken(table: &Table, server: Server) -> Vec<(Fault, String, String)> {
    let mut broken = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let what = format!("{}.{}", table.name, column.name);
        if !column.nullable && !numbers_itself(table, at, server) {
            broken.push((Fault::Null, what.clone(), second(table, server, &[(at, "NULL".to_owned())])));
        }
        for (fault, value) in outsiders(column, server) {
            broken.push((fault, what.clone(), second(table, server, &[(at, value)])));
        }
    }
    let uniques = table.indexes.iter().filter(|index| index.unique).map(|index| &index.columns);
    for columns in uniques.chain([&table.primary_key]) {
        // Half of a foreign key from the one row and half from the other would be a second fault.
        let halves = table.foreign_keys.iter().any(|key| {
            let shared = key.columns.iter().filter(|at| columns.contains(at)).count();
            shared > 0 && shared < key.columns.len()
        });
        if !halves {
            let first: Vec<_> = columns.iter().map(|at| (*at, sample(&table.columns[*at], 1, server))).collect();
            let what = format!("the unique key of {} on {columns:?}", table.name);
            broken.push((Fault::Duplicate, what, second(table, server, &first)));
        }
    }
    for key in &table.foreign_keys {
        let few_values = |column: &Column| matches!(column.ty, T::Bool | T::Enum(_));
        if !key.columns.iter().all(|at| few_values(&table.columns[*at])) {
            let lost: Vec<_> = key.columns.iter().map(|at| (*at, sample(&table.columns[*at], 7, server))).collect();
            let what = format!("the foreign key of {} on {:?}", table.name, key.columns);
            broken.push((Fault::NoParent, what, second(table, server, &lost)));
        }
    }
    broken
}

/// Two ids that differ only by case are two rows.
fn case(table: &Table, scratch: &mut Scratch) {
    let server = scratch.server;
    let upper = |at: usize| match table.columns[at].ty {
        T::Char(length) | T::Varchar(length) if table.primary_key.contains(&at) => {
            Some(literal(&sample_text(length, 2).to_uppercase(), server))
        }
        _ => None,
    };
    if (0..table.columns.len()).any(|at| upper(at).is_some()) {
        let value = |at: usize| {
            let n = if table.primary_key.contains(&at) { 2 } else { 3 };
            Some(upper(at).unwrap_or_else(|| sample(&table.columns[at], n, server)))
        };
        unchecked(&insert(table, server, value), scratch);
    }
}
