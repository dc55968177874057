-- Templates: what could hide in a hole is not called missing, and what is there is found.
SELECT event_id FROM order_outbox WHERE {{conditions}} AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
-- @1 dynamic-queue-sql
SELECT event_id FROM order_outbox WHERE status = 'pending' ${filter} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
-- @1 dynamic-queue-sql
SELECT event_id FROM order_outbox {{ where }} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
-- @1 dynamic-queue-sql
SELECT event_id FROM {{prefix}}_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
SELECT event_id FROM order_outbox WHERE status = 'pending' OR lock_until_ms < 1 ${filter} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                      ^ claim-or-branch
-- @1 dynamic-queue-sql
SELECT event_id FROM order_outbox WHERE status = '{{state}}' ORDER BY created_at_ms, event_id LIMIT {{n}} FOR UPDATE SKIP LOCKED;
--                   ^ claim-without-scope
SELECT event_id FROM order_outbox WHERE app_code = #{appCode} AND status = %(state)s ORDER BY created_at_ms, event_id LIMIT %s FOR UPDATE SKIP LOCKED;
