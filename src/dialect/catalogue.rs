//! A database's URL → the statements that make its tables, as the database itself tells them.
//!
//! Statements and not structures: whoever reads the SQL of others reads these as well.

use std::time::Duration;

use crate::error::{Error, Result};

use super::{ALL, Dialect};

/// How long a server may take to let us in, and how long to tell everything.
const PATIENCE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(60)];

/// What a database says of its tables.
pub struct Catalogue {
    /// What it is, which may be another than its URL says: two databases speak one protocol.
    pub dialect: &'static dyn Dialect,
    /// The names of its tables that were asked for.
    pub tables: Vec<String>,
    /// `CREATE TABLE` and `CREATE INDEX` of these, in an order in which they could run.
    pub statements: Vec<String>,
}

/// Why a database said nothing.
#[derive(Debug)]
pub struct Unreachable {
    /// Where it was looked for; never the password. `None` if the URL does not say it.
    database: Option<String>,
    reason: String,
}

impl Unreachable {
    /// The URL is wrong.
    pub(super) fn url(reason: impl ToString) -> Unreachable {
        Unreachable { database: None, reason: reason.to_string() }
    }

    /// The database is not there, or refused something.
    pub(super) fn database(shown: &str, reason: impl ToString) -> Unreachable {
        Unreachable { database: Some(shown.to_owned()), reason: reason.to_string() }
    }
}

/// Asks the database for its tables whose names are `wanted`. Nothing is written to it.
pub fn read(url: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Catalogue> {
    let known = || ALL.iter().flat_map(|dialect| dialect.schemes());
    let Some((scheme, _)) = url.split_once(':') else {
        // Whatever it is: it may hold a password.
        let forms: Vec<String> = known().map(|scheme| format!("{scheme}://…")).collect();
        return Err(Error::new("the URL of the database has no scheme").help(format!("write {}", forms.join(", "))));
    };
    let Some(dialect) = ALL.into_iter().find(|dialect| dialect.schemes().contains(&scheme)) else {
        return Err(Error::unknown("kind of database", scheme, known().copied()));
    };
    dialect.catalogue(url, wanted).map_err(|why| match why.database {
        Some(database) => Error::new(format!("cannot read the tables of `{database}`: {}", why.reason)),
        None => Error::new(format!("the URL of the database is wrong: {}", why.reason)).help(
            "characters such as `@`, `/` and `?` of a user's name or a password are written as `%40`, `%2F` and `%3F`",
        ),
    })
}

/// Connects, then asks, with an end to either.
pub(super) fn wait<C, T>(
    connect: impl Future<Output = Result<C, sqlx::Error>>,
    ask: impl AsyncFnOnce(C) -> Result<T, sqlx::Error>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start the runtime: {error}"))?;
    let [to_connect, to_answer] = PATIENCE;
    runtime.block_on(async {
        let late = |patience: Duration| move |_| format!("no answer within {} s", patience.as_secs());
        let connection = tokio::time::timeout(to_connect, connect).await.map_err(late(to_connect))?;
        let answer = ask(connection.map_err(reason)?);
        tokio::time::timeout(to_answer, answer).await.map_err(late(to_answer))?.map_err(reason)
    })
}

/// What the database itself said, where it did.
fn reason(error: sqlx::Error) -> String {
    match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_wrong_url_is_an_error_without_its_password() {
        for (url, expected) in [
            ("hunter2", "has no scheme"),
            ("oracle://a:hunter2@h/d", "unknown kind of database `oracle`"),
            ("mysql://a:hunter2/x@h/d", "the URL of the database is wrong"),
            ("mysql://a:hunter2@127.0.0.1:1", "names no database"),
            ("postgres://a:hunter2@127.0.0.1:1/d", "cannot read the tables of `postgres://127.0.0.1:1/d`"),
            ("mariadb://a:hunter2@127.0.0.1:1/d?charset=x", "cannot read the tables of `mariadb://127.0.0.1:1/d`"),
            ("sqlite:///nowhere/at/all.db", "cannot read the tables of `sqlite:///nowhere/at/all.db`"),
        ] {
            let Err(error) = read(url, &|_| true) else { panic!("{url} can be read") };
            let error = error.to_string();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
