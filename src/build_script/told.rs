//! What a build script says: to cargo on standard output, to people on standard error.

use std::fmt;
use std::io::Write;
use std::path::Path;

use crate::diagnostic::render::{Report, concise, render, visible};
use crate::diagnostic::{Diagnostic, Level};
use crate::error::{Error, Result};

/// So many findings are shown with their code on standard error; a broken file may have a hundred thousand.
const FRAMED: usize = 500;

/// Why nothing was generated.
pub enum Failure {
    /// Errors in the definitions, sorted by file and position.
    Definitions(Vec<Diagnostic>),
    /// A file that cannot be read or written, a wrong template, an attribute for a table that is not there …
    Fault(Error),
}

impl Failure {
    pub(super) fn reports(&self) -> Vec<Report<'_>> {
        match self {
            Failure::Definitions(findings) => findings.iter().map(Report::from).collect(),
            Failure::Fault(error) => vec![error.report()],
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Fault(error)
    }
}

/// All reports, each with its code frame.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reports().iter().try_for_each(|report| writeln!(f, "{}", render(report, false)))
    }
}

/// As `Display`: it is what a `main` that returns the failure prints.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Failure {}

/// What the build script tells: cargo on standard output, people on standard error.
#[derive(Debug, Default)]
pub struct Told {
    pub cargo: String,
    people: String,
    reports: usize,
}

impl Told {
    /// Has the build script run again when this changes; a folder changes when anything in it does.
    pub fn watch(&mut self, path: &Path) -> Result<()> {
        let text =
            path.to_str().filter(|text| !text.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER));
        let Some(text) = text else {
            let message = format!("cargo cannot watch `{}`", visible(&path.display().to_string()));
            return Err(Error::new(message).help("give it a name of printable characters"));
        };
        self.cargo.push_str(&format!("cargo::rerun-if-changed={text}\n"));
        Ok(())
    }

    /// One line for cargo, unless it is a mere note, and all of it for people.
    pub fn report(&mut self, report: &Report<'_>) {
        let directive = match report.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "",
        };
        if !directive.is_empty() {
            self.cargo.push_str(&format!("cargo::{directive}={}\n", line(report)));
        }
        self.reports += 1;
        if self.reports <= FRAMED {
            self.people.push_str(&render(report, false));
            self.people.push('\n');
        }
    }

    /// If nobody listens any more, nobody has to be told.
    pub fn print(&self) {
        _ = std::io::stderr().lock().write_all(self.people.as_bytes());
        _ = std::io::stdout().lock().write_all(self.cargo.as_bytes());
    }
}

/// The whole report on one line: a line of its own would be a word to cargo.
fn line(report: &Report<'_>) -> String {
    let mut line = concise(report);
    if !report.label.is_empty() {
        line.push_str(&format!(": {}", report.label));
    }
    for (place, text) in report.related {
        let (row, column) = place.line_column();
        line.push_str(&format!("; {}:{row}:{column}: {text}", place.source.path));
    }
    report.help.iter().for_each(|help| line.push_str(&format!("; help: {help}")));
    visible(&line)
}
