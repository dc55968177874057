const val TABLE = "order_outbox"

val pending = """
    SELECT event_id FROM order_outbox
    --                   ^ claim-without-scope
    WHERE status = ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED
"""
val due = "SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR lock_until_ms < ?) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"
//                                                                  ^ claim-or-branch
val open = "SELECT event_id FROM order_outbox WHERE status = 'pending' $filter ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"
// @13 dynamic-queue-sql
val joined = "SELECT event_id FROM order_outbox " + "WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"
