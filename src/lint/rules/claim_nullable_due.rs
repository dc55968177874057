//! `due IS NULL OR due <= now`.

use super::super::branches::{Class, classify};
use super::super::claim::Reading;
use super::super::predicate::Condition;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "claim-nullable-due" "a claim treats NULL as a time that has come"
    does "Reports claims with `due IS NULL OR due <= now`."
    why "Rows with NULL stand at one end of the index and due rows elsewhere: two ranges, so that the order is lost and all due rows are sorted. A value that means never (0, or the time of creation) makes it one range."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'retryable'\n  AND (next_retry_at_ms IS NULL OR next_retry_at_ms <= 1700000000000)\nORDER BY next_retry_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'retryable' AND next_retry_at_ms <= 1700000000000\nORDER BY next_retry_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The column cannot be changed, and few rows are due at a time."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() {
        return;
    }
    for or in reading.filter().iter().flat_map(Condition::ors) {
        if classify(or, &reading.known.roles) != Class::NullableDue {
            continue;
        }
        let tests: Vec<_> = or.branches.iter().flat_map(Condition::tests).collect();
        let Some(column) = tests.iter().find_map(|test| test.column.as_deref()) else { continue };
        let message = format!("this claim on `{}` takes rows whose `{column}` is NULL or has come", reading.name());
        let finding =
            Found::new(&CHECK, or.expr.span, message).label("two ranges of an index, and an order of neither");
        found.push(finding.help(format!(
            "make `{column}` NOT NULL with a default that has always come (0, or the time of creation), and compare it once"
        )));
    }
}
