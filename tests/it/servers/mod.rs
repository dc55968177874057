//! Real database engines for tests: every test gets an empty scratch database of its own, on every engine that there is.
//!
//! MySQL, MariaDB and PostgreSQL are servers named by environment variables ([`Server::variable`]); SQLite needs none. A
//! test whose server is not named is skipped with a line on standard error, or fails if `CLAIMSMITH_REQUIRE_SERVERS` is
//! `1`.
//!
//! ```ignore
//! fn a_null_is_refused(scratch: &mut Scratch) {
//!     scratch.run("CREATE TABLE t (a INT NOT NULL)").unwrap();
//!     scratch.run("INSERT INTO t VALUES (NULL)").unwrap_err();
//! }
//! on_servers!(a_null_is_refused);                  // four tests, one for each engine
//! on_servers!(a_null_is_refused: mysql, mariadb);  // or only for some
//! ```
//!
//! Everything blocks, so that tests are plain functions. What needs several connections at once opens further sessions
//! ([`Scratch::session`]), one for each of its threads, or takes [`Scratch::url`] to a pool of its own.

mod session;

use std::env;
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use claimsmith::dialect::{self, Dialect};
use claimsmith::engine::Engine;
use tempfile::TempDir;

pub use session::{Row, Session};

/// An engine that tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    MySql,
    MariaDb,
    Postgres,
    Sqlite,
}

impl Server {
    /// All, in the order of `dialect::ALL`.
    pub const ALL: [Server; 4] = [Server::MySql, Server::MariaDb, Server::Postgres, Server::Sqlite];

    /// The name of its dialect.
    pub fn id(self) -> &'static str {
        match self {
            Server::MySql => "mysql",
            Server::MariaDb => "mariadb",
            Server::Postgres => "postgres",
            Server::Sqlite => "sqlite",
        }
    }

    /// The server of this name.
    pub fn find(id: &str) -> Server {
        Server::ALL.into_iter().find(|server| server.id() == id).unwrap_or_else(|| panic!("no server is called {id}"))
    }

    /// Its dialect.
    pub fn dialect(self) -> &'static dyn Dialect {
        dialect::find(self.id()).unwrap()
    }

    /// Its facts.
    pub fn engine(self) -> &'static Engine {
        self.dialect().engine()
    }

    /// MySQL or MariaDB.
    pub fn is_mysql_like(self) -> bool {
        matches!(self, Server::MySql | Server::MariaDb)
    }

    /// The environment variable that holds its URL; `None` where none is needed.
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Server::MySql => Some("CLAIMSMITH_TEST_MYSQL_URL"),
            Server::MariaDb => Some("CLAIMSMITH_TEST_MARIADB_URL"),
            Server::Postgres => Some("CLAIMSMITH_TEST_POSTGRES_URL"),
            Server::Sqlite => None,
        }
    }

    /// The URL of a database on this server; on SQLite `database` is the path of its file.
    fn url(self, database: &str) -> String {
        let Some(variable) = self.variable() else { return format!("sqlite://{database}") };
        let url = env::var(variable).unwrap();
        let (address, options) = url.split_once('?').unwrap_or((&url, ""));
        let (scheme, address) = address.split_once("://").unwrap();
        let host = address.split('/').next().unwrap();
        format!("{scheme}://{host}/{database}?{options}")
    }

    /// A session on the database that every server has.
    fn open_home(self) -> Result<Session, sqlx::Error> {
        Session::open(self, &self.url(if self == Server::Postgres { "postgres" } else { "mysql" }))
    }
}

/// A database that exists as long as this value, and one session on it.
pub struct Scratch {
    session: Option<Session>,
    /// The database's name, or the path of its file.
    name: String,
    /// Further databases that go with it.
    beside: Vec<String>,
    _folder: Option<TempDir>,
}

impl Scratch {
    /// What every scratch database's name begins with, so that one left behind by a killed run is known as such: then
    /// comes when the run began, in seconds, and its process.
    pub const PREFIX: &'static str = "claimsmith_it_";

    /// An empty database; `None` if the engine has no URL, which `test` is the name of in the notice.
    pub fn new(server: Server, test: &str) -> Option<Scratch> {
        if let Some(variable) = server.variable().filter(|variable| env::var(variable).is_err()) {
            let notice = format!("skipped: {test} on {}: no {variable}\n", server.engine().title);
            assert!(env::var("CLAIMSMITH_REQUIRE_SERVERS").as_deref() != Ok("1"), "{notice}");
            say(&notice);
            return None;
        }
        let folder = (server == Server::Sqlite).then(|| TempDir::with_prefix(Scratch::PREFIX).unwrap());
        let name = match &folder {
            Some(folder) => folder.path().join("scratch.db").to_str().unwrap().to_owned(),
            None => unique_name(),
        };
        if folder.is_none() {
            let options = if server == Server::Postgres { " TEMPLATE template0 ENCODING 'UTF8'" } else { "" };
            server.open_home().unwrap().run(&format!("CREATE DATABASE {name}{options}")).unwrap();
        }
        let mut scratch = Scratch { session: None, name, beside: Vec::new(), _folder: folder };
        scratch.session = Some(Session::open(server, &server.url(&scratch.name)).unwrap());
        Some(scratch)
    }

    /// A further session on the same database.
    pub fn session(&self) -> Session {
        Session::open(self.server, &self.url()).unwrap()
    }

    /// The database's name in the server; on SQLite the path of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL of the database, for a pool or for another process.
    pub fn url(&self) -> String {
        self.server.url(&self.name)
    }

    /// A name for a second database (on PostgreSQL a schema) that goes with this one. It does not exist yet, but on
    /// SQLite, where an empty one is attached.
    pub fn beside(&mut self, suffix: &str) -> String {
        let name = match self.server {
            Server::MySql | Server::MariaDb => format!("{}_{suffix}", self.name),
            Server::Postgres | Server::Sqlite => suffix.to_owned(),
        };
        if self.server == Server::Sqlite {
            self.run(&format!("ATTACH DATABASE ':memory:' AS \"{name}\"")).unwrap();
        }
        self.beside.push(name.clone());
        name
    }
}

impl Deref for Scratch {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_ref().unwrap()
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Session {
        self.session.as_mut().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        let (server, name, beside) = (session.server, &self.name, &self.beside);
        let drop = move || {
            session.close();
            let script: String = match server {
                Server::Sqlite => return Ok(()),
                Server::Postgres => format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
                // A session that is still open must not hold this one up for ever, and no foreign key across databases.
                Server::MySql | Server::MariaDb => {
                    ["SET SESSION lock_wait_timeout = 5, foreign_key_checks = 0".to_owned()]
                        .into_iter()
                        .chain(beside.iter().chain([name]).map(|name| format!("DROP DATABASE IF EXISTS {name}")))
                        .collect::<Vec<_>>()
                        .join(";")
                }
            };
            server.open_home()?.run(&script)
        };
        // In a thread of its own, because a test may end inside a runtime, where nothing may block.
        let dropped = std::thread::scope(|scope| scope.spawn(drop).join());
        if !matches!(dropped, Ok(Ok(()))) {
            say(&format!("left behind: the database {name}: {dropped:?}\n"));
        }
    }
}

fn unique_name() -> String {
    static STARTED: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let started = STARTED.get_or_init(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}{started}_{}_{count}", Scratch::PREFIX, std::process::id())
}

/// Writes to standard error past the capture of the test harness, so that nobody takes a skipped test for a passed one.
pub fn say(notice: &str) {
    _ = std::io::stderr().write_all(notice.as_bytes());
}

/// Runs `body` on a scratch database of the server of this name, if there is one.
pub fn with_scratch(id: &str, test: &str, body: impl FnOnce(&mut Scratch)) {
    if let Some(mut scratch) = Scratch::new(Server::find(id), test) {
        body(&mut scratch);
    }
}

/// `on_servers!(name)` makes a test for each engine of the function `name(&mut Scratch)`; `on_servers!(name: mysql)` for
/// those that are named. Attributes before the name go to each test.
macro_rules! on_servers {
    ($(#[$attribute:meta])* $name:ident) => {
        $crate::servers::on_servers!($(#[$attribute])* $name: mysql, mariadb, postgres, sqlite);
    };
    ($(#[$attribute:meta])* $name:ident: $($server:ident),+) => {
        mod $name {
            $crate::servers::on_servers!(@each [$(#[$attribute])*] $name $($server)+);
        }
    };
    (@each $attributes:tt $name:ident $($server:ident)+) => {
        $($crate::servers::on_servers!(@one $attributes $name $server);)+
    };
    (@one [$(#[$attribute:meta])*] $name:ident $server:ident) => {
        #[test]
        $(#[$attribute])*
        fn $server() {
            let test = module_path!().split_once("::").map_or("", |(_, path)| path);
            $crate::servers::with_scratch(stringify!($server), test, super::$name);
        }
    };
}
pub(crate) use on_servers;

fn a_scratch_database_is_empty_and_goes(scratch: &mut Scratch) {
    scratch.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (NULL)").unwrap();
    assert_eq!(scratch.rows("SELECT a FROM t ORDER BY a IS NULL"), [[Some("1".to_owned())], [None]]);
    assert_eq!(scratch.session().value("SELECT COUNT(*) FROM t"), "2");
    let (server, name) = (scratch.server, scratch.name().to_owned());
    let panicked = std::panic::catch_unwind(move || {
        let other = Scratch::new(server, "").unwrap();
        let name = other.name().to_owned();
        std::panic::panic_any(name);
    });
    let gone = *panicked.unwrap_err().downcast::<String>().unwrap();
    assert_ne!(gone, name);
    match server {
        Server::Sqlite => assert!(!std::path::Path::new(&gone).exists()),
        _ => assert!(Session::open(server, &server.url(&gone)).is_err(), "{gone} is still there"),
    }
}
on_servers!(a_scratch_database_is_empty_and_goes);
