//! What a finding offers instead is itself clean, and its indexes serve it.

use std::fs;

use super::{cases, lint_text, rules};

/// The mends of a case: the lines of each help that hold statements.
fn mends(text: &str) -> Vec<String> {
    let report = lint_text(text, "sql");
    let mended = ["claim-or-branch", "claim-state-list", "claim-without-index"];
    let findings = report.findings.iter().filter(|finding| mended.contains(&finding.rule.id));
    let helps = findings.map(|finding| {
        let sql = finding.help.iter().filter(|help| help.contains(":\n") && help.contains(';'));
        sql.filter_map(|help| help.split_once('\n').map(|(_, sql)| sql.to_owned())).collect::<Vec<_>>().join("\n")
    });
    helps.filter(|sql| !sql.is_empty()).collect()
}

#[test]
fn split_statements_are_clean() {
    let mut checked = 0;
    for name in ["classes-of-or", "scope-in-another-way", "tables-from-ddl", "claim-without-scope"] {
        let text = fs::read_to_string(cases().join("sql").join(format!("{name}.sql"))).unwrap();
        // Tables that only DDL describes are not known without it.
        let ddl: String = text.split_inclusive(';').filter(|part| part.contains("CREATE TABLE")).collect();
        for mend in mends(&text) {
            let report = lint_text(&format!("{ddl}\n{mend}"), "sql");
            let left = ["claim-or-branch", "claim-state-list", "claim-without-scope", "scope-inside-or"];
            let found: Vec<&str> = rules(&report).into_iter().filter(|rule| left.contains(rule)).collect();
            assert!(found.is_empty(), "{found:?} in the mend of {name}:\n{mend}");
            checked += 1;
        }
    }
    assert!(checked >= 8, "only {checked} mends were found");
}

/// The index that is printed makes the finding go away, in the words of the database it is for.
#[test]
fn printed_indexes_serve() {
    let table = "CREATE TABLE mail_queue (id BIGINT PRIMARY KEY, app_code VARCHAR(32) NOT NULL, status VARCHAR(20) NOT NULL, \
        created_at DATETIME NOT NULL, next_retry_at DATETIME NOT NULL);";
    for claim in [
        "SELECT id FROM mail_queue WHERE app_code = ? AND status = 'new' ORDER BY created_at, id LIMIT 10 FOR UPDATE SKIP LOCKED;",
        "SELECT id FROM mail_queue WHERE app_code = ? AND status = 'new' AND next_retry_at <= ? ORDER BY next_retry_at, id LIMIT 10 FOR UPDATE SKIP LOCKED;",
    ] {
        let report = lint_text(&format!("{table}\n{claim}"), "sql");
        assert_eq!(rules(&report), ["claim-without-index"]);
        let helps = &report.findings[0].help;
        assert!(!helps.is_empty());
        for help in helps {
            let (_, index) = help.split_once('\n').unwrap();
            let served = lint_text(&format!("{table}\n{index}\n{claim}"), "sql");
            assert_eq!(rules(&served), Vec::<&str>::new(), "{index}");
        }
    }
}
