//! A time in UTC is read as a time of the session.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ExprKind;

check! {
    Error High "utc-in-unix-timestamp" "a time in UTC is read as a time of the session"
    does "Reports `UNIX_TIMESTAMP(UTC_TIMESTAMP())`."
    why "UNIX_TIMESTAMP takes its argument for a time in the session's zone: at +08:00 the result is 8 hours off, and leases and retention with it."
    bad "-- `mysql`\nDELETE FROM order_outbox WHERE app_code = ? AND status = 'delivered' AND updated_at_ms < UNIX_TIMESTAMP(UTC_TIMESTAMP(3)) * 1000 LIMIT 1000;"
    good "-- `mysql`\nDELETE FROM order_outbox WHERE app_code = ? AND status = 'delivered' AND updated_at_ms < TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 LIMIT 1000;"
    allow "Every session runs in UTC, and always will."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if !reading.known.queue {
        return;
    }
    let is = |name: &str, wanted: &str| name.eq_ignore_ascii_case(wanted);
    for expr in reading.expressions() {
        expr.any(&mut |part| {
            let ExprKind::Call { name, arguments } = &part.kind else { return false };
            let utc = |part: &crate::sql::Expr| match &part.kind {
                ExprKind::Call { name, .. } | ExprKind::Constant(name) => is(name, "utc_timestamp"),
                _ => false,
            };
            if is(name, "unix_timestamp") && arguments.iter().any(|argument| argument.any(&mut { utc })) {
                let finding = Found::new(&CHECK, part.span, "a time in UTC is read as a time of the session");
                found.push(finding.help("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000"));
            }
            false
        });
    }
}
