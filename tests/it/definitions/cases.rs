//! `tests/cases/definitions/<rule>[.<variant>].bad.json` is reported as the snapshot beside it says, and
//! `<rule>.good.json` not at all.

use std::collections::BTreeSet;
use std::fs;

use claimsmith::diagnostic::Level;
use claimsmith::schema::rules;
use serde_json::Value;

use crate::loaded::{ALL, load, repository};
use crate::project::assert_none;

const FOLDER: &str = "tests/cases/definitions";

const HEADINGS: [&str; 5] =
    ["## What it does", "## Why is this bad?", "## Example", "## Use instead", "## When it is right to allow it"];

/// The fixtures with this ending: what stands before it in the name, the file's name and its text.
pub fn fixtures(ending: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository(FOLDER)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if let Some(stem) = name.strip_suffix(ending) {
            found.push((stem.to_owned(), name.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no fixtures in {FOLDER}");
    found
}

/// The rule that a fixture is about.
fn rule(stem: &str) -> &str {
    stem.split('.').next().unwrap()
}

#[test]
fn bad_files_are_reported_as_their_snapshots_say() {
    for (stem, name, text) in fixtures(".bad.json") {
        let loaded = load(&[(&name, &text)], &ALL);
        assert!(loaded.rules().contains(&rule(&stem)), "{name} does not fire its rule, but {:?}", loaded.rules());
        insta::with_settings!({
            snapshot_path => "../../cases/definitions",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(stem, loaded.report());
        });
    }
}

#[test]
fn good_files_are_silent_on_all_engines_at_once_and_on_each() {
    for (stem, name, text) in fixtures(".good.json") {
        for dialects in [&ALL[..], &ALL[..1], &ALL[1..2], &ALL[2..3], &ALL[3..]] {
            let mut loaded = load(&[(&name, &text)], dialects);
            // Notes say what is true of an engine, whatever is good; but none of the rule that the file is for.
            loaded.findings.retain(|finding| finding.level > Level::Note || finding.rule.id == rule(&stem));
            assert!(loaded.findings.is_empty(), "{name} on {dialects:?}:\n{}", loaded.report());
            assert_eq!(loaded.sql().len(), dialects.len());
        }
    }
}

#[test]
fn every_rule_has_a_bad_and_a_good_file_and_no_file_is_left_over() {
    let rules: BTreeSet<String> = rules::all().iter().map(|rule| rule.id.to_owned()).collect();
    for ending in [".bad.json", ".good.json"] {
        let cases: BTreeSet<String> = fixtures(ending).iter().map(|(stem, ..)| rule(stem).to_owned()).collect();
        assert_eq!(rules, cases, "files that end in {ending}");
    }
    let bad: BTreeSet<String> = fixtures(".bad.json").into_iter().map(|(stem, ..)| stem).collect();
    let snapshots: BTreeSet<String> = fixtures(".snap").into_iter().map(|(stem, ..)| stem).collect();
    assert_eq!(bad, snapshots, "bad files and their snapshots");
}

#[test]
fn every_rule_says_what_it_is() {
    let all = rules::all();
    assert!(all.len() > 30, "rules are missing from the list");
    let ids: Vec<&str> = all.iter().map(|rule| rule.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(ids, sorted, "ids are sorted and unique");
    for rule in all {
        let kebab = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(rule.id.split('-').all(kebab), "{} is not kebab-case", rule.id);
        let summary = rule.summary;
        assert!(!summary.is_empty() && !summary.ends_with('.') && !summary.contains('\n'), "{}: {summary}", rule.id);
        let found: Vec<&str> = rule.docs.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(found, HEADINGS, "{}", rule.id);
        for section in rule.docs.split("## ").skip(1) {
            let (heading, text) = section.split_once('\n').unwrap();
            assert!(text.trim().len() >= 6, "{}: `{heading}` is empty", rule.id);
        }
    }
}

/// The same file, with an exception for every rule on every table.
fn with_exceptions(text: &str) -> Option<String> {
    let reasons: serde_json::Map<_, _> = rules::all().iter().map(|rule| (rule.id.to_owned(), "r".into())).collect();
    let mut file: Value = serde_json::from_str(text).ok()?;
    let tables = match &mut file {
        Value::Array(tables) => tables,
        Value::Object(object) if object.contains_key("tables") => object["tables"].as_array_mut()?,
        table => std::slice::from_mut(table),
    };
    for table in tables {
        table["allow"] = Value::Object(reasons.clone());
    }
    Some(file.to_string())
}

/// A finding below the level of an error can be left out with a reason, as each rule's documentation says; an error
/// cannot.
#[test]
fn every_warning_and_note_can_be_allowed_and_no_error() {
    let mut faults = Vec::new();
    for (_, name, text) in fixtures(".bad.json").into_iter().filter(|(stem, ..)| stem != "duplicate-key") {
        let Some(allowed) = with_exceptions(&text) else { continue };
        let messages = |text: &str, errors: bool| -> BTreeSet<String> {
            let findings = load(&[(&name, text)], &ALL).findings;
            let chosen = findings.iter().filter(|finding| (finding.level == Level::Error) == errors);
            chosen.map(|finding| format!("{}: {}", finding.rule.id, finding.message)).collect()
        };
        assert_eq!(messages(&allowed, true), messages(&text, true), "errors of {name}");
        let left = messages(&allowed, false);
        if !left.is_empty() {
            faults.push(format!("{name}: allowed, and reported all the same: {left:#?}"));
        }
    }
    assert_none(faults);
}
