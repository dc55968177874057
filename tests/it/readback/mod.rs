//! Every generated schema is created on every engine, twice in a row, and read back from the catalogue: nothing that the
//! definitions say is missing, weakened or doubled.

mod defaults;
pub mod definitions;
mod effects;
mod expected;
mod model;
mod mysql;
mod postgres;
pub mod rows;
mod sqlite;
mod sqlite_text;
mod types;

use std::path::Path;

use claimsmith::schema::Catalog;

use crate::servers::{Row, Scratch, Server, on_servers, say};

use definitions::{Definitions, fixture, real, shipped};
use model::{Object, assert_same};

/// The databases (schemas) to read: the scratch database first, then those that the definitions name.
struct Scope {
    schemas: Vec<String>,
}

impl Scope {
    fn new(scratch: &Scratch, catalog: &Catalog) -> Scope {
        let main = match scratch.server {
            Server::MySql | Server::MariaDb => scratch.name(),
            Server::Postgres => "public",
            Server::Sqlite => "main",
        };
        let mut named: Vec<&String> = catalog.tables.iter().filter_map(|table| table.name.database.as_ref()).collect();
        named.sort();
        named.dedup();
        Scope { schemas: [main.to_owned()].into_iter().chain(named.into_iter().cloned()).collect() }
    }
}

/// The first values of a row, none of which is NULL.
fn texts<const N: usize>(row: &Row) -> [String; N] {
    std::array::from_fn(|at| row[at].clone().unwrap_or_else(|| panic!("NULL at {at} in {row:?}")))
}

/// Everything that the engine says it holds.
fn read(scratch: &mut Scratch, scope: &Scope) -> Vec<Object> {
    match scratch.server {
        Server::MySql | Server::MariaDb => mysql::read(scratch, scope),
        Server::Postgres => postgres::read(scratch, scope),
        Server::Sqlite => sqlite::read(scratch, scope),
    }
}

/// Panics unless the engine holds just what the definitions say.
pub fn assert_as_defined(definitions: &Definitions, scratch: &mut Scratch, what: &str) {
    let expected = expected::objects(&definitions.catalog, scratch.server);
    let scope = Scope::new(scratch, &definitions.catalog);
    assert_same(&expected, &read(scratch, &scope), what);
}

/// Creates the tables twice and compares what the engine says with what the definitions say; then looks at what the
/// tables do.
pub fn prove(definitions: &Definitions, scratch: &mut Scratch) {
    let (script, catalog) = (definitions.schema_sql(), &definitions.catalog);
    for run in ["first", "second"] {
        scratch.run(&script).unwrap_or_else(|refusal| panic!("{run} run: {refusal}"));
        assert_as_defined(definitions, scratch, &format!("after the {run} run"));
    }
    for table in &catalog.tables {
        rows::unchecked(&rows::insert_sample(table, 1, scratch.server), scratch);
        rows::unchecked(&rows::insert_sample(table, 2, scratch.server), scratch);
    }
    let contents = |scratch: &mut Scratch| -> Vec<Vec<Row>> {
        let select = |table| format!("SELECT * FROM {} ORDER BY 1", rows::table_name(table, scratch.server));
        let selects: Vec<String> = catalog.tables.iter().map(select).collect();
        selects.iter().map(|select| scratch.rows(select)).collect()
    };
    let before = contents(scratch);
    scratch.run(&script).unwrap();
    assert_eq!(before, contents(scratch), "a further run touched rows");
    effects::prove(catalog, scratch);
    defaults::prove(catalog, scratch);
}

fn prove_file(path: &Path, scratch: &mut Scratch) {
    let definitions = Definitions::read(path, scratch.server).without_errors();
    definitions.assert_complete();
    prove(&definitions, scratch);
}

fn the_shipped_definitions(scratch: &mut Scratch) {
    prove_file(&shipped(), scratch);
}
on_servers!(the_shipped_definitions);

fn a_real_system(scratch: &mut Scratch) {
    match real() {
        Ok(path) => prove_file(&path, scratch),
        Err(reason) => {
            say(&format!("skipped: readback::a_real_system on {}: {reason}\n", scratch.server.engine().title))
        }
    }
}
on_servers!(a_real_system);

/// Makes a test of each fixture on each engine, or on those that can have it.
macro_rules! fixtures {
    ($($name:ident $(: $($server:ident),+)?;)+) => {
        $(
            fn $name(scratch: &mut Scratch) {
                prove_file(&fixture(concat!(stringify!($name), ".json")), scratch);
            }
            on_servers!($name $(: $($server),+)?);
        )+
    };
}

fixtures! {
    every_type;
    keys;
    collisions;
    hostile;
    comments;
    emoji;
    emoji_names: postgres, sqlite;
    names_of_63_bytes;
    names_of_64_characters: mysql, mariadb, sqlite;
    long_comments;
    set_default: postgres, sqlite;
}
