//! A scope that is tested, but not pinned to one value.

use super::super::claim::Reading;
use super::super::predicate::{Condition, TestKind};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "scope-not-equality" "the scope is tested by something other than an equality"
    does "Reports claims whose scope is tested by LIKE, a range, a function, a list, or a guard that a NULL parameter switches off."
    why "Only an equality lets the index go on to the state and the order; everything else reads the rows of several tenants and sorts them. A guard such as `(? IS NULL OR app_code = ?)` takes the rows of all tenants as soon as a caller forgets the parameter."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code LIKE 'shop%' AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "A short list of tenants is served by one worker on purpose, and the backlog is small."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() {
        return;
    }
    for scope in &reading.known.scope {
        if reading.pins(scope, &|test| test.is_pin() || test.kind == TestKind::InQuery) {
            continue;
        }
        let tests = reading.conditions.iter().flat_map(Condition::tests);
        let mut tests = tests.filter(|test| test.mentions.contains(scope));
        let Some(test) = tests.next() else { continue };
        let guard = reading.filter().iter().flat_map(Condition::ors).any(|or| {
            or.branches.iter().any(|branch| branch.pins(scope, &|test| test.is_pin()))
                && or.branches.iter().any(|branch| branch.tests().iter().all(|test| test.mentions.is_empty()))
        });
        // The branches of an OR that lack it are found elsewhere.
        if test.is_pin() && !guard {
            continue;
        }
        let what = match test.kind {
            _ if guard || test.is_optional() => "is not pinned when the parameter is NULL",
            TestKind::Like => "is tested by a pattern",
            TestKind::In(_) => "may have several values",
            TestKind::NotEqual | TestKind::NotIn | TestKind::NotNull => "is only told what it is not",
            TestKind::Below | TestKind::Above => "is tested by a range",
            _ => "stands inside an expression",
        };
        let finding = Found::new(&CHECK, test.expr.span, format!("`{scope}` {what}")).label("no equality");
        found.push(finding.help(format!("write `{scope} = ?`, and run the claim once for each `{scope}`")));
    }
}
