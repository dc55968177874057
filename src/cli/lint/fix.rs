//! `--fix`: changes that certainly mend a finding, written only where the linter then finds less and nothing new.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit, Source};
use crate::error::Error;
use crate::lint::Input;

use super::projects::Projects;

/// What was mended.
#[derive(Debug, Default)]
pub struct Fixed {
    /// Findings.
    pub findings: usize,
    /// Files.
    pub files: usize,
    /// Files that changed while they were looked at, and were left alone.
    pub changed: Vec<String>,
}

/// Mends what can be mended among `findings`, on the disk and in `inputs`. `all` is what was found before anything was left
/// out.
pub fn apply(
    findings: &[Diagnostic],
    all: &[Diagnostic],
    inputs: &mut [Input],
    projects: &Projects,
    here: &Path,
) -> Result<Fixed, Error> {
    let mut mended: Vec<(usize, Input, usize)> = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let own: Vec<&Diagnostic> = findings.iter().filter(|finding| is_in(finding, &input.source.path)).collect();
        let (text, count) = edited(&input.source.text, &own);
        if count > 0 {
            let source = Arc::new(Source::new(input.source.path.clone(), text));
            mended.push((at, Input { source, ..input.clone() }, count));
        }
    }
    let mut tried = inputs.to_vec();
    mended.iter().for_each(|(at, input, _)| tried[*at] = input.clone());
    let after = if mended.is_empty() { Vec::new() } else { projects.lint(&tried).findings };
    let mut fixed = Fixed::default();
    for (at, input, count) in mended {
        let path = &input.source.path;
        // Less is found, and nothing else.
        let (before, now) = (counts(all, path), counts(&after, path));
        let gone = before.values().sum::<usize>().checked_sub(now.values().sum());
        if gone != Some(count) || now.iter().any(|(rule, count)| before.get(rule).is_none_or(|before| before < count)) {
            continue;
        }
        match replace(&here.join(path), &inputs[at].source.text, &input.source.text)? {
            true => {
                fixed.findings += count;
                fixed.files += 1;
                inputs[at] = input;
            }
            false => fixed.changed.push(path.clone()),
        }
    }
    Ok(fixed)
}

fn is_in(finding: &Diagnostic, path: &str) -> bool {
    finding.place.as_ref().is_some_and(|place| place.source.path == path)
}

/// How often each rule finds something in a file.
fn counts<'a>(findings: &'a [Diagnostic], path: &str) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings.iter().filter(|finding| is_in(finding, path)) {
        *counts.entry(finding.rule.id).or_default() += 1;
    }
    counts
}

/// The text with the changes of all findings that do not touch one another, and how many findings these are.
fn edited(text: &str, findings: &[&Diagnostic]) -> (String, usize) {
    let mut chosen: Vec<&Edit> = Vec::new();
    let mut count = 0;
    let apart = |a: &Edit, b: &Edit| a.span.end < b.span.start || b.span.end < a.span.start;
    for finding in findings.iter().filter(|finding| !finding.fix.is_empty()) {
        if finding.fix.iter().all(|edit| chosen.iter().all(|other| apart(edit, other))) {
            chosen.extend(&finding.fix);
            count += 1;
        }
    }
    chosen.sort_by_key(|edit| edit.span.start);
    let mut new = String::with_capacity(text.len());
    let mut from = 0;
    for edit in chosen {
        new.push_str(text.get(from..edit.span.start as usize).unwrap_or_default());
        new.push_str(&edit.text);
        from = edit.span.end as usize;
    }
    new.push_str(text.get(from..).unwrap_or_default());
    (new, count)
}

/// Puts the new text in the place of the file, if that still holds the old one: by a file beside it that takes its name, so
/// that nobody ever sees half of it.
fn replace(path: &Path, old: &str, new: &str) -> Result<bool, Error> {
    let fault = |error| Error::io("write", path, error);
    // A link stays a link.
    let path: PathBuf = path.canonicalize().map_err(fault)?;
    if std::fs::read(&path).map_err(fault)? != old.as_bytes() {
        return Ok(false);
    }
    let permissions = std::fs::metadata(&path).map_err(fault)?.permissions();
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".claimsmith-").tempfile_in(folder).map_err(fault)?;
    file.write_all(new.as_bytes()).and_then(|()| file.as_file().set_permissions(permissions)).map_err(fault)?;
    file.persist(&path).map_err(|error| fault(error.error))?;
    Ok(true)
}
