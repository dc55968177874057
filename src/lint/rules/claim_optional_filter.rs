//! `? IS NULL OR column = ?`.

use super::super::branches::{Class, classify};
use super::super::claim::Reading;
use super::super::predicate::Condition;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning Medium "claim-optional-filter" "a claim has a filter that a parameter switches off"
    does "Reports claims with `? IS NULL OR column = ?`."
    why "The plan must be right for both cases and is so for neither: the column cannot be an equality of an index."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending' AND (? IS NULL OR event_type = ?)\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending' AND event_type = ?\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Every caller passes the parameter, and the filter narrows little."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() {
        return;
    }
    for or in reading.filter().iter().flat_map(Condition::ors) {
        let mentions =
            |scope: &String| or.branches.iter().flat_map(Condition::tests).any(|test| test.mentions.contains(scope));
        if classify(or, &reading.known.roles) != Class::OptionalFilter || reading.known.scope.iter().any(mentions) {
            continue;
        }
        let message = format!("this claim on `{}` has a filter that a parameter switches off", reading.name());
        let finding = Found::new(&CHECK, or.expr.span, message).label("one plan for two questions");
        found.push(finding.help("two statements, one with the filter and one without it"));
    }
}
