-- Rows from the last number on, and what only looks like that.
CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY AUTO_INCREMENT, status VARCHAR(20) NOT NULL, kind VARCHAR(20), payload TEXT, KEY idx_status (status, id));
SELECT id, payload FROM mail_outbox WHERE id > ? ORDER BY id LIMIT 100;
-- @43 cursor-by-id
SELECT * FROM mail_outbox WHERE kind = 'a' AND id > @last ORDER BY id ASC LIMIT 100;
-- @48 cursor-by-id
SELECT id, payload FROM other_outbox WHERE id > ? ORDER BY id LIMIT 100;
-- @44 cursor-by-id
SELECT seq, payload FROM event_queue WHERE seq > ? ORDER BY seq LIMIT 100;
-- @44 cursor-by-id

-- By state; from the end; a range; a count; a time; texts.
SELECT id, payload FROM mail_outbox WHERE status = 'new' AND id > ? ORDER BY id LIMIT 100;
SELECT id, payload FROM mail_outbox WHERE id > ? ORDER BY id DESC LIMIT 100;
SELECT id, payload FROM mail_outbox WHERE id > ? AND id <= ? ORDER BY id LIMIT 100;
SELECT COUNT(*) FROM mail_outbox WHERE id > ?;
SELECT id FROM mail_outbox WHERE id > ? ORDER BY id;
SELECT event_id FROM order_outbox WHERE app_code = ? AND event_id > ? ORDER BY event_id LIMIT 100;
DELETE FROM mail_outbox WHERE id > ? ORDER BY id LIMIT 100;
SELECT id FROM customers WHERE id > ? ORDER BY id LIMIT 100;
