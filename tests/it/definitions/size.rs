//! Large definitions: the time grows with the size, and not with its square.

use std::time::{Duration, Instant};

use crate::project::{Project, Run};

fn run(text: impl AsRef<[u8]>) -> Run {
    let project = Project::default();
    project.write("t.json", text);
    let start = Instant::now();
    let run = project.run(&["generate", "--check", "--dialect", "sqlite,mysql", "t.json"]);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    run
}

fn table(columns: &str, extra: &str) -> String {
    format!(r#"{{"tableName":"t","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}}{columns}]{extra}}}"#)
}

fn many(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(|at| format!(",\n{}", part(at))).collect()
}

#[test]
fn blanks() {
    run(" ".repeat(20_000_000)).assert(1).says(&["t.json:1:1", "the file is empty"]);
}

#[test]
fn unknown_keys() {
    run(table("", &many(50_000, |at| format!(r#""k{at}":1"#)))).assert(1).says(&["t.json:2:1", "unknown key `k0`"]);
}

#[test]
fn duplicate_keys() {
    run(table("", &many(50_000, |_| r#""owner":"x""#.to_owned()))).assert(1).says(&["t.json:3:1", "occurs twice"]);
}

#[test]
fn columns() {
    let columns = many(100_000, |at| format!(r#"{{"name":"c{at}","type":"INT"}}"#));
    run(table(&columns, "")).assert(1).says(&["t.json:1:14", "100001 columns"]);
}

#[test]
fn columns_with_a_fault_each() {
    let columns = many(20_000, |at| format!(r#"{{"name":"c{at}","type":"FOO"}}"#));
    run(table(&columns, "")).assert(1).says(&["t.json:2:", "unknown type `FOO`"]);
}

#[test]
fn columns_of_an_index() {
    let columns = many(100_000, |_| "\"id\"".to_owned());
    run(table("", &format!(r#","indices":[{{"columns":["id"{columns}]}}]"#))).assert(1).says(&["t.json:1:"]);
}

#[test]
fn members_of_an_enum() {
    let members: Vec<String> = (0..50_000).map(|at| format!("'m{at}'")).collect();
    let column = format!(r#",{{"name":"e","type":"ENUM({})"}}"#, members.join(","));
    run(table(&column, "")).assert(1);
}

#[test]
fn names_in_a_role() {
    let names = many(20_000, |at| format!("\"x{at}\""));
    let claim = format!(r#","claim":{{"scope":["id"{names}],"status":{{"column":"id","pending":"a","done":"b"}}}}"#);
    run(table("", &claim)).assert(1).says(&["t.json:2:1", "missing-column"]);
}

#[test]
fn tables_that_reference_what_there_is_not() {
    let tables = many(2_000, |at| {
        format!(
            r#"{{"tableName":"t{at}","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}}],"foreignKeys":[{{"column":"id","references":"x{at}(id)"}}]}}"#
        )
    });
    run(format!("[{}]", &tables[1..])).assert(1).says(&["t.json:2:", "missing-table"]);
}

#[test]
fn exceptions() {
    let allow = many(20_000, |at| format!(r#""x{at}":"r""#));
    run(table("", &format!(r#","allow":{{"y":"r"{allow}}}"#))).says(&["t.json:2:1", "unusable-allow"]);
}
