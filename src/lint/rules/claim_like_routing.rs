//! A claim chooses its rows by a pattern.

use super::super::claim::Reading;
use super::super::predicate::{Condition, TestKind};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "claim-like-routing" "a claim chooses its rows by a pattern"
    does "Reports claims with LIKE, a regular expression or the beginning of a column, other than on the scope."
    why "A pattern is a range at best: no later column of an index narrows or orders what it finds, and rows of other patterns are read and skipped, more of them each day."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending' AND event_type LIKE 'order.%'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending' AND event_type = 'order.created'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Nearly all rows match."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() {
        return;
    }
    let tests = reading.filter().iter().flat_map(Condition::tests).filter(|test| test.kind == TestKind::Like);
    for test in tests {
        let Some(column) =
            test.column.as_deref().filter(|column| !reading.known.scope.iter().any(|scope| scope == column))
        else {
            continue;
        };
        // Without a wildcard it is an equality.
        if test.text().is_some_and(|text| !text.contains(['%', '_', '*', '?', '.', '^', '$', '['])) {
            continue;
        }
        let message = format!("this claim on `{}` chooses rows by a pattern of `{column}`", reading.name());
        let finding = Found::new(&CHECK, test.expr.span, message).label("rows of other patterns are read and skipped");
        found.push(finding.help(
            "a column that holds the route, compared by equality and in the index (`claim.lane` of the definition)",
        ));
    }
}
