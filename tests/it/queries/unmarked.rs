//! A claim that cannot mark its rows: a lock where there is one, and no claim where there is none.

use claimsmith::schema::Catalog;

use crate::loaded::load_text;
use crate::servers::{Row, Scratch, Server, on_servers};

use super::case::{Given, cases, prepared};
use super::driver::Driver;
use super::matrix::blank;
use super::queue::insert;

fn catalog() -> Catalog {
    let loaded = load_text(
        r#"{ "tableName": "jobs", "columns": [
            { "name": "id", "type": "VARCHAR(20)", "primaryKey": true }, { "name": "state", "type": "VARCHAR(20)" },
            { "name": "created_ms", "type": "BIGINT" } ],
          "claim": { "global": true, "order": "created_ms",
            "status": { "column": "state", "pending": "pending", "done": "done" } } }"#,
    );
    assert!(loaded.rules().contains(&"queue-without-mark"), "{}", loaded.report());
    loaded.catalog
}

fn nothing_but_a_lock_keeps_workers_apart(scratch: &mut Scratch) {
    let catalog = catalog();
    let mut first = prepared(scratch, &catalog);
    let case = cases(&catalog, scratch.server).remove(0);
    for name in ["take", "complete", "retry", "dead", "extend", "release", "reap", "recover"] {
        assert!(case.find(name).is_none(), "{name} needs to know who holds a row");
    }
    if scratch.server == Server::Sqlite {
        assert!(case.find("claim_pending").is_none(), "both workers would get the same rows");
        return;
    }
    let claim = case.get("claim_pending");
    assert!(claim.about.iter().any(|line| line.contains("until the transaction ends")), "{:?}", claim.about);
    let pending = |number: usize| {
        let mut row = blank(&case.queue, number);
        row[case.queue.status] = Some("pending".to_owned());
        row
    };
    insert(&mut first, case.table(), &[pending(1), pending(2)]);
    let mut second = Driver::open(scratch);
    let claimed =
        |driver: &mut Driver| -> Vec<Row> { case.run(driver, claim, &Given { limit: 10, ..Given::default() }).rows };
    first.run("BEGIN");
    assert_eq!(claimed(&mut first).len(), 2);
    second.run("BEGIN");
    assert_eq!(claimed(&mut second).len(), 0, "the first worker has them");
    first.run("COMMIT");
    assert_eq!(claimed(&mut second).len(), 2, "nothing was marked");
    second.run("COMMIT");
}
on_servers!(nothing_but_a_lock_keeps_workers_apart);
