//! What a foreign key may join, and what it does.

use claimsmith::schema::Action;
use serde_json::json;

use super::{assert_all_taken, assert_taken, column, nullable, table, with};
use crate::readback::definitions::Definitions;
use crate::readback::prove;
use crate::servers::{Scratch, Server, on_servers};

fn set_default(scratch: &mut Scratch) {
    let key = |action: &str| json!([{ "column": "p", "references": "parent(id)", "onDelete": action }]);
    let child = with(
        table("child", &[json!({ "name": "p", "type": "BIGINT", "default": "1" })]),
        "foreignKeys",
        key("SET DEFAULT"),
    );
    let definitions = Definitions::parse(&json!([table("parent", &[]), child]).to_string(), scratch.server);
    let can = scratch.server.engine().set_default;
    assert_eq!(definitions.errors(), if can { Vec::new() } else { vec!["wrong-foreign-key"] });
    scratch.run(&definitions.schema_sql()).unwrap();
    scratch.run("INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (7, 2)").unwrap();
    match can {
        true => {
            scratch.run("DELETE FROM parent WHERE id = 2").unwrap();
            assert_eq!(scratch.value("SELECT p FROM child"), "1");
        }
        // MySQL keeps the words and MariaDB drops them, but neither does it.
        false => assert_eq!(scratch.refusal("DELETE FROM parent WHERE id = 2"), "1451"),
    }
}
on_servers!(set_default);

/// Every action does what it says, on both events.
fn actions(scratch: &mut Scratch) {
    for action in Action::ALL.into_iter().filter(|action| *action != Action::SetDefault) {
        let key = json!([{ "column": "p", "references": "parent(code)", "onDelete": action.sql(), "onUpdate": action.sql() }]);
        let parent = table("parent", &[json!({ "name": "code", "type": "VARCHAR(9)", "unique": true })]);
        let child = with(table("child", &[nullable("p", "VARCHAR(9)")]), "foreignKeys", key);
        let definitions = Definitions::parse(&json!([parent, child]).to_string(), scratch.server).without_errors();
        scratch.run(&definitions.schema_sql()).unwrap();
        scratch
            .run("INSERT INTO parent VALUES (1, 'a'), (2, 'b'); INSERT INTO child VALUES (1, 'a'), (2, 'b')")
            .unwrap();
        let update = scratch.run("UPDATE parent SET code = 'c' WHERE code = 'a'");
        let delete = scratch.run("DELETE FROM parent WHERE code = 'b'");
        let rows = scratch.rows("SELECT p FROM child ORDER BY id");
        let text = |text: &str| vec![Some(text.to_owned())];
        let (done, expected) = match action {
            Action::Cascade => (true, vec![text("c")]),
            Action::SetNull => (true, vec![vec![None], vec![None]]),
            _ => (false, vec![text("a"), text("b")]),
        };
        assert_eq!((update.is_ok(), delete.is_ok(), rows), (done, done, expected), "{action:?}");
        scratch.run("DROP TABLE child; DROP TABLE parent").unwrap();
    }
}
on_servers!(actions);

const TYPES: [&str; 36] = [
    "BOOLEAN",
    "TINYINT",
    "TINYINT UNSIGNED",
    "SMALLINT",
    "SMALLINT UNSIGNED",
    "MEDIUMINT",
    "INT",
    "INT UNSIGNED",
    "BIGINT",
    "BIGINT UNSIGNED",
    "DECIMAL(10,2)",
    "DECIMAL(10,2) UNSIGNED",
    "FLOAT",
    "DOUBLE",
    "CHAR(3)",
    "CHAR(36)",
    "VARCHAR(3)",
    "VARCHAR(36)",
    "VARCHAR(100)",
    "TEXT",
    "BINARY(3)",
    "BINARY(16)",
    "VARBINARY(16)",
    "VARBINARY(64)",
    "BLOB",
    "DATE",
    "TIME",
    "TIME(3)",
    "DATETIME",
    "DATETIME(3)",
    "TIMESTAMP",
    "TIMESTAMP(3)",
    "ENUM('a', 'b')",
    "ENUM('a', 'b', 'c')",
    "JSON",
    "BIGINT(20)",
];

/// What `check` takes as the two ends of a foreign key, the engine takes.
fn types(scratch: &mut Scratch) {
    let mut taken = Vec::new();
    for parent_type in TYPES {
        for child_type in TYPES {
            let (parent, child) = (format!("parent{}", taken.len()), format!("child{}", taken.len()));
            let key = json!([{ "column": "y", "references": format!("{parent}(x)") }]);
            let parent = table(&parent, &[json!({ "name": "x", "type": parent_type, "unique": true })]);
            let pair = json!([parent, with(table(&child, &[column("y", child_type)]), "foreignKeys", key)]);
            if Definitions::parse(&pair.to_string(), scratch.server).errors().is_empty() {
                taken.push(pair);
            }
        }
    }
    assert!(taken.len() > TYPES.len());
    assert_all_taken(&taken, scratch);
}
on_servers!(types);

/// A number of the database is referenced by a column of the type that the definition gives to both.
fn types_of_numbered_columns(scratch: &mut Scratch) {
    for ty in ["TINYINT UNSIGNED", "INT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED"] {
        let id = json!({ "name": "id", "type": ty, "primaryKey": true, "autoIncrement": true });
        let parent = json!({ "tableName": "parent", "columns": [id] });
        let key = json!([{ "column": "y", "references": "parent(id)" }]);
        assert_taken(&json!([parent, with(table("child", &[column("y", ty)]), "foreignKeys", key)]), scratch);
    }
}
on_servers!(types_of_numbered_columns);

/// Tables in databases (schemas) that the script makes, with a foreign key within one and, where that can be, across two.
fn databases(scratch: &mut Scratch) {
    let engine = scratch.server.engine();
    let (first, second) = (scratch.beside("first"), scratch.beside("second"));
    let parent = table(&format!("{first}.parent"), &[column("a", "VARCHAR(9)")]);
    let parent = with(parent, "indices", json!([{ "name": "i", "columns": ["a"], "description": "An index." }]));
    let parent = with(parent, "description", json!("In another database."));
    let child = |database: &str| {
        let key = json!([{ "column": "p", "references": format!("{first}.parent(id)"), "onDelete": "CASCADE" }]);
        with(table(&format!("{database}.child"), &[column("p", "BIGINT")]), "foreignKeys", key)
    };
    let crossing = json!([parent, child(&second), table("here", &[])]);
    let definitions = Definitions::parse(&crossing.to_string(), scratch.server);
    if engine.foreign_keys_cross_databases {
        prove(&definitions.without_errors(), scratch);
    } else {
        // Run all the same, the key would be to a table of its own database.
        assert_eq!(definitions.errors(), ["wrong-foreign-key"]);
    }
    assert_eq!(engine.databases, scratch.server != Server::Sqlite);
}
on_servers!(databases);

/// A foreign key within a database that is named.
fn in_one_database(scratch: &mut Scratch) {
    let first = scratch.beside("first");
    let parent = table(&format!("{first}.parent"), &[]);
    let key = json!([{ "column": "p", "references": format!("{first}.parent(id)") }]);
    let child = with(table(&format!("{first}.child"), &[column("p", "BIGINT")]), "foreignKeys", key);
    prove(&Definitions::parse(&json!([parent, child]).to_string(), scratch.server).without_errors(), scratch);
}
on_servers!(in_one_database);
