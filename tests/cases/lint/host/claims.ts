const table = "order_outbox";

export const pending = sql`
  SELECT event_id FROM order_outbox
  --                   ^ claim-without-scope
  WHERE status = ${state} ORDER BY created_at_ms, event_id LIMIT ${n} FOR UPDATE SKIP LOCKED`;
db.query("SELECT event_id FROM order_outbox WHERE app_code = $1 AND (status = 'pending' OR lock_until_ms < $2) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
//                                                                  ^ claim-or-branch
db.query(`SELECT event_id FROM ${table} WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED`);
// @32 claim-without-scope
db.query(`SELECT event_id FROM order_outbox WHERE status = 'pending' ${where} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED`);
// @11 dynamic-queue-sql
db.query('SELECT event_id ' + 'FROM order_outbox ' + "WHERE app_code = $1 AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
