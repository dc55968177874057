//! A row is finished without asking whether it is still held.

use super::super::claim::Reading;
use super::super::predicate::TestKind;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::Verb;

check! {
    Warning Medium "transition-without-fence" "a row is finished without asking whether it is still held"
    does "Reports UPDATEs of one row's state by key that test neither the state nor the worker, on tables whose definition declares who holds a row (`claim.lease.by`)."
    why "A worker whose lease has expired overwrites what its successor did."
    bad "UPDATE order_outbox SET status = 'delivered'\nWHERE app_code = ? AND event_id = ?;"
    good "UPDATE order_outbox SET status = 'delivered'\nWHERE app_code = ? AND event_id = ? AND status = 'delivering' AND worker_id = ?;"
    allow "The row has been locked in the same transaction."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (block, roles) = (reading.block, &reading.known.roles);
    let fenced = reading
        .known
        .table
        .claim
        .as_ref()
        .is_some_and(|claim| claim.lease.as_ref().is_some_and(|lease| lease.by.is_some()));
    if block.verb != Verb::Update || !fenced || !reading.is_changed() || !reading.is_keyed() || block.gaps.filter {
        return;
    }
    let sets = block.set.iter().find(|set| roles.is_state(&set.column.to_lowercase()));
    let tests = reading.tests();
    let by_list = reading.tests().any(|test| matches!(test.kind, TestKind::In(_) | TestKind::InQuery));
    let held = tests
        .into_iter()
        .any(|test| test.column.as_deref().is_some_and(|column| roles.is_state(column) || roles.is_owner(column)));
    // Rows of a list have just been locked; a joined table says which.
    let Some(set) = sets.filter(|_| !held && !by_list && block.tables.len() == 1 && reading.all_tests().len() > 1)
    else {
        return;
    };
    let message = format!("this UPDATE of `{}` does not ask whether the row is still held", reading.name());
    let finding = Found::new(&CHECK, set.span, message);
    let (state, owner) = (
        roles.status().unwrap_or_default(),
        reading.known.table.claim.as_ref().and_then(|claim| claim.lease.as_ref()?.by.clone()),
    );
    found.push(finding.help(format!(
        "AND {state} = '<running>' AND {} = ?; no row means that the lease is lost",
        owner.unwrap_or_default()
    )));
}
