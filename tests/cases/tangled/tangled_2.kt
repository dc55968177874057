fun traps(db: Db) {
    // A state and a time.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR (status = 'delivering' AND lock_until_ms < ?)) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @72 claim-or-branch
    // Without parentheses the scope is for the first branch only.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' OR lock_until_ms < ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
  // @94 scope-inside-or
    // @55 claim-or-branch
    // A list, in both forms.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status IN ('pending', 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @72 claim-state-list
    db.query("SELECT"event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR status = 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @72 claim-state-list
    // NULL or due.
    db.query("Snext_retry_at_ms <= ?) ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
    // @97 claim-nullable-due
    // A filter that can be switched off.
    db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (? IS NULL OR event_type = ?) O