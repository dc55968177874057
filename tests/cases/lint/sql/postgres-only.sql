CREATE OR REPLACE FUNCTION take(n int) RETURNS SETOF order_outbox AS $fn$
BEGIN
  RETURN QUERY
  UPDATE order_outbox AS o SET status = 'delivering'
  WHERE o.ctid = ANY (ARRAY(
    SELECT q.ctid FROM order_outbox q
--                     ^ claim-without-scope
    WHERE q.status = 'pending' ORDER BY q.created_at_ms, q.event_id LIMIT n FOR UPDATE SKIP LOCKED))
  RETURNING o.*;
END
$fn$ LANGUAGE plpgsql;

DO $$
BEGIN
  EXECUTE format('SELECT event_id FROM order_outbox WHERE %I = %L ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED', 'app_code', 'x');
  FOR r IN SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR NO KEY UPDATE SKIP LOCKED LOOP
--                              ^ claim-without-scope
    PERFORM 1;
  END LOOP;
END $$;

SELECT event_id::text, payload->>'a' FROM order_outbox WHERE app_code = $1 AND status = 'pending'::text AND (payload::jsonb)->'x' ? 'y' ORDER BY created_at_ms, event_id LIMIT $2 FOR NO KEY UPDATE OF order_outbox SKIP LOCKED;
DELETE FROM order_outbox o USING (SELECT app_code, event_id FROM order_outbox WHERE app_code = $1 AND status = 'delivered' ORDER BY updated_at_ms, event_id LIMIT 100) d WHERE (o.app_code, o.event_id) = (d.app_code, d.event_id);
SELECT event_id FROM ONLY order_outbox WHERE app_code = $1 AND status = 'pending' ORDER BY created_at_ms, event_id FETCH FIRST 10 ROWS ONLY FOR UPDATE SKIP LOCKED;
