//! Old rows of several states are looked for at once.

use super::super::claim::Reading;
use super::super::retention;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "retention-state-list" "old rows of several states are looked for at once"
    does "Reports copies and removals of old rows of a queue that ask for several states: by IN, by OR, or by those that are not wanted."
    why "No index holds the rows of several states in the order of their age. Copying 10,000 rows with a list of states read the whole table and sorted it, and locked 279,402 rows; with one state it reads 10,000 and locks 20,028."
    bad "INSERT INTO order_outbox_archive (app_code, event_id)\nSELECT app_code, event_id FROM order_outbox\nWHERE app_code = ? AND status IN ('delivered', 'dead') AND updated_at_ms < ?\nORDER BY updated_at_ms, event_id LIMIT 10000;"
    good "INSERT INTO order_outbox_archive (app_code, event_id)\nSELECT app_code, event_id FROM order_outbox\nWHERE app_code = ? AND status = 'delivered' AND updated_at_ms < ?\nORDER BY updated_at_ms, event_id LIMIT 10000;"
    allow "An index has the age before the state, and nearly all rows are of these states."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    if retention::of(reading).is_none() || reading.has_index_of_unknown_use() {
        return;
    }
    let Some(span) = retention::state_list(reading) else { return };
    let message = format!("old rows of `{}` are looked for in several states at once", reading.name());
    let finding = Found::new(&CHECK, span, message).label("no index has the rows of all these states in one order");
    found.push(finding.help("one statement for each state, until fewer rows than the batch come back"));
}
