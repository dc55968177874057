//! A suppression that does not say why.

use super::super::rule::{Judge, check};

check! {
    Warning High "suppression-without-reason" "a comment allows a finding without a reason"
    does "Reports `claimsmith: allow(rule)` comments with no text behind them. The finding is left out all the same."
    why "Whoever reads it later cannot judge whether the reason still holds."
    bad "-- claimsmith: allow(claim-without-scope)\nSELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "-- claimsmith: allow(claim-without-scope) the migration of 2026 moves the rows of all tenants once\nSELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Never: write the reason."
    judge Judge::Driver
}
