//! SQL about a queue of which a part is known only when the program runs.

use super::super::rule::{Judge, check};

check! {
    Note High "dynamic-queue-sql" "a part of a statement about a queue is known only when the program runs"
    does "Reports statements about a queue with text in them that the program puts in: joins, conditions, an order or a limit may hide there. What the text has is judged; nothing is called missing from it. `--max-unanalyzed` bounds their number."
    why "A claim whose conditions are put together while the program runs cannot be proven to pin its scope, nor to be served by an index, by any reader."
    bad "SELECT event_id FROM order_outbox WHERE status = 'pending' {{ filter }};"
    good "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "All texts that can stand there were looked at by somebody."
    judge Judge::Driver
}
