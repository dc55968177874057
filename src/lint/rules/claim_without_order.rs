//! A claim takes any rows that it finds.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning Medium "claim-without-order" "a claim takes any rows that it finds"
    does "Reports claims with LIMIT and without ORDER BY."
    why "The database returns whatever its plan meets first: old rows can starve while new ones are served, and the plan may change over night."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nLIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Rows may be taken in any order, and the backlog is always worked off."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let block = reading.block;
    let reads = matches!(reading.claim, Some(Claim::Lock | Claim::Poll));
    let Some(limit) = block.limit.as_ref().filter(|_| reads && block.order.is_empty()) else { return };
    if block.gaps.tail || block.set_operation {
        return;
    }
    let message = format!("this claim on `{}` has a LIMIT and no order", reading.name());
    let finding = Found::new(&CHECK, limit.span, message).label("of which rows?");
    found.push(finding.help("ORDER BY what the index is ordered by behind its equalities: the due time or the time of creation, then the key"));
}
