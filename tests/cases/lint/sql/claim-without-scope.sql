-- A locking read by state.
SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                   ^ claim-without-scope

-- A poll.
SELECT o.event_id
FROM shop.order_outbox AS o
--   ^ claim-without-scope
WHERE o.status = 'retryable' AND o.next_retry_at_ms <= 1
ORDER BY o.next_retry_at_ms, o.event_id
LIMIT 10;

-- An UPDATE that takes rows.
UPDATE `order_outbox`
--     ^ claim-without-scope
SET status = 'delivering', worker_id = 'w', lock_until_ms = 1
WHERE status = 'pending'
LIMIT 10;
-- @1 claim-by-update

-- In a common table expression.
WITH found AS MATERIALIZED (
  SELECT event_id FROM order_outbox
--                     ^ claim-without-scope
  WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED
)
UPDATE order_outbox AS t SET status = 'delivering' FROM found WHERE (t.app_code, t.event_id) = (found.app_code, found.event_id) RETURNING t.*;

-- In a query in place of a table.
UPDATE order_outbox t
JOIN (SELECT app_code, event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 5 FOR UPDATE SKIP LOCKED) d
--                                   ^ claim-without-scope
  USING (app_code, event_id)
SET t.status = 'delivering';

-- Without WHERE.
SELECT event_id FROM order_outbox ORDER BY event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                   ^ claim-without-scope

-- A comparison of the column with itself pins nothing, and neither does one that is always true.
SELECT event_id FROM order_outbox WHERE 1 = 1 AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10;
--                   ^ claim-without-scope

-- The scope of another table is not its own.
SELECT o.event_id FROM order_outbox o JOIN tenants x ON x.id = 4 WHERE x.app_code = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10;
--                     ^ claim-without-scope

-- A branch of a UNION.
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending'
UNION ALL
(SELECT event_id FROM order_outbox WHERE status = 'retryable' AND next_retry_at_ms <= 1 ORDER BY next_retry_at_ms LIMIT 10);
--                    ^ claim-without-scope

-- With T-SQL's way to skip locked rows.
UPDATE TOP (10) order_outbox WITH (ROWLOCK, READPAST) SET status = 'delivering' OUTPUT inserted.event_id WHERE status = 'pending';
--              ^ claim-without-scope
