//! An UPDATE takes rows without saying who has them.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};

check! {
    Warning Medium "update-claim-without-token" "an UPDATE takes rows without saying who has them"
    does "Reports UPDATEs with LIMIT that take rows of a queue, set no column that names the worker, and return nothing."
    why "The worker cannot know which rows it got: it reads those of others as well, or none."
    bad "UPDATE order_outbox SET status = 'delivering'\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "One worker only."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let block = reading.block;
    let sets = |column: &str| reading.known.roles.is_owner(&column.to_lowercase());
    let token = block.returning || block.set.iter().any(|set| sets(&set.column));
    if reading.claim != Some(Claim::Update) || block.limit.is_none() || token || block.gaps.filter {
        return;
    }
    if context.of(reading.statement.span).to_ascii_lowercase().contains("last_insert_id(") {
        return;
    }
    let message = format!("this UPDATE of `{}` takes rows and does not say for whom", reading.name());
    found.push(
        Found::new(&CHECK, block.head, message)
            .help("set the column of the worker to a token of its own, and read by it"),
    );
}
