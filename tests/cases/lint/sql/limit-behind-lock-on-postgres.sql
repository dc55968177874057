-- What only PostgreSQL takes is right there.
SELECT event_id FROM order_outbox WHERE app_code = $1::text AND status = 'pending' ORDER BY created_at_ms, event_id FOR UPDATE SKIP LOCKED LIMIT 10;
