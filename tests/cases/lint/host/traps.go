package traps

func traps(db *sql.DB) {
	// A state and a time.
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR (status = 'delivering' AND lock_until_ms < ?)) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @69 claim-or-branch
	// Without parentheses the scope is for the first branch only.
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' OR lock_until_ms < ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @91 scope-inside-or
	// @52 claim-or-branch
	// A list, in both forms.
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status IN ('pending', 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @69 claim-state-list
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR status = 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @69 claim-state-list
	// NULL or due.
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'retryable' AND (next_retry_at_ms IS NULL OR next_retry_at_ms <= ?) ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @94 claim-nullable-due
	// A filter that can be switched off.
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (? IS NULL OR event_type = ?) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @92 claim-optional-filter
	// A pattern.
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND event_type LIKE 'order.%' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @92 claim-like-routing
	// Removed by age alone, all at once.
	db.Query("DELETE FROM order_outbox WHERE app_code = ? AND updated_at_ms < ?")
	// @60 retention-open-states
	// @24 retention-without-index
	// @12 retention-unbounded-delete
	// Finished without asking who has it.
	db.Query("UPDATE order_outbox SET status = 'delivered' WHERE app_code = ? AND event_id = ?")
	// @36 transition-without-fence
	// Pages, keys, counts, lists for people, other tables: silent.
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (created_at_ms > ? OR (created_at_ms = ? AND event_id > ?)) ORDER BY created_at_ms, event_id LIMIT 10")
	db.Query("SELECT payload FROM order_outbox WHERE app_code = ? AND event_id = ? FOR UPDATE")
	db.Query("SELECT COUNT(*) FROM order_outbox WHERE status = 'pending' OR lock_until_ms < ?")
	db.Query("SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms DESC LIMIT 10")
	db.Query("SELECT id FROM accounts WHERE status = 'pending' OR locked_until < ? ORDER BY id LIMIT 10 FOR UPDATE")
	db.Query("SELECT o.event_id FROM order_outbox o LEFT JOIN notes n ON n.event_id = o.event_id OR n.status = o.status WHERE o.app_code = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10")
	// Over several lines.
	db.Query(`
		SELECT event_id
		FROM order_outbox
		-- @8 claim-without-scope
		WHERE status = 'pending'
		-- @9 claim-or-branch
		   OR (status = 'delivering' AND lock_until_ms < ?)
		ORDER BY created_at_ms, event_id
		LIMIT 10 FOR UPDATE SKIP LOCKED`)
	// Words, and no statement. SELECT event_id FROM order_outbox WHERE status = 1 FOR UPDATE;
	db.Query("cannot select from order_outbox where status is pending or the lock is old")
}
