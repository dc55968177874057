//! A claim says which states it does not want.

use super::super::claim::Reading;
use super::super::predicate::TestKind;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "claim-negated-state" "a claim says which states it does not want"
    does "Reports claims with `status <> 'done'` or `status NOT IN (…)`."
    why "What is left are several ranges of the index, so that the order is lost; and every state that is added later is taken as work."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status <> 'delivered'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "A partial index has the same condition."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() || reading.has_index_of_unknown_use() {
        return;
    }
    for test in reading.tests().filter(|test| matches!(test.kind, TestKind::NotEqual | TestKind::NotIn)) {
        if test.column.as_deref().is_some_and(|column| reading.known.roles.is_state(column)) {
            let message = format!("this claim on `{}` says which states it does not want", reading.name());
            found.push(Found::new(&CHECK, test.expr.span, message).help("one statement for each state that is wanted"));
        }
    }
}
