//! Faults that only some engines have: found when such an engine is chosen, and only then.

use crate::loaded::{ALL, load};

const MYSQL: [&str; 1] = ["mysql"];
const MYSQLS: [&str; 2] = ["mysql", "mariadb"];

/// A table named `t` with its key, further columns, and further keys of the table.
fn table(columns: &str, extra: &str) -> String {
    format!(r#"{{"tableName":"t","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}}{columns}]{extra}}}"#)
}

fn column(name: &str, rest: &str) -> String {
    format!(r#",{{"name":"{name}",{rest}}}"#)
}

fn keys_of(count: usize) -> String {
    let columns: String = (0..count).map(|at| column(&format!("c{at}"), r#""type":"TINYINT""#)).collect();
    let names: Vec<String> = (0..count).map(|at| format!("\"c{at}\"")).collect();
    table(&columns, &format!(r#","indices":[{{"name":"i","columns":[{}]}}]"#, names.join(",")))
}

fn columns(count: usize) -> String {
    table(&(1..count).map(|at| column(&format!("c{at}"), r#""type":"TINYINT""#)).collect::<String>(), "")
}

/// The engines on which the rule fires, each asked for alone.
fn engines(text: &str, rule: &str) -> Vec<&'static str> {
    let fires = |engine: &&str| load(&[("t.json", text)], &[engine]).rules().contains(&rule);
    ALL.into_iter().filter(fires).collect()
}

/// Checks that the rule fires on these engines, and on all together if there is one.
#[track_caller]
fn assert_fires(text: &str, rule: &str, expected: &[&str]) {
    let shown: String = text.chars().take(400).collect();
    assert_eq!(engines(text, rule), expected, "{rule}: {shown}");
    assert_eq!(load(&[("t.json", text)], &ALL).rules().contains(&rule), !expected.is_empty(), "{rule}: {shown}");
}

#[test]
fn defaults() {
    let of = |rest: &str| table(&column("x", rest), "");
    let rule = "impossible-default";
    assert_fires(&of(r#""type":"DATETIME(3)","default":"CURRENT_TIMESTAMP""#), rule, &MYSQL);
    assert_fires(&of(r#""type":"DATETIME(3)","default":"CURRENT_TIMESTAMP(3)""#), rule, &[]);
    assert_fires(&of(r#""type":"TIMESTAMP","default":"CURRENT_TIMESTAMP(3)""#), rule, &ALL);
    for ty in ["TEXT", "JSON", "LONGTEXT"] {
        assert_fires(&of(&format!(r#""type":"{ty}","default":"'{{}}'""#)), rule, &MYSQL);
        assert_fires(&of(&format!(r#""type":"{ty}","default":"('{{}}')""#)), rule, &[]);
    }
}

#[test]
fn keys() {
    let rule = "key-too-long";
    let title = |length: u32| table(&column("x", &format!(r#""type":"VARCHAR({length})","unique":true"#)), "");
    assert_fires(&title(769), rule, &MYSQLS);
    assert_fires(&title(768), rule, &[]);
    assert_fires(&keys_of(16), rule, &[]);
    assert_fires(&keys_of(17), rule, &MYSQL);
    assert_fires(&keys_of(33), rule, &["mysql", "mariadb", "postgres"]);
    for ty in ["TEXT", "MEDIUMBLOB"] {
        let text = |rest: &str| table(&column("x", &format!(r#""type":"{ty}","unique":true{rest}"#)), "");
        assert_fires(&text(""), "unindexable-column", &MYSQLS);
        assert_fires(&text(r#","length":100"#), "unindexable-column", &[]);
        assert_fires(&text(r#","length":100"#), "engine-difference", &["postgres", "sqlite"]);
    }
}

#[test]
fn rows() {
    let rule = "row-too-large";
    let wide = |length: u32| table(&column("x", &format!(r#""type":"VARCHAR({length})""#)), "");
    assert_fires(&wide(16_383), rule, &MYSQLS);
    assert_fires(&wide(16_300), rule, &[]);
    assert_fires(&columns(1_017), rule, &[]);
    assert_fires(&columns(1_018), rule, &MYSQLS);
    assert_fires(&columns(1_601), rule, &["mysql", "mariadb", "postgres"]);
    assert_fires(&columns(2_001), rule, &ALL);
}

#[test]
fn numbered_columns() {
    let rule = "wrong-auto-increment";
    let seq = column("seq", r#""type":"BIGINT","autoIncrement":true"#);
    assert_fires(&table(&seq, ""), rule, &["mysql", "mariadb", "sqlite"]);
    assert_fires(&table(&seq, r#","indices":[{"columns":["seq"]}]"#), rule, &["sqlite"]);
    assert_fires(
        &table(&seq.replace(",\"auto", ",\"primaryKey\":true,\"auto"), ""),
        rule,
        &["mysql", "mariadb", "sqlite"],
    );
}

#[test]
fn foreign_keys() {
    let rule = "wrong-foreign-key";
    let owner = column("owner", r#""type":"BIGINT","default":"0""#);
    let key =
        |rest: &str| table(&owner, &format!(r#","foreignKeys":[{{"column":"owner","references":"t(id)"{rest}}}]"#));
    assert_fires(&key(""), rule, &[]);
    assert_fires(&key(r#","onDelete":"SET DEFAULT""#), rule, &MYSQLS);
    assert_fires(&key(r#","onDelete":"SET NULL""#), rule, &ALL);
    let elsewhere = table("", "").replace("\"t\"", "\"crm.users\"");
    let crossing = format!("[{elsewhere},{}]", key("").replace("t(id)", "crm.users(id)"));
    assert_fires(&crossing, rule, &["sqlite"]);
    assert_fires(&elsewhere, "engine-difference", &["sqlite"]);
}

#[test]
fn names() {
    let long = |length: usize| table(&column(&"n".repeat(length), r#""type":"INT""#), "");
    assert_fires(&long(63), "identifier-too-long", &[]);
    assert_fires(&long(64), "identifier-too-long", &["postgres"]);
    assert_fires(&long(65), "identifier-too-long", &["mysql", "mariadb", "postgres"]);
    let wide = table(&column(&"名".repeat(22), r#""type":"INT""#), "");
    assert_fires(&wide, "identifier-too-long", &["postgres"]);
    assert_fires(&table(&column("a😀", r#""type":"INT""#), ""), "unusable-name", &MYSQLS);
    let folding = ["mysql", "mariadb", "sqlite"];
    assert_fires(&table(&column("ID", r#""type":"INT""#), ""), "duplicate-name", &folding);
    let (t, upper) = (table("", ""), table("", "").replace("\"t\"", "\"T\""));
    assert_fires(&format!("[{t},{upper}]"), "duplicate-name", &folding);
    let index = |table_name: &str, index: &str| {
        table(&column("x", r#""type":"INT""#), &format!(r#","indices":[{{"name":"{index}","columns":["x"]}}]"#))
            .replace("\"t\"", &format!("\"{table_name}\""))
    };
    assert_fires(&format!("[{},{}]", index("a", "i"), index("b", "I")), "duplicate-name", &["postgres", "sqlite"]);
    assert_fires(&format!("[{},{}]", index("a", "i"), index("b", "a")), "duplicate-name", &["postgres", "sqlite"]);
}

/// The limit in the message is the one of the engine that is named beside it.
#[test]
fn limits_are_told_for_each_engine() {
    let text = table(&column(&"n".repeat(65), r#""type":"INT""#), "");
    let loaded = load(&[("t.json", &text)], &ALL);
    let message = &loaded.findings[0].message;
    assert!(message.contains("64 characters") && message.contains("63 bytes"), "{message}");
}

#[test]
fn comments_and_members() {
    let label = |length: usize| table(&column("x", &format!(r#""type":"INT","label":"{}""#, "é".repeat(length))), "");
    assert_fires(&label(1_025), "comment-too-long", &MYSQLS);
    assert_fires(&label(1_024), "comment-too-long", &[]);
    assert_fires(&table(&column("x", r#""type":"ENUM('a ')""#), ""), "wrong-value", &MYSQLS);
}

#[test]
fn differences() {
    let of = |ty: &str| table(&column("x", &format!(r#""type":"{ty}""#)), "");
    let rule = "engine-difference";
    assert_fires(&of("JSON"), rule, &["mariadb", "postgres"]);
    assert_fires(&of("BIGINT UNSIGNED"), rule, &["postgres", "sqlite"]);
    assert_fires(&of("DECIMAL(9,2)"), rule, &["sqlite"]);
    assert_fires(&of("DATETIME(6)"), rule, &["sqlite"]);
    assert_fires(&of("DATETIME(3)"), rule, &[]);
}

/// A table with two keys, one of which may have a name, and an index.
fn constraints(name: &str, key: &str, index: &str) -> String {
    let extra = format!(
        r#","foreignKeys":[{{"name":"{key}","column":"x","references":"{name}(id)"}}],"indices":[{{"name":"{index}","columns":["id","x"],"unique":true}}]"#
    );
    table(&column("x", r#""type":"BIGINT""#), &extra).replace("\"t\"", &format!("\"{name}\""))
}

/// Seen on MySQL 9.7 (error 1826) and MariaDB 10.11 (error 1005, errno 121): unique in the database, in any case.
#[test]
fn names_of_foreign_keys() {
    for other in ["fk", "FK"] {
        let text = format!("[{},{}]", constraints("a", "fk", "i"), constraints("b", other, "j"));
        assert_fires(&text, "duplicate-name", &MYSQLS);
    }
    let key = r#"{"name":"fk","column":"id","references":"t(id)"}"#;
    let twice = table("", &format!(r#","foreignKeys":[{key},{key}]"#));
    assert_fires(&twice, "duplicate-name", &["mysql", "mariadb", "postgres"]);
}

/// Seen on PostgreSQL 15 ("constraint … already exists"): one space of names for all constraints of a table. Seen on
/// MySQL 9.7 and MariaDB 10.11 (error 1061): the key makes an index of its name where none serves it.
#[test]
fn names_of_foreign_keys_and_indexes() {
    assert_fires(&constraints("a", "n", "n"), "duplicate-name", &["mysql", "mariadb", "postgres"]);
    assert_fires(&constraints("a", "a_pkey", "n"), "duplicate-name", &["postgres"]);
    assert_fires(&constraints("a", "PRIMARY", "n"), "unusable-name", &ALL);
}

/// Seen on MySQL 9.7 and MariaDB 10.11: error 1166.
#[test]
fn columns_that_innodb_keeps_for_itself() {
    for name in ["DB_ROW_ID", "db_trx_id", "DB_ROLL_PTR"] {
        assert_fires(&table(&column(name, r#""type":"INT""#), ""), "unusable-name", &MYSQLS);
    }
}

/// Seen on PostgreSQL 15: "conflicts with a system column name", "unacceptable schema name".
#[test]
fn names_that_postgres_keeps_for_itself() {
    for name in ["xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"] {
        assert_fires(&table(&column(name, r#""type":"INT""#), ""), "unusable-name", &["postgres"]);
    }
    assert_fires(&table("", "").replace("\"t\"", "\"pg_crm.users\""), "unusable-name", &["postgres"]);
}

/// Seen on SQLite 3.40: "object name reserved for internal use".
#[test]
fn names_that_sqlite_keeps_for_itself() {
    assert_fires(&table("", "").replace("\"t\"", "\"SQLite_users\""), "unusable-name", &["sqlite"]);
    let index = r#","indices":[{"name":"sqlite_users","columns":["id"]}]"#;
    assert_fires(&table("", index), "unusable-name", &["sqlite"]);
}

/// Seen on MySQL 9.7 and MariaDB 10.11: a name of 64 characters beyond ASCII makes a file name of over 255 bytes.
#[test]
fn table_names_that_make_no_file_name() {
    for name in ["名".repeat(64), "#".repeat(64)] {
        let text = table("", "").replace("\"t\"", &format!("\"{name}\""));
        let found = engines(&text, "identifier-too-long");
        assert!(found.starts_with(&MYSQLS), "{name}: {found:?}");
    }
}

/// Seen on MySQL 9.7 and MariaDB 10.11: error 1291, "duplicated value".
#[test]
fn members_that_a_collation_takes_for_the_same() {
    let of = |rest: &str| table(&column("x", rest), "");
    assert_fires(&of(r#""type":"ENUM('a', 'á')""#), "wrong-value", &MYSQLS);
    assert_fires(&of(r#""type":"ENUM('a', 'á')","collation":"binary""#), "wrong-value", &[]);
}

/// Seen on MySQL 9.7 and MariaDB 10.11: error 1067, "invalid default value".
#[test]
fn moments_after_2038() {
    let late = r#""type":"TIMESTAMP","default":"'2039-01-01 00:00:00'""#;
    let of = |rest: &str| table(&column("x", rest), "");
    assert_fires(&of(late), "impossible-default", &MYSQLS);
    assert_fires(&of(&late.replace("TIMESTAMP", "DATETIME")), "impossible-default", &[]);
}
