//! A claim is ordered otherwise than the index that finds its rows.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use super::super::service::{Service, service};

check! {
    Warning High "claim-order-off-index" "a claim is ordered otherwise than the index that finds its rows"
    does "Reports claims for whose conditions there is an index, but not for their ORDER BY."
    why "All rows that are due are read and sorted before the first is returned: 567 for 100 on a quiet day, 601,095 once 200,000 are due, measured."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'retryable' AND next_retry_at_ms <= ?\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'retryable' AND next_retry_at_ms <= ?\nORDER BY next_retry_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Few rows can be due at a time."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let Some(Service::Unordered { index, order }) = service(reading, context) else { return };
    let (Some(first), Some(last)) = (reading.block.order.first(), reading.block.order.last()) else { return };
    let span = crate::diagnostic::Span { start: first.expr.span.start, end: last.expr.span.end };
    let message = format!("this claim on `{}` is not ordered as `{index}` is: its rows are sorted", reading.name());
    found.push(Found::new(&CHECK, span, message).help(format!("ORDER BY {}", order.join(", "))));
}
