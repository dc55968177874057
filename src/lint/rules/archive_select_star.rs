//! Rows are copied into an archive by position.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ExprKind;
use crate::sql::ast::Role;

check! {
    Warning High "archive-select-star" "rows are copied into an archive by position"
    does "Reports `INSERT … SELECT *` from a queue."
    why "A column that is added in another place shifts the values, and one that only one of the tables has breaks the copy."
    bad "INSERT INTO order_outbox_archive SELECT * FROM order_outbox WHERE app_code = ? AND event_id IN (?);"
    good "INSERT INTO order_outbox_archive (app_code, event_id) SELECT app_code, event_id FROM order_outbox WHERE app_code = ? AND event_id IN (?);"
    allow "Never: name the columns."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if reading.block.role != Role::Source || !reading.known.queue {
        return;
    }
    if let Some(star) = reading.block.items.iter().find(|item| matches!(item.kind, ExprKind::Star)) {
        let message = format!("rows of `{}` are copied by the position of their columns", reading.name());
        found.push(Found::new(&CHECK, star.span, message).help("name the columns on both sides"));
    }
}
