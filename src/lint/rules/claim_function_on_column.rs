//! A claim computes with a column before it compares it.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ExprKind;

check! {
    Warning High "claim-function-on-column" "a claim computes with a column before it compares it"
    does "Reports claims in which a state, a time or another column by which rows are found stands inside a function or an arithmetic expression."
    why "The index holds the column and not the result: every row of the range is read and computed."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'delivering' AND lock_until_ms + 30000 <= ?\nORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'delivering' AND lock_until_ms <= ? - 30000\nORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "An index on the expression exists."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() || reading.has_index_of_unknown_use() {
        return;
    }
    for test in reading.tests().filter(|test| test.column.is_none()) {
        let ExprKind::Compare(_, left, right) = &test.expr.kind else { continue };
        let computed = |kind: &ExprKind| matches!(kind, ExprKind::Call { .. } | ExprKind::Calc(_));
        let side = [left, right].into_iter().find(|side| computed(&side.kind) && reading.mentions_any(side));
        let other = if side.is_some_and(|side| std::ptr::eq(&**side, &**left)) { right } else { left };
        let search = test.mentions.iter().find(|column| reading.known.roles.is_search(column));
        let (Some(side), Some(column), false) = (side, search, reading.mentions_any(other)) else { continue };
        let message = format!("this claim on `{}` computes with `{column}` before it compares it", reading.name());
        found.push(
            Found::new(&CHECK, side.span, message)
                .label("no index holds this")
                .help("move the computation to the other side"),
        );
    }
}
