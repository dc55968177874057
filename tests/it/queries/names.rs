//! Names of statements, whatever the states are called.

use std::collections::BTreeSet;

use claimsmith::dialect;
use claimsmith::statement::query::queries;

use crate::loaded::load_text;

use super::case::committed;
use super::queue::Queue;

#[test]
fn names_are_words_and_apart() {
    let loaded = load_text(
        r#"{ "tableName": "jobs", "columns": [
            { "name": "id", "type": "BIGINT", "primaryKey": true }, { "name": "state", "type": "VARCHAR(20)" },
            { "name": "at", "type": "BIGINT" }, { "name": "tries", "type": "INT" }, { "name": "until", "type": "BIGINT" } ],
          "claim": { "global": true, "order": "id", "retry": { "at": "at", "count": "tries" },
            "lease": { "until": "until", "for": "30s" },
            "status": { "column": "state", "pending": "in line", "retryable": "in-line", "running": "expired",
                        "done": ["well done", "well-done", "做完"], "dead": "dead" } },
          "retention": { "states": ["well done", "well-done", "做完"], "age": "at", "keep": "1d", "strategy": "archive" } }"#,
    );
    assert!(!loaded.has_errors(), "{}", loaded.report());
    for dialect in dialect::ALL {
        let of_table = queries(&loaded.catalog, dialect).remove(0);
        let names: Vec<&str> = of_table.queries.iter().map(|query| &*query.name).collect();
        let apart: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(apart.len(), names.len(), "{names:?}");
        assert!(names.iter().all(|name| name.chars().all(|c| c == '_' || c.is_alphanumeric())), "{names:?}");
        assert!(names.contains(&"count_in_line_2") && names.contains(&"count_expired_2"), "{names:?}");
    }
}

/// The words of claimsmith, as columns of a key.
const WORDS: [&str; 14] = [
    "token",
    "limit",
    "keys",
    "cutoff",
    "attempt",
    "error",
    "cap",
    "delay_ms",
    "lease_ms",
    "visibility_ms",
    "sweep_ms",
    "age_ms",
    "ClaimSeq",
    "limit_2",
];

#[test]
fn parameters_are_apart_whatever_columns_are_called() {
    let columns: Vec<String> =
        WORDS.iter().map(|word| format!(r#"{{ "name": "{word}", "type": "VARCHAR(9)" }}"#)).collect();
    let leased = r#""status": { "column": "state", "pending": "p", "retryable": "r", "running": "b", "done": "d", "dead": "x" },
        "retry": { "at": "at", "count": "tries", "error": "why" }, "lease": { "until": "until", "by": "who", "for": "30s" }"#;
    let numbered = leased.replace(r#""by": "who""#, r#""seq": "number""#);
    let bus = r#""status": { "column": "state", "pending": "p", "published": "s", "done": "d", "dead": "x" },
        "due": "at", "retry": { "count": "tries", "error": "why" }, "visibility": "30s", "times": { "published": "sent" }"#;
    for (claim, more) in [(leased, ""), (&*numbered, ""), (bus, r#", "bus": { "mode": "sync", "sweep": "5m" }"#)] {
        let loaded = load_text(&format!(
            r#"{{ "tableName": "jobs", "columns": [ {},
                {{ "name": "state", "type": "VARCHAR(9)" }}, {{ "name": "at", "type": "BIGINT" }},
                {{ "name": "tries", "type": "INT" }}, {{ "name": "until", "type": "BIGINT" }},
                {{ "name": "number", "type": "BIGINT" }}, {{ "name": "sent", "type": "BIGINT" }},
                {{ "name": "who", "type": "VARCHAR(64)" }}, {{ "name": "why", "type": "TEXT" }} ],
              "primaryKey": ["{}"], "claim": {{ "scope": ["token"], "lane": "limit", {claim} }}{more},
              "retention": {{ "states": ["d"], "age": "at", "keep": "1d", "strategy": "archive" }} }}"#,
            columns.join(", "),
            WORDS.join("\", \""),
        ));
        assert!(!loaded.has_errors(), "{}", loaded.report());
        for dialect in dialect::ALL {
            for query in queries(&loaded.catalog, dialect).remove(0).queries {
                let names: Vec<&str> = query.parameters.iter().map(|parameter| &*parameter.name).collect();
                let apart: BTreeSet<String> = names.iter().map(|name| name.replace('_', "").to_lowercase()).collect();
                assert_eq!(apart.len(), names.len(), "{}: {names:?}", query.name);
                assert!(query.name != "list_dead" || names == ["token", "limit_3"], "{names:?}");
            }
        }
    }
}

/// A word that is about the column of this name keeps it.
#[test]
fn a_word_that_means_its_column_is_called_like_it() {
    let loaded = load_text(
        r#"{ "tableName": "jobs", "columns": [
            { "name": "id", "type": "BIGINT", "primaryKey": true }, { "name": "state", "type": "VARCHAR(20)" },
            { "name": "error", "type": "TEXT" }, { "name": "claim_seq", "type": "BIGINT" }, { "name": "until", "type": "BIGINT" } ],
          "claim": { "global": true, "order": "id", "retry": { "error": "error" },
            "lease": { "until": "until", "seq": "claim_seq", "for": "30s" },
            "status": { "column": "state", "pending": "p", "running": "r", "done": "d" } } }"#,
    );
    assert!(!loaded.has_errors(), "{}", loaded.report());
    for dialect in dialect::ALL {
        let of_table = queries(&loaded.catalog, dialect).remove(0);
        let retry = of_table.queries.iter().find(|query| query.name == "retry").unwrap();
        let names: Vec<&str> = retry.parameters.iter().map(|parameter| &*parameter.name).collect();
        assert_eq!(names, ["error", "id", "claim_seq"]);
    }
}

/// What a comment names is there: statements, parameters, columns, attempts and fences.
#[test]
fn comments_speak_of_what_there_is() {
    let catalog = committed();
    let mut checked = 0;
    for dialect in dialect::ALL {
        for of_table in queries(&catalog, dialect) {
            let table = &catalog.tables[of_table.table];
            let Some(queue) = Queue::of(table) else { continue };
            let is_statement = |word: &str| {
                of_table.queries.iter().any(|query| query.name == word || query.name.starts_with(&format!("{word}_")))
            };
            for query in &of_table.queries {
                let about = query.about.join(" ");
                let what = format!("{} of {} on {}: {about}", query.name, table.name, dialect.engine().title);
                for word in about.split('`').skip(1).step_by(2).filter(|word| *word != "keep") {
                    let is_parameter = query.parameters.iter().any(|parameter| parameter.name == word);
                    assert!(is_statement(word) || is_parameter || table.column(word).is_some(), "`{word}` in {what}");
                    checked += 1;
                }
                let speaks = |words: &[&str]| words.iter().any(|word| about.contains(word));
                assert!(
                    queue.count.is_some() || !speaks(&["attempts from", "attempt was", "attempt stays", "used up"]),
                    "{what}"
                );
                assert!(queue.fence().is_some() || !speaks(&["fence", "lease is lost"]), "{what}");
                assert!(queue.error.is_some() || !speaks(&["with the reason"]), "{what}");
                let counted = speaks(&["Attempts are not counted"]);
                assert!(!counted || queue.count.is_none(), "{what}");
            }
        }
    }
    assert!(checked > 100, "only {checked} words");
}
