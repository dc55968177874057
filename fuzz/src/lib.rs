//! What every fuzz target does: reads a text as claimsmith would, and sees that what is found stands in it.
//!
//! `cargo +nightly fuzz run sql` and so on, from the root of the repository; `tests/cases` holds texts to begin with. The
//! ordinary tests run the same over a bounded number of changed cases (`tests/it/lint/mutated.rs`).

use std::sync::Arc;

use claimsmith::diagnostic::render::{Report, render};
use claimsmith::diagnostic::{Diagnostic, Source};
use claimsmith::dialect;
use claimsmith::lint::{self, Options, files};
use claimsmith::schema::{Catalog, check, load};
use claimsmith::workload;

/// Loads a definition and judges it for all databases.
pub fn definitions(text: &str) {
    let (catalog, findings) = load::load(&[Arc::new(Source::new("fuzz.json", text))]);
    findings.iter().for_each(stands);
    let engines: Vec<_> = dialect::ALL.iter().map(|dialect| dialect.engine()).collect();
    check::check(&catalog, &engines).iter().for_each(stands);
    workload::check(&catalog, &engines).iter().for_each(stands);
}

/// Lints a file.
pub fn file(text: &str, extension: &str) {
    lint(text, extension, &format!("fuzz.{extension}"));
}

/// Lints a file of SQL by the words of each database.
pub fn sql(text: &str) {
    dialect::ids().for_each(|id| lint(text, "sql", &format!("{id}/fuzz.sql")));
}

fn lint(text: &str, extension: &str, path: &str) {
    // Nothing is read of a file that does not seem to be about a queue.
    let options = Options { queue_tables: vec!["*".to_owned()], ..Options::default() };
    let report = lint::run(&[files::input(path, text, extension)], &Catalog::default(), &options);
    report.findings.iter().for_each(stands);
}

/// Panics unless the finding stands in its text and can be shown.
fn stands(finding: &Diagnostic) {
    if let Some(place) = &finding.place {
        let (start, end) = (place.span.start as usize, place.span.end as usize);
        assert!(place.source.text.get(start..end).is_some(), "{} at {start}..{end}", finding.rule.id);
        assert!(finding.fix.iter().all(|edit| {
            place.source.text.get(edit.span.start as usize..edit.span.end as usize).is_some()
        }));
    }
    assert!(!render(&Report::from(finding), false).is_empty());
}
