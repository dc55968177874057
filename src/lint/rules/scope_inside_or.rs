//! A scope that only some branches of an OR have.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Error High "scope-inside-or" "the scope is pinned in some branches of an OR only"
    does "Reports claims whose scope stands inside an OR of which another branch does not pin it. AND binds tighter than OR: `app_code = ? AND a OR b` is `(app_code = ? AND a) OR b`."
    why "Rows of other tenants come through the branch without the scope, and the statement reads as if it were safe."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending' OR lock_until_ms <= 1700000000000\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'delivering' AND lock_until_ms <= 1700000000000\nORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Never: put the scope outside the OR, or into each branch."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() {
        return;
    }
    for scope in &reading.known.scope {
        if reading.pins(scope, &|test| test.is_choice()) {
            continue;
        }
        let ors = reading.filter().iter().flat_map(super::super::predicate::Condition::ors);
        let partial =
            ors.into_iter().find(|or| or.branches.iter().any(|branch| branch.pins(scope, &|test| test.is_pin())));
        let Some(or) = partial else { continue };
        // A guard such as `? IS NULL OR app_code = ?` is not a slip of precedence, and has a rule of its own.
        if or.branches.iter().any(|branch| branch.tests().iter().all(|test| test.mentions.is_empty())) {
            continue;
        }
        let Some(open) = or.branches.iter().find(|branch| !branch.pins(scope, &|test| test.is_choice())) else {
            continue;
        };
        let message = format!("a branch of this OR does not pin `{scope}`: rows of every `{scope}` come through it");
        let finding = Found::new(&CHECK, open.span(), message).label(format!("without `{scope}`"));
        let finding = match or.expr.parenthesised {
            true => finding,
            false => {
                finding.help("AND binds tighter than OR: what stands before this OR does not hold for what follows it")
            }
        };
        found
            .push(finding.help(format!("write `{scope} = ? AND (…)` around the whole condition, or into each branch")));
    }
}
