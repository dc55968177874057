//! Times the linter's steps one by one: cutting a script into statements, parsing them, finding SQL in a program of each
//! language, and the rules: `cargo bench --bench lint`.
//!
//! The inputs are the cases of the tests, many times over: claims and traps of every kind, in every language.

use std::fs;
use std::path::{Path, PathBuf};

use claimsmith::dialect;
use claimsmith::lint::{self, Options, files};
use claimsmith::schema::{Catalog, load};
use claimsmith::sql::split::Piece;
use claimsmith::sql::{self, Tokens, host, mybatis, split, token};
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// How many times over a case is taken.
const TIMES: usize = 20;

fn cases(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/lint").join(folder)
}

/// All cases with this ending, one behind the other.
fn text(folder: &str, extension: &str) -> String {
    let entries = fs::read_dir(cases(folder)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let wanted = paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == extension));
    wanted.filter_map(|path| fs::read_to_string(path).ok()).collect()
}

fn script() -> String {
    text("sql", "sql").repeat(TIMES)
}

fn catalog() -> Catalog {
    load::load(&load::read(&[cases("schemas")], |path| path.display().to_string()).unwrap_or_default()).0
}

fn syntax() -> sql::Syntax {
    dialect::ALL[0].syntax()
}

fn cut(script: &str) -> (Tokens, Vec<Piece>) {
    let tokens = token::tokenize(script, &syntax());
    let pieces = split::pieces(script, &tokens.tokens);
    (tokens, pieces)
}

#[divan::bench]
fn splitting(bencher: divan::Bencher) {
    let script = script();
    bencher.counter(BytesCount::of_str(&script)).bench(|| cut(&script));
}

#[divan::bench]
fn parsing(bencher: divan::Bencher) {
    let script = script();
    let (tokens, pieces) = cut(&script);
    bencher.counter(BytesCount::of_str(&script)).bench(|| sql::read(&script, &tokens.tokens, &pieces, &syntax()));
}

#[divan::bench(args = ["cs", "go", "java", "js", "kt", "php", "py", "rb", "rs", "ts"])]
fn extraction(bencher: divan::Bencher, extension: &str) {
    let program = text("host", extension);
    let counter = BytesCount::of_str(&program);
    bencher.counter(counter).bench(|| host::fragments(&program, extension, host::Constants::new()));
}

#[divan::bench]
fn extraction_of_a_mapper(bencher: divan::Bencher) {
    let mapper = fs::read_to_string(cases("host").join("OrderMapper.xml")).unwrap_or_default();
    bencher.counter(BytesCount::of_str(&mapper)).bench(|| mybatis::fragments(&mapper, &mybatis::Parts::default()));
}

/// With all that is above.
#[divan::bench]
fn rules(bencher: divan::Bencher) {
    let (script, catalog, options) = (script(), catalog(), Options::default());
    let inputs = [files::input("case.sql", &*script, "sql")];
    bencher.counter(BytesCount::of_str(&script)).bench(|| lint::run(&inputs, &catalog, &options));
}
