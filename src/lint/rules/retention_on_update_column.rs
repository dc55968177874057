//! The age of a row is the time of its last change.

use super::super::claim::Reading;
use super::super::retention;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning Medium "retention-on-update-column" "the age of rows is a column that every change renews"
    does "Reports copies and removals of old rows of a queue by a column that DDL declares with ON UPDATE CURRENT_TIMESTAMP."
    why "Every change of a row makes it young again: after one UPDATE of many rows, to fill a new column or to repair something, nothing is old enough to leave for as long as rows are kept, and then all of them are at once."
    bad "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY, status VARCHAR(20) NOT NULL, updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, KEY idx_age (status, updated_at, id));\nSELECT id FROM mail_outbox WHERE status = 'sent' AND updated_at < ? ORDER BY updated_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;"
    good "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY, status VARCHAR(20) NOT NULL, sent_at TIMESTAMP NULL, KEY idx_age (status, sent_at, id));\nSELECT id FROM mail_outbox WHERE status = 'sent' AND sent_at < ? ORDER BY sent_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;"
    allow "Finished rows are never changed again."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let Some(sweep) = retention::of(reading) else { return };
    let Some(column) = sweep.age.column.as_deref().filter(|column| reading.known.traits.touched.contains(*column))
    else {
        return;
    };
    let message = format!("`{column}` of `{}` becomes the current time with every change", reading.name());
    let finding = Found::new(&CHECK, sweep.age.expr.span, message).label("a changed row is young again");
    found.push(finding.help("a column that is written once, when the row is finished"));
}
