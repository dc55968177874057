//! The documentation of the rules: its examples are what they say.

use claimsmith::lint::rules;

use super::{lint_text, rules as ids};

#[test]
fn bad_examples_fire_and_good_ones_are_clean() {
    for check in rules::ALL {
        let id = check.rule.id;
        let bad = lint_text(check.bad, "sql");
        assert!(ids(&bad).contains(&id), "{id} does not find its own example: {:?}", ids(&bad));
        let good = lint_text(check.good, "sql");
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
