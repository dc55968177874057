db.query("SELECT event_id FROM order_outbox WHERE status = \"pending\" ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
//                             ^ claim-without-scope
