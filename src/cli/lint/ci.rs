//! What CI systems show beside the code: GitHub's workflow commands, GitLab's code quality report, JUnit.

use serde_json::{Value, json};

use crate::diagnostic::render::visible;
use crate::diagnostic::{Diagnostic, Level};
use crate::lint::baseline::fingerprints;

/// One workflow command for each finding.
pub fn github(findings: &[Diagnostic]) -> String {
    let line = |finding: &Diagnostic| {
        let command = match finding.level {
            Level::Note => "notice",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        let place = finding.place.as_ref().map_or_else(String::new, |place| {
            let ((line, column), (end_line, end_column)) = (place.line_column(), place.end_line_column());
            // Columns of a range over several lines are refused.
            let columns =
                if line == end_line { format!(",col={column},endColumn={end_column}") } else { String::new() };
            format!("file={},line={line},endLine={end_line}{columns},", property(&place.source.path))
        });
        let title = property(&format!("claimsmith: {}", finding.rule.id));
        let help: String = finding.help.iter().map(|help| format!("\n{help}")).collect();
        format!("::{command} {place}title={title}::{}\n", data(&format!("{}{help}", finding.message)))
    };
    findings.iter().map(line).collect()
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A code quality report.
pub fn gitlab(findings: &[Diagnostic]) -> String {
    let entry = |(finding, fingerprint): (&Diagnostic, u64)| -> Value {
        let severity = match finding.level {
            Level::Note => "info",
            Level::Warning => "minor",
            Level::Error => "major",
        };
        let (path, line) = finding.place.as_ref().map_or(("", 1), |place| (&*place.source.path, place.line_column().0));
        json!({
            "description": finding.message,
            "check_name": finding.rule.id,
            "fingerprint": format!("{fingerprint:016x}"),
            "severity": severity,
            "location": { "path": path, "lines": { "begin": line } },
        })
    };
    let entries: Vec<Value> = findings.iter().zip(fingerprints(findings)).map(entry).collect();
    // Nothing in it can fail to be written.
    serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n"
}

/// One test suite, in which each finding is a failed test.
pub fn junit(findings: &[Diagnostic]) -> String {
    let case = |finding: &Diagnostic| {
        let (path, line) = finding.place.as_ref().map_or(("", 0), |place| (&*place.source.path, place.line_column().0));
        let (name, path) = (xml(&format!("{} at line {line}", finding.rule.id)), xml(path));
        let (message, help) = (xml(&finding.message), xml(&finding.help.join("\n")));
        format!(
            "    <testcase name=\"{name}\" classname=\"{path}\">\n      <failure type=\"{}\" message=\"{message}\">{help}</failure>\n    </testcase>\n",
            finding.level.word()
        )
    };
    let (count, cases) = (findings.len(), findings.iter().map(case).collect::<String>());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"claimsmith\" tests=\"{count}\" failures=\"{count}\">\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

fn xml(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
