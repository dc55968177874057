//! Findings as one JSON object, for programs.

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Place};
use crate::lint::Report;
use crate::lint::files::Files;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    findings: Vec<Finding<'a>>,
    files: usize,
    statements: usize,
    dynamic: usize,
    skipped: Vec<Skipped<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    rule: &'a str,
    level: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Option<Range<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    help: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Range<'a> {
    path: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Skipped<'a> {
    path: &'a str,
    reason: &'a str,
}

fn range(place: &Place) -> Range<'_> {
    let (line, column) = place.line_column();
    let (end_line, end_column) = place.end_line_column();
    Range { path: &place.source.path, line, column, end_line, end_column }
}

fn finding(finding: &Diagnostic) -> Finding<'_> {
    Finding {
        rule: finding.rule.id,
        level: finding.level.word(),
        message: &finding.message,
        place: finding.place.as_ref().map(range),
        label: &finding.label,
        help: &finding.help,
    }
}

/// The object.
pub fn text(findings: &[Diagnostic], report: &Report, files: &Files) -> String {
    let document = Document {
        version: 1,
        findings: findings.iter().map(finding).collect(),
        files: files.read,
        statements: report.statements,
        dynamic: report.dynamic,
        skipped: files.skipped.iter().map(|(path, why)| Skipped { path, reason: why.text() }).collect(),
    };
    // Nothing in it can fail to be written.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
