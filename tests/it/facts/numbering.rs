//! Where the database may number a column.

use serde_json::{Value, json};

use super::{assert_refused, assert_taken, column};
use crate::servers::{Scratch, Server, on_servers};

/// A table whose column `n` is numbered.
fn numbered(primary_key: &[&str], index: &[&str]) -> Value {
    let columns = json!([column("a", "INT"), { "name": "n", "type": "INT", "autoIncrement": true }]);
    let mut table = json!({ "tableName": "t", "columns": columns, "allow": { "missing-primary-key": "a test" } });
    if !primary_key.is_empty() {
        table["primaryKey"] = json!(primary_key);
    }
    if !index.is_empty() {
        table["indices"] = json!([{ "columns": index }]);
    }
    table
}

fn auto_increment(scratch: &mut Scratch) {
    let engine = scratch.server.engine();
    assert_taken(&numbered(&["n"], &[]), scratch);
    let rule = "wrong-auto-increment";
    // In SQLite the numbered column has no other key than its own: there is no way to write it.
    if engine.auto_increment_is_key {
        assert_eq!(scratch.server, Server::Sqlite);
        assert_eq!(scratch.refusal("CREATE TABLE t (a INT, n INTEGER AUTOINCREMENT)"), "1");
        assert_eq!(
            scratch.refusal("CREATE TABLE t (a INT, n INTEGER PRIMARY KEY AUTOINCREMENT, PRIMARY KEY (n, a))"),
            "1"
        );
        return;
    }
    for leading in [numbered(&["n", "a"], &[]), numbered(&["a"], &["n"]), numbered(&[], &["n", "a"])] {
        assert_taken(&leading, scratch);
    }
    for not_leading in [numbered(&["a", "n"], &[]), numbered(&["a"], &["a", "n"]), numbered(&["a"], &[])] {
        match engine.auto_increment_leads_key {
            true => assert_refused(&not_leading, rule, "1075", scratch),
            false => assert_taken(&not_leading, scratch),
        }
    }
}
on_servers!(auto_increment);

/// Numbers of deleted rows do not come back, and rows with numbers of their own can be inserted.
fn numbers(scratch: &mut Scratch) {
    let definition = json!({ "tableName": "t", "columns": [
        { "name": "n", "type": "BIGINT", "autoIncrement": true, "primaryKey": true }, column("a", "INT")] });
    let definitions =
        crate::readback::definitions::Definitions::parse(&definition.to_string(), scratch.server).without_errors();
    scratch.run(&definitions.schema_sql()).unwrap();
    scratch.run("INSERT INTO t (a) VALUES (10); INSERT INTO t (a) VALUES (20); DELETE FROM t WHERE a = 20").unwrap();
    scratch.run("INSERT INTO t (a) VALUES (30); INSERT INTO t (n, a) VALUES (100, 40)").unwrap();
    let row = |n: &str, a: &str| vec![Some(n.to_owned()), Some(a.to_owned())];
    assert_eq!(scratch.rows("SELECT n, a FROM t ORDER BY n"), [row("1", "10"), row("3", "30"), row("100", "40")]);
}
on_servers!(numbers);
