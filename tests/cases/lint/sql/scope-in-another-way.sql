SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' OR lock_until_ms < 1 ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ claim-or-branch
--                                                                             ^ scope-inside-or

SELECT event_id FROM order_outbox WHERE (app_code = ? OR status = 'pending') AND lock_until_ms <= 1 ORDER BY lock_until_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ claim-or-branch
--                                                       ^ scope-inside-or

-- Each branch pins it.
SELECT event_id FROM order_outbox WHERE (app_code = ? AND status = 'pending') OR (app_code = ? AND status = 'retryable' AND next_retry_at_ms <= 1) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ claim-or-branch

SELECT event_id FROM order_outbox WHERE app_code LIKE 'shop%' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ scope-not-equality
SELECT event_id FROM order_outbox WHERE app_code <> 'test' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ scope-not-equality
SELECT event_id FROM order_outbox WHERE LOWER(app_code) = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ scope-not-equality
SELECT event_id FROM order_outbox WHERE app_code IN ('a', 'b') AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ scope-not-equality
SELECT event_id FROM order_outbox WHERE (? IS NULL OR app_code = ?) AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                    ^ scope-not-equality
SELECT event_id FROM order_outbox WHERE app_code = COALESCE(?, app_code) AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ scope-not-equality
SELECT event_id FROM order_outbox WHERE app_code = app_code AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ scope-not-equality
