//! Rows are copied into an archive with IGNORE or REPLACE.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ast::Role;

check! {
    Warning High "insert-ignore-hides-errors" "rows are copied into an archive with IGNORE or REPLACE"
    does "Reports `INSERT IGNORE … SELECT`, `INSERT OR IGNORE … SELECT` and `REPLACE … SELECT` from a queue."
    why "IGNORE turns errors into warnings: values are cut to fit, NULL becomes 0, and a row that was archived before keeps its old version; then the original is deleted. Each of the three lost data in a test."
    bad "INSERT IGNORE INTO order_outbox_archive (app_code, event_id) SELECT app_code, event_id FROM order_outbox WHERE app_code = ? AND event_id IN (?);"
    good "INSERT INTO order_outbox_archive (app_code, event_id) SELECT app_code, event_id FROM order_outbox WHERE app_code = ? AND event_id IN (?)\nON DUPLICATE KEY UPDATE event_id = order_outbox.event_id;"
    allow "Never: an upsert of every column does what is meant."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let parent = reading.block.parent.and_then(|at| reading.statement.blocks.get(at));
    let Some(lossy) = parent.and_then(|parent| parent.lossy) else { return };
    if reading.block.role == Role::Source && reading.known.queue {
        let message = format!("this copy of rows of `{}` hides what cannot be copied", reading.name());
        found.push(
            Found::new(&CHECK, lossy, message)
                .help("an upsert of every column instead, so that the newer version wins"),
        );
    }
}
