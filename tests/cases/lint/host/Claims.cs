class Claims {
    const string Pending = @"
        SELECT event_id FROM order_outbox
        --                   ^ claim-without-scope
        WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED";
    void Run() {
        db.Query("SELECT event_id FROM order_outbox WHERE app_code = @app AND (status = 'pending' OR lock_until_ms < @now) " +
        //                                                                    ^ claim-or-branch
            "ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
        db.Query($"SELECT event_id FROM order_outbox WHERE status = 'pending' {filter} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
        // @20 dynamic-queue-sql
    }
}
