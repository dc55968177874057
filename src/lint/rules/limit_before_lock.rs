//! The lock of a claim stands before its LIMIT.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::{Edit, Span};

check! {
    Error High "limit-before-lock" "a locking clause stands before LIMIT"
    does "Reports reads of a queue with FOR UPDATE before LIMIT, where the statement is for a database that refuses this order."
    why "MySQL and MariaDB refuse the statement when it runs; PostgreSQL takes both orders, so that a statement which was tried there seems to be right."
    bad "-- `mysql`\nSELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id FOR UPDATE SKIP LOCKED LIMIT 100;"
    good "-- `mysql`\nSELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The statement is for PostgreSQL only: say so with `dialects` in the configuration."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let block = reading.block;
    let (Some(limit), Some(lock), true) = (&block.limit, &block.lock, reading.known.queue) else { return };
    let meant = context.meant(block);
    let taken = meant.iter().any(|dialect| dialect.engine().lock_before_limit);
    if taken || meant.is_empty() || limit.span.start < lock.span.start {
        return;
    }
    let message = format!("this read of `{}` has its lock before its LIMIT", reading.name());
    let span = Span { start: lock.span.start, end: limit.span.end };
    let between = context.of(Span { start: lock.span.end, end: limit.span.start });
    let mended = format!("{}{between}{}", context.of(limit.span), context.of(lock.span));
    let mut finding = Found::new(&CHECK, span, message).label("refused").help(mended.clone());
    if between.trim().is_empty() {
        finding.fix.push(Edit { span, text: mended });
    }
    found.push(finding);
}
