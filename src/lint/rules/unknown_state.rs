//! A statement names a state that the table does not have.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::Span;
use crate::diagnostic::suggest::closest;
use crate::sql::ExprKind;

check! {
    Error High "unknown-state" "a statement names a state that the table does not have"
    does "Compares the texts that are compared with the state column, or written into it, with the states of the definition."
    why "The comparison is never true, or the row is never found again."
    bad "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pendign' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The definition lacks a state that other programs write."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let roles = &reading.known.roles;
    if roles.states().is_empty() {
        return;
    }
    let mut texts: Vec<(&str, Span)> = Vec::new();
    for test in reading
        .all_tests()
        .into_iter()
        .filter(|test| test.column.as_deref().is_some_and(|column| roles.is_state(column)))
    {
        match &test.expr.kind {
            ExprKind::In { list, .. } => texts.extend(list.iter().filter_map(|item| text(item))),
            _ => texts.extend(test.value.and_then(text)),
        }
    }
    let sets =
        reading.block.set.iter().filter(|set| reading.is_changed() && roles.is_state(&set.column.to_lowercase()));
    texts.extend(sets.filter_map(|set| set.value.as_ref().and_then(text)));
    for (state, span) in texts.into_iter().filter(|(state, _)| !roles.states().iter().any(|known| known == state)) {
        let mut finding = Found::new(&CHECK, span, format!("`{}` has no state '{state}'", reading.name()));
        finding = match closest(state, roles.states().iter().map(|state| &**state)) {
            Some(closest) => finding.help(format!("did you mean '{closest}'?")),
            None => finding.help(format!("its states are '{}'", roles.states().join("', '"))),
        };
        found.push(finding);
    }
}

/// A text that is certain, with its place.
fn text(expr: &crate::sql::Expr) -> Option<(&str, Span)> {
    match &expr.kind {
        ExprKind::Text(text) if !text.contains([crate::sql::HOLE, '{', '$', '%', '#']) => Some((text, expr.span)),
        _ => None,
    }
}
