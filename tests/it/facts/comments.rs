//! Where comments are kept, and how much of them.

use claimsmith::diagnostic::Level;
use claimsmith::engine::Comments;

use crate::readback::definitions::{Definitions, fixture};
use crate::servers::{Scratch, Server, on_servers};

/// Limits are in characters, not in bytes.
fn limits(scratch: &mut Scratch) {
    let engine = scratch.server.engine();
    let statement = |table: usize, column: usize, index: usize| {
        let text = |length| format!("'{}'", "ü".repeat(length));
        match engine.comments {
            Comments::Inline { .. } => format!(
                "CREATE TABLE t (a INT COMMENT {}, KEY i (a) COMMENT {}) COMMENT={}; DROP TABLE t",
                text(column),
                text(index),
                text(table)
            ),
            _ => format!(
                "CREATE TABLE t (a INT); CREATE INDEX i ON t (a); COMMENT ON TABLE t IS {}; COMMENT ON COLUMN t.a IS {};
                 COMMENT ON INDEX i IS {}; DROP TABLE t",
                text(table),
                text(column),
                text(index)
            ),
        }
    };
    match engine.comments {
        Comments::Inline { table, column } => {
            scratch.run(&statement(table, column, column)).unwrap();
            assert_eq!(scratch.refusal(&statement(table + 1, column, column)), "1628");
            assert_eq!(scratch.refusal(&statement(table, column + 1, column)), "1629");
            assert_eq!(scratch.refusal(&statement(table, column, column + 1)), "1688");
        }
        Comments::Statement => scratch.run(&statement(50_000, 50_000, 50_000)).unwrap(),
        // That they are kept is shown by reading them back.
        Comments::Text => assert_ne!(scratch.refusal("CREATE TABLE t (a INT) COMMENT 'x'"), ""),
    }
}
on_servers!(limits);

/// A comment over the limit is said, where there is one.
fn long_comments_are_said(scratch: &mut Scratch) {
    let definitions = Definitions::read(&fixture("long_comments.json"), scratch.server).without_errors();
    let cut = matches!(scratch.server.engine().comments, Comments::Inline { .. });
    assert_eq!(definitions.ids(Level::Warning), if cut { vec!["comment-too-long"] } else { Vec::new() });
    let of_rule = definitions.findings.iter().filter(|finding| finding.rule.id == "comment-too-long");
    assert_eq!(of_rule.count(), if cut { 5 } else { 0 });
}
on_servers!(long_comments_are_said);

/// MySQL and MariaDB keep comments without characters beyond U+FFFF: a `?` stands there.
fn supplementary_characters_are_said(scratch: &mut Scratch) {
    scratch.run("CREATE TABLE t (a INT) COMMENT='a😀b'").unwrap();
    let kept = "SELECT CAST(TABLE_COMMENT AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()";
    assert_eq!(scratch.value(kept), "a?b");
    let definitions = Definitions::read(&fixture("emoji.json"), scratch.server).without_errors();
    assert!(!definitions.ids(Level::Warning).is_empty(), "nothing says that comments lose characters");
}
on_servers!(supplementary_characters_are_said: mysql, mariadb);

/// They are lost in comments only: members and defaults hold every character.
fn supplementary_characters_in_values(scratch: &mut Scratch) {
    let text = r#"{ "tableName": "t", "columns": [
        { "name": "id", "type": "BIGINT", "primaryKey": true },
        { "name": "a", "type": "ENUM('😀', '🎉')", "default": "'🎉'" },
        { "name": "b", "type": "VARCHAR(3)", "default": "'a😀b'" },
        { "name": "c", "type": "TEXT", "default": "('a😀b')" },
        { "name": "d", "type": "JSON", "default": "('[\"😀\"]')" } ] }"#;
    let definitions = Definitions::parse(text, scratch.server).without_errors();
    scratch.run(&definitions.schema_sql()).unwrap();
    if scratch.server.is_mysql_like() {
        scratch.run("FLUSH TABLES t").unwrap();
    }
    scratch.run("INSERT INTO t (id) VALUES (1); INSERT INTO t (id, a) VALUES (2, '😀')").unwrap();
    let rows = scratch.rows("SELECT a, b, c, d FROM t ORDER BY id");
    let row = |member: &str| [member, "a😀b", "a😀b", "[\"😀\"]"].map(|text| Some(text.to_owned())).to_vec();
    assert_eq!(rows, [row("🎉"), row("😀")]);
    if scratch.server != Server::Postgres {
        scratch.refusal("INSERT INTO t (id, a) VALUES (3, '?')");
    }
}
on_servers!(supplementary_characters_in_values);
