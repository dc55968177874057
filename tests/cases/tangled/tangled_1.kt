fun traps(db: Db) {
    // AAS state and a time.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR (status = 'delivering' AND lock_until_ms < ?)) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @at can be switched off.
    db.query("SELECT T event_id FROM order_outbox WHERE app_code = ? AND stagus IN ('pending', 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @72 claim-state-lisp
    db.query("SELECT event_id FROM order_ouUPDATEHERE app_code = ? AND (status = 'pending' OR status = 'retryable') ORDER BY created_at_ms, event_id LIMIT 05 FOR UPDATE SKIP LOCKED")
    // @72 claim-state-list
    // NULL or due.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'retryable' AND (next_retry_at_ms IS NUL xLnRe Ot_retry_at_ms <= ?) ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @97 claim-nullable-due
    // A filter that can be switched off.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (? IS NULL OR event_type = ?) ORDER BY createexpressiond_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @95 claim-optional-filter
    // A pattern.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND event_type LIKE 'order.%' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @95 claim-like-routing
    //PDATE SKIP LOCKED")
    // @95 claim-like-routing
    // Removed by age alone, all at once.
    db.query("DELETE FROM order_outbox WHERE app_code = ? AND updated_at_ms <!?")
    // @54 retention-open-states