//! All faults come out in one run, in one order, each of them once.

use crate::loaded::{ALL, load, load_text};
use crate::project::{Project, assert_none};

#[test]
fn faults_of_several_files_come_in_one_order() {
    let a = ("a.json", r#"{"tableName":"a","colour":1,"columns":[{"name":"id","type":"INTT","primaryKey":true}]}"#);
    let b = ("b.json", "[1,]");
    let c = ("c.json", "[{\"tableName\":\"c\",\"columns\":[]},\n{\"tableName\":\"d\",\"columns\":[],\"owner\":1}]");
    let report = load(&[a, b, c], &ALL).report();
    for files in [[c, b, a], [b, a, c]] {
        assert_eq!(load(&files, &ALL).report(), report);
    }
    let project = Project::new(&[a, b, c]);
    let first = project.run(&["generate", "--concise", "a.json", "b.json", "c.json"]).assert(1);
    let second = project.run(&["generate", "--concise", "c.json", "a.json", "b.json"]).assert(1);
    assert_eq!(first.stderr, second.stderr);
    let lines: Vec<&str> = first.stderr.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        lines,
        ["a.json:1:18", "a.json:1:60", "b.json:1:3", "c.json:1:29", "c.json:2:28", "c.json:2:39", "6 errors"]
    );
}

/// Faults of text, of types, of names, of engines and of the workload in one table: none hides another.
#[test]
fn faults_of_all_kinds_come_out_together() {
    let loaded = load_text(
        r#"{
  "tableName": "t", "colour": 1,
  "columns": [
    { "name": "id", "type": "BIGINT", "primaryKey": true, "nullable": true },
    { "name": "a", "type": "FOO" },
    { "name": "b" },
    { "name": "c", "type": "DATETIME(3)", "default": "CURRENT_TIMESTAMP" },
    { "name": "c", "type": "INT", "nullable": "yes" }
  ],
  "indices": [{ "columns": ["d"] }, { "columns": ["a"], "uniqe": true }],
  "foreignKeys": [{ "column": "id", "references": "x(id)" }],
  "claim": { "status": { "column": "stat", "pending": "a", "done": "a" }, "scop": [] }
}"#,
    );
    let mut ids = loaded.rules();
    ids.sort_unstable();
    ids.dedup();
    for expected in [
        "duplicate-name",
        "impossible-default",
        "missing-column",
        "missing-key",
        "missing-table",
        "queue-without-scope",
        "unknown-key",
        "unknown-type",
        "wrong-primary-key",
        "wrong-value",
    ] {
        assert!(ids.contains(&expected), "no {expected} in {ids:?}");
    }
}

#[test]
fn every_missing_key_of_an_object_is_named() {
    let messages = |text: &str| -> Vec<String> {
        let loaded = load_text(text);
        loaded.findings.iter().filter(|f| f.rule.id == "missing-key").map(|f| f.message.clone()).collect()
    };
    let table = |extra: &str| {
        format!(r#"{{"tableName":"t","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}}]{extra}}}"#)
    };
    let mut faults = Vec::new();
    for (text, keys) in [
        ("{}".to_owned(), vec!["tableName", "columns"]),
        (r#"{"tableName":"t","columns":[{}]}"#.to_owned(), vec!["name", "type"]),
        (table(r#","foreignKeys":[{}]"#), vec!["column", "references"]),
        (table(r#","claim":{"status":{}}"#), vec!["column", "pending", "done"]),
        (table(r#","claim":{"status":{"column":"id","pending":"a","done":"b"},"lease":{}}"#), vec!["until", "for"]),
        (table(r#","retention":{}"#), vec!["age", "keep", "strategy"]),
        (table(r#","publish":{}"#), vec!["broker", "topic"]),
        (table(r#","inbox":{}"#), vec!["consumer", "message"]),
    ] {
        let messages = messages(&text);
        let named = |key: &&str| messages.iter().any(|message| message.contains(&format!("`{key}`")));
        if !keys.iter().all(named) {
            faults.push(format!("not all of {keys:?} in {messages:?} of {text}"));
        }
    }
    assert_none(faults);
}

#[test]
fn the_parts_of_an_object_that_lacks_a_key_are_checked_all_the_same() {
    for start in ["", r#""tableName":5,"#] {
        let loaded = load_text(&format!(r#"{{{start}"columns":[{{"name":"a","type":"FOO"}}]}}"#));
        assert!(loaded.rules().contains(&"unknown-type"), "{}", loaded.report());
    }
    let loaded = load_text(
        r#"{"tableName":"t","columns":[{"name":"id","type":"BIGINT","primaryKey":true}],
            "claim":{"scope":["nope"],"lease":{"until":"nope","for":"30s"}}}"#,
    );
    assert_eq!(loaded.rules(), ["missing-key", "missing-column"], "{}", loaded.report());
}

/// One fault is one finding: nothing that only follows from it is said.
#[test]
fn a_fault_is_not_reported_a_second_time_by_what_follows_from_it() {
    let table = |columns: &str, extra: &str| {
        format!(r#"{{"tableName":"t","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}}{columns}]{extra}}}"#)
    };
    let queue = r#","claim":{"global":true,"order":"id","visibility":"30s","status":{"column":"s","pending":"a","done":"b","dead":"c"},
                    "retry":{"at":"id","count":"n"}}"#;
    let state = r#",{"name":"s","type":"VARCHAR(9)"},{"name":"n","type":"INT"}"#;
    let mut faults = Vec::new();
    for (text, rule) in [
        (table("", r#","indices":[{"columns":["id",5]}]"#), "wrong-value"),
        (table("", r#","retention":{"states":["a",1],"age":"id","keep":"1d","strategy":"delete"}"#), "wrong-value"),
        (table(r#",{"name":5,"type":"INT"}"#, ""), "wrong-value"),
        (
            table(state, &format!(r#"{queue},"retention":{{"states":["b"],"age":"id","keep":"1d","strategy":"x"}}"#)),
            "wrong-value",
        ),
        (table(r#",{"name":"x","type":"FOO"}"#, r#","indices":[{"columns":["x"]}]"#), "unknown-type"),
        (
            r#"{"tableName":"t","columns":[{"name":"id","type":"BIGINT"}],"primaryKey":["idd"]}"#.to_owned(),
            "missing-column",
        ),
        (r#"{"tableName":"t","columns":[{"name":"id","type":"FOO","primaryKey":true}]}"#.to_owned(), "unknown-type"),
        (
            r#"[{"tableName":"t","columns":[{"name":"id","type":"FOO","primaryKey":true}]},
             {"tableName":"u","columns":[{"name":"id","type":"BIGINT","primaryKey":true}],
              "foreignKeys":[{"column":"id","references":"t(id)"}]}]"#
                .to_owned(),
            "unknown-type",
        ),
    ] {
        let loaded = load_text(&text);
        let faulty = loaded.findings.iter().filter(|finding| finding.level > claimsmith::diagnostic::Level::Note);
        let ids: Vec<&str> = faulty.map(|finding| finding.rule.id).collect();
        if ids != [rule] {
            faults.push(format!("{text}\n{}", loaded.report()));
        }
    }
    assert_none(faults);
}
