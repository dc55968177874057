//! A connection that prepares statements and binds parameters as a driver does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Column as _, ConnectOptions, Row as _};

use crate::servers::{Scratch, Server, say};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    Text(String),
    Int(i64),
}

impl Bind {
    /// As a literal.
    pub fn literal(&self) -> String {
        match self {
            Bind::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Bind::Int(number) => number.to_string(),
        }
    }
}

/// The rows that a statement returned.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
    pub affected: u64,
}

impl Answer {
    /// The column's value in each row.
    pub fn column(&self, name: &str) -> Vec<String> {
        let at = self.columns.iter().position(|column| column == name);
        let at = at.unwrap_or_else(|| panic!("no column {name} in {:?}", self.columns));
        self.rows.iter().map(|row| row[at].clone().unwrap_or_default()).collect()
    }
}

/// One connection.
pub struct Probe {
    pub server: Server,
    /// MySQL and MariaDB: the handler reads that showing the counters takes, once they are known.
    pub reads_of_status: Option<u64>,
    connection: Connection,
    /// PostgreSQL: a connection that looks at this one's locks, because a transaction does not see its own in full, once it
    /// is opened, if there is a way to look; and where to open it.
    observer: Option<Option<PgConnection>>,
    url: String,
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

/// Reads a value of any type as text.
macro_rules! text {
    ($row:expr, $at:expr) => {
        match ($row.try_get::<Option<String>, _>($at), $row.try_get::<Option<i64>, _>($at)) {
            (Ok(text), _) => text,
            (_, Ok(number)) => number.map(|number| number.to_string()),
            _ => $row.try_get_unchecked::<Option<String>, _>($at).unwrap_or_default(),
        }
    };
}

/// The answer of one statement, with its binds on `$connection`.
macro_rules! answer {
    ($connection:expr, $sql:expr, $binds:expr) => {{
        let mut statement = sqlx::query(AssertSqlSafe($sql.to_owned()));
        for bind in $binds {
            statement = match bind {
                Bind::Text(text) => statement.bind(text.clone()),
                Bind::Int(number) => statement.bind(*number),
            };
        }
        let returning = ["SELECT", "SHOW", "EXPLAIN"].iter().any(|verb| $sql.starts_with(verb));
        let returns = returning || $sql.contains("RETURNING");
        if !returns {
            let affected = wait(statement.execute($connection))?.rows_affected();
            return Ok(Answer { affected, ..Answer::default() });
        }
        // Not every statement that shows something can be prepared.
        let rows = match $binds.is_empty() {
            true => wait(sqlx::raw_sql(AssertSqlSafe($sql.to_owned())).fetch_all($connection))?,
            false => wait(statement.fetch_all($connection))?,
        };
        let columns = rows.first().map(|row| row.columns().iter().map(|column| column.name().to_owned()).collect());
        let read: Vec<Vec<Option<String>>> =
            rows.iter().map(|row| (0..row.len()).map(|at| text!(row, at)).collect()).collect();
        Ok(Answer { columns: columns.unwrap_or_default(), affected: read.len() as u64, rows: read })
    }};
}

impl Probe {
    /// A further connection to the database.
    pub fn open(scratch: &Scratch) -> Probe {
        let (server, url) = (scratch.server, scratch.url());
        let connection = match server {
            Server::MySql | Server::MariaDb => {
                Connection::MySql(wait(url.parse::<MySqlConnectOptions>().unwrap().connect()).unwrap())
            }
            Server::Postgres => Connection::Postgres(wait(url.parse::<PgConnectOptions>().unwrap().connect()).unwrap()),
            Server::Sqlite => Connection::Sqlite(wait(url.parse::<SqliteConnectOptions>().unwrap().connect()).unwrap()),
        };
        let mut probe = Probe { server, reads_of_status: None, connection, observer: None, url };
        // A worker that would wait for another shall fail instead. And what an index's own columns reject is read as well,
        // but counted only if it is not rejected within InnoDB.
        probe.run(match server {
            Server::MySql | Server::MariaDb => {
                "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 5, optimizer_switch = 'index_condition_pushdown=off'"
            }
            Server::Postgres => "SET lock_timeout = '1s'; SET plan_cache_mode = force_generic_plan; SET jit = off; SET default_statistics_target = 1000",
            Server::Sqlite => "PRAGMA busy_timeout = 1000",
        });
        probe
    }

    /// Begins a transaction at READ COMMITTED, where there are levels.
    pub fn begin(&mut self) {
        self.begin_at("READ COMMITTED");
    }

    /// Begins a transaction at this level.
    pub fn begin_at(&mut self, level: &str) {
        self.run(&match self.server {
            Server::MySql | Server::MariaDb => {
                format!("SET TRANSACTION ISOLATION LEVEL {level}; START TRANSACTION")
            }
            Server::Postgres => format!("BEGIN ISOLATION LEVEL {level}"),
            Server::Sqlite => "BEGIN IMMEDIATE".to_owned(),
        });
    }

    /// Undoes the transaction.
    pub fn rollback(&mut self) {
        self.run("ROLLBACK");
    }

    /// Runs a script.
    pub fn run(&mut self, script: &str) {
        self.try_run(script).unwrap_or_else(|error| panic!("{:?}: {error}\n{script}", self.server));
    }

    /// Runs a script that may fail.
    pub fn try_run(&mut self, script: &str) -> Result<(), sqlx::Error> {
        let script = sqlx::raw_sql(AssertSqlSafe(script.to_owned()));
        match &mut self.connection {
            Connection::MySql(connection) => wait(script.execute(connection)).map(|_| ()),
            Connection::Postgres(connection) => wait(script.execute(connection)).map(|_| ()),
            Connection::Sqlite(connection) => wait(script.execute(connection)).map(|_| ()),
        }
    }

    /// PostgreSQL: nobody else looks at the tables that there are, renews their statistics or holds a lock on them.
    pub fn keep_autovacuum_out(&mut self) {
        if self.server == Server::Postgres {
            self.run(
                "DO $$ DECLARE found REGCLASS; BEGIN
                   FOR found IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::REGNAMESPACE LOOP
                     EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', found);
                   END LOOP;
                 END $$",
            );
        }
    }

    /// Runs one statement. On PostgreSQL it is prepared with a plan for all values, which a driver's statements get after
    /// some executions.
    pub fn ask(&mut self, sql: &str, binds: &[Bind]) -> Result<Answer, sqlx::Error> {
        match &mut self.connection {
            Connection::MySql(connection) => answer!(&mut *connection, sql, binds),
            Connection::Sqlite(connection) => answer!(&mut *connection, sql, binds),
            Connection::Postgres(_) if binds.is_empty() => self.ask_text(sql),
            Connection::Postgres(_) => {
                let execute = self.prepare(sql, binds)?;
                self.ask_text(&execute)
            }
        }
    }

    /// Runs one statement that must succeed.
    pub fn rows(&mut self, sql: &str, binds: &[Bind]) -> Answer {
        self.ask(sql, binds).unwrap_or_else(|error| panic!("{:?}: {error}\n{sql}\n{binds:?}", self.server))
    }

    /// The first value of the first row as a number.
    pub fn number(&mut self, sql: &str) -> u64 {
        let answer = self.rows(sql, &[]);
        let value = answer.rows.first().and_then(|row| row[0].clone());
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no number: {sql}"))
    }

    /// PostgreSQL: prepares the statement, and gives the text that executes it.
    pub fn prepare(&mut self, sql: &str, binds: &[Bind]) -> Result<String, sqlx::Error> {
        let types = binds.iter().map(|bind| if matches!(bind, Bind::Int(_)) { "BIGINT" } else { "unknown" });
        let (types, values): (Vec<&str>, Vec<String>) = types.zip(binds.iter().map(Bind::literal)).unzip();
        let list = |items: String| if items.is_empty() { items } else { format!(" ({items})") };
        let (types, values) = (list(types.join(", ")), list(values.join(", ")));
        self.try_run(&format!("DEALLOCATE ALL; PREPARE probe{types} AS {sql}"))?;
        Ok(format!("EXECUTE probe{values}"))
    }

    fn ask_text(&mut self, sql: &str) -> Result<Answer, sqlx::Error> {
        let Connection::Postgres(connection) = &mut self.connection else { panic!("not PostgreSQL") };
        let rows = wait(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_all(connection))?;
        let columns = rows.first().map(|row| row.columns().iter().map(|column| column.name().to_owned()).collect());
        let text = |row: &sqlx::postgres::PgRow| {
            (0..row.len()).map(|at| row.try_get_unchecked::<Option<String>, _>(at).unwrap()).collect()
        };
        let read: Vec<Vec<Option<String>>> = rows.iter().map(text).collect();
        Ok(Answer { columns: columns.unwrap_or_default(), affected: read.len() as u64, rows: read })
    }

    /// PostgreSQL: rows of the table that the open transaction has locked or changed, by the extension `pgrowlocks`, which
    /// comes with most servers, but not with all, and may be for superusers only: `None` where it is not to be had.
    pub fn rows_locked(&mut self, table: &str) -> Option<u64> {
        let own = self.number("SELECT pg_backend_pid()");
        let observer = self.observer.get_or_insert_with(|| {
            let mut observer = wait(self.url.parse::<PgConnectOptions>().unwrap().connect()).unwrap();
            let created = wait(sqlx::raw_sql("CREATE EXTENSION IF NOT EXISTS pgrowlocks").execute(&mut observer));
            if let Err(error) = &created {
                let notice = format!("skipped: rows locked on PostgreSQL: no pgrowlocks: {error}\n");
                assert!(std::env::var("CLAIMSMITH_REQUIRE_SERVERS").as_deref() != Ok("1"), "{notice}");
                say(&notice);
            }
            created.is_ok().then_some(observer)
        });
        let sql = "SELECT count(*) FROM pgrowlocks(quote_ident($1)) WHERE $2 = ANY(pids)";
        let count = sqlx::query_scalar::<_, i64>(sql).bind(table).bind(own as i32).fetch_one(observer.as_mut()?);
        Some(wait(count).unwrap() as u64)
    }

    /// SQLite: the answer, and the steps of the virtual machine that it took.
    pub fn steps(&mut self, sql: &str, binds: &[Bind]) -> Result<(Answer, u64), sqlx::Error> {
        let steps = Arc::new(AtomicU64::new(0));
        let counter = steps.clone();
        let Connection::Sqlite(connection) = &mut self.connection else { panic!("not SQLite") };
        wait(connection.lock_handle())?.set_progress_handler(1, move || {
            counter.fetch_add(1, Ordering::Relaxed);
            true
        });
        let answer = self.ask(sql, binds);
        let Connection::Sqlite(connection) = &mut self.connection else { panic!("not SQLite") };
        wait(connection.lock_handle())?.remove_progress_handler();
        Ok((answer?, steps.load(Ordering::Relaxed)))
    }
}
