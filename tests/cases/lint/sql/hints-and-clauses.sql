-- Hints that fit and that do not, clauses in the order of `MySQL`, texts and numbers.
SELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_pending) WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_retryable) WHERE app_code = ? AND status = 'retryable' AND next_retry_at_ms <= ? ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_retryable) WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
-- @48 force-index-mismatch
SELECT event_id FROM order_outbox FORCE INDEX (PRIMARY) WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
-- @48 force-index-mismatch
-- It is only a hint, or one of several; rows by their keys.
SELECT event_id FROM order_outbox USE INDEX (idx_order_outbox_retryable) WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
UPDATE order_outbox FORCE INDEX (PRIMARY) SET status = 'delivering', worker_id = ? WHERE app_code = ? AND event_id IN (?, ?);
SELECT payload FROM order_outbox FORCE INDEX (PRIMARY) WHERE app_code = ? AND event_id = ?;

-- LIMIT comes before the lock.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id FOR UPDATE SKIP LOCKED LIMIT 10;
-- @110 limit-before-lock
SELECT payload FROM order_outbox WHERE app_code = ? AND event_id = ? FOR UPDATE LIMIT 1;
-- @70 limit-before-lock
SELECT event_id FROM (SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED) AS c;

-- Numbers for texts.
SELECT event_id FROM order_outbox WHERE app_code = 7 AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
-- @52 implicit-cast
SELECT event_id FROM order_outbox WHERE app_code = '7' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT payload FROM order_outbox WHERE app_code = ? AND event_id IN (1, 2, 3) FOR UPDATE;
-- @70 implicit-cast
-- Texts for numbers do no harm.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'retryable' AND next_retry_at_ms <= '1700000000000' ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND retry_count < 5 ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
