-- States and times.
SELECT event_id FROM order_outbox
WHERE app_code = ?
  AND (status = 'pending' OR (status = 'delivering' AND lock_until_ms < 1))
--    ^ claim-or-branch
ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

SELECT event_id FROM order_outbox
WHERE app_code = ? AND (worker_id IS NULL OR lock_until_ms < 1) AND status = 'pending'
--                     ^ claim-or-branch
ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

-- NOT turns AND into OR, and OR into AND.
SELECT event_id FROM order_outbox
WHERE app_code = ? AND NOT (status = 'delivered' AND lock_until_ms > 1)
--                         ^ claim-or-branch
ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox
WHERE app_code = ? AND NOT (status <> 'delivering' OR lock_until_ms > 1)
ORDER BY lock_until_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

-- In an UPDATE.
UPDATE order_outbox SET worker_id = ?, status = 'delivering'
WHERE app_code = ? AND (status = 'pending' OR (status = 'delivering' AND lock_until_ms < 1)) LIMIT 10;
--                     ^ claim-or-branch
-- @94 claim-by-update

-- The same column, several values.
SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR status = 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                       ^ claim-state-list
SELECT event_id FROM order_outbox WHERE app_code = ? AND status IN ('pending', 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                       ^ claim-state-list
SELECT event_id FROM order_outbox WHERE app_code = $1 AND status = ANY ($2) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                        ^ claim-state-list
SELECT event_id FROM order_outbox WHERE app_code = $1 AND status = ANY (ARRAY['pending', 'retryable']) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                        ^ claim-state-list

-- One of them is no list; no order needs no sort; by state the order is the index's.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status IN ('pending') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
UPDATE order_outbox SET status = 'retryable' WHERE app_code = ? AND status IN ('pending', 'delivering') AND lock_until_ms <= 1;
-- @1 transition-unbounded
SELECT event_id FROM order_outbox WHERE app_code = ? AND status IN ('pending', 'retryable') ORDER BY status, created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

-- NULL as a time.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'retryable' AND (next_retry_at_ms IS NULL OR next_retry_at_ms <= 1) ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                                                ^ claim-nullable-due
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'retryable' AND (next_retry_at_ms = 0 OR next_retry_at_ms <= 1) ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                                                ^ claim-nullable-due

-- Pages by key.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (created_at_ms > ? OR (created_at_ms = ? AND event_id > ?)) ORDER BY created_at_ms, event_id LIMIT 10;

-- A filter that can be switched off.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (? IS NULL OR event_type = ?) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                                              ^ claim-optional-filter
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (:type = '' OR event_type = :type) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                                              ^ claim-optional-filter

-- What only filters.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (event_type = 'a' OR event_type = 'b') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (retry_count < 5 OR last_error IS NULL) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

-- Elsewhere than in WHERE.
SELECT CASE WHEN status = 'pending' OR lock_until_ms < 1 THEN 1 END FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10;
SELECT o.event_id FROM order_outbox o LEFT JOIN notes n ON n.event_id = o.event_id OR n.status = o.status WHERE o.app_code = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10;
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND payload <> 'a OR b' ORDER BY created_at_ms, event_id LIMIT 10; -- OR status = 'x'
SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR status = 'dead') ORDER BY created_at_ms DESC LIMIT 10;
