//! Definitions whose code is compiled and formatted: ours, those of a real system, and hostile ones.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::hostile::definition::definitions;
use crate::loaded::{ALL, Loaded, load, load_text, repository};
use crate::project::skipped;
use crate::readback::definitions::real;

/// How many hostile definitions, of three tables each.
const HOSTILE: usize = 16;

/// Every definition, with a name that a module can have.
pub fn subjects(test: &str) -> Vec<(String, Loaded)> {
    let mut subjects = vec![
        ("shipped".to_owned(), folder("schemas", &ALL)),
        ("shipped_mariadb".to_owned(), folder("schemas", &["mariadb"])),
        ("every_value_sqlite".to_owned(), folder("tests/cases/rust", &["sqlite"])),
        ("every_value".to_owned(), folder("tests/cases/rust", &ALL)),
        ("every_type".to_owned(), file("tests/cases/schemas/every_type.json")),
        ("events".to_owned(), file("tests/cases/events/odd.json")),
        ("buses".to_owned(), load_text(&super::relays::buses())),
        ("names".to_owned(), load_text(&names())),
        ("cases".to_owned(), load(&[("cases.json", &cases())], &["postgres"])),
    ];
    for name in ["hostile", "collisions", "keys", "emoji", "comments"] {
        subjects.push((format!("fixture_{name}"), file(&format!("tests/cases/schemas/{name}.json"))));
    }
    match real() {
        Ok(path) => subjects.push(("real".to_owned(), load(&[("real.json", &read(&path))], &ALL))),
        Err(reason) => skipped(&format!("{test} on a real system: {reason}")),
    }
    subjects.extend(hostile());
    for (name, loaded) in &subjects {
        assert!(!loaded.has_errors(), "{name}: {}", loaded.report());
    }
    subjects
}

fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn file(path: &str) -> Loaded {
    load_text(&read(&repository(path)))
}

fn folder(path: &str, dialects: &[&str]) -> Loaded {
    let files = std::fs::read_dir(repository(path)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    let files: Vec<(String, String)> =
        files.iter().map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), read(path))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    load(&files, dialects)
}

/// The same hostile definitions in every run: of those that no engine takes there is no code.
fn hostile() -> Vec<(String, Loaded)> {
    let mut runner = TestRunner::new_with_rng(
        proptest::test_runner::Config::default(),
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let mut found = Vec::new();
    for _ in 0..20 * HOSTILE {
        let definition = definitions().new_tree(&mut runner).unwrap().current();
        let loaded = load_text(&definition.json().to_string());
        if !loaded.has_errors() {
            found.push((format!("hostile_{}", found.len()), loaded));
        }
        if found.len() == HOSTILE {
            return found;
        }
    }
    panic!("only {} of the hostile definitions are without errors", found.len());
}

/// Names that mean something in Rust, and lists of every length around the width at which rustfmt breaks them.
fn names() -> String {
    let words = [
        "Row",
        "Self",
        "Status",
        "String",
        "Option",
        "Vec",
        "Result",
        "Some",
        "None",
        "Ok",
        "Err",
        "types",
        "tables",
        "mod",
        "crate",
        "super",
        "sqlx",
        "serde",
        "std",
        "core",
        "chrono",
        "column",
        "index",
        "constraint",
        "get",
        "INSERT",
        "TABLE",
        "COLUMNS",
        "con",
        "r#type",
        "_",
        "__",
        "1",
        "async",
        "gen",
        "union",
        "mysql",
        "客户",
        "données",
        "ünïcödé",
        "データ",
        "İ",
        "ß",
        "__sys_gen_id",
        "_System_AI_Conversation",
        "a.b",
    ];
    let column = |name: &&str| json!({ "name": name, "type": "ENUM('x', 'a b', '1', '', '客户', 'Self')" });
    let mut tables: Vec<Value> = words.iter().map(|word| table(word, vec![column(word)])).collect();
    tables.push(table("all", words.iter().map(column).collect()));
    for length in (1..14).chain([20, 30, 40]) {
        let name = |at: usize| format!("{}{at}", "x".repeat(1 + length / 8));
        let columns = (0..length).map(|at| json!({ "name": name(at), "type": "INT" })).collect();
        tables.push(table(&format!("t_{}", "x".repeat(length)), columns));
    }
    Value::Array(tables).to_string()
}

/// Columns that differ by case only, for the engines on which they are different ones.
fn cases() -> String {
    let columns = ["Name", "name", "NAME", "name_2"].map(|name| json!({ "name": name, "type": "VARCHAR(20)" }));
    Value::Array(vec![table("cases", columns.to_vec())]).to_string()
}

fn table(name: &str, columns: Vec<Value>) -> Value {
    let key = json!({ "name": "id", "type": "BIGINT", "primaryKey": true });
    let columns: Vec<Value> = [key].into_iter().chain(columns).collect();
    json!({ "tableName": name, "description": "- [x] 1. *y* `z` <b>", "columns": columns })
}
