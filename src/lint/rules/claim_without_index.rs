//! No index serves a claim.

use super::super::claim::Reading;
use super::super::mend;
use super::super::rule::{Context, Found, Judge, check};
use super::super::service::{Service, service};

check! {
    Error High "claim-without-index" "no index serves a claim"
    does "Compares what a claim pins, and how it is ordered, with the indexes of its table: the declared ones, the primary key, and those that the definition's workload derives."
    why "The claim reads the rows of other tenants and states, or the whole table, to find its LIMIT, and locks them on MySQL and MariaDB."
    bad "-- `mysql`\nCREATE TABLE mail_queue (id BIGINT PRIMARY KEY, app_code VARCHAR(32) NOT NULL, status VARCHAR(20) NOT NULL, created_at DATETIME NOT NULL, KEY idx_status (status));\nSELECT id FROM mail_queue WHERE app_code = ? AND status = 'new' ORDER BY created_at, id LIMIT 10 FOR UPDATE SKIP LOCKED;"
    good "-- `mysql`\nCREATE TABLE mail_queue (id BIGINT PRIMARY KEY, app_code VARCHAR(32) NOT NULL, status VARCHAR(20) NOT NULL, created_at DATETIME NOT NULL, KEY idx_claim (app_code, status, created_at));\nSELECT id FROM mail_queue WHERE app_code = ? AND status = 'new' ORDER BY created_at, id LIMIT 10 FOR UPDATE SKIP LOCKED;"
    allow "The table is small and stays so."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let Some(service) = service(reading, context) else { return };
    let (Service::None { best }, Some(path)) = (service, mend::path(reading, None)) else { return };
    let message = format!("no index of `{}` serves this claim", reading.name());
    let mut finding = Found::new(&CHECK, reading.table.span, message);
    if let Some((name, reason)) = best {
        finding = finding.label(format!("`{name}` comes closest: {reason}"));
    }
    for help in mend::indexes(reading, &[path], context) {
        finding = finding.help(help);
    }
    found.push(finding);
}
