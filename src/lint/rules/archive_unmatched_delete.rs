//! Rows are removed that may not be the ones that were copied.

use super::super::claim::Reading;
use super::super::retention;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::ast::{Role, Verb};

check! {
    Error Medium "archive-unmatched-delete" "rows are removed by another search than the one that found the copied ones"
    does "Reports DELETEs on a queue that look for old rows by state and age, where the rows are archived: behind an `INSERT … SELECT` from the same table in one text, or with EXISTS on an archive."
    why "Between the two searches rows finish and change. What the second one finds and the first did not is removed without a copy; with EXISTS, a row that was archived before, replayed and delivered again is removed in its new version. The second search also locks its own rows: 291,448 for 10,000, measured."
    bad "INSERT INTO order_outbox_archive (app_code, event_id)\nSELECT app_code, event_id FROM order_outbox WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < 1700000000000 ORDER BY updated_at_ms, event_id LIMIT 1000;\nDELETE FROM order_outbox WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < 1700000000000 ORDER BY updated_at_ms, event_id LIMIT 1000;"
    good "INSERT INTO order_outbox_archive (app_code, event_id)\nSELECT o.app_code, o.event_id FROM order_outbox o JOIN batch_keys k ON k.app_code = o.app_code AND k.event_id = o.event_id;\nDELETE o FROM order_outbox o JOIN batch_keys k ON k.app_code = o.app_code AND k.event_id = o.event_id;"
    allow "Nothing else writes to the table meanwhile."
    judge Judge::Text(judge)
}

fn judge(readings: &[Reading<'_>], _: &Context<'_>, found: &mut Vec<Found>) {
    let mut copied: Vec<&str> = Vec::new();
    for reading in readings {
        let before = copied.iter().any(|name| name.eq_ignore_ascii_case(reading.name()));
        // What else is done with the table stands between two pairs; counts compare what was copied.
        if !reading.counts() {
            copied.retain(|name| !name.eq_ignore_ascii_case(reading.name()));
        }
        if reading.block.role == Role::Source && copies(reading) {
            copied.push(reading.name());
        }
        if reading.block.verb != Verb::Delete || retention::of(reading).is_none() {
            continue;
        }
        if before || asks_archive(reading) {
            let message = format!(
                "this DELETE finds rows of `{}` by a search of its own, not those that were copied",
                reading.name()
            );
            let finding = Found::new(&CHECK, reading.block.head, message);
            found.push(finding.help(
                "pick the keys of a batch once, copy by them, compare the counts, and delete by the same keys, in one transaction",
            ));
        }
    }
}

/// Whether the rows go into another table.
fn copies(reading: &Reading<'_>) -> bool {
    let target =
        reading.block.parent.and_then(|at| reading.statement.blocks.get(at)).and_then(|block| block.tables.first());
    let target = target.and_then(|table| table.name.as_ref());
    target.is_some_and(|target| !target.name.eq_ignore_ascii_case(reading.name()))
}

/// `EXISTS (SELECT … FROM t_archive …)`.
fn asks_archive(reading: &Reading<'_>) -> bool {
    let block = reading.statement.blocks.iter().position(|block| std::ptr::eq(block, reading.block));
    let inside = reading.statement.blocks.iter().filter(|other| other.role == Role::Exists && other.parent == block);
    let mut names = inside.flat_map(|other| &other.tables).filter_map(|table| table.name.as_ref());
    names.any(|name| {
        let name = name.name.to_lowercase();
        name.contains("archive") || name.contains("history")
    })
}
