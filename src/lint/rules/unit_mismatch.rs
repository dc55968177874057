//! Milliseconds are compared with seconds or with a date.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::{Expr, ExprKind};

check! {
    Error High "unit-mismatch" "milliseconds are compared with seconds or with a date"
    does "Reports columns whose names end in `_ms` that are compared with, or become, `NOW()`, `UNIX_TIMESTAMP()` and their like without a factor of 1,000."
    why "The comparison is always false or always true: rows are due for ever, or never."
    bad "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'delivering' AND lock_until_ms <= UNIX_TIMESTAMP() ORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'delivering' AND lock_until_ms <= ? ORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "A function of your own gives milliseconds under such a name."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if !reading.known.queue {
        return;
    }
    let is_ms = |column: &str| column.ends_with("_ms");
    let tests = reading.all_tests();
    let tests = tests
        .iter()
        .filter_map(|test| Some((test.column.as_deref().filter(|column| is_ms(column))?.to_owned(), test.value?)));
    let sets = reading.block.set.iter().filter(|_| reading.is_changed());
    let sets = sets
        .filter_map(|set| Some((set.column.to_lowercase(), set.value.as_ref()?)))
        .filter(|(column, _)| is_ms(column));
    for (column, value) in tests.chain(sets) {
        if let Some(unit) = unit(value) {
            let message = format!("`{column}` holds milliseconds, and this is {unit}");
            found.push(Found::new(&CHECK, value.span, message));
        }
    }
}

/// What a clock gives, where nothing turns it into milliseconds.
fn unit(value: &Expr) -> Option<&'static str> {
    let scaled = value.any(&mut |part| match &part.kind {
        ExprKind::Number(number) => number.contains("000"),
        ExprKind::Call { name, .. } => ["strftime", "julianday"].iter().any(|own| name.eq_ignore_ascii_case(own)),
        ExprKind::Hole | ExprKind::Opaque => true,
        _ => false,
    });
    if scaled {
        return None;
    }
    let mut found = None;
    value.any(&mut |part| {
        let name = match &part.kind {
            ExprKind::Call { name, .. } => name,
            ExprKind::Constant(name) => name,
            _ => return false,
        };
        found = match name.to_ascii_lowercase().as_str() {
            "unix_timestamp" | "unixepoch" => Some("a number of seconds"),
            "now"
            | "current_timestamp"
            | "utc_timestamp"
            | "getdate"
            | "sysdate"
            | "localtimestamp"
            | "statement_timestamp"
            | "clock_timestamp"
            | "transaction_timestamp" => Some("a date"),
            _ => return false,
        };
        true
    });
    found
}
