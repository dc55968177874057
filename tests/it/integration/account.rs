//! What must be true of both platforms in the end.

use std::collections::BTreeSet;

use crate::servers::Scratch;

use super::hubspot::Portal;

/// What users have saved.
pub const SAVES: &str =
    "CREATE TABLE saves (id VARCHAR(64), version BIGINT, name VARCHAR(100), PRIMARY KEY (id, version))";

/// Checks that both have the same contacts, that these are what users saved last, and that nothing went round in circles.
pub fn check(scratch: &mut Scratch, portal: &Portal) {
    let kind = if scratch.server.is_mysql_like() { "CHAR" } else { "TEXT" };
    let text = |column: &str| format!("CAST({column} AS {kind})");
    let (version, over_there) = (text("version"), text("hubspot_version"));
    let contacts = scratch.rows(&format!("SELECT id, name, email, {version}, {over_there} FROM contacts ORDER BY id"));
    assert!(!contacts.is_empty());
    let value = |row: &[Option<String>], at: usize| row[at].clone().unwrap();
    let number = |row: &[Option<String>], at: usize| value(row, at).parse::<i64>().unwrap();
    let here: BTreeSet<String> = contacts.iter().map(|row| value(row, 0)).collect();
    let apart: Vec<&String> = here.iter().filter(|id| !portal.contacts.contains_key(*id)).collect();
    assert_eq!(
        (apart, here.len()),
        (Vec::new(), portal.contacts.len()),
        "contacts that only the CRM has, and how many"
    );
    let mut changes = 0;
    for row in &contacts {
        let (id, name, email) = (value(row, 0), value(row, 1), value(row, 2));
        let (version, seen) = (number(row, 3), number(row, 4));
        let there = &portal.contacts[&id];
        assert_eq!((&name, &email), (&there.name, &there.email), "{id}");
        changes += version;
        let saves = scratch.rows(&format!("SELECT name FROM saves WHERE id = '{id}' ORDER BY version"));
        if id.starts_with('c') {
            // Each version is one save of a user: none was lost, and none came back as a change of the other platform's.
            assert_eq!(saves.len() as i64, version, "{id}");
            assert_eq!(saves.last(), Some(&vec![Some(name)]), "{id}");
            assert_eq!(there.record_version, version, "{id}");
        } else {
            assert_eq!((saves.len(), seen), (0, there.version), "{id}");
            assert_eq!(there.record_version, 0, "{id} was sent to where it comes from");
        }
    }
    let ident = |name: &str| scratch.server.dialect().ident(name);
    let (status, error) = (ident("Status"), ident("ErrorMessage"));
    let (events, into, out) =
        (ident("_System_OutboxEvent"), ident("_System_IntegrationInbound"), ident("_System_IntegrationOutbound"));
    let count =
        |scratch: &mut Scratch, of: &str| scratch.value(&format!("SELECT COUNT(*) FROM {of}")).parse::<i64>().unwrap();
    assert_eq!(count(scratch, &events), changes, "subscribers of the CRM are told of each change once");
    let told: i64 = portal.contacts.values().map(|contact| contact.version).sum();
    assert_eq!(count(scratch, &into), told, "each event of the platform is stored once");
    for table in [&into, &out] {
        assert_eq!(count(scratch, &format!("{table} WHERE {status} <> 'processed'")), 0, "{table}");
        // Nothing but what was to be expected has failed in between.
        let errors = scratch.rows(&format!("SELECT DISTINCT {error} FROM {table} WHERE {error} IS NOT NULL"));
        let expected = ["the platform is busy", "deadlock", "Deadlock", "database is locked", "Lock wait timeout"];
        for row in errors {
            let error = value(&row, 0);
            assert!(expected.iter().any(|part| error.contains(part)), "{table}: {error}");
        }
    }
}
