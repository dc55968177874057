//! The baseline file: what was found before is not found again.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::lint::baseline::fingerprints;

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    fingerprint: String,
    /// For people.
    rule: String,
    path: String,
}

fn hex(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// Takes out what the file knows; how many that were.
pub fn filter(findings: &mut Vec<Diagnostic>, path: &Path) -> Result<usize, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::io("read the baseline", path, error).help("write it with `claimsmith lint --write-baseline FILE`")
    })?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| Error::new(format!("`{}` is no baseline: {error}", path.display())))?;
    let known: BTreeSet<String> = file.findings.into_iter().map(|entry| entry.fingerprint).collect();
    let before = findings.len();
    let mut fingerprints = fingerprints(findings).into_iter();
    findings.retain(|_| !fingerprints.next().is_some_and(|fingerprint| known.contains(&hex(fingerprint))));
    Ok(before - findings.len())
}

/// Writes the findings down.
pub fn write(findings: &[Diagnostic], path: &Path) -> Result<(), Error> {
    let entry = |(finding, fingerprint): (&Diagnostic, u64)| Entry {
        fingerprint: hex(fingerprint),
        rule: finding.rule.id.to_owned(),
        path: finding.place.as_ref().map(|place| place.source.path.clone()).unwrap_or_default(),
    };
    let entries = findings.iter().zip(fingerprints(findings)).map(entry).collect();
    // Nothing in it can fail to be written.
    let text = serde_json::to_string_pretty(&File { version: 1, findings: entries }).unwrap_or_default() + "\n";
    std::fs::write(path, text).map_err(|error| Error::io("write the baseline", path, error))
}
