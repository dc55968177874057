//! A suppression that suppresses nothing.

use super::super::rule::{Judge, check};

check! {
    Warning High "unused-suppression" "a comment allows a finding that is not there"
    does "Reports `claimsmith: allow(rule)` comments that leave no finding out, or name a rule that does not exist."
    why "It says that something is wrong where nothing is, and will hide the next finding."
    bad "-- claimsmith: allow(claim-without-limit) one worker only\nSELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Never: take it out."
    judge Judge::Driver
}
