-- Every way to pin the scope, and everything that is no claim.
SELECT event_id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE 'shop' = app_code AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE (app_code) = (?) AND (status = 'pending') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE app_code IN (?) AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE app_code <=> ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE APP_CODE = ? AND STATUS = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE (app_code, status) = (?, 'pending') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE NOT (app_code <> ?) AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT o.event_id FROM order_outbox o JOIN tenants t ON t.app_code = o.app_code WHERE t.name = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10;
SELECT o.event_id FROM order_outbox o JOIN tenants t USING (app_code) WHERE t.name = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10;

-- By key.
SELECT * FROM order_outbox WHERE app_code = ? AND event_id = ? FOR UPDATE SKIP LOCKED;
SELECT * FROM order_outbox WHERE app_code = ? AND event_id IN (?, ?, ?) FOR UPDATE SKIP LOCKED;
UPDATE order_outbox SET status = 'delivered' WHERE app_code = ? AND event_id = ? AND status = 'delivering' AND worker_id = ?;
SELECT * FROM order_outbox WHERE (app_code, event_id) IN ((?, ?), (?, ?)) FOR UPDATE SKIP LOCKED;

-- Lists for people, newest first or page by page; counts; probes; dead letters.
SELECT * FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms DESC LIMIT 50;
SELECT * FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms LIMIT 50 OFFSET 100;
SELECT * FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms LIMIT 100, 50;
SELECT COUNT(*) FROM order_outbox WHERE status = 'pending' LIMIT 1;
SELECT status, COUNT(*) FROM order_outbox WHERE status <> 'delivered' GROUP BY status ORDER BY status;
SELECT MIN(created_at_ms) FROM order_outbox WHERE status = 'pending' LIMIT 1;
SELECT EXISTS (SELECT 1 FROM order_outbox WHERE status = 'pending' LIMIT 1);
SELECT 1 FROM order_outbox WHERE status = 'pending' LIMIT 1;
SELECT * FROM order_outbox WHERE status = 'dead' ORDER BY created_at_ms LIMIT 50;

-- Inserts, with the body of a conflict; checks; a table of its own.
INSERT INTO order_outbox (app_code, event_id, status) VALUES (?, ?, 'pending') ON CONFLICT (app_code, event_id) DO UPDATE SET status = 'pending' WHERE order_outbox.status = 'dead' OR order_outbox.lock_until_ms < 1;
INSERT INTO order_outbox (app_code, event_id) VALUES (?, ?) ON DUPLICATE KEY UPDATE status = IF(status = 'dead' OR lock_until_ms < 1, 'pending', status);
SELECT * FROM accounts WHERE status = 'pending' OR locked_until < now() ORDER BY created_at LIMIT 10 FOR UPDATE SKIP LOCKED;
DELETE FROM order_outbox WHERE app_code = 'test';
TRUNCATE TABLE order_outbox;
