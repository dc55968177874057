//! Several states in one claim, as a list.

use crate::sql::ExprKind;

use super::super::branches::{Class, classify};
use super::super::claim::Reading;
use super::super::mend;
use super::super::predicate::{Condition, Test, TestKind};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Error High "claim-state-list" "a claim asks for several states at once and orders the rows"
    does "Reports claims with `status IN ('a', 'b') … ORDER BY`, `status = ANY (…) … ORDER BY`, and the same written as `status = 'a' OR status = 'b'`, unless ORDER BY begins with the state, or a partial index is for just this list."
    why "A list of states is an OR in disguise: an index holds the rows of each state in order, and not those of both. All of them are read and sorted: 5,386 for 100, measured, and the whole table as soon as many are due."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status IN ('pending', 'retryable')\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "A partial index holds exactly the rows of the list, in the order of the claim."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() {
        return;
    }
    let roles = &reading.known.roles;
    for or in reading.filter().iter().flat_map(Condition::ors) {
        if classify(or, roles) == Class::StateList {
            let message = format!("this claim on `{}` asks for {} states at once", reading.name(), or.branches.len());
            let mut finding = Found::new(&CHECK, or.expr.span, message).label("a list of states, written with OR");
            for help in mend::split(reading, or, context) {
                finding = finding.help(help);
            }
            found.push(finding);
        }
    }
    let is_list = |test: &&Test<'_>| {
        let state = test.column.as_deref().is_some_and(|column| roles.is_state(column));
        state && matches!(test.kind, TestKind::In(count) if count != 1)
    };
    let Some(test) = reading.tests().find(is_list) else { return };
    let by_state = reading.block.order.first().is_some_and(|first| match &first.expr.kind {
        ExprKind::Column { name, .. } => roles.is_state(&name.to_lowercase()),
        _ => false,
    });
    if reading.block.order.is_empty() || by_state || reading.has_index_of_unknown_use() {
        return;
    }
    let many = match test.kind {
        TestKind::In(count) if count > 1 => format!("{count} states"),
        _ => "several states".to_owned(),
    };
    let message = format!("this claim on `{}` asks for {many} at once and orders the rows", reading.name());
    let finding = Found::new(&CHECK, test.expr.span, message)
        .label("no index gives the rows of all these states in the order that is asked for");
    found.push(finding.help("one statement for each state, asked in turn until the batch is full"));
}
