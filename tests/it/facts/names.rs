//! What names may be: how long, of which characters, and where they are told apart.

use claimsmith::engine::{Limit, NameScope};
use serde_json::{Value, json};

use super::{Verdict, assert_refused, assert_taken, column, judge, table, with};
use crate::servers::{Scratch, Server, on_servers};

/// A table with one name of each kind that a table can carry; `long` stands in one of them.
fn named(long: &str, kind: usize, server: Server) -> String {
    let names: Vec<String> = (0..6)
        .map(|at| server.dialect().ident(if at == kind { long } else { ["t", "c", "p", "u", "k", "f"][at] }))
        .collect();
    let [table, column, primary, unique, check, foreign] = names.try_into().unwrap();
    format!(
        "CREATE TABLE {table} ({column} INT NOT NULL, d INT, CONSTRAINT {primary} PRIMARY KEY ({column}),
            CONSTRAINT {unique} UNIQUE (d), CONSTRAINT {check} CHECK (d > 0),
            CONSTRAINT {foreign} FOREIGN KEY (d) REFERENCES {table} ({column}));
         DROP TABLE {table}"
    )
}

/// Table, column, and all constraints; that names at the limit are kept in full is shown by reading fixtures back.
fn limit(scratch: &mut Scratch) {
    let (server, engine) = (scratch.server, scratch.server.engine());
    let (exact, over) = match engine.identifier {
        Limit::Chars(most) => ("x".repeat(most), "x".repeat(most + 1)),
        Limit::Bytes(most) => ("x".repeat(most), "x".repeat(most + 1)),
        Limit::None => ("x".repeat(2_000), String::new()),
    };
    assert!(engine.identifier.allows(&exact));
    for kind in 0..6 {
        scratch.run(&named(&exact, kind, server)).unwrap();
        match (engine.identifier, kind) {
            (Limit::None, _) => {}
            // The primary key has one name there, whatever it is called.
            (Limit::Chars(_), 2) if scratch.server == Server::MariaDb => {}
            (Limit::Chars(_), _) => _ = scratch.refusal(&named(&over, kind, server)),
            (Limit::Bytes(most), _) => {
                // It is cut without an error: two long names may be one.
                scratch.run(&format!("CREATE TABLE \"{over}\" (a INT)")).unwrap();
                assert_eq!(scratch.value("SELECT max(length(relname)) FROM pg_class"), most.to_string());
                scratch.run(&format!("DROP TABLE \"{}\"", &over[..most])).unwrap();
            }
        }
    }
    if !over.is_empty() {
        assert!(!engine.identifier.allows(&over));
        let of_column = table("t", &[column(&over, "INT")]);
        for definition in [table(&over, &[]), of_column] {
            assert_eq!(judge(&definition, scratch).rules, ["identifier-too-long"]);
        }
    }
}
on_servers!(limit);

/// The limit of MySQL and MariaDB is in characters and that of PostgreSQL in bytes.
fn characters_or_bytes(scratch: &mut Scratch) {
    let count = match scratch.server.engine().identifier {
        Limit::Bytes(most) => most / 2,
        Limit::Chars(most) => most,
        Limit::None => 200,
    };
    let name = "ü".repeat(count);
    let tables = with(
        table(&name, &[column(&name, "INT")]),
        "indices",
        json!([{ "name": name.clone() + "x", "columns": [name] }]),
    );
    let fits = scratch.server.engine().identifier.allows(&(name.clone() + "x"));
    let tables = if fits { tables } else { table(&name, &[column(&name, "INT")]) };
    assert_taken(&tables, scratch);
}
on_servers!(characters_or_bytes);

/// A table is a file of MySQL and MariaDB: every character that is no letter of Latin, Greek, Cyrillic … takes five bytes
/// of its name, and file systems take 255.
fn table_names_are_file_names(scratch: &mut Scratch) {
    for name in ["名".repeat(50), "名".repeat(51), "名".repeat(64)] {
        let verdict = judge(&table(&name, &[]), scratch);
        assert_eq!(
            verdict.code.is_some(),
            !verdict.rules.is_empty(),
            "{} characters: {verdict:?}",
            name.chars().count()
        );
    }
}
on_servers!(table_names_are_file_names: mysql, mariadb);

fn supplementary(scratch: &mut Scratch) {
    let tables = [table("t", &[column("a😀", "INT")]), table("t😀", &[]), {
        with(table("t", &[column("a", "INT")]), "indices", json!([{ "name": "i😀", "columns": ["a"] }]))
    }];
    for tables in tables {
        match scratch.server.engine().supplementary_identifiers {
            true => assert_taken(&tables, scratch),
            false => {
                let verdict = judge(&tables, scratch);
                // MySQL puts a `?` into the name.
                let code = (scratch.server == Server::MariaDb).then(|| "1300".to_owned());
                assert_eq!(verdict, Verdict { rules: vec!["unusable-name"], code }, "{tables}");
            }
        }
    }
}
on_servers!(supplementary);

fn folds_columns(scratch: &mut Scratch) {
    let mut pairs = vec![("name", "NAME"), ("Ab", "aB")];
    pairs.extend(Some(("i", "İ")).filter(|_| scratch.server.is_mysql_like()));
    for (a, b) in pairs {
        let tables = table("t", &[column(a, "INT"), column(b, "INT")]);
        let code = if scratch.server == Server::Sqlite { "1" } else { "1060" };
        match scratch.server.engine().folds_columns {
            true => assert_refused(&tables, "duplicate-name", code, scratch),
            false => assert_taken(&tables, scratch),
        }
    }
}
on_servers!(folds_columns);

fn folds_tables(scratch: &mut Scratch) {
    scratch.run("CREATE TABLE T_A (a INT)").unwrap();
    let folds = match scratch.server {
        // There the server's setting says so, and 0 only where the file system tells the two apart.
        Server::MySql | Server::MariaDb => scratch.value("SELECT @@lower_case_table_names") != "0",
        Server::Postgres => false,
        Server::Sqlite => true,
    };
    let second = scratch.server.dialect().ident(if scratch.server == Server::Postgres { "T_A" } else { "t_a" });
    assert_eq!(scratch.run(&format!("CREATE TABLE {second} (a INT)")).is_err(), folds);
    assert_eq!(scratch.server.engine().folds_tables, scratch.server != Server::Postgres);
    let both = json!([table("x", &[]), table("X", &[])]);
    let rules = judge(&both, scratch).rules;
    assert_eq!(rules, if scratch.server.engine().folds_tables { vec!["duplicate-name"] } else { Vec::new() });
}
on_servers!(folds_tables);

fn index_names(scratch: &mut Scratch) {
    let indexed = |name: &str, index: &str| {
        with(table(name, &[column("a", "INT")]), "indices", json!([{ "name": index, "columns": ["a"] }]))
    };
    let in_two_tables = json!([indexed("t", "i"), indexed("u", "i")]);
    let like_a_table = json!([indexed("t", "u"), table("u", &[])]);
    scratch.run("CREATE TABLE a (x INT); CREATE TABLE b (x INT); CREATE INDEX i ON a (x)").unwrap();
    let (again, named_like_table) = ("CREATE INDEX i ON b (x)", "CREATE INDEX b ON a (x)");
    match scratch.server.engine().index_names {
        NameScope::Table => {
            scratch.run(again).unwrap();
            scratch.run(named_like_table).unwrap();
            [in_two_tables, like_a_table].iter().for_each(|tables| assert_taken(tables, scratch));
        }
        NameScope::Schema => {
            scratch.refusal(again);
            scratch.refusal(named_like_table);
            // And with IF NOT EXISTS, which the generated script says, nothing happens: hence the rule.
            scratch.run("CREATE INDEX IF NOT EXISTS i ON b (x)").unwrap();
            for tables in [in_two_tables, like_a_table] {
                assert_eq!(judge(&tables, scratch).rules, ["duplicate-name"]);
            }
        }
    }
    let twice = |a: &str, b: &str| -> Value {
        let indices = json!([{ "name": a, "columns": ["x"] }, { "name": b, "columns": ["y"] }]);
        with(table("t", &[column("x", "INT"), column("y", "INT")]), "indices", indices)
    };
    for (a, b) in [("i_x", "i_x"), ("i_x", "I_X")] {
        assert_eq!(judge(&twice(a, b), scratch).rules, ["duplicate-name"]);
        if scratch.server.is_mysql_like() {
            assert_refused(&twice(a, b), "duplicate-name", "1061", scratch);
        }
    }
}
on_servers!(index_names);

/// A table that references itself by a key of this name, and has an index.
fn keyed(name: &str, key: &str, index: &str, indexed: &str) -> Value {
    let keys = json!([{ "name": key, "column": "y", "references": format!("{name}(id)") }]);
    let tables = with(table(name, &[column("x", "BIGINT"), column("y", "BIGINT")]), "foreignKeys", keys);
    with(tables, "indices", json!([{ "name": index, "columns": [indexed] }]))
}

fn foreign_key_names(scratch: &mut Scratch) {
    let scope = scratch.server.engine().foreign_key_names;
    let code = match scratch.server {
        Server::MySql => "1826",
        Server::MariaDb => "1005",
        _ => "42710",
    };
    for second in ["fk", "FK"] {
        let two = json!([keyed("t", "fk", "i", "x"), keyed("u", second, "j", "x")]);
        match scope {
            Some(NameScope::Schema) => assert_refused(&two, "duplicate-name", code, scratch),
            _ => assert_taken(&two, scratch),
        }
    }
    let keys = json!([
        { "name": "fk", "column": "x", "references": "t(id)" },
        { "name": "fk", "column": "y", "references": "t(id)" }
    ]);
    // There the index that the second key makes is refused first.
    let code = if scratch.server.is_mysql_like() { "1061" } else { code };
    let twice = with(table("t", &[column("x", "BIGINT"), column("y", "BIGINT")]), "foreignKeys", keys);
    match scope {
        Some(_) => assert_refused(&twice, "duplicate-name", code, scratch),
        None => assert_taken(&twice, scratch),
    }
}
on_servers!(foreign_key_names);

fn foreign_key_makes_index(scratch: &mut Scratch) {
    match scratch.server.engine().foreign_key_makes_index {
        true => assert_refused(&keyed("t", "n", "N", "x"), "duplicate-name", "1061", scratch),
        false => assert_taken(&keyed("t", "n", "N", "x"), scratch),
    }
    // That index serves the key, and no other is made.
    assert_taken(&keyed("t", "n", "n", "y"), scratch);
}
on_servers!(foreign_key_makes_index);

/// A derived name makes way for a declared one.
fn declared_names_come_first(scratch: &mut Scratch) {
    for (key, index) in [("ck_t_x", "uq_t_x"), ("uq_t_x", "fk_t_x"), ("fk_t_x", "ck_t_y"), ("f", "t_pkey")] {
        let keys = json!([
            { "column": "x", "references": "t(id)" },
            { "name": key, "column": "y", "references": "t(id)" }
        ]);
        let x = json!({ "name": "x", "type": "BIGINT UNSIGNED", "unique": true });
        let id = json!({ "name": "id", "type": "BIGINT UNSIGNED", "primaryKey": true });
        let tables = json!({ "tableName": "t", "columns": [id, x, column("y", "BIGINT UNSIGNED")] });
        let tables = with(with(tables, "foreignKeys", keys), "indices", json!([{ "name": index, "columns": ["y"] }]));
        assert_taken(&tables, scratch);
    }
}
on_servers!(declared_names_come_first);

/// Names that an engine keeps for itself.
fn reserved_names(scratch: &mut Scratch) {
    let columns: &[&str] = match scratch.server {
        Server::MySql | Server::MariaDb => &["DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR", "FTS_DOC_ID"],
        Server::Postgres => &["xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"],
        Server::Sqlite => &[],
    };
    let mut definitions: Vec<Value> = columns.iter().map(|name| table("t", &[column(name, "INT")])).collect();
    if scratch.server == Server::Postgres {
        definitions.push(table("pg_claimsmith.t", &[]));
    }
    if scratch.server == Server::Sqlite {
        definitions.push(table("sqlite_t", &[]));
        definitions.push(with(
            table("t", &[column("a", "INT")]),
            "indices",
            json!([{ "name": "sqlite_i", "columns": ["a"] }]),
        ));
    }
    for tables in definitions {
        let verdict = judge(&tables, scratch);
        assert_eq!(verdict.code.is_some(), !verdict.rules.is_empty(), "{verdict:?}: {tables}");
    }
}
on_servers!(reserved_names);
