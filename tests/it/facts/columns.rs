//! Facts about single columns: long ones in keys, defaults, members of an ENUM.

use serde_json::json;

use super::{Verdict, assert_refused, assert_taken, column, judge, table, with};
use crate::readback::definitions::Definitions;
use crate::servers::{Scratch, Server, on_servers};

fn text_key_needs_length(scratch: &mut Scratch) {
    let needs = scratch.server.engine().text_key_needs_length;
    for ty in ["TINYTEXT", "TEXT", "LONGTEXT", "BLOB", "MEDIUMBLOB"] {
        let indexed = |length: Option<u32>| {
            let column = json!({ "name": "x", "type": ty, "length": length });
            with(table("t", &[column]), "indices", json!([{ "columns": ["x"] }]))
        };
        assert_taken(&indexed(Some(20)), scratch);
        match scratch.server {
            // It takes as many bytes as a key can have, and so loses the order.
            Server::MariaDb => {
                assert_eq!(judge(&indexed(None), scratch), Verdict { rules: vec!["unindexable-column"], code: None });
                assert_eq!(scratch.refusal(&format!("CREATE TABLE t (x {ty} PRIMARY KEY)")), "1170");
            }
            _ if needs => assert_refused(&indexed(None), "unindexable-column", "1170", scratch),
            _ => assert_taken(&indexed(None), scratch),
        }
    }
}
on_servers!(text_key_needs_length);

fn literal_text_default(scratch: &mut Scratch) {
    let plain = scratch.server.engine().literal_text_default;
    for (ty, text) in [("TEXT", "''"), ("JSON", "'{}'")] {
        let create = format!("CREATE TABLE t (x {ty} DEFAULT {text})");
        match plain {
            true => scratch.run(&create).and_then(|()| scratch.run("DROP TABLE t")).unwrap(),
            false => assert_eq!(scratch.refusal(&create), "1101"),
        }
    }
    for (ty, text) in [("TINYTEXT", "'x'"), ("TEXT", "''"), ("LONGTEXT", "'x'"), ("JSON", "'{}'")] {
        let tables = |text: &str| table("t", &[json!({ "name": "x", "type": ty, "default": text })]);
        assert_taken(&tables(&format!("({text})")), scratch);
        match plain {
            true => assert_taken(&tables(text), scratch),
            false => assert_eq!(judge(&tables(text), scratch).rules, ["impossible-default"]),
        }
    }
}
on_servers!(literal_text_default);

fn now_needs_precision(scratch: &mut Scratch) {
    for ty in ["DATETIME", "TIMESTAMP"] {
        let tables = |digits: u8, now: &str| {
            table("t", &[json!({ "name": "x", "type": format!("{ty}({digits})"), "default": now })])
        };
        for digits in [1, 3, 6] {
            assert_taken(&tables(digits, &format!("CURRENT_TIMESTAMP({digits})")), scratch);
            for fewer in ["CURRENT_TIMESTAMP", "NOW()"] {
                match scratch.server.engine().now_needs_precision {
                    true => assert_refused(&tables(digits, fewer), "impossible-default", "1067", scratch),
                    false => assert_taken(&tables(digits, fewer), scratch),
                }
            }
        }
        assert_taken(&tables(0, "CURRENT_TIMESTAMP"), scratch);
    }
}
on_servers!(now_needs_precision);

fn enum_trims(scratch: &mut Scratch) {
    let tables = table("t", &[column("x", "ENUM('a ', 'b')")]);
    let definitions = Definitions::parse(&tables.to_string(), scratch.server);
    scratch.run(&definitions.schema_sql()).unwrap();
    let insert = |id: u32, text: &str| format!("INSERT INTO t (id, x) VALUES ({id}, '{text}')");
    scratch.run(&insert(1, "a ")).unwrap();
    let kept = scratch.value("SELECT concat('[', x, ']') FROM t");
    if scratch.server.engine().enum_trims {
        assert_eq!(definitions.errors(), ["wrong-value"]);
        assert_eq!(kept, "[a]");
        scratch.run(&insert(2, "a")).unwrap();
    } else {
        assert!(definitions.errors().is_empty());
        assert_eq!(kept, "[a ]");
        scratch.refusal(&insert(2, "a"));
    }
}
on_servers!(enum_trims);

fn enum_folds_accents(scratch: &mut Scratch) {
    let of = |members: &str| json!({ "name": "x", "type": format!("ENUM({members})") });
    for members in ["'a', 'á'", "'ß', 'ss'", "'Ø', 'o'", "'e\u{301}', 'e'"] {
        match scratch.server.engine().enum_folds_accents {
            true => assert_refused(&table("t", &[of(members)]), "wrong-value", "1291", scratch),
            false => assert_taken(&table("t", &[of(members)]), scratch),
        }
        assert_taken(&table("t", &[with(of(members), "collation", json!("binary"))]), scratch);
    }
}
on_servers!(enum_folds_accents);

/// What the server takes for the same, `check` does too, and nothing else.
fn latin_letters(scratch: &mut Scratch) {
    let letters = ('\u{C0}'..='\u{24F}').chain('\u{1E00}'..='\u{1EFF}').filter(|c| c.is_alphabetic());
    let letters: Vec<String> = letters.map(String::from).collect();
    let single = ('a'..='z').map(String::from);
    let plain: Vec<String> = single.chain(["ae", "dz", "ij", "lj", "nj", "oe", "ss"].map(str::to_owned)).collect();
    let tables = json!(["plain", "letters"].map(|name| table(name, &[column("x", "VARCHAR(9)")])));
    let definitions = Definitions::parse(&tables.to_string(), scratch.server);
    scratch.run(&definitions.schema_sql()).unwrap();
    for (name, texts) in [("plain", &plain), ("letters", &letters)] {
        let rows: Vec<String> = texts.iter().enumerate().map(|(id, text)| format!("({id}, '{text}')")).collect();
        scratch.run(&format!("INSERT INTO {name} VALUES {}", rows.join(", "))).unwrap();
    }
    let rows = scratch.rows("SELECT l.x, p.x FROM letters l LEFT JOIN plain p ON p.x = l.x ORDER BY l.id");
    assert_eq!(rows.len(), letters.len());
    let mut faults = Vec::new();
    for row in rows {
        let letter = row[0].clone().unwrap();
        let others = row[1].clone().unwrap_or_else(|| plain.join("', '"));
        let tables = table("t", &[column("x", &format!("ENUM('{others}', '{letter}')"))]);
        let refused = !Definitions::parse(&tables.to_string(), scratch.server).errors().is_empty();
        if refused != row[1].is_some() {
            faults.push(row);
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
}
on_servers!(latin_letters: mysql, mariadb);

/// `NOT NULL` holds for every column, the primary key included.
fn an_integer_key_is_not_null(scratch: &mut Scratch) {
    for ty in ["BIGINT", "INT", "TINYINT UNSIGNED"] {
        let tables = json!({ "tableName": "t", "columns": [{ "name": "id", "type": ty, "primaryKey": true }] });
        let definitions = Definitions::parse(&tables.to_string(), scratch.server).without_errors();
        scratch.run(&definitions.schema_sql()).unwrap();
        scratch.refusal("INSERT INTO t (id) VALUES (NULL)");
        scratch.run("DROP TABLE t").unwrap();
    }
}
on_servers!(an_integer_key_is_not_null: mysql, mariadb, postgres);

/// SQLite takes NULL for the next number where a column is `INTEGER PRIMARY KEY`.
fn an_integer_key_is_not_null_on_sqlite(scratch: &mut Scratch) {
    an_integer_key_is_not_null(scratch);
}
on_servers!(an_integer_key_is_not_null_on_sqlite: sqlite);

/// A default that `check` takes can be created.
fn defaults_at_the_ends_of_their_types(scratch: &mut Scratch) {
    for (ty, default) in [
        ("TINYINT", "-128"),
        ("TINYINT UNSIGNED", "255"),
        ("INT", "+7"),
        ("INT", "007"),
        ("BIGINT", "-9223372036854775808"),
        ("BIGINT UNSIGNED", "9223372036854775807"),
        ("DECIMAL(5,2)", "-999.99"),
        ("DECIMAL(65,30)", "0.000000000000000000000000000001"),
        ("FLOAT", "0.1"),
        ("DOUBLE", "-1.5"),
        ("DOUBLE", "12345678901234567890"),
        ("BOOLEAN", "FALSE"),
        ("DATE", "'0001-01-01'"),
        ("DATE", "'9999-12-31'"),
        ("DATETIME", "'0001-01-01 00:00:00'"),
        ("DATETIME(6)", "'9999-12-31 23:59:59.999999'"),
        ("TIMESTAMP", "'2038-01-18 00:00:00'"),
        ("TIME", "'23:59:59'"),
        ("CHAR(1)", "''"),
        ("ENUM('', 'a')", "''"),
    ] {
        assert_taken(&table("t", &[json!({ "name": "x", "type": ty, "default": default })]), scratch);
    }
}
on_servers!(defaults_at_the_ends_of_their_types);

/// A TIMESTAMP of MySQL and MariaDB ends in January 2038, and its literals are in the zone of the session.
fn timestamp_defaults_out_of_range(scratch: &mut Scratch) {
    scratch.run("SET time_zone = '+08:00'").unwrap();
    for late in ["2038-01-20 00:00:00", "1970-01-01 00:00:01"] {
        let tables = table("t", &[json!({ "name": "x", "type": "TIMESTAMP", "default": format!("'{late}'") })]);
        assert_refused(&tables, "impossible-default", "1067", scratch);
    }
}
on_servers!(timestamp_defaults_out_of_range: mysql, mariadb);

/// A key holds no more of a column than the column does, and not nothing.
fn key_lengths(scratch: &mut Scratch) {
    for (ty, length) in [("TEXT", 0), ("TINYTEXT", 64), ("TINYBLOB", 256)] {
        let column = json!({ "name": "x", "type": ty, "length": length });
        let verdict = judge(&with(table("t", &[column]), "indices", json!([{ "columns": ["x"] }])), scratch);
        assert_eq!(verdict.rules, ["unindexable-column"], "{ty}({length})");
        // MariaDB takes more than the column holds.
        let refused = length == 0 || scratch.server == Server::MySql;
        assert_eq!(verdict.code.is_some(), refused, "{ty}({length}): {verdict:?}");
    }
}
on_servers!(key_lengths: mysql, mariadb);

/// SQLite has no integers over 9,223,372,036,854,775,807.
fn a_default_over_the_largest_integer(scratch: &mut Scratch) {
    let most = u64::MAX.to_string();
    let tables = table("t", &[json!({ "name": "x", "type": "BIGINT UNSIGNED", "default": most })]);
    let definitions = Definitions::parse(&tables.to_string(), scratch.server);
    if definitions.errors().is_empty() {
        scratch.run(&definitions.schema_sql()).unwrap();
        scratch.run("INSERT INTO t (id) VALUES (1)").unwrap();
        assert_eq!(scratch.value("SELECT x FROM t"), most);
    }
}
on_servers!(a_default_over_the_largest_integer: mysql, mariadb, postgres);

fn a_default_over_the_largest_integer_of_sqlite(scratch: &mut Scratch) {
    a_default_over_the_largest_integer(scratch);
}
on_servers!(a_default_over_the_largest_integer_of_sqlite: sqlite);
