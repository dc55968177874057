//! Names of statements, whatever the states are called.

use std::collections::BTreeSet;

use claimsmith::dialect;
use claimsmith::statement::query::queries;

use crate::loaded::load_text;

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
