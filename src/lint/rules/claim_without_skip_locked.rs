//! A locking claim waits for other workers.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ast::Wait;

check! {
    Warning High "claim-without-skip-locked" "a locking claim waits for other workers"
    does "Reports locking claims without SKIP LOCKED, NOWAIT or READPAST."
    why "Every worker asks for the same first rows and waits until the one before has committed: ten workers do the work of one."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "One worker only, or all of them take an advisory lock before."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let (Some(Claim::Lock), Some(lock)) = (reading.claim, &reading.block.lock) else { return };
    let hint = reading.table.lock_hint.as_ref().is_some_and(|hint| hint.wait != Wait::Block);
    if lock.wait != Wait::Block || hint || reading.block.gaps.tail || reading.takes_back() {
        return;
    }
    let text = context.of(reading.statement.span).to_ascii_lowercase();
    if ["advisory", "get_lock("].iter().any(|lock| text.contains(lock)) {
        return;
    }
    let message = format!("this claim on `{}` waits for the rows of other workers", reading.name());
    let clause = context.of(lock.span);
    let finding = Found::new(&CHECK, lock.span, message).help(format!("{clause} SKIP LOCKED"));
    // LOCK IN SHARE MODE cannot skip.
    let skips = clause.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("for"));
    found.push(if skips { finding.insert(lock.span.end, " SKIP LOCKED") } else { finding });
}
