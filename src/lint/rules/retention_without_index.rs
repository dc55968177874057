//! No index serves the search for old rows.

use super::super::claim::Reading;
use super::super::mend;
use super::super::retention;
use super::super::rule::{Context, Found, Judge, check};
use crate::dialect::Dialect;
use crate::workload::Path;
use crate::workload::serves::serves;

check! {
    Warning High "retention-without-index" "no index serves the search for old rows"
    does "Reports copies and removals of old rows of a queue for which no index begins with the columns that they pin and goes on with the age, where all indexes of the table are known, and prints the index that would serve."
    why "Rows are then found by reading others. One state of one tenant with an index on scope, state and age reads the 10,000 rows of its batch; the same through the primary key read 246,840 and locked 291,448."
    bad "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY, status VARCHAR(20) NOT NULL, sent_at DATETIME, KEY idx_status (status));\nSELECT id FROM mail_outbox WHERE status = 'sent' AND sent_at < ? ORDER BY sent_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;"
    good "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY, status VARCHAR(20) NOT NULL, sent_at DATETIME, KEY idx_age (status, sent_at, id));\nSELECT id FROM mail_outbox WHERE status = 'sent' AND sent_at < ? ORDER BY sent_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;"
    allow "The table is small, or the statement runs at a time when nobody waits."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    // Several states have no index, and a rule of their own.
    let Some(sweep) = retention::of(reading).filter(|_| retention::state_list(reading).is_none()) else { return };
    let Some(path) = retention::path(reading, &sweep) else { return };
    let mut reasons = Vec::new();
    for dialect in context.dialects {
        match closest(reading, *dialect, &path) {
            Some(reason) => reasons.push(reason),
            None => return,
        }
    }
    let message = format!("no index of `{}` serves this search for old rows", reading.name());
    let mut finding = Found::new(&CHECK, reading.table.span, message);
    if let Some(reason) = reasons.into_iter().find(|reason| !reason.is_empty()) {
        finding = finding.label(reason);
    }
    for help in mend::indexes(reading, &[path], context) {
        finding = finding.help(help);
    }
    found.push(finding);
}

/// What comes closest and why it does not serve, or nothing; `None` if an index serves.
fn closest(reading: &Reading<'_>, dialect: &dyn Dialect, path: &Path) -> Option<String> {
    let (engine, table) = (dialect.engine(), &reading.known.table);
    let pinned =
        |columns: &[usize]| columns.iter().take_while(|at| path.pins.iter().any(|pin| pin.column == **at)).count();
    let mut best: Option<(usize, String)> = None;
    for index in mend::present(table, engine) {
        let Err(misfit) = serves(engine, table, &index, path) else { return None };
        let shared = pinned(&index.columns);
        if shared > best.as_ref().map_or(0, |(shared, _)| *shared) {
            best = Some((shared, format!("`{}` comes closest: {}", mend::name(table, &index, engine), misfit.reason)));
        }
    }
    Some(best.map(|(_, reason)| reason).unwrap_or_default())
}
