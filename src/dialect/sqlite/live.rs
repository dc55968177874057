//! A SQLite file, what its statements cost, and what it says of its tables.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use tokio::runtime::Runtime;

use crate::error::{Error, Result};

use super::super::catalogue::{Catalogue, Unreachable, wait};
use super::Sqlite;

/// A database in a file of this process. Calls block until they are done.
pub struct Embedded {
    runtime: Runtime,
    connection: SqliteConnection,
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(String),
}

/// What one statement cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Instructions of SQLite's virtual machine: they grow with the rows read and do not depend on how busy the machine is.
    pub steps: u64,
    /// Rows returned.
    pub rows: usize,
    /// The plan has a temporary B-tree: rows are sorted.
    pub sorts: bool,
    /// Wall time.
    pub time: Duration,
}

fn fault(error: sqlx::Error) -> Error {
    Error::new(format!("the embedded database: {error}"))
}

impl Embedded {
    /// Opens the file, which is made if it is missing.
    pub fn open(path: &Path) -> Result<Embedded> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| Error::new(format!("cannot start the runtime: {error}")))?;
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let connection = runtime.block_on(options.connect()).map_err(fault)?;
        Ok(Embedded { runtime, connection })
    }

    /// Runs a script.
    pub fn run(&mut self, script: &str) -> Result<()> {
        let script = sqlx::raw_sql(AssertSqlSafe(script));
        self.runtime.block_on(script.execute(&mut self.connection)).map(|_| ()).map_err(fault)
    }

    /// Runs one statement in a transaction that is rolled back, and measures it.
    pub fn measure(&mut self, sql: &str, binds: &[Bind]) -> Result<Cost> {
        self.runtime.block_on(measure(&mut self.connection, sql, binds)).map_err(fault)
    }
}

async fn measure(connection: &mut SqliteConnection, sql: &str, binds: &[Bind]) -> Result<Cost, sqlx::Error> {
    let plan = query(&format!("EXPLAIN QUERY PLAN {sql}"), binds).fetch_all(&mut *connection).await?;
    let mut sorts = false;
    for step in plan {
        sorts |= step.try_get::<String, _>("detail")?.contains("TEMP B-TREE");
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let steps = Arc::new(AtomicU64::new(0));
    let counter = steps.clone();
    transaction.lock_handle().await?.set_progress_handler(1, move || {
        counter.fetch_add(1, Ordering::Relaxed);
        true
    });
    let start = Instant::now();
    let rows = query(sql, binds).fetch_all(&mut *transaction).await?.len();
    let time = start.elapsed();
    transaction.lock_handle().await?.remove_progress_handler();
    transaction.rollback().await?;
    Ok(Cost { steps: steps.load(Ordering::Relaxed), rows, sorts, time })
}

fn query(sql: &str, binds: &[Bind]) -> sqlx::query::Query<'static, sqlx::Sqlite, sqlx::sqlite::SqliteArguments> {
    let query = sqlx::query(AssertSqlSafe(sql.to_owned()));
    binds.iter().cloned().fold(query, |query, bind| match bind {
        Bind::Integer(number) => query.bind(number),
        Bind::Text(text) => query.bind(text),
    })
}

/// Tables and indexes as they were made, tables first; of indexes of constraints there is no text but that of the table.
const OBJECTS: &str = "
    SELECT tbl_name, sql, type = 'table' FROM sqlite_schema
    WHERE type IN ('table', 'index') AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    ORDER BY type = 'index', name";

/// Asks the file of the URL, which must be there.
pub fn catalogue(url: &str, wanted: &dyn Fn(&str) -> bool) -> std::result::Result<Catalogue, Unreachable> {
    let options: SqliteConnectOptions = url.parse().map_err(Unreachable::url)?;
    let options = options.create_if_missing(false).read_only(true);
    let shown = format!("sqlite://{}", options.get_filename().display());
    let ask = async |mut connection: SqliteConnection| {
        let (mut tables, mut statements) = (Vec::new(), Vec::new());
        for row in sqlx::raw_sql(OBJECTS).fetch_all(&mut connection).await? {
            let (table, sql, is_table): (String, String, bool) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            if wanted(&table) {
                statements.push(sql);
                tables.extend(is_table.then_some(table));
            }
        }
        Ok(Catalogue { dialect: &Sqlite, tables, statements })
    };
    wait(options.connect(), ask).map_err(|reason| Unreachable::database(&shown, reason))
}
