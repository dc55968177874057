//! `go/tables.go` and `go/events.go` compile, `go vet` and `gofmt` have nothing to say, and a program that uses them reads
//! and writes what the other languages do.
//!
//! Go is what is called `go` and `gofmt`, or what `CLAIMSMITH_TEST_GO` and `CLAIMSMITH_TEST_GOFMT` name; without it the
//! tests are skipped.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use claimsmith::generate::{self, Options, targets};
use claimsmith::schema::Catalog;
use claimsmith::template::Templates;
use proptest::strategy::{Strategy, ValueTree};

use crate::hostile::{definition, runner};
use crate::loaded::{self, repository};
use crate::project::skipped;
use crate::readback;

/// How many random catalogues there are.
const BATCH: usize = 100;

fn program(name: &str) -> String {
    env::var(format!("CLAIMSMITH_TEST_{}", name.to_uppercase())).unwrap_or_else(|_| name.to_owned())
}

/// Whether there is a Go; without it the test is skipped or, where nothing may be, fails.
fn has_go(test: &str) -> bool {
    let runs = |name: &str, argument: &str| {
        let quiet = |command: &mut Command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        };
        quiet(Command::new(program(name)).arg(argument))
    };
    let found = runs("go", "version") && runs("gofmt", "-l");
    if !found {
        let notice = format!("go::{test}: no go with its gofmt");
        assert!(env::var("CLAIMSMITH_REQUIRE_SERVERS").as_deref() != Ok("1"), "{notice}");
        skipped(&notice);
    }
    found
}

/// Runs a program in the folder and returns what it printed; fails if it does.
#[track_caller]
fn run(folder: &Path, name: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program(name));
    // Nothing from outside, and nothing that is not in the folder.
    command.env("GOFLAGS", "-mod=mod").env("GOPROXY", "off").env("GO111MODULE", "on").env("CGO_ENABLED", "0");
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{name} {arguments:?}\n{text}");
    text
}

/// Writes the package of a catalog.
fn write(folder: &Path, catalog: &Catalog) {
    let options = Options {
        dialects: Vec::new(),
        targets: vec![targets::find("go").unwrap()],
        rust: Default::default(),
        source: "s",
    };
    fs::create_dir_all(folder).unwrap();
    for file in generate::run(catalog, &options, &Templates::new(None).unwrap()).unwrap() {
        let name = file.path.strip_prefix("go/").unwrap();
        fs::write(folder.join(name), &file.content).unwrap();
    }
}

/// A module whose packages are in folders of their own.
fn module() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // The oldest release whose language the code keeps to.
    fs::write(folder.path().join("go.mod"), "module example\n\ngo 1.13\n").unwrap();
    folder
}

fn check(module: &Path) {
    assert_eq!(run(module, "gofmt", &["-l", "."]), "", "gofmt would change these");
    run(module, "go", &["vet", "./..."]);
}

#[test]
fn another_service_reads_and_writes_rows_and_events() {
    if !has_go("another_service_reads_and_writes_rows_and_events") {
        return;
    }
    let module = module();
    let package = module.path().join("tables");
    write(&package, &loaded::catalog(&repository("schemas")));
    fs::copy(repository("tests/cases/go/tables_test.go"), package.join("tables_test.go")).unwrap();
    check(module.path());
    run(module.path(), "go", &["test", "./..."]);
}

#[test]
fn odd_names_and_texts_compile() {
    if !has_go("odd_names_and_texts_compile") {
        return;
    }
    let module = module();
    for (at, path) in [
        "tests/cases/events/odd.json",
        "tests/cases/typescript/odd.json",
        "tests/cases/schemas/every_type.json",
        "tests/cases/schemas/emoji.json",
    ]
    .iter()
    .enumerate()
    {
        write(&module.path().join(format!("odd{at}")), &loaded::catalog(&repository(path)));
    }
    write(&module.path().join("empty"), &Catalog::default());
    match readback::definitions::real() {
        Ok(path) => write(&module.path().join("real"), &loaded::catalog(&path)),
        Err(reason) => skipped(&format!("go::odd_names_and_texts_compile, a real system: {reason}")),
    }
    check(module.path());
}

/// The definitions of the tests of hostile SQL: each fragment at all places at once, and random ones.
#[test]
fn hostile_names_and_texts_compile() {
    if !has_go("hostile_names_and_texts_compile") {
        return;
    }
    let mut runner = runner();
    let random = (0..BATCH).map(|_| definition::definitions().new_tree(&mut runner).unwrap().current());
    let fragments = definition::FRAGMENTS.map(|fragment| definition::Definition::with(|_| true, fragment));
    let module = module();
    let mut packages = 0;
    for hostile in random.chain(fragments) {
        let loaded = loaded::load_text(&hostile.json().to_string());
        if !loaded.has_errors() {
            write(&module.path().join(format!("hostile{packages}")), &loaded.catalog);
            packages += 1;
        }
    }
    assert!(packages > BATCH / 2, "only {packages} catalogues");
    check(module.path());
}
