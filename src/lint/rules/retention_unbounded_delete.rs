//! A DELETE removes all old rows at once.

use super::super::claim::Reading;
use super::super::predicate::TestKind;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::Verb;

check! {
    Error High "retention-unbounded-delete" "a DELETE removes all old rows at once"
    does "Reports DELETEs on a queue by state or age without a bound."
    why "It locks every row that it reads until it commits, and replicas and backups wait for one long transaction: 578,267 locks for 10,000 rows, measured."
    bad "DELETE FROM order_outbox WHERE app_code = ? AND status = 'delivered' AND updated_at_ms < ?;"
    good "DELETE FROM order_outbox WHERE app_code = ? AND event_id IN (?);"
    allow "The table is small, or the statement runs once by hand."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (block, known) = (reading.block, reading.known);
    let open = block.limit.is_some() || block.gaps.filter || block.gaps.tail || block.gaps.from;
    if block.verb != Verb::Delete || !known.queue || !reading.is_changed() || open || reading.is_keyed() {
        return;
    }
    let by_age = |column: &str| {
        column.ends_with("_at") || column.contains("_at_") || column.contains("date") || known.roles.is_time(column)
    };
    let old = reading.all_tests().into_iter().any(|test| {
        let column = test.column.as_deref();
        let below = test.kind == TestKind::Below;
        column.is_some_and(|column| known.roles.is_state(column) || below && by_age(column))
            || test.mentions.iter().any(|column| by_age(column))
    });
    if !old {
        return;
    }
    let message = format!("this DELETE removes all old rows of `{}` in one transaction", reading.name());
    let finding = Found::new(&CHECK, block.head, message).label("without a bound");
    found.push(
        finding.help(
            "SELECT a batch of keys in the order of age, then DELETE by key, until fewer than the batch come back",
        ),
    );
}
