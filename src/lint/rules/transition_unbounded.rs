//! An UPDATE moves all rows of a state at once.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning Medium "transition-unbounded" "an UPDATE moves all rows of a state at once"
    does "Reports UPDATEs of a queue by state or time, and not by key, without a bound."
    why "It locks every row that it reads until it commits; a backlog makes it a long transaction that workers wait for."
    bad "UPDATE order_outbox SET status = 'retryable', worker_id = NULL\nWHERE app_code = ? AND status = 'delivering' AND lock_until_ms <= ?;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'delivering' AND lock_until_ms <= ?\nORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;\n\nUPDATE order_outbox SET status = 'retryable', worker_id = NULL\nWHERE app_code = ? AND event_id IN (?);"
    allow "Few rows can be in the state."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let block = reading.block;
    let open = block.limit.is_some() || block.gaps.filter || block.gaps.tail || block.gaps.from;
    if reading.claim != Some(Claim::Update) || open {
        return;
    }
    let message = format!("this UPDATE of `{}` moves all rows of a state in one transaction", reading.name());
    let finding = Found::new(&CHECK, block.head, message).label("without a bound");
    found.push(finding.help(
        "SELECT a batch of keys FOR UPDATE SKIP LOCKED, then UPDATE by key, until fewer than the batch come back",
    ));
}
