fn traps(db: &Db) {
    // A state and a time.
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR (status = 'delivering' AND lock_until_ms < ?)) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
    // @70 claim-or-branch
    // Without parentheses the scope is for the first branch only.
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' OR lock_until_ms < ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
    // @92 scope-inside-or
    // @53 claim-or-branch
    // A list, in both forms.
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND status IN ('pending', 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
    // @70 claim-state-list
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR status = 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
    // @70 claim-state-list
    // NULL or due.
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'retryable' AND (next_retry_at_ms IS NULL OR next_retry_at_ms <= ?) ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
    // @95 claim-nullable-due
    // A filter that can be switched off.
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (? IS NULL OR event_type = ?) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
    // @93 claim-optional-filter
    // A pattern.
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND event_type LIKE 'order.%' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
    // @93 claim-like-routing
    // Removed by age alone, all at once.
    db.run("DELETE FROM order_outbox WHERE app_code = ? AND updated_at_ms < ?");
    // @61 retention-open-states
    // @25 retention-without-index
    // @13 retention-unbounded-delete
    // Finished without asking who has it.
    db.run("UPDATE order_outbox SET status = 'delivered' WHERE app_code = ? AND event_id = ?");
    // @37 transition-without-fence
    // Pages, keys, counts, lists for people, other tables: silent.
    db.run("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (created_at_ms > ? OR (created_at_ms = ? AND event_id > ?)) ORDER BY created_at_ms, event_id LIMIT 10");
    db.run("SELECT payload FROM order_outbox WHERE app_code = ? AND event_id = ? FOR UPDATE");
    db.run("SELECT COUNT(*) FROM order_outbox WHERE status = 'pending' OR lock_until_ms < ?");
    db.run("SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms DESC LIMIT 10");
    db.run("SELECT id FROM accounts WHERE status = 'pending' OR locked_until < ? ORDER BY id LIMIT 10 FOR UPDATE");
    db.run("SELECT o.event_id FROM order_outbox o LEFT JOIN notes n ON n.event_id = o.event_id OR n.status = o.status WHERE o.app_code = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10");
    // Over several lines.
    db.run(
        r#"
        SELECT event_id
        FROM order_outbox
        -- @14 claim-without-scope
        WHERE status = 'pending'
        -- @15 claim-or-branch
           OR (status = 'delivering' AND lock_until_ms < ?)
        ORDER BY created_at_ms, event_id
        LIMIT 10 FOR UPDATE SKIP LOCKED
        "#,
    );
    // Words, and no statement. SELECT event_id FROM order_outbox WHERE status = 1 FOR UPDATE;
    db.run("cannot select from order_outbox where status is pending or the lock is old");
}
