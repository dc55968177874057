//! Hostile names and texts: either a finding, or SQL that they cannot break out of.
//!
//! On SQLite the generated script is run, and the catalogue must show what was defined and nothing else. For the other
//! databases its tokens must be of the same kinds as those of the same definition with harmless names and texts. The
//! servers themselves are asked elsewhere.

pub mod definition;
mod sqlite;
mod tokens;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::loaded::{ALL, Loaded, load_text};
use definition::{Definition, harmless};
use tokens::{kinds, quoted};

const CASES: u32 = 200;

/// The same cases in every run.
pub fn runner() -> TestRunner {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Checks what people see of the findings: nothing that moves, hides or reorders text, and a position for each.
fn check_report(loaded: &Loaded) -> Result<(), TestCaseError> {
    let report = loaded.report();
    let hidden =
        |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    prop_assert!(!report.contains(hidden), "{}", report.escape_debug());
    prop_assert!(
        loaded.findings.iter().all(|finding| finding.place.is_some()),
        "a finding without a position: {report}"
    );
    Ok(())
}

/// Checks the tokens of the three dialects whose servers are not here.
fn check_tokens(hostile: &Definition, loaded: &Loaded) -> Result<(), TestCaseError> {
    let plain = load_text(&harmless(hostile).json().to_string());
    prop_assert!(!plain.has_errors(), "the harmless definition is wrong: {}", plain.report());
    for ((id, sql), plain) in ALL.iter().zip(loaded.sql()).zip(plain.sql()).take(3) {
        prop_assert_eq!(kinds(id, &sql), kinds(id, &plain), "{}:\n{}", id, sql);
        let quoted = quoted(id, &sql);
        for name in hostile.quoted() {
            prop_assert!(quoted.contains(&name), "{id} does not hold {name:?} as it is:\n{sql}");
        }
    }
    Ok(())
}

#[test]
fn names_and_texts_cannot_break_out() {
    let generated = Cell::new(0);
    let sqlite = sqlite::Runtime::new();
    let result = runner().run(&definition::definitions(), |hostile| {
        let loaded = load_text(&hostile.json().to_string());
        check_report(&loaded)?;
        if !loaded.has_errors() {
            generated.set(generated.get() + 1);
            check_tokens(&hostile, &loaded)?;
            sqlite.check(&loaded).map_err(TestCaseError::fail)?;
        }
        Ok(())
    });
    result.unwrap_or_else(|fault| panic!("{fault}"));
    assert!(generated.get() > CASES / 4, "only {} of {CASES} cases made SQL", generated.get());
    assert!(generated.get() < CASES, "no case was refused");
}

/// Every fragment at every place: what the random cases may miss. At all places at once, or where that is refused, one
/// place after the other.
#[test]
fn each_fragment_at_each_place() {
    let sqlite = sqlite::Runtime::new();
    let check = |hostile: &Definition, fragment: &str| {
        let loaded = load_text(&hostile.json().to_string());
        let checked = check_report(&loaded).and_then(|()| match loaded.has_errors() {
            true => Ok(()),
            false => check_tokens(hostile, &loaded).and_then(|()| sqlite.check(&loaded).map_err(TestCaseError::fail)),
        });
        assert!(checked.is_ok(), "{fragment:?}: {checked:?}\n{}", hostile.json());
        loaded.has_errors()
    };
    let mut refused = 0;
    for fragment in definition::FRAGMENTS {
        if check(&Definition::with(|_| true, fragment), fragment) {
            refused += 1;
            (0..Definition::PLACES)
                .for_each(|place| _ = check(&Definition::with(|at| at == place, fragment), fragment));
        }
    }
    assert!((1..definition::FRAGMENTS.len() / 2).contains(&refused), "{refused} refused");
}

/// Types, defaults and references are read and written anew: no text of theirs reaches the SQL as it is.
#[test]
fn raw_sql_is_understood_or_refused() {
    let generated = Cell::new(0);
    let sqlite = sqlite::Runtime::new();
    let raw = (definition::raw(), definition::raw(), definition::raw(), definition::raw());
    let result = runner().run(&raw, |(ty, default, references, action)| {
        for (key, text) in [("type", ty), ("default", default), ("references", references), ("onDelete", action)] {
            let loaded = load_text(&definition::with_raw(key, &text).to_string());
            check_report(&loaded)?;
            if !loaded.has_errors() {
                generated.set(generated.get() + 1);
                for (id, sql) in ALL.iter().zip(loaded.sql()).take(3) {
                    let kinds = kinds(id, &sql);
                    let drops = kinds.iter().any(|kind| ["DROP", "SELECT", "UNION", "OR"].contains(&kind.as_str()));
                    prop_assert!(!drops, "{key} {text:?} reached {id}: {sql}");
                }
                sqlite.check(&loaded).map_err(TestCaseError::fail)?;
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|fault| panic!("{fault}"));
    assert!(generated.get() > 20, "only {} texts were understood", generated.get());
}
