//! Old rows are removed whatever their state.

use super::super::claim::Reading;
use super::super::predicate::TestKind;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::Verb;

check! {
    Error Medium "retention-open-states" "old rows are removed whatever their state"
    does "Reports DELETEs on a queue by age alone, or of a state that still has work to be done."
    why "What could not be delivered for a while is lost without a trace."
    bad "DELETE FROM order_outbox WHERE app_code = ? AND updated_at_ms < ? ORDER BY updated_at_ms, event_id LIMIT 1000;"
    good "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'delivered' AND updated_at_ms < ? ORDER BY updated_at_ms, event_id LIMIT 1000 FOR UPDATE SKIP LOCKED;"
    allow "Rows lose their worth with age, whether they were delivered or not."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (block, known) = (reading.block, reading.known);
    if block.verb != Verb::Delete || !known.defined || known.table.claim.is_none() || !reading.is_changed() {
        return;
    }
    if block.gaps.filter || block.gaps.from || reading.is_keyed() {
        return;
    }
    let tests = reading.all_tests();
    let old = tests.iter().find(|test| test.kind == TestKind::Below);
    let state = tests.iter().find(|test| test.mentions.iter().any(|column| known.roles.is_state(column)));
    let (span, message) = match (state, old) {
        (Some(state), _)
            if state.text().is_some_and(|text| known.roles.is_open(text)) && state.kind == TestKind::Equal =>
        {
            (
                state.expr.span,
                format!("this DELETE removes rows of `{}` that still have work to be done", reading.name()),
            )
        }
        (None, Some(old)) => {
            (old.expr.span, format!("this DELETE removes old rows of `{}` whatever their state", reading.name()))
        }
        _ => return,
    };
    found.push(Found::new(&CHECK, span, message).help("pin a finished state, one in each statement"));
}
