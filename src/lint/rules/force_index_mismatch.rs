//! A hint forces an index whose order is not that of the claim.

use super::super::claim::Reading;
use super::super::mend;
use super::super::rule::{Context, Found, Judge, check};
use super::super::service;
use crate::dialect::Dialect;
use crate::workload::Path;
use crate::workload::serves::serves;

check! {
    Warning High "force-index-mismatch" "a hint forces an index that does not serve the claim"
    does "Reports claims with FORCE INDEX or INDEXED BY whose index does not begin with the columns that the claim pins, or goes on in another order than its ORDER BY. A hint that fits is never a finding."
    why "Forcing the wrong shape is worse than no hint at all: pending rows through an index with the retry time in the middle, with 490,000 of them, took 7 times as long as reading the whole table."
    bad "-- `mysql`\nSELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_retryable)\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "-- `mysql`\nSELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_pending)\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The table is small, and the hint keeps it off an index that is worse still."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let forced = reading.table.hints.iter().find(|hint| hint.force && hint.names.len() == 1);
    let Some((name, span)) = forced.and_then(|hint| hint.names.first()) else { return };
    let Some(path) = service::as_written(reading) else { return };
    let mut reason = None;
    for dialect in context.dialects {
        match misfit(reading, *dialect, name, &path) {
            Some(why) => reason = Some(why),
            None => return,
        }
    }
    let Some(reason) = reason else { return };
    let message = format!("`{name}` is forced, and does not serve this claim on `{}`", reading.name());
    let mut finding = Found::new(&CHECK, *span, message).label(reason);
    if let Some(better) = context.dialects.first().and_then(|dialect| serving(reading, *dialect, &path)) {
        finding = finding.help(format!("`{better}` serves it"));
    }
    found.push(finding);
}

/// Why the index of this name does not serve the path; `None` if it does, or if it is unknown.
fn misfit(reading: &Reading<'_>, dialect: &dyn Dialect, name: &str, path: &Path) -> Option<String> {
    let (engine, table) = (dialect.engine(), &reading.known.table);
    let present = mend::present(table, engine);
    let index = present.iter().find(|index| mend::name(table, index, engine).eq_ignore_ascii_case(name))?;
    serves(engine, table, index, path).err().map(|misfit| misfit.reason)
}

fn serving(reading: &Reading<'_>, dialect: &dyn Dialect, path: &Path) -> Option<String> {
    let (engine, table) = (dialect.engine(), &reading.known.table);
    let present = mend::present(table, engine);
    let index = present.iter().find(|index| serves(engine, table, index, path).is_ok())?;
    Some(mend::name(table, index, engine))
}
