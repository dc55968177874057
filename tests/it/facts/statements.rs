//! Facts about statements that others wrote, by which the linter judges them.

use crate::servers::{Scratch, Server, on_servers};

/// Whether FOR UPDATE may stand before LIMIT.
fn lock_before_limit(scratch: &mut Scratch) {
    scratch.run("CREATE TABLE t (a INT NOT NULL PRIMARY KEY)").unwrap();
    let statement = "SELECT a FROM t ORDER BY a FOR UPDATE SKIP LOCKED LIMIT 1";
    match scratch.server.engine().lock_before_limit {
        true => scratch.run(statement).unwrap(),
        false => _ = scratch.refusal(statement),
    }
}
on_servers!(lock_before_limit);

/// Whether an index on texts finds the rows of a number.
fn text_meets_number(scratch: &mut Scratch) {
    scratch.run("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a VARCHAR(20) NOT NULL, b INT NOT NULL)").unwrap();
    let values: Vec<String> = (0..1000).map(|n| format!("({n}, '{n}', 0)")).collect();
    scratch.run(&format!("INSERT INTO t VALUES {}", values.join(", "))).unwrap();
    scratch.run("CREATE INDEX i ON t (a)").unwrap();
    let statement = |value: &str| format!("SELECT b FROM t WHERE a = {value}");
    let searches = |plan: &str| {
        ["\"access_type\": \"ref\"", "\"ref\"", "Index lookup", "Covering index lookup", "SEARCH t USING INDEX i"]
            .iter()
            .any(|words| plan.contains(words))
    };
    if scratch.server == Server::Postgres {
        assert!(!scratch.server.engine().text_meets_number);
        _ = scratch.refusal(&statement("5"));
        return;
    }
    let by_number = super::workload::plan(scratch, &statement("5"));
    assert_eq!(searches(&by_number), scratch.server.engine().text_meets_number, "{by_number}");
    let by_text = super::workload::plan(scratch, &statement("'5'"));
    assert!(searches(&by_text), "{by_text}");
}
on_servers!(text_meets_number);

/// The words that the linter warns of are refused as names of columns where they are not quoted.
fn reserved_words(scratch: &mut Scratch) {
    let words = claimsmith::lint::rules::RESERVED_WORDS.split_whitespace();
    let taken: Vec<&str> =
        words.filter(|word| scratch.run(&format!("CREATE TABLE t_{word} ({word} INT)")).is_ok()).collect();
    assert!(taken.is_empty(), "{taken:?} need no quotes");
}
on_servers!(reserved_words: mysql);
