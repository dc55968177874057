//! A locking claim has no LIMIT.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Error High "claim-without-limit" "a locking claim has no LIMIT"
    does "Reports locking reads of a queue by state or time without LIMIT, TOP or FETCH FIRST."
    why "The first worker locks the whole backlog; the others get nothing, and a crash loses the work of all of it."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "A cursor fetches a bounded number of rows."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let block = reading.block;
    let open = block.gaps.tail || block.set_operation;
    let lock = block.lock.as_ref().or(reading.table.lock_hint.as_ref());
    let (Some(Claim::Lock), None, Some(lock), false) = (reading.claim, &block.limit, lock, open) else { return };
    let message = format!("this claim on `{}` locks every row that it finds", reading.name());
    found.push(Found::new(&CHECK, lock.span, message).label("without LIMIT").help("add ORDER BY and LIMIT"));
}
