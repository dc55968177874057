//! The linter: cases with their expected findings in them, and everything that must hold of all rules.
//!
//! In a case, a comment such as `--   ^ claim-without-scope` expects a finding of the rule that begins at the `^` of the
//! line above it (above further such comments); `-- @3 claim-without-scope` says the column as a number. What is found and
//! not expected fails the case, and what is expected and not found.

mod corpus;
mod documented;
mod hostile;
mod measured;
mod mends;
mod mutated;
mod own;
mod shared;

use std::path::{Path, PathBuf};

use claimsmith::diagnostic::Diagnostic;
use claimsmith::lint::{self, Input, Options, Report, files};
use claimsmith::schema::{Catalog, load};

pub fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/lint")
}

/// The definitions of all cases.
pub fn catalog() -> Catalog {
    let inputs = load::read(&[cases().join("schemas")], |path| path.display().to_string()).unwrap();
    let (catalog, findings) = load::load(&inputs);
    assert!(findings.is_empty(), "{findings:?}");
    catalog
}

/// Lints one text against the definitions of the cases.
pub fn lint_text(text: &str, extension: &str) -> Report {
    lint_all(&[files::input(format!("case.{extension}"), text, extension)])
}

pub fn lint_all(inputs: &[Input]) -> Report {
    lint::run(inputs, &catalog(), &options())
}

/// The services of the cases; the owner of their table is `order-service`.
pub fn options() -> Options {
    let service = |folder: &str, name: &str| (folder.to_owned(), name.to_owned());
    let services = vec![service("services/shop", "shop-service"), service("services/order", "order-service")];
    Options { services, ..Options::default() }
}

/// Line, column and rule of a finding.
pub fn at(finding: &Diagnostic) -> (usize, usize, &'static str) {
    let (line, column) = finding.place.as_ref().unwrap().line_column();
    (line, column, finding.rule.id)
}

pub fn rules(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.rule.id).collect()
}

#[test]
fn every_table_can_be_a_queue() {
    let text = "SELECT 1; SELECT a FROM orders WHERE status = 'new' OR status = 'old' ORDER BY a LIMIT 1 FOR UPDATE;";
    let options = Options { queue_tables: vec!["*".to_owned()], ..options() };
    let report = lint::run(&[files::input("case.sql", text, "sql")], &Catalog::default(), &options);
    assert_eq!(rules(&report), ["claim-state-list", "claim-without-skip-locked"]);
}
