//! A claim hands rows over in a user variable.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ExprKind;

check! {
    Warning High "claim-user-variable" "a claim hands rows over in a user variable"
    does "Reports `@v := column` in claims."
    why "The order in which it is evaluated is undefined, and MySQL gives it up (warning 1287)."
    bad "-- `mysql`\nUPDATE order_outbox SET worker_id = ?, status = 'delivering', event_id = (@taken := event_id)\nWHERE app_code = ? AND status = 'pending' LIMIT 1;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Never."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() {
        return;
    }
    for expr in reading.expressions() {
        let mut span = None;
        expr.any(&mut |part| {
            if matches!(part.kind, ExprKind::SetVariable(_)) {
                span.get_or_insert(part.span);
            }
            span.is_some()
        });
        if let Some(span) = span {
            let message = "the order in which this variable is set is undefined";
            return found.push(
                Found::new(&CHECK, span, message).help("SELECT the keys FOR UPDATE SKIP LOCKED, then UPDATE by key"),
            );
        }
    }
}
