//! Every fact of [`Engine`](claimsmith::engine::Engine), shown on the engine that it is said of.
//!
//! Where a fact decides what `check` refuses, the test asks both: what `check` takes the engine must take, and what
//! `check` refuses the engine must refuse.

mod columns;
mod comments;
mod derived_names;
mod foreign_keys;
mod names;
mod numbering;
mod settings;
mod sizes;
mod statements;
mod workload;

use serde_json::{Value, json};

use crate::readback::definitions::Definitions;
use crate::servers::Scratch;

/// What became of a definition.
#[derive(Debug, PartialEq)]
struct Verdict {
    /// The rules with which `check` refuses it.
    rules: Vec<&'static str>,
    /// The error with which the engine refuses it.
    code: Option<String>,
}

/// Checks the tables and runs their `schema.sql` whatever `check` says, then drops the tables.
fn judge(tables: &Value, scratch: &mut Scratch) -> Verdict {
    let definitions = Definitions::parse(&tables.to_string(), scratch.server);
    let code = scratch.run(&definitions.schema_sql()).err().map(|refusal| refusal.code);
    for table in definitions.catalog.tables.iter().rev() {
        let name = scratch.server.dialect().ident(&table.name.name);
        // Some names cannot even be dropped, and nothing is there then.
        _ = scratch.run(&format!("DROP TABLE IF EXISTS {name}"));
    }
    Verdict { rules: definitions.errors(), code }
}

/// Panics unless both take the tables.
fn assert_taken(tables: &Value, scratch: &mut Scratch) {
    let verdict = judge(tables, scratch);
    assert_eq!(verdict, Verdict { rules: Vec::new(), code: None }, "{:?}: {tables}", scratch.server);
}

/// Panics unless both take all of these groups of tables, whose names differ. One run for all is faster than one for each.
fn assert_all_taken(groups: &[Value], scratch: &mut Scratch) {
    let tables = |group: &Value| group.as_array().cloned().unwrap_or_else(|| vec![group.clone()]);
    let all: Vec<Value> = groups.iter().flat_map(tables).collect();
    if judge(&json!(all), scratch) != (Verdict { rules: Vec::new(), code: None }) {
        groups.iter().for_each(|group| assert_taken(group, scratch));
        panic!("{:?} takes each of them but not all", scratch.server);
    }
}

/// Panics unless `check` refuses the tables with this rule alone, and the engine with this error.
fn assert_refused(tables: &Value, rule: &'static str, code: &str, scratch: &mut Scratch) {
    let verdict = judge(tables, scratch);
    assert_eq!(verdict, Verdict { rules: vec![rule], code: Some(code.to_owned()) }, "{:?}: {tables}", scratch.server);
}

/// A table with the primary key `id` and further columns.
fn table(name: &str, columns: &[Value]) -> Value {
    let id = json!({ "name": "id", "type": "BIGINT", "primaryKey": true });
    let columns = [&[id], columns].concat();
    json!({ "tableName": name, "columns": columns })
}

/// The table with one more key of its definition.
fn with(mut table: Value, key: &str, value: Value) -> Value {
    table[key] = value;
    table
}

fn column(name: &str, ty: &str) -> Value {
    json!({ "name": name, "type": ty })
}

fn nullable(name: &str, ty: &str) -> Value {
    json!({ "name": name, "type": ty, "nullable": true })
}
