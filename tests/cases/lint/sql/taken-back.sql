-- Rows that a dead worker has left, without a lease: who takes its place waits for what is under way, and takes all of them.
SELECT id, retry_count FROM sync_events WHERE platform = 'hubspot' AND status = 'processing' ORDER BY created_at_ms, id LIMIT 500 FOR UPDATE;
-- Those of other workers are theirs.
SELECT id, retry_count FROM sync_events WHERE status = 'processing' ORDER BY created_at_ms, id LIMIT 500 FOR UPDATE;
-- @29 claim-without-scope
-- Pending rows are a claim.
SELECT id FROM sync_events WHERE platform = 'hubspot' AND status = 'pending' ORDER BY created_at_ms, id LIMIT 100 FOR UPDATE;
-- @115 claim-without-skip-locked
-- With a lease, only what has run out is nobody's.
SELECT event_id FROM order_outbox WHERE app_code = 'shop' AND status = 'delivering' AND lock_until_ms <= 1700000000000 ORDER BY lock_until_ms, event_id LIMIT 100 FOR UPDATE;
-- @163 claim-without-skip-locked
