//! Every file below `tests/cases/lint`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{at, cases, lint_text};

type Finding = (usize, usize, String);

/// The findings that the comments of a case expect.
fn expected(text: &str) -> Vec<Finding> {
    let mut expected = Vec::new();
    let mut code = 0;
    for (number, line) in text.lines().enumerate() {
        match marker(line) {
            Some((column, rule)) => expected.push((code, column, rule)),
            None => code = number + 1,
        }
    }
    expected.sort();
    expected
}

fn marker(line: &str) -> Option<(usize, String)> {
    let trimmed = line.trim_start();
    let mark = ["<!--", "--", "//", "#"].into_iter().find(|mark| trimmed.starts_with(mark))?;
    let rest = trimmed[mark.len()..].trim_start();
    let rest = rest.strip_suffix("-->").unwrap_or(rest).trim_end();
    let (column, rule) = if let Some(rest) = rest.strip_prefix('@') {
        let (column, rule) = rest.split_once(' ')?;
        (column.parse().ok()?, rule)
    } else {
        let rule = rest.strip_prefix('^')?.trim_start_matches('^');
        (line.chars().position(|c| c == '^')? + 1, rule)
    };
    let rule = rule.trim();
    let is_id = !rule.is_empty() && rule.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_id.then(|| (column, rule.to_owned()))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// All cases.
pub fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&cases(), &mut found);
    found.retain(|path| path.extension().is_some_and(|extension| extension != "json"));
    found.sort();
    found
}

#[test]
fn cases_find_what_they_expect_and_nothing_else() {
    let found = all();
    let mut wrong = Vec::new();
    let (mut expectations, mut statements) = (0, 0);
    for path in &found {
        let text = fs::read_to_string(path).unwrap();
        let expected = expected(&text);
        expectations += expected.len();
        let report = lint_text(&text, path.extension().unwrap().to_str().unwrap());
        statements += report.statements;
        let mut findings: Vec<Finding> = report
            .findings
            .iter()
            .map(|finding| {
                let (line, column, rule) = at(finding);
                (line, column, rule.to_owned())
            })
            .collect();
        findings.sort();
        let name = path.strip_prefix(cases()).unwrap().display().to_string();
        let only = |a: &[Finding], b: &[Finding]| a.iter().filter(|one| !b.contains(one)).cloned().collect::<Vec<_>>();
        for (line, column, rule) in only(&findings, &expected) {
            wrong.push(format!("{name}:{line}:{column}: {rule} is not expected"));
        }
        for (line, column, rule) in only(&expected, &findings) {
            wrong.push(format!("{name}:{line}:{column}: {rule} is not found"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expectations >= 250, "only {expectations} findings are expected");
    // What is silent is as much of a case as what is found.
    assert!(statements >= expectations, "only {statements} statements for {expectations} findings");
}
