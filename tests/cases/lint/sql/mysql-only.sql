-- dialect: what only `MySQL` and MariaDB write.
SELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_pending) WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                   ^ claim-without-scope
SELECT event_id FROM order_outbox AS o USE INDEX FOR ORDER BY (idx_order_outbox_pending) WHERE o.app_code = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10 LOCK IN SHARE MODE SKIP LOCKED;
SELECT /*! STRAIGHT_JOIN */ event_id FROM order_outbox WHERE status = 'pending' /*!80001 ORDER BY created_at_ms LIMIT 10 FOR UPDATE SKIP LOCKED */;
--                                        ^ claim-without-scope
SET @v := 1;
UPDATE LOW_PRIORITY IGNORE order_outbox SET worker_id = 'w', event_id = (@v := event_id) WHERE status = 'pending' ORDER BY created_at_ms LIMIT 1;
--                         ^ claim-without-scope
--                                                                      ^ claim-user-variable
-- @138 claim-by-update
DELETE FROM order_outbox WHERE app_code = ? AND status = 'delivered' ORDER BY updated_at_ms, event_id LIMIT 1000;
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = "pending" ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED; # status = 'x' OR lock_until_ms < 1
PREPARE s FROM 'SELECT event_id FROM order_outbox WHERE status = ? ORDER BY created_at_ms LIMIT 10 FOR UPDATE SKIP LOCKED';
--                                   ^ claim-without-scope

-- MySQL writes OR in two more ways.
SELECT event_id FROM `order_outbox` WHERE app_code = ? && (status = 'pending' || lock_until_ms < 1) ORDER BY created_at_ms LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                        ^ claim-or-branch
SELECT event_id FROM `order_outbox` WHERE app_code = ? AND (status = 'pending' XOR lock_until_ms < 1) ORDER BY created_at_ms LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                                         ^ claim-or-branch

DELIMITER //
CREATE PROCEDURE take(IN n INT)
BEGIN
  DECLARE done INT DEFAULT FALSE;
  IF n > 0 THEN
    UPDATE order_outbox SET status = 'delivering' WHERE status = 'pending' OR lock_until_ms < 1 LIMIT 10;
--         ^ claim-without-scope
--  ^ update-claim-without-token
-- @97 claim-by-update
--                                                      ^ claim-or-branch
  END IF;
  SELECT event_id INTO @id FROM order_outbox WHERE app_code = 'a' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;
END//
DELIMITER ;
