class Claims {
    static final String TABLE = "order_outbox";

    @Query(value = "SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED", nativeQuery = true)
    //                                   ^ claim-without-scope
    List<Row> pending();

    @Select({"SELECT event_id FROM order_outbox", "WHERE app_code = #{app} AND (status = 'pending' OR lock_until_ms < #{now})", "ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"})
    //                                                                         ^ claim-or-branch
    List<Row> due();

    void run() {
        jdbc.query("""
            SELECT event_id FROM order_outbox
            --                   ^ claim-without-scope
            WHERE status = ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED
            """);
        jdbc.query("SELECT event_id FROM " + TABLE + " WHERE app_code = ? AND status = 'pending'"
            + " ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE");
        // @59 claim-without-skip-locked
        StringBuilder sb = new StringBuilder("SELECT event_id FROM order_outbox WHERE status = 'pending' ");
        // @47 dynamic-queue-sql
        sb.append("AND app_code = ?");
    }
}
