//! Each row of the measurements in the design's tables of claims and of retention: what was measured as bad is found by the
//! rule that says why, and what was measured as good is silent. The indexes are those of the measurement.

use claimsmith::lint::{self, Report, files};
use claimsmith::schema::Catalog;

use super::{options, rules};

const R5: &str = "KEY r5 (app_code, status, next_retry_at_ms, created_at_ms, event_id)";
const L5: &str = "KEY l5 (app_code, status, lock_until_ms, created_at_ms, event_id)";
const U4: &str = "KEY u4 (app_code, status, updated_at_ms, event_id)";
const P4: &str = "KEY p4 (app_code, status, created_at_ms, event_id)";
const R4: &str = "KEY r4 (app_code, status, next_retry_at_ms, event_id)";
const L4: &str = "KEY l4 (app_code, status, lock_until_ms, event_id)";
const SU: &str = "KEY su (status, updated_at_ms, event_id)";
const SEED: &[&str] = &[R5, L5, U4];

/// Lints a statement beside its table, for one database.
fn lint_on(dialect: &str, indexes: &[&str], statement: &str) -> Report {
    let keys: String = indexes.iter().map(|index| format!(", {index}")).collect();
    let table = format!(
        "CREATE TABLE wallet_outbox (app_code VARCHAR(32) NOT NULL, event_id VARCHAR(64) NOT NULL, status VARCHAR(20) NOT NULL, \
         worker_id VARCHAR(64), created_at_ms BIGINT NOT NULL, updated_at_ms BIGINT NOT NULL, next_retry_at_ms BIGINT, \
         lock_until_ms BIGINT, PRIMARY KEY (app_code, event_id){keys});\n{statement};"
    );
    lint::run(&[files::input(format!("{dialect}/case.sql"), table, "sql")], &Catalog::default(), &options())
}

const THREE: &str = "(status = 'pending' OR (status = 'retryable' AND next_retry_at_ms <= 1) OR (status = 'delivering' AND lock_until_ms <= 1))";

fn claim(condition: &str, order: &str) -> String {
    format!("SELECT event_id FROM wallet_outbox WHERE {condition} ORDER BY {order} LIMIT 100 FOR UPDATE SKIP LOCKED")
}

fn scoped(condition: &str, order: &str) -> String {
    claim(&format!("app_code = 'shop' AND {condition}"), order)
}

type Case<'a> = (&'a str, &'a [&'a str], String, &'a [&'a str]);

fn check(cases: &[Case<'_>]) {
    for (row, indexes, statement, expected) in cases {
        let (row, dialect) = row.split_once(' ').unwrap_or((row, "mysql"));
        let report = lint_on(dialect, indexes, statement);
        assert_eq!(rules(&report), *expected, "row {row} on {dialect}: {statement}");
    }
}

#[test]
fn rows_of_the_table_of_claims() {
    let pending = "status = 'pending'";
    let due = "status = 'retryable' AND next_retry_at_ms <= 1";
    let expired = "status = 'delivering' AND lock_until_ms <= 1";
    let update = "UPDATE wallet_outbox SET status = 'delivering', worker_id = 'a' WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms LIMIT 100";
    check(&[
        ("1", &[], scoped(THREE, "created_at_ms"), &["claim-or-branch"]),
        ("2", SEED, scoped(THREE, "created_at_ms"), &["claim-or-branch"]),
        ("3", SEED, claim(THREE, "created_at_ms"), &["claim-without-scope", "claim-or-branch"]),
        ("4", SEED, scoped(pending, "created_at_ms, event_id"), &["claim-without-index"]),
        ("5", SEED, scoped(&format!("{pending} AND next_retry_at_ms IS NULL"), "created_at_ms, event_id"), &[]),
        ("5 mariadb", SEED, scoped(&format!("{pending} AND next_retry_at_ms IS NULL"), "created_at_ms, event_id"), &[]),
        (
            "5 postgres",
            SEED,
            scoped(&format!("{pending} AND next_retry_at_ms IS NULL"), "created_at_ms, event_id"),
            &["claim-without-index"],
        ),
        ("6", &[P4], scoped(pending, "created_at_ms, event_id"), &[]),
        ("6 postgres", &[P4], scoped(pending, "created_at_ms, event_id"), &[]),
        ("7", SEED, scoped(due, "created_at_ms, event_id"), &["claim-order-off-index"]),
        ("8", SEED, scoped(due, "next_retry_at_ms, created_at_ms, event_id"), &[]),
        ("9", &[R4], scoped(due, "next_retry_at_ms, event_id"), &[]),
        ("10", &[R4], scoped(due, "next_retry_at_ms, created_at_ms, event_id"), &["claim-order-off-index"]),
        ("11", &[L4], scoped(expired, "lock_until_ms, event_id"), &[]),
        ("12", SEED, scoped("status IN ('pending', 'retryable')", "created_at_ms"), &["claim-state-list"]),
        ("12", &[P4, R4, L4], scoped("status IN ('pending', 'retryable')", "created_at_ms"), &["claim-state-list"]),
        ("13", SEED, scoped("status <> 'delivered'", "created_at_ms"), &["claim-negated-state"]),
        ("14", &[P4], update.to_owned(), &["claim-by-update"]),
        // Counts are no claims: what they cost is said where they are generated.
        ("15", &[U4], "SELECT status, COUNT(*) FROM wallet_outbox GROUP BY status".to_owned(), &[]),
        (
            "16",
            &[P4],
            "SELECT MIN(created_at_ms) FROM wallet_outbox WHERE app_code = 'shop' AND status = 'pending'".to_owned(),
            &[],
        ),
    ]);
}

fn copy(condition: &str) -> String {
    format!(
        "INSERT INTO wallet_outbox_archive (app_code, event_id) SELECT app_code, event_id FROM wallet_outbox WHERE {condition} \
         AND updated_at_ms < 1 ORDER BY updated_at_ms, event_id LIMIT 10000"
    )
}

fn delete(condition: &str) -> String {
    format!(
        "DELETE FROM wallet_outbox WHERE {condition} AND updated_at_ms < 1 AND EXISTS (SELECT 1 FROM wallet_outbox_archive a \
         WHERE a.app_code = wallet_outbox.app_code AND a.event_id = wallet_outbox.event_id) LIMIT 10000"
    )
}

#[test]
fn rows_of_the_table_of_retention() {
    let (list, one) = ("status IN ('delivered', 'dead')", "status = 'delivered'");
    let scoped = "app_code = 'shop' AND status = 'delivered'";
    check(&[
        ("1", &[U4], copy(list), &["retention-state-list"]),
        ("2", &[U4], delete(list), &["archive-unmatched-delete", "retention-state-list"]),
        ("3", &[U4], copy(scoped), &[]),
        ("4", &[U4], delete(scoped), &["archive-unmatched-delete"]),
        ("5", &[SU], copy(one), &[]),
        ("6", &[SU], delete(one), &["archive-unmatched-delete"]),
        // The index of the age is led by what the statement pins, or is of no use.
        ("5", &[U4], copy(one), &["retention-without-index"]),
        ("3", &[P4], copy(scoped), &["retention-without-index"]),
        // By the keys that were picked.
        ("good", &[U4], "DELETE w FROM wallet_outbox w JOIN batch_keys k USING (app_code, event_id) JOIN wallet_outbox_archive a USING (app_code, event_id)".to_owned(), &[]),
    ]);
}

/// What the text around the tables says of further statements.
#[test]
fn what_was_measured_beside_the_tables() {
    let pending = "WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED";
    let hinted = |index: &str| format!("SELECT event_id FROM wallet_outbox FORCE INDEX ({index}) {pending}");
    let ignore = "INSERT IGNORE INTO wallet_outbox_archive SELECT * FROM wallet_outbox WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < 1 ORDER BY updated_at_ms, event_id LIMIT 10000";
    let clock = "SELECT event_id FROM wallet_outbox WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < UNIX_TIMESTAMP(UTC_TIMESTAMP(3)) * 1000 ORDER BY updated_at_ms, event_id LIMIT 10";
    let materialized = format!(
        "WITH c AS MATERIALIZED (SELECT app_code, event_id FROM wallet_outbox {pending}) UPDATE wallet_outbox w SET status = 'delivering' FROM c WHERE w.app_code = c.app_code AND w.event_id = c.event_id RETURNING w.event_id"
    );
    let joined = format!(
        "UPDATE wallet_outbox w JOIN (SELECT app_code, event_id FROM wallet_outbox {pending}) d USING (app_code, event_id) SET w.status = 'delivering', w.worker_id = 'a'"
    );
    let by_row = "UPDATE wallet_outbox SET status = 'delivering', worker_id = 'a' WHERE rowid IN (SELECT rowid FROM wallet_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100) RETURNING event_id";
    check(&[
        ("forced", &[P4, R5], hinted("p4"), &[]),
        ("shape", &[P4, R5], hinted("r5"), &["force-index-mismatch"]),
        ("name", &[P4, R5], hinted("p5"), &["force-index-unknown"]),
        ("seed", &[U4], ignore.to_owned(), &["insert-ignore-hides-errors", "archive-select-star"]),
        ("clock", &[U4], clock.to_owned(), &["utc-in-unix-timestamp"]),
        ("CTE postgres", &[P4], materialized, &[]),
        ("join mysql", &[P4], joined, &[]),
        ("rowid sqlite", &[P4], by_row.to_owned(), &[]),
    ]);
}
