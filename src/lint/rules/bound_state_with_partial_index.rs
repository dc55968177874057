//! A state is a parameter where the index has it as a condition.

use super::super::claim::Reading;
use super::super::predicate::TestKind;
use super::super::rule::{Context, Found, Judge, check};
use super::super::service::{Service, service};

check! {
    Warning High "bound-state-with-partial-index" "a state is a parameter where the index has it as a condition"
    does "Reports claims with `status = $1` on a table whose index for the claim is a partial one."
    why "A generic plan cannot know that the parameter is the state of the index, and does without it: 66,659 rows sorted, measured."
    bad "-- for postgres: $1::text\nSELECT event_id FROM order_outbox\nWHERE app_code = $1 AND status = $2\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = $1 AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The driver puts values into the text itself."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let Some(Service::BoundState { index }) = service(reading, context) else { return };
    let state = |column: &str| reading.known.roles.is_state(column);
    let Some(test) =
        reading.tests().find(|test| test.kind == TestKind::Equal && test.column.as_deref().is_some_and(state))
    else {
        return;
    };
    let message = format!("`{index}` cannot be used: it holds one state, and this one is a parameter");
    found.push(
        Found::new(&CHECK, test.expr.span, message).help("write the state into the statement, one statement for each"),
    );
}
