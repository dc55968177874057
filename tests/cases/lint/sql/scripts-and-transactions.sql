-- `MySQL`: locks live as long as their transaction.
SELECT event_id INTO @id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- @132 claim-outside-transaction
UPDATE order_outbox SET status = 'delivering', worker_id = 'a' WHERE app_code = 'shop' AND event_id = @id;
-- @25 transition-without-fence

BEGIN;
SELECT event_id INTO @id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE order_outbox SET status = 'delivering', worker_id = 'a' WHERE app_code = 'shop' AND event_id = @id AND status = 'pending';
COMMIT;

START TRANSACTION;
SELECT event_id INTO @id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- @132 claim-outside-transaction
COMMIT;
UPDATE order_outbox SET status = 'delivering', worker_id = 'a' WHERE app_code = 'shop' AND event_id = @id AND status = 'pending';

SET autocommit = 0;
SELECT event_id INTO @id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE order_outbox SET status = 'delivering', worker_id = 'a' WHERE app_code = 'shop' AND event_id = @id AND status = 'pending';
COMMIT;

-- A program runs these one by one, in a transaction of its own.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE order_outbox SET status = 'delivering', worker_id = ? WHERE app_code = ? AND event_id = ? AND status = 'pending';

-- Statements that have nothing to do with each other.
SELECT event_id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE order_outbox SET payload = '{}' WHERE app_code = 'shop' AND event_id = 'a';
