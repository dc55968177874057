//! The documentation of the rules: its examples are what they say.

use claimsmith::lint::rule::{Check, Judge};
use claimsmith::lint::{self, Report, files, rules};
use claimsmith::schema::load;

use super::{catalog, options, rules as ids};

/// What is found in an example: a text of SQL, whose first line may say in which file it is, or a definition.
fn lint_example(check: &Check, example: &str) -> Report {
    if !matches!(check.judge, Judge::Table(_)) {
        let path = example.strip_prefix("-- file: ").and_then(|rest| rest.lines().next()).unwrap_or("case.sql");
        return lint::run(&[files::input(path, example, "sql")], &catalog(), &options());
    }
    let (catalog, findings) =
        load::load(&[std::sync::Arc::new(claimsmith::diagnostic::Source::new("example.json", example))]);
    assert!(findings.is_empty(), "{}: {findings:?}", check.rule.id);
    let table = &catalog.tables[0].name;
    // A rule about definitions sees them beside the statements that use them.
    let key = format!("SELECT {0} FROM {table} WHERE {0} = ?;", catalog.tables[0].columns[0].name);
    lint::run(&[files::input("case.sql", key, "sql")], &catalog, &options())
}

#[test]
fn bad_examples_fire_and_good_ones_are_clean() {
    for check in rules::ALL {
        let id = check.rule.id;
        let bad = lint_example(check, check.bad);
        assert!(ids(&bad).contains(&id), "{id} does not find its own example: {:?}", ids(&bad));
        let good = lint_example(check, check.good);
        assert_eq!(ids(&good), Vec::<&str>::new(), "the good example of {id}");
    }
}

#[test]
fn rules_are_sorted_and_documented() {
    let ids: Vec<&str> = rules::ALL.iter().map(|check| check.rule.id).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    for check in rules::ALL {
        let rule = &check.rule;
        for heading in ["## What it does", "## Why is this bad?", "## Example", "## Use instead", "## When it is right"]
        {
            assert!(rule.docs.contains(heading), "{} lacks {heading}", rule.id);
        }
        assert!(!rule.summary.ends_with('.') && rule.summary.len() < 100, "{}", rule.id);
    }
}

/// What a definition may allow of the linter's rules, and what the linter judges of definitions, is the same.
#[test]
fn definitions_may_allow_what_is_judged_of_them() {
    let judged = rules::ALL.into_iter().filter(|check| matches!(check.judge, Judge::Table(_)));
    let ids: Vec<&str> = judged.map(|check| check.rule.id).collect();
    assert_eq!(ids, claimsmith::schema::rules::LINTED);
}
