//! A claim asks for all columns.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ExprKind;

check! {
    Note High "claim-select-star" "a claim asks for all columns"
    does "Reports claims that SELECT *."
    why "A column that is added later comes along, payloads included, and code that reads by position breaks."
    bad "SELECT * FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The code maps columns by name and wants all of them."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if !matches!(reading.claim, Some(Claim::Lock | Claim::Poll)) {
        return;
    }
    if let Some(star) = reading.block.items.iter().find(|item| matches!(item.kind, ExprKind::Star)) {
        let message = format!("this claim on `{}` asks for all columns", reading.name());
        found.push(Found::new(&CHECK, star.span, message).help("name the columns"));
    }
}
