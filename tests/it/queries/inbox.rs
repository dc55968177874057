//! The memory of consumers: each has a message once, whoever else has it, and only if its transaction comes to its end.

use claimsmith::schema::{Catalog, Table};
use claimsmith::statement::query::{Meaning, Query, queries};
use claimsmith::statement::schema;

use crate::servers::{Scratch, on_servers};

use super::case::committed;
use super::driver::{Bind, Driver, mysql_error};
use super::queue::rows;
use super::time::{NOON, frozen, text};

fn inboxes() -> Catalog {
    let mut catalog = committed();
    catalog.tables.retain(|table| table.inbox.is_some());
    catalog
}

fn begin_of(catalog: &Catalog, scratch: &Scratch) -> Query {
    let of_table = queries(catalog, scratch.server.dialect()).remove(0);
    of_table.queries.into_iter().find(|query| query.name == "begin_consume").unwrap()
}

/// Whether the consumer has the message for the first time.
fn is_fresh(driver: &mut Driver, table: &Table, query: &Query, consumer: &str, message: &str) -> bool {
    let inbox = table.inbox.as_ref().unwrap();
    let bind = |meaning: Meaning| {
        let Meaning::Column(at) = meaning else { panic!("{meaning:?}") };
        let value = if table.columns[at].name == inbox.consumer { consumer } else { message };
        Bind::Text(Some(value.to_owned()))
    };
    let binds: Vec<Bind> = query.parameters.iter().map(|parameter| bind(parameter.meaning)).collect();
    assert_eq!(binds.len(), 2, "the time is the database's");
    match driver.execute(&frozen(driver.server, &query.sql, NOON), &binds) {
        Ok(outcome) => {
            assert!(outcome.affected == 1 || !driver.server.is_mysql_like());
            outcome.affected == 1
        }
        Err(error) => {
            assert!(driver.server.is_mysql_like() && mysql_error(&error) == Some(1062), "{error}");
            false
        }
    }
}

fn a_message_is_begun_once(scratch: &mut Scratch) {
    let catalog = inboxes();
    let script = schema(&catalog, scratch.server.dialect());
    let statements = script.tables.iter().flat_map(|table| &table.statements);
    scratch.run(&statements.map(|statement| format!("{};\n", statement.sql)).collect::<String>()).unwrap();
    let (table, query) = (&catalog.tables[0], begin_of(&catalog, scratch));
    let mut driver = Driver::open(scratch);
    driver.set_clock(NOON);
    // A handler that fails takes its mark along.
    driver.run("BEGIN");
    assert!(is_fresh(&mut driver, table, &query, "billing", "m-1"));
    driver.run("ROLLBACK");
    driver.run("BEGIN");
    assert!(is_fresh(&mut driver, table, &query, "billing", "m-1"));
    // A second delivery leaves the transaction usable.
    assert!(!is_fresh(&mut driver, table, &query, "billing", "m-1"));
    assert!(is_fresh(&mut driver, table, &query, "mail", "m-1"), "each consumer by itself");
    assert!(is_fresh(&mut driver, table, &query, "billing", "M-1"), "ids compare byte by byte");
    driver.run("COMMIT");
    assert!(!is_fresh(&mut driver, table, &query, "billing", "m-1"));
    let found = rows(&mut driver, table);
    let row = |consumer: &str, message: &str| [consumer.to_owned(), message.to_owned(), text(NOON)].map(Some).to_vec();
    assert_eq!(found, [row("billing", "M-1"), row("billing", "m-1"), row("mail", "m-1")]);
}
on_servers!(a_message_is_begun_once);
