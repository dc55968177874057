//! A locking claim skips rows by OFFSET.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "claim-offset" "a locking claim skips rows by OFFSET"
    does "Reports locking claims with OFFSET."
    why "The rows that are skipped are read, and on MySQL and MariaDB locked, each time."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 OFFSET 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Never: SKIP LOCKED shares the rows among workers."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (Some(Claim::Lock), Some(offset)) = (reading.claim, &reading.block.offset) else { return };
    if offset.number == Some(0) {
        return;
    }
    let message = format!("this claim on `{}` reads and locks rows only to skip them", reading.name());
    found.push(
        Found::new(&CHECK, offset.span, message).help("leave OFFSET out: SKIP LOCKED shares the rows among workers"),
    );
}
