-- claimsmith: allow(claim-without-scope) a tool that an operator runs by hand
SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

SELECT event_id FROM order_outbox -- claimsmith: allow(claim-without-scope, claim-or-branch) the same
WHERE status = 'pending' OR lock_until_ms < 1 ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

-- It is for the next statement only.
SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                   ^ claim-without-scope

-- claimsmith: allow(claim-or-branch) nothing of the kind
-- @22 unused-suppression
SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;

-- claimsmith: allow(claim-without-scop) a slip of the pen
-- @22 unused-suppression
SELECT 1;

/* claimsmith: allow(claim-without-scope) */
-- @4 suppression-without-reason
SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED;
