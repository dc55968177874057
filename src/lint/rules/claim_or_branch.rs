//! The claim of the incident: several ways to be due, joined by OR.

use super::super::branches::{Class, classify};
use super::super::claim::{Claim, Reading};
use super::super::mend;
use super::super::predicate::Condition;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Error High "claim-or-branch" "a claim joins several states, or a state and a time, by OR"
    does "Reports claims whose WHERE joins conditions by OR that need different ranges of an index: pending rows, retries that are due, leases that have expired."
    why "No index has an order in which the rows of all branches stand together. The database reads all rows of all branches (or, past some thousand, the whole table), sorts them, and only then takes its LIMIT; on MySQL and MariaDB it locks what it read, so that a second worker gets nothing and enqueue waits. Measured with 1,000,000 rows: 601,095 read and 246,324 locked for 100. Split into one statement for each branch, each reads 100."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ?\n  AND (status = 'pending'\n    OR (status = 'retryable' AND next_retry_at_ms <= 1700000000000)\n    OR (status = 'delivering' AND lock_until_ms <= 1700000000000))\nORDER BY created_at_ms, event_id\nLIMIT 100\nFOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;\n\nSELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'retryable' AND next_retry_at_ms <= 1700000000000\nORDER BY next_retry_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;\n\nSELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'delivering' AND lock_until_ms <= 1700000000000\nORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The table is small and stays so."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() && !reading.may_be_claim() {
        return;
    }
    let mut within: Option<crate::diagnostic::Span> = None;
    for or in reading.filter().iter().flat_map(Condition::ors) {
        // An OR inside a reported one is part of it.
        let inside = within.is_some_and(|outer| outer.start <= or.expr.span.start && or.expr.span.end <= outer.end);
        if inside || classify(or, &reading.known.roles) != Class::StateMix {
            continue;
        }
        within = Some(or.expr.span);
        let name = reading.name();
        let verb = if reading.claim == Some(Claim::Update) { "UPDATE" } else { "claim" };
        let message = format!("this {verb} on `{name}` joins {} ways to find rows by OR", or.branches.len());
        let mut finding = Found::new(&CHECK, or.expr.span, message)
            .label("no index gives the rows of all branches in one order: they are all read and sorted");
        for branch in or.branches.iter().take(4) {
            finding = finding.related(branch.span(), "");
        }
        let beside_and = or.branches.iter().any(|branch| matches!(branch, Condition::All(_)));
        if !or.expr.parenthesised && beside_and && reading.is_root(or.expr) {
            finding = finding.help(
                "AND binds tighter than OR: a scope that is put before this condition without parentheses holds for its \
                 first branch only, and leaks the rows of other tenants through the others",
            );
        }
        for help in mend::split(reading, or, context) {
            finding = finding.help(help);
        }
        found.push(finding);
    }
}
