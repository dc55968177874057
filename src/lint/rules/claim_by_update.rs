//! A claim is an UPDATE with LIMIT.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "claim-by-update" "a claim is an UPDATE with LIMIT"
    does "Reports `UPDATE … WHERE status = … LIMIT n` on a queue."
    why "No UPDATE skips locked rows: a second worker waits until error 1205, and near an empty queue 395 deadlocks in 10 s were measured. Both MySQL and MariaDB ignored the perfect index: 241,401 rows read."
    bad "UPDATE order_outbox SET status = 'delivering', worker_id = ?\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;\n\nUPDATE order_outbox SET status = 'delivering', worker_id = ?\nWHERE app_code = ? AND event_id IN (?);"
    allow "One worker only."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (Some(Claim::Update), Some(limit)) = (reading.claim, &reading.block.limit) else { return };
    if reading.table.lock_hint.is_some() {
        return;
    }
    let message = format!("this UPDATE of `{}` takes rows and cannot skip locked ones", reading.name());
    let finding = Found::new(&CHECK, limit.span, message).label("a second worker waits");
    found.push(finding.help("SELECT the keys FOR UPDATE SKIP LOCKED, then UPDATE by key, in one transaction"));
}
