//! The generated code compiles against sqlx for each engine, without a warning, and its names are exactly those of the
//! definitions, whatever they are.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use claimsmith::generate::model::{self, Form};
use claimsmith::generate::targets::rust::names::Idents;
use claimsmith::schema::{ColumnType, Table};
use claimsmith::statement::query::queries;
use serde_json::{Value, json};
use toml::Table as Toml;

use crate::loaded::{Loaded, repository};

use super::subjects::subjects;

/// A package of the generated code, with the dependencies of this one: so cargo takes what is built already.
fn manifest() -> String {
    let ours: Toml = std::fs::read_to_string(repository("Cargo.toml")).unwrap().parse().unwrap();
    let mut all = Toml::new();
    for kind in ["dependencies", "dev-dependencies"] {
        for (name, wanted) in ours[kind].as_table().unwrap() {
            let mut wanted = match wanted {
                toml::Value::Table(table) => table.clone(),
                version => Toml::from_iter([("version".to_owned(), version.clone())]),
            };
            wanted.remove("optional");
            let before = all.get(name).and_then(|before| before.get("features")?.as_array().cloned());
            let features = wanted.get("features").and_then(|features| features.as_array().cloned());
            let features: Vec<_> = before.into_iter().chain(features).flatten().collect();
            if !features.is_empty() {
                wanted.insert("features".to_owned(), features.into());
            }
            all.insert(name.clone(), wanted.into());
        }
    }
    let package = "[package]\nname = \"generated-code\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    let profile = Toml::from_iter([("dev".to_owned(), ours["profile"]["dev"].clone())]);
    let rest = Toml::from_iter([("dependencies".to_owned(), all.into()), ("profile".to_owned(), profile.into())]);
    format!("{package}{}", toml::to_string(&rest).unwrap())
}

/// A row of the table as JSON.
fn sample(table: &Table, origin: &Table) -> Value {
    let choices = model::choices(origin);
    let value = |(at, column): (usize, &claimsmith::schema::Column)| {
        let choice = choices.iter().find(|choice| choice.column == at);
        let value = match (choice, model::form(origin, column), &column.ty) {
            (Some(choice), _, _) => json!(choice.values.last()),
            (_, Form::Boolean, _) => json!(true),
            (_, Form::Number, ColumnType::Float | ColumnType::Double) => json!(1.5),
            (_, Form::Number, _) => json!(1),
            (_, Form::BigInt, _) => json!("9007199254740993"),
            (_, Form::Decimal, _) => json!("1.50"),
            (_, Form::Text, _) => json!("text"),
            (_, Form::Hex, _) => json!("00ff"),
            (_, Form::Date, _) => json!("2026-01-31"),
            (_, Form::Time, _) => json!("23:59:59"),
            (_, Form::Utc, ColumnType::DateTime(0) | ColumnType::Timestamp(0)) => json!("2026-01-31T23:59:59Z"),
            (_, Form::Utc, ColumnType::DateTime(1..=3) | ColumnType::Timestamp(1..=3)) => {
                json!("2026-01-31T23:59:59.100Z")
            }
            (_, Form::Utc, _) => json!("2026-01-31T23:59:59.100000Z"),
            (_, Form::Json, _) => json!({ "a": [1, null] }),
        };
        (column.name.clone(), if column.nullable && at % 2 == 0 { Value::Null } else { value })
    };
    table.columns.iter().enumerate().map(value).collect::<serde_json::Map<_, _>>().into()
}

/// What one table's module must say.
fn expected(table: &Table, origin: &Table) -> Value {
    json!({
        "table": table.name.name,
        "columns": table.columns.iter().map(|column| &column.name).collect::<Vec<_>>(),
        "row": sample(table, origin),
    })
}

/// The library, which holds the code of every subject, and the program, which prints what the modules say and what they
/// make of the samples that they are given.
/// Behind these, what they say of the statements of each database.
fn write_package(subjects: &[(String, Loaded)], folder: &Path) -> (Vec<Value>, Vec<Value>) {
    let mut library = "//! Generated code.\n#![deny(warnings, missing_docs)]\n".to_owned();
    // Names in two scripts are the definition's own.
    library += "#![allow(mixed_script_confusables, confusable_idents, uncommon_codepoints)]\n";
    let mut program = PROGRAM.to_owned();
    let (mut all, mut statements, mut say_statements) = (Vec::new(), Vec::new(), String::new());
    for (name, loaded) in subjects {
        write(&folder.join(format!("src/{name}.rs")), &loaded.rust_bundle());
        _ = writeln!(library, "/// One subject.\npub mod {name} {{\n    include!(\"{name}.rs\");\n}}");
        let mut idents = Idents::default();
        for table in &loaded.catalog.tables {
            _ = writeln!(program, "    say!(samples, generated_code::{name}::tables::{});", idents.module(table));
            all.push(expected(table, model::origin(&loaded.catalog, table)));
        }
        let mut idents = Idents::default();
        let modules: Vec<String> = loaded.catalog.tables.iter().map(|table| idents.module(table)).collect();
        for dialect in &loaded.dialects {
            for of_table in queries(&loaded.catalog, *dialect) {
                let module = format!("generated_code::{name}::{}::{}", dialect.engine().id, modules[of_table.table]);
                let mut idents = Idents::default();
                let constants: Vec<String> =
                    of_table.queries.iter().map(|query| idents.constant(&query.name, "statement")).collect();
                let constants: Vec<String> =
                    constants.iter().map(|constant| format!("{module}::query::{constant}")).collect();
                _ = writeln!(say_statements, "    println!(\"{{}}\", serde_json::json!([{}]));", constants.join(", "));
                statements.push(of_table.queries.iter().map(|query| &*query.sql).collect());
            }
        }
    }
    write(&folder.join("Cargo.toml"), &manifest());
    write(&folder.join("src/lib.rs"), &library);
    write(&folder.join("src/main.rs"), &(program + &say_statements + "}\n"));
    (all, statements)
}

const PROGRAM: &str = r#"//! Prints one line a table.
macro_rules! say {
    ($samples:ident, $($module:tt)*) => {{
        use $($module)*::{COLUMNS, Row, TABLE};
        let sample: serde_json::Value = $samples.next().unwrap();
        let row: Row = serde_json::from_value(sample["row"].clone()).unwrap_or_else(|error| panic!("{TABLE}: {error}"));
        println!("{}", serde_json::json!({ "table": TABLE, "columns": &COLUMNS[..], "row": row }));
    }};
}

fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let samples: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut samples = samples.into_iter();
"#;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    // A file that is the same keeps its time, so that cargo does not compile it again.
    if std::fs::read_to_string(path).ok().as_deref() != Some(text) {
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn it_compiles_and_says_what_the_definitions_say() {
    let subjects = subjects("compiled Rust");
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = tmp.join("generated-code");
    let (samples, statements) = write_package(&subjects, &folder);
    assert!(statements.len() > 4 * 8, "only {} tables with statements", statements.len());
    write(&folder.join("samples.json"), &serde_json::to_string(&samples).unwrap());
    let expected = [samples, statements].concat();
    let lock = std::fs::read_to_string(repository("Cargo.lock")).unwrap();
    if !folder.join("Cargo.lock").exists() {
        write(&folder.join("Cargo.lock"), &lock);
    }
    let output = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet", "--", "samples.json"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", tmp.parent().unwrap())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", errors.chars().take(8_000).collect::<String>());
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.lines().count(), expected.len());
    for (said, expected) in said.lines().zip(expected) {
        assert_eq!(serde_json::from_str::<Value>(said).unwrap(), expected);
    }
}
