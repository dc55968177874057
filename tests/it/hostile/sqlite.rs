//! The whole script, run on SQLite in memory, and the catalogue compared with the definitions.

use std::collections::BTreeSet;

use claimsmith::dialect;
use claimsmith::schema::names;
use claimsmith::workload;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use crate::loaded::Loaded;

/// Runs one connection after the other.
pub struct Runtime(tokio::runtime::Runtime);

/// What a database holds: kind and name of each object, and each table's columns.
type Contents = (BTreeSet<(String, String)>, BTreeSet<(String, Vec<String>)>);

impl Runtime {
    pub fn new() -> Runtime {
        Runtime(tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap())
    }

    /// Runs the SQLite script of the definitions; why its effect is not what they say, if it is not.
    pub fn check(&self, loaded: &Loaded) -> Result<(), String> {
        let sql = loaded.sql().pop().unwrap();
        self.0.block_on(run(loaded, &sql)).map_err(|error| format!("{error}\n{sql}"))
    }
}

async fn run(loaded: &Loaded, sql: &str) -> Result<(), String> {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.map_err(|error| error.to_string())?;
    let databases: BTreeSet<Option<&String>> =
        loaded.catalog.tables.iter().map(|table| table.name.database.as_ref()).collect();
    for database in databases.iter().flatten() {
        execute(&mut connection, &format!("ATTACH ':memory:' AS {}", quoted(database))).await?;
    }
    execute(&mut connection, "CREATE TABLE canary (sings)").await?;
    execute(&mut connection, "INSERT INTO canary VALUES (1)").await?;
    // Twice: what is there is left as it is.
    for _ in 0..2 {
        execute(&mut connection, sql).await?;
        for database in &databases {
            let found = contents(&mut connection, database.map(String::as_str)).await?;
            let expected = expected(loaded, *database);
            if found != expected {
                return Err(format!("in {database:?}: {found:?} instead of {expected:?}"));
            }
        }
        let canaries: i64 =
            sqlx::query_scalar("SELECT count(*) FROM canary").fetch_one(&mut connection).await.unwrap_or_default();
        if canaries != 1 {
            return Err("the canary is dead".to_owned());
        }
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

async fn execute(connection: &mut SqliteConnection, sql: &str) -> Result<(), String> {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await;
    done.map(|_| ()).map_err(|error| error.to_string())
}

/// What the definitions say of one database.
fn expected(loaded: &Loaded, database: Option<&String>) -> Contents {
    let engine = dialect::find("sqlite").unwrap().engine();
    let catalog = workload::indexed(&loaded.catalog, engine);
    let names = names::assign(&catalog, engine);
    let mut contents = Contents::default();
    for (table, names) in catalog.tables.iter().zip(names) {
        if table.name.database.as_ref() == database {
            contents.0.insert(("table".to_owned(), table.name.name.clone()));
            contents.0.extend(names.indexes.into_iter().map(|name| ("index".to_owned(), name)));
            let columns = table.columns.iter().map(|column| column.name.clone()).collect();
            contents.1.insert((table.name.name.clone(), columns));
        }
    }
    if database.is_none() {
        contents.0.insert(("table".to_owned(), "canary".to_owned()));
        contents.1.insert(("canary".to_owned(), vec!["sings".to_owned()]));
    }
    contents
}

/// What SQLite says of one database, without what it makes by itself.
async fn contents(connection: &mut SqliteConnection, database: Option<&str>) -> Result<Contents, String> {
    let database = database.unwrap_or("main");
    let text = |error: sqlx::Error| error.to_string();
    let sql = format!(
        "SELECT type, name FROM {}.sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
        quoted(database)
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await.map_err(text)?;
    let mut contents = Contents::default();
    for row in rows {
        let (kind, name): (String, String) = (row.get(0), row.get(1));
        if kind == "table" {
            let columns = sqlx::query_scalar("SELECT name FROM pragma_table_info(?, ?) ORDER BY cid");
            let columns = columns.bind(&name).bind(database).fetch_all(&mut *connection).await.map_err(text)?;
            contents.1.insert((name.clone(), columns));
        }
        contents.0.insert((kind, name));
    }
    Ok(contents)
}
