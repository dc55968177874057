//! SQL about a queue that was not understood in full.

use super::super::rule::{Judge, check};

check! {
    Note High "unparsed-queue-sql" "a statement about a queue was not understood in full"
    does "Reports statements about a queue in which the reader stepped over something that it does not know. The other rules judge what it understood; this one says that they may have missed something."
    why "A linter that stays silent about what it did not read is mistaken for one that found nothing."
    bad "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' <~> 4 ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The statement is right and was looked at by somebody."
    judge Judge::Driver
}
