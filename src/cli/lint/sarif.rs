//! SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Level};
use crate::lint::baseline::fingerprints;

fn level(level: Level) -> &'static str {
    match level {
        Level::Note => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// The log of one run.
pub fn text(findings: &[Diagnostic]) -> String {
    let mut rules: Vec<_> = findings.iter().map(|finding| finding.rule).collect();
    rules.sort_by_key(|rule| rule.id);
    rules.dedup_by_key(|rule| rule.id);
    let described: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.summary },
                "help": { "text": rule.docs, "markdown": rule.docs },
                "defaultConfiguration": { "level": level(rule.level) },
            })
        })
        .collect();
    let results: Vec<Value> = findings
        .iter()
        .zip(fingerprints(findings))
        .map(|(finding, fingerprint)| {
            let mut result = json!({
                "ruleId": finding.rule.id,
                "ruleIndex": rules.iter().position(|rule| rule.id == finding.rule.id),
                "level": level(finding.level),
                "message": { "text": message(finding) },
                "partialFingerprints": { "claimsmith/v1": format!("{fingerprint:016x}") },
            });
            if let Some(place) = &finding.place {
                let ((line, column), (end_line, end_column)) = (place.line_column(), place.end_line_column());
                result["locations"] = json!([{
                    "physicalLocation": {
                        "artifactLocation": { "uri": uri(&place.source.path) },
                        "region": {
                            "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column,
                        },
                    },
                }]);
            }
            result
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "claimsmith", "version": env!("CARGO_PKG_VERSION"), "rules": described } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    // Nothing in it can fail to be written.
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

/// The message and how to mend it.
fn message(finding: &Diagnostic) -> String {
    let help = finding.help.iter().map(|help| format!("\n\n{help}"));
    format!("{}{}", finding.message, help.collect::<String>())
}

/// The path as a relative reference.
fn uri(path: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.bytes().map(|byte| if keep(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") }).collect()
}
