// A state and a time.
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR (status = 'delivering' AND lock_until_ms < ?)) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @74 claim-or-branch
// Without parentheses the scope is for the first branch only.
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' OR lock_until_ms < ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @96 scope-inside-or
// @57 claim-or-branch
// A list, in both forms.
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status IN ('pending', 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @74 claim-state-list
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending' OR status = 'retryable') ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @74 claim-state-list
// NULL or due.
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'retryable' AND (next_retry_at_ms IS NULL OR next_retry_at_ms <= ?) ORDER BY next_retry_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @99 claim-nullable-due
// A filter that can be switched off.
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (? IS NULL OR event_type = ?) ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @97 claim-optional-filter
// A pattern.
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND event_type LIKE 'order.%' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @97 claim-like-routing
// Removed by age alone, all at once.
await db.query("DELETE FROM order_outbox WHERE app_code = ? AND updated_at_ms < ?");
// @65 retention-open-states
// @29 retention-without-index
// @17 retention-unbounded-delete
// Finished without asking who has it.
await db.query("UPDATE order_outbox SET status = 'delivered' WHERE app_code = ? AND event_id = ?");
// @41 transition-without-fence
// Pages, keys, counts, lists for people, other tables: silent.
await db.query("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' AND (created_at_ms > ? OR (created_at_ms = ? AND event_id > ?)) ORDER BY created_at_ms, event_id LIMIT 10");
await db.query("SELECT payload FROM order_outbox WHERE app_code = ? AND event_id = ? FOR UPDATE");
await db.query("SELECT COUNT(*) FROM order_outbox WHERE status = 'pending' OR lock_until_ms < ?");
await db.query("SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms DESC LIMIT 10");
await db.query("SELECT id FROM accounts WHERE status = 'pending' OR locked_until < ? ORDER BY id LIMIT 10 FOR UPDATE");
await db.query("SELECT o.event_id FROM order_outbox o LEFT JOIN notes n ON n.event_id = o.event_id OR n.status = o.status WHERE o.app_code = ? AND o.status = 'pending' ORDER BY o.created_at_ms, o.event_id LIMIT 10");
// Over several lines.
await db.query(`
  SELECT event_id
  FROM order_outbox
  -- @8 claim-without-scope
  WHERE status = 'pending'
  -- @9 claim-or-branch
     OR (status = 'delivering' AND lock_until_ms < ?)
  ORDER BY created_at_ms, event_id
  LIMIT 10 FOR UPDATE SKIP LOCKED
`);
// Words, and no statement. SELECT event_id FROM order_outbox WHERE status = 1 FOR UPDATE;
await db.query("cannot select from order_outbox where status is pending or the lock is old");
