//! A connection that prepares statements and binds typed parameters, as a program does.

use std::sync::OnceLock;

use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::mysql::{MySqlArguments, MySqlConnectOptions, MySqlConnection, MySqlDatabaseError, MySqlRow};
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgConnection, PgRow, PgTypeInfo};
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{
    Arguments as _, AssertSqlSafe, Column as _, ConnectOptions, Connection as _, Decode, MySql, Postgres, Row as _,
    Type, TypeInfo as _, ValueRef as _,
};

use crate::servers::{Row, Scratch, Server};

use super::time;

/// A value of a parameter.
#[derive(Clone, Debug)]
pub enum Bind {
    Int(i64),
    Int4(i32),
    Text(Option<String>),
    Json(Option<String>),
    /// A DATETIME, as [`time::text`] writes it.
    Time(Option<String>),
}

/// What a statement did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The rows that it returned, every value as text.
    pub rows: Vec<Row>,
    /// The types of their columns.
    pub types: Vec<String>,
    /// How many rows it returned or changed.
    pub affected: u64,
}

/// One connection.
pub struct Driver {
    pub server: Server,
    connection: Connection,
}

enum Connection {
    MySql(MySqlConnection),
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

fn wait<F: Future>(future: F) -> F::Output {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().unwrap()).block_on(future)
}

impl Driver {
    pub fn open(scratch: &Scratch) -> Driver {
        let (server, url) = (scratch.server, scratch.url());
        let connection = match server {
            Server::MySql | Server::MariaDb => {
                let options: MySqlConnectOptions = url.parse().unwrap();
                Connection::MySql(wait(options.connect()).unwrap())
            }
            Server::Postgres => Connection::Postgres(wait(PgConnection::connect(&url)).unwrap()),
            Server::Sqlite => Connection::Sqlite(wait(SqliteConnection::connect(&url)).unwrap()),
        };
        Driver { server, connection }
    }

    /// Sets the session's clock, where that is possible.
    pub fn set_clock(&mut self, ms: i64) {
        if self.server.is_mysql_like() {
            self.run(&format!("SET timestamp = {}.{:03}", ms / 1_000, ms % 1_000));
        }
    }

    /// Runs a script.
    pub fn run(&mut self, script: &str) {
        self.try_run(script).unwrap_or_else(|error| panic!("{error}\n{script}"));
    }

    /// Ends the transaction, if there is one, as if it had not been.
    pub fn undo(&mut self) {
        // SQLite calls it an error where there is none.
        _ = self.try_run("ROLLBACK");
    }

    pub fn try_run(&mut self, script: &str) -> Result<(), sqlx::Error> {
        let sql = sqlx::raw_sql(AssertSqlSafe(script.to_owned()));
        match &mut self.connection {
            Connection::MySql(connection) => wait(sql.execute(connection)).map(|_| ()),
            Connection::Postgres(connection) => wait(sql.execute(connection)).map(|_| ()),
            Connection::Sqlite(connection) => wait(sql.execute(connection)).map(|_| ()),
        }
    }

    /// Prepares a statement, binds its parameters and runs it.
    pub fn execute(&mut self, sql: &str, binds: &[Bind]) -> Result<Outcome, sqlx::Error> {
        let returns = sql.starts_with("SELECT") || sql.contains("\nRETURNING ");
        let sql = AssertSqlSafe(sql.to_owned());
        macro_rules! execute {
            ($connection:expr, $arguments:expr, $row:expr) => {{
                let query = sqlx::query_with(sql, $arguments);
                if returns {
                    let rows = wait(query.fetch_all($connection))?;
                    let columns = rows.first().map(|row| row.columns()).unwrap_or_default();
                    let types = columns.iter().map(|column| column.type_info().name().to_owned()).collect();
                    Outcome { affected: rows.len() as u64, rows: rows.iter().map($row).collect(), types }
                } else {
                    let affected = wait(query.execute($connection))?.rows_affected();
                    Outcome { affected, ..Outcome::default() }
                }
            }};
        }
        Ok(match &mut self.connection {
            Connection::MySql(connection) => execute!(connection, mysql_arguments(binds), mysql_row),
            Connection::Postgres(connection) => execute!(connection, postgres_arguments(binds), postgres_row),
            Connection::Sqlite(connection) => execute!(connection, sqlite_arguments(binds), sqlite_row),
        })
    }

    /// Rows of a statement without parameters.
    pub fn rows(&mut self, sql: &str) -> Vec<Row> {
        self.execute(sql, &[]).unwrap_or_else(|error| panic!("{error}\n{sql}")).rows
    }
}

/// The number of MySQL's error, if it is one.
pub fn mysql_error(error: &sqlx::Error) -> Option<u16> {
    Some(error.as_database_error()?.try_downcast_ref::<MySqlDatabaseError>()?.number())
}

fn mysql_arguments(binds: &[Bind]) -> MySqlArguments {
    let mut arguments = MySqlArguments::default();
    for bind in binds {
        match bind.clone() {
            Bind::Int(value) => arguments.add(value).unwrap(),
            Bind::Int4(value) => arguments.add(value).unwrap(),
            Bind::Text(value) | Bind::Json(value) | Bind::Time(value) => arguments.add(value).unwrap(),
        }
    }
    arguments
}

fn sqlite_arguments(binds: &[Bind]) -> SqliteArguments {
    let mut arguments = SqliteArguments::default();
    for bind in binds {
        match bind.clone() {
            Bind::Int(value) => arguments.add(value).unwrap(),
            Bind::Int4(value) => arguments.add(value).unwrap(),
            Bind::Text(value) | Bind::Json(value) | Bind::Time(value) => arguments.add(value).unwrap(),
        }
    }
    arguments
}

/// JSONB.
struct Json(String);

impl Type<Postgres> for Json {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(3802))
    }
}

impl Encode<'_, Postgres> for Json {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.push(1);
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

/// TIMESTAMP without a zone.
struct Time(String);

/// 2000-01-01, from which PostgreSQL counts.
const MILLENNIUM: i64 = 10_957 * time::DAY;

impl Type<Postgres> for Time {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1114))
    }
}

impl Encode<'_, Postgres> for Time {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(&((time::parse(&self.0) - MILLENNIUM) * 1_000).to_be_bytes());
        Ok(IsNull::No)
    }
}

fn postgres_arguments(binds: &[Bind]) -> PgArguments {
    let mut arguments = PgArguments::default();
    for bind in binds {
        match bind.clone() {
            Bind::Int(value) => arguments.add(value).unwrap(),
            Bind::Int4(value) => arguments.add(value).unwrap(),
            Bind::Text(value) => arguments.add(value).unwrap(),
            Bind::Json(value) => arguments.add(value.map(Json)).unwrap(),
            Bind::Time(value) => arguments.add(value.map(Time)).unwrap(),
        }
    }
    arguments
}

fn mysql_row(row: &MySqlRow) -> Row {
    let value = |at: usize| {
        let value = row.try_get_raw(at).unwrap();
        if value.is_null() {
            return None;
        }
        Some(match row.column(at).type_info().name() {
            "TINYINT" | "SMALLINT" | "INT" | "BIGINT" => <i64 as Decode<MySql>>::decode(value).unwrap().to_string(),
            "DATETIME" => {
                let bytes = <&[u8] as Decode<MySql>>::decode(value).unwrap();
                let at = |at: usize| bytes.get(at).copied().unwrap_or(0);
                let micros = bytes.get(8..12).map_or(0, |micros| u32::from_le_bytes(micros.try_into().unwrap()));
                let year = u16::from_le_bytes([at(1), at(2)]);
                let (month, day, hour, minute, second) = (at(3), at(4), at(5), at(6), at(7));
                let text =
                    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", micros / 1_000);
                time::text(time::parse(&text))
            }
            // A text of a binary collation is called binary.
            "VARBINARY" | "BLOB" | "VARCHAR" | "CHAR" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" | "JSON" => {
                String::from_utf8(<&[u8] as Decode<MySql>>::decode(value).unwrap().to_vec()).unwrap()
            }
            other => panic!("a value of the type {other}, which no program expects here"),
        })
    };
    (0..row.len()).map(value).collect()
}

fn postgres_row(row: &PgRow) -> Row {
    let value = |at: usize| {
        let value = row.try_get_raw(at).unwrap();
        if value.is_null() {
            return None;
        }
        Some(match row.column(at).type_info().name() {
            "INT2" => <i16 as Decode<Postgres>>::decode(value).unwrap().to_string(),
            "INT4" => <i32 as Decode<Postgres>>::decode(value).unwrap().to_string(),
            "INT8" => <i64 as Decode<Postgres>>::decode(value).unwrap().to_string(),
            "TIMESTAMP" => {
                let micros = i64::from_be_bytes(value.as_bytes().unwrap().try_into().unwrap());
                time::text(micros.div_euclid(1_000) + MILLENNIUM)
            }
            "JSONB" => String::from_utf8(value.as_bytes().unwrap()[1..].to_vec()).unwrap(),
            "VARCHAR" | "TEXT" => <&str as Decode<Postgres>>::decode(value).unwrap().to_owned(),
            other => panic!("a value of the type {other}, which no program expects here"),
        })
    };
    (0..row.len()).map(value).collect()
}

fn sqlite_row(row: &SqliteRow) -> Row {
    (0..row.len()).map(|at| row.try_get_unchecked(at).unwrap()).collect()
}
