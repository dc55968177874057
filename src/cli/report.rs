//! Findings and faults on standard error, for people.

use std::io::Write;

use crate::diagnostic::render::{Report, concise, render};
use crate::diagnostic::{Diagnostic, Level};
use crate::error::Error;

use super::Global;

/// So many findings are shown with their code; nobody reads more, and a broken file may have a hundred thousand. The others
/// get one line each.
const FRAMED: usize = 500;

/// Prints findings and, if there are any, how many.
pub fn findings(findings: &[Diagnostic], global: &Global) {
    let mut err = anstream::stderr();
    for (at, finding) in findings.iter().enumerate() {
        let report = Report::from(finding);
        let text = if at < FRAMED { text(&report, global) } else { format!("{}\n", concise(&report)) };
        _ = err.write_all(text.as_bytes());
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let counts = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(level, word)| (count(level), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| plural(count, word))
        .collect();
    if !counts.is_empty() {
        _ = writeln!(err, "{}", counts.join(", "));
    }
}

/// Prints the fault that stopped the run.
pub fn fault(error: &anyhow::Error, global: &Global) {
    let own = error.downcast_ref::<Error>();
    let text = match own {
        Some(own) => text(&own.report(), global),
        None => format!("error: {error:#}\n"),
    };
    _ = anstream::stderr().write_all(text.as_bytes());
}

fn text(report: &Report<'_>, global: &Global) -> String {
    match global.concise {
        true => format!("{}\n", concise(report)),
        // Colours are taken out again by anstream where the output is no terminal.
        false => format!("{}\n", render(report, true)),
    }
}

/// `1 file`, `2 files`.
pub fn plural(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}
