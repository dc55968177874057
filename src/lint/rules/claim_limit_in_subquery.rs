//! A claim limits its rows in a subquery.

use super::super::claim::Reading;
use super::super::rule::{Context, Found, Judge, check};
use crate::dialect::Take;
use crate::sql::Verb;
use crate::sql::ast::Role;

check! {
    Warning Medium "claim-limit-in-subquery" "a claim limits its rows in a subquery"
    does "Reports `UPDATE … WHERE id IN (SELECT … LIMIT n)` and the same with DELETE."
    why "MySQL refuses it (errors 1235 and 1093). PostgreSQL may run the subquery again for each row and take more than n, unless it is a materialized common table expression or an array."
    bad "-- for postgres: $1::text\nUPDATE order_outbox SET status = 'delivering'\nWHERE event_id IN (SELECT event_id FROM order_outbox WHERE app_code = $1 AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED) AND app_code = $1;"
    good "UPDATE order_outbox SET status = 'delivering'\nWHERE event_id = ANY (ARRAY(SELECT event_id FROM order_outbox WHERE app_code = $1 AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED)) AND app_code = $1;"
    allow "SQLite: nobody else writes meanwhile."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let block = reading.block;
    let parent = block.parent.and_then(|at| reading.statement.blocks.get(at));
    let changes = parent.is_some_and(|parent| matches!(parent.verb, Verb::Update | Verb::Delete));
    let (Role::In, Some(limit), true, true) = (&block.role, &block.limit, changes, reading.known.queue) else { return };
    // `ARRAY(SELECT …)` is evaluated once.
    let before = context.text.get(..block.span.start as usize).unwrap_or_default().trim_end();
    let array = before.strip_suffix('(').is_some_and(|before| before.to_ascii_lowercase().ends_with("array"));
    let all = |take: Take| context.dialects.iter().all(|dialect| dialect.take() == take);
    let message = match () {
        () if all(Take::SelectThenUpdate) => "this database refuses LIMIT in a subquery of IN (error 1235)",
        () if all(Take::UpdateFromSelect) && !array => {
            "this subquery may run more than once, and take more rows than its LIMIT"
        }
        () => return,
    };
    let finding = Found::new(&CHECK, limit.span, message);
    found.push(
        finding.help(
            "SELECT the keys first: in a materialized common table expression, an array, or a statement of its own",
        ),
    );
}
