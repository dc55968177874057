//! What MySQL and MariaDB say of their tables.

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Row};

use super::super::catalogue::{Catalogue, Unreachable, wait};
use super::super::mariadb::MariaDb;
use super::super::{Dialect, quoted};
use super::MySql;

/// Names stand quoted, and in quotes that no other mode reads as a text; nothing is left out for other programs.
const SESSION: &str = "SET SESSION sql_mode = '', sql_quote_show_create = 1";

/// Strings of the catalogue may come as bytes, hence the cast.
const TABLES: &str = "SELECT CAST(TABLE_NAME AS CHAR) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME";

/// Asks the database of the URL.
pub fn catalogue(url: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Catalogue, Unreachable> {
    let options: MySqlConnectOptions = url.parse().map_err(Unreachable::url)?;
    let Some(database) = options.get_database() else {
        return Err(Unreachable::url(
            "it names no database: write its name behind the host, as in `mysql://user@host/name`",
        ));
    };
    let scheme = url.split(':').next().unwrap_or_default();
    let shown = format!("{scheme}://{}:{}/{database}", options.get_host(), options.get_port());
    // As the server likes it, not as sqlx does: nothing is set that an old server refuses.
    let options = options.pipes_as_concat(false).no_engine_substitution(false).timezone(None);
    let answer = wait(options.connect(), async |connection| ask(connection, wanted).await);
    answer.map_err(|reason| Unreachable::database(&shown, reason))
}

async fn ask(mut connection: MySqlConnection, wanted: &dyn Fn(&str) -> bool) -> Result<Catalogue, sqlx::Error> {
    sqlx::raw_sql(SESSION).execute(&mut connection).await?;
    let version = texts(&mut connection, "SELECT CAST(VERSION() AS CHAR)", 0).await?;
    let is_mariadb = version.iter().any(|version| version.contains("MariaDB"));
    let mut tables = texts(&mut connection, TABLES, 0).await?;
    tables.retain(|table| wanted(table));
    let mut statements = Vec::new();
    for table in &tables {
        let statement = format!("SHOW CREATE TABLE {}", quoted(table, '`'));
        // The first column is the table's name.
        statements.extend(texts(&mut connection, &statement, 1).await?);
    }
    let dialect: &'static dyn Dialect = if is_mariadb { &MariaDb } else { &MySql };
    Ok(Catalogue { dialect, tables, statements })
}

/// One column of what a statement returns.
async fn texts(connection: &mut MySqlConnection, sql: &str, column: usize) -> Result<Vec<String>, sqlx::Error> {
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get_unchecked(column)).collect()
}
