//! One connection to an engine, blocking, with all values as text.

use std::fmt;
use std::sync::OnceLock;

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlDatabaseError};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, Row as _};

use super::Server;

/// Runs a future to its end. All sessions share one runtime.
fn wait<F: Future>(future: F) -> F::Output {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().unwrap()).block_on(future)
}

/// One connection.
pub struct Session {
    pub server: Server,
    connection: Connection,
}

enum Connection {
    MySql(MySqlConnection),
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

/// One row, every value as text.
pub type Row = Vec<Option<String>>;

/// What a server answered instead of doing what it was told.
#[derive(Debug)]
pub struct Refusal {
    /// The number of the error on MySQL, MariaDB and SQLite (the extended one), SQLSTATE on PostgreSQL.
    pub code: String,
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        let Some(of_database) = error.as_database_error() else {
            return Refusal { code: String::new(), message: error.to_string() };
        };
        let code = match of_database.try_downcast_ref::<MySqlDatabaseError>() {
            Some(error) => error.number().to_string(),
            None => of_database.code().unwrap_or_default().into_owned(),
        };
        Refusal { code, message: of_database.message().to_owned() }
    }
}

/// Runs the same code on whichever connection it is.
macro_rules! each {
    ($connection:expr, $bound:ident => $body:expr) => {
        match $connection {
            Connection::MySql($bound) => $body,
            Connection::Postgres($bound) => $body,
            Connection::Sqlite($bound) => $body,
        }
    };
}

impl Session {
    /// Opens a session on the database of this URL.
    pub fn open(server: Server, url: &str) -> Result<Session, sqlx::Error> {
        let connection = match server {
            Server::MySql | Server::MariaDb => {
                // A session as the server gives it, not as sqlx likes it: scripts must run in every client.
                let options: MySqlConnectOptions = url.parse()?;
                let options = options.pipes_as_concat(false).no_engine_substitution(false).timezone(None);
                Connection::MySql(wait(options.connect())?)
            }
            Server::Postgres => Connection::Postgres(wait(url.parse::<PgConnectOptions>()?.connect())?),
            Server::Sqlite => {
                let options: SqliteConnectOptions = url.parse()?;
                Connection::Sqlite(wait(options.create_if_missing(true).foreign_keys(true).connect())?)
            }
        };
        Ok(Session { server, connection })
    }

    /// Runs a script of any number of statements.
    pub fn run(&mut self, script: &str) -> Result<(), Refusal> {
        let script = sqlx::raw_sql(AssertSqlSafe(script.to_owned()));
        each!(&mut self.connection, connection => wait(script.execute(connection)).map(|_| ()))?;
        Ok(())
    }

    /// Ends the session as the protocol asks for it.
    pub fn close(self) {
        // What cannot be closed is closed.
        _ = each!(self.connection, connection => wait(connection.close()));
    }

    /// The rows that a statement returns.
    pub fn rows(&mut self, sql: &str) -> Vec<Row> {
        let statement = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        each!(&mut self.connection, connection => {
            let rows = wait(statement.fetch_all(connection)).unwrap_or_else(|error| panic!("{error}\n{sql}"));
            rows.iter().map(|row| (0..row.len()).map(|at| row.try_get_unchecked(at).unwrap()).collect()).collect()
        })
    }

    /// The first value of the first row; panics where there is none or where it is NULL.
    pub fn value(&mut self, sql: &str) -> String {
        let rows = self.rows(sql);
        rows.first().and_then(|row| row.first()?.clone()).unwrap_or_else(|| panic!("no value: {sql}"))
    }

    /// The code of the error that the script ends with; panics if it ends well.
    pub fn refusal(&mut self, script: &str) -> String {
        match self.run(script) {
            Ok(()) => panic!("{:?} takes what it should refuse:\n{script}", self.server),
            Err(refusal) => refusal.code,
        }
    }
}
