-- Copies and removals in one script: by the same keys, or by two searches.
START TRANSACTION;
INSERT INTO order_outbox_archive (app_code, event_id)
SELECT app_code, event_id FROM order_outbox
WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < 1700000000000 ORDER BY updated_at_ms, event_id LIMIT 1000;
DELETE FROM order_outbox WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < 1700000000000 ORDER BY updated_at_ms, event_id LIMIT 1000;
-- @1 archive-unmatched-delete
COMMIT;

-- By the keys that were picked.
CREATE TEMPORARY TABLE batch_keys AS SELECT app_code, event_id FROM order_outbox WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < 1700000000000 ORDER BY updated_at_ms, event_id LIMIT 1000;
INSERT INTO order_outbox_archive (app_code, event_id) SELECT o.app_code, o.event_id FROM order_outbox o JOIN batch_keys k USING (app_code, event_id);
DELETE o FROM order_outbox o JOIN batch_keys k USING (app_code, event_id) JOIN order_outbox_archive a USING (app_code, event_id);
DELETE FROM order_outbox WHERE (app_code, event_id) IN (SELECT app_code, event_id FROM batch_keys);

-- What is in the archive may be an older version of the row.
DELETE FROM order_outbox WHERE app_code = 'shop' AND status = 'delivered' AND updated_at_ms < 1700000000000
-- @1 archive-unmatched-delete
  AND EXISTS (SELECT 1 FROM order_outbox_archive a WHERE a.app_code = order_outbox.app_code AND a.event_id = order_outbox.event_id) LIMIT 1000;
-- An EXISTS that asks something else.
DELETE FROM mail_queue WHERE status = 'sent' AND sent_at < 1700000000000 AND EXISTS (SELECT 1 FROM customers c WHERE c.id = mail_queue.customer_id) LIMIT 1000;

-- One statement removes and copies.
WITH moved AS (DELETE FROM order_outbox WHERE app_code = 'shop' AND event_id = ANY ($1) RETURNING *) INSERT INTO order_outbox_archive (app_code, event_id) SELECT app_code, event_id FROM moved;
