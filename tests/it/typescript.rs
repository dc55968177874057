//! `typescript/schema.ts` and `typescript/events.ts` type-check, their right uses do and their wrong ones do not, at run time
//! the former holds what the definitions say, and Prettier has nothing to change.
//!
//! TypeScript is where `CLAIMSMITH_TEST_TSC` says, Prettier where `CLAIMSMITH_TEST_PRETTIER` says; without the one the tests
//! are skipped, without the other only the look at the format.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use claimsmith::generate::model::{self, Form};
use claimsmith::generate::{self, Options, targets};
use claimsmith::schema::{Catalog, Column, Table};
use claimsmith::template::Templates;
use proptest::strategy::{Strategy, ValueTree};
use serde_json::{Map, Value, json};

use crate::hostile::{definition, runner};
use crate::loaded::{self, catalog, repository};
use crate::project::skipped;
use crate::readback;

const TSC: &str = "CLAIMSMITH_TEST_TSC";
const PRETTIER: &str = "CLAIMSMITH_TEST_PRETTIER";

/// As strict as a project can be: the file goes into other people's.
const STRICT: [&str; 11] = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noImplicitReturns",
    "--noPropertyAccessFromIndexSignature",
    "--noUncheckedIndexedAccess",
    "--noUnusedLocals",
    "--noUnusedParameters",
    "--isolatedModules",
    "--verbatimModuleSyntax",
    "--erasableSyntaxOnly",
    "--forceConsistentCasingInFileNames",
];

/// How many random catalogues there are.
const BATCH: usize = 150;

/// The program that a variable names; without it the test is skipped or, where nothing may be, fails.
fn program(variable: &str, test: &str) -> Option<PathBuf> {
    let path = env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        let notice = format!("typescript::{test}: no {variable}");
        assert!(env::var("CLAIMSMITH_REQUIRE_SERVERS").as_deref() != Ok("1"), "{notice}");
        skipped(&notice);
    }
    path
}

/// Runs a program and returns what it printed; fails if it does.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{}\n{text}", command.get_program().display());
    text
}

/// A folder of TypeScript files, each of one catalog and beside what it must hold as JSON.
struct Folder {
    folder: tempfile::TempDir,
    modules: Vec<PathBuf>,
    /// Files of events.
    events: Vec<PathBuf>,
}

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("package.json"), r#"{ "type": "module" }"#).unwrap();
        Folder { folder, modules: Vec::new(), events: Vec::new() }
    }

    fn add(&mut self, name: &str, catalog: &Catalog) {
        let options = Options {
            dialects: Vec::new(),
            targets: vec![targets::find("typescript").unwrap()],
            rust: Default::default(),
            source: "s",
        };
        let files = generate::run(catalog, &options, &Templates::new(None).unwrap()).unwrap();
        let path = self.folder.path().join(name);
        let (events, schema): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.path == "typescript/events.ts");
        assert_eq!(schema.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["typescript/schema.ts"]);
        fs::write(path.with_extension("ts"), &schema[0].content).unwrap();
        if let Some(events) = events.first() {
            let path = self.folder.path().join(format!("{name}_events.ts"));
            fs::write(&path, &events.content).unwrap();
            self.events.push(path);
        }
        let expected: Vec<Value> = catalog.tables.iter().map(|table| self::table(catalog, table)).collect();
        fs::write(path.with_extension("json"), json!(expected).to_string()).unwrap();
        self.modules.push(path);
    }

    /// A file of the test cases beside the others.
    fn case(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::copy(repository("tests/cases/typescript").join(name), &path).unwrap();
        path
    }

    /// All generated files.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.modules.iter().map(|path| path.with_extension("ts")).chain(self.events.iter().cloned())
    }

    /// Type-checks all files and `more`, and compares what they hold at run time.
    fn check(&self, tsc: &Path, more: &[&str]) {
        let files = self.files().chain(more.iter().map(|name| self.case(name)));
        let emit = ["--target", "es2022", "--module", "nodenext", "--pretty", "false"];
        // Nothing from the machine: no types of packages that lie in a folder above.
        run(Command::new(tsc)
            .args(STRICT)
            .args(emit)
            .args(["--types", ""])
            .args(files)
            .current_dir(self.folder.path()));
        let modules = self.modules.iter().map(|path| path.with_extension("js"));
        run(Command::new("node").arg(self.case("compare.js")).args(modules));
    }

    /// Fails where Prettier would format a file otherwise.
    fn check_format(&self, test: &str) {
        let Some(prettier) = env::var_os(PRETTIER) else {
            return skipped(&format!("typescript::{test}, the format: no {PRETTIER}"));
        };
        let files = self.files();
        run(Command::new(prettier).args(["--no-config", "--no-editorconfig", "--check"]).args(files));
    }
}

/// What `tables` must hold of a table, its columns as a list.
fn table(catalog: &Catalog, table: &Table) -> Value {
    let names = |positions: &[usize]| json!(table.names(positions).collect::<Vec<_>>());
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let scope = table.claim.as_ref().map(|claim| claim.scope.clone()).unwrap_or_default();
    let origin = model::origin(catalog, table);
    let events: Vec<&str> = model::event_types(table).collect();
    object([
        ("name", json!(table.name.to_string())),
        ("tableType", json!(table.table_type)),
        ("category", json!(table.category)),
        ("description", json!(table.description)),
        ("owner", json!(table.owner)),
        ("archiveOf", json!(table.archive_of.as_ref().map(ToString::to_string))),
        ("columnNames", names(&all)),
        ("primaryKey", names(&table.primary_key)),
        ("scope", json!(scope)),
        ("eventTypes", json!(Some(events).filter(|events| !events.is_empty()))),
        ("columns", table.columns.iter().enumerate().map(|(at, column)| self::column(origin, at, column)).collect()),
    ])
}

fn column(table: &Table, at: usize, column: &Column) -> Value {
    let choice = model::choices(table).into_iter().find(|choice| choice.column == at);
    let form = match model::form(table, column) {
        Form::Number if table.holds_epoch_ms(column) => "epochMillis".to_owned(),
        Form::Text => "string".to_owned(),
        form => format!("{form:?}").to_lowercase(),
    };
    let flag = |is: bool| json!(is.then_some(true));
    object([
        ("name", json!(column.name)),
        ("type", json!(form)),
        ("nullable", json!(column.nullable)),
        ("label", json!(column.label)),
        ("description", json!(column.description)),
        ("logicalType", json!(column.logical_type)),
        ("referenceTo", json!(Some(&column.reference_to).filter(|tables| !tables.is_empty()))),
        ("isNameField", flag(column.is_name_field)),
        ("isSystem", flag(column.is_system)),
        ("values", json!(choice.map(|choice| choice.values))),
    ])
}

/// An object without the properties that are null.
fn object<const N: usize>(properties: [(&str, Value); N]) -> Value {
    let given = properties.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

/// Type-checks one file with what it imports.
pub fn check_example(path: &Path) {
    let Some(tsc) = program(TSC, "check_example") else { return };
    let emit = ["--noEmit", "--target", "es2022", "--module", "esnext", "--pretty", "false", "--types", ""];
    run(Command::new(tsc).args(STRICT).args(emit).arg(path));
}

#[test]
fn right_uses_type_check_and_wrong_ones_do_not() {
    let test = "right_uses_type_check_and_wrong_ones_do_not";
    let Some(tsc) = program(TSC, test) else { return };
    let mut folder = Folder::new();
    folder.add("schema", &catalog(&repository("schemas")));
    folder.check(&tsc, &["usage.ts", "wrong.ts", "events_usage.ts", "events_wrong.ts"]);
    run(Command::new("node").arg(folder.folder.path().join("events_usage.js")));
    folder.check_format(test);
}

#[test]
fn a_real_system_type_checks() {
    let test = "a_real_system_type_checks";
    let Some(tsc) = program(TSC, test) else { return };
    let path = match readback::definitions::real() {
        Ok(path) => path,
        Err(reason) => return skipped(&format!("typescript::{test}: {reason}")),
    };
    let mut folder = Folder::new();
    folder.add("schema", &catalog(&path));
    folder.check(&tsc, &[]);
    folder.check_format(test);
}

#[test]
fn odd_names_and_texts_survive() {
    let test = "odd_names_and_texts_survive";
    let Some(tsc) = program(TSC, test) else { return };
    let mut folder = Folder::new();
    folder.add("odd", &catalog(&repository("tests/cases/typescript/odd.json")));
    folder.add("events", &catalog(&repository("tests/cases/events/odd.json")));
    folder.add("every_type", &catalog(&repository("tests/cases/schemas/every_type.json")));
    folder.add("empty", &Catalog::default());
    folder.check(&tsc, &[]);
    folder.check_format(test);
}

/// The definitions of the tests of hostile SQL: each fragment at all places at once, and random ones.
#[test]
fn hostile_names_and_texts_survive() {
    let Some(tsc) = program(TSC, "hostile_names_and_texts_survive") else { return };
    let mut runner = runner();
    let random = (0..BATCH).map(|_| definition::definitions().new_tree(&mut runner).unwrap().current());
    let fragments = definition::FRAGMENTS.map(|fragment| definition::Definition::with(|_| true, fragment));
    let mut folder = Folder::new();
    for (at, hostile) in random.chain(fragments).enumerate() {
        let loaded = loaded::load_text(&hostile.json().to_string());
        if !loaded.has_errors() {
            folder.add(&format!("hostile{at}"), &loaded.catalog);
        }
    }
    assert!(folder.modules.len() > BATCH / 2, "only {} catalogues", folder.modules.len());
    folder.check(&tsc, &[]);
}
