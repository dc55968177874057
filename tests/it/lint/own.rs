//! What claimsmith generates lints clean, and what `claims.md` of the design measured as bad does not.

use std::path::Path;

use claimsmith::lint::{self, Options, files};
use claimsmith::schema::load;

use super::{lint_text, rules};

#[test]
fn generated_sql_is_clean_in_all_dialects() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (catalog, _) = load::load(&load::read(&[root.join("schemas")], |path| path.display().to_string()).unwrap());
    let mut inputs = Vec::new();
    for dialect in claimsmith::dialect::ids() {
        let folder = root.join("generated/sql").join(dialect).join("queries");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            inputs.push(files::input(name, std::fs::read_to_string(&path).unwrap(), "sql"));
        }
    }
    assert!(inputs.len() > 40, "the generated files were not found");
    let report = lint::run(&inputs, &catalog, &Options::default());
    let found: Vec<String> =
        report.findings.iter().map(|finding| claimsmith::diagnostic::render::concise(&finding.into())).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(report.statements > 400, "only {} statements were judged", report.statements);
    assert_eq!(report.dynamic, 0);
}

/// The rows of the table of measurements that are statements of others, with the rule that must find each.
#[test]
fn the_measured_statements_are_found() {
    let head = "SELECT event_id FROM order_outbox WHERE ";
    let tail = "LIMIT 100 FOR UPDATE SKIP LOCKED;";
    let three = "(status = 'pending' OR (status = 'retryable' AND next_retry_at_ms <= 1) OR (status = 'delivering' AND lock_until_ms <= 1))";
    for (rule, sql) in [
        ("claim-or-branch", format!("{head} app_code = ? AND {three} ORDER BY created_at_ms {tail}")),
        ("claim-or-branch", format!("{head} {three} ORDER BY created_at_ms {tail}")),
        ("claim-without-scope", format!("{head} {three} ORDER BY created_at_ms {tail}")),
        (
            "claim-state-list",
            format!(
                "{head} app_code = ? AND status IN ('pending', 'retryable') ORDER BY created_at_ms, event_id {tail}"
            ),
        ),
    ] {
        let report = lint_text(&sql, "sql");
        assert!(rules(&report).contains(&rule), "{rule} does not find {sql}: {:?}", rules(&report));
    }
}
