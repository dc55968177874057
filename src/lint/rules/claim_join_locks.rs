//! A locking claim locks the rows of joined tables.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning High "claim-join-locks" "a locking claim locks the rows of joined tables"
    does "Reports locking claims that join other tables and do not say OF which table rows are locked."
    why "Every row of the joined tables that is read stays locked until the worker's transaction ends, and SKIP LOCKED leaves out rows of the queue whose partner is locked."
    bad "SELECT o.event_id FROM order_outbox o JOIN shops s ON s.id = o.payload\nWHERE o.app_code = ? AND o.status = 'pending'\nORDER BY o.created_at_ms, o.event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT o.event_id FROM order_outbox o JOIN shops s ON s.id = o.payload\nWHERE o.app_code = ? AND o.status = 'pending'\nORDER BY o.created_at_ms, o.event_id LIMIT 100 FOR UPDATE OF o SKIP LOCKED;"
    allow "The rows of all tables must stay as they are."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let block = reading.block;
    let (Some(Claim::Lock), Some(lock)) = (reading.claim, &block.lock) else { return };
    let tables = block.tables.iter().filter(|table| table.name.is_some()).count();
    if tables < 2 || lock.of {
        return;
    }
    let own = reading.table.alias.as_deref().unwrap_or(reading.name());
    let message = format!("this claim on `{}` also locks rows of the tables that it joins", reading.name());
    found.push(
        Found::new(&CHECK, lock.span, message)
            .help(format!("FOR UPDATE OF {own} SKIP LOCKED, or join in a statement of its own")),
    );
}
