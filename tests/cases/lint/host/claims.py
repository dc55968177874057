"""SELECT things FROM order_outbox, but not this one, which is documentation WHERE status."""
TABLE = "order_outbox"

cursor.execute("""
    SELECT event_id FROM order_outbox
    --                   ^ claim-without-scope
    WHERE status = %s ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED
""", (state,))
cursor.execute("SELECT event_id FROM order_outbox "
               "WHERE app_code = %(app)s AND (status = 'pending' OR lock_until_ms < %(now)s) "
               #                             ^ claim-or-branch
               "ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
session.execute(text(f"SELECT event_id FROM {TABLE} WHERE app_code = :app AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT {n} FOR UPDATE"))
#                                                                                                                                           ^ claim-without-skip-locked
cursor.execute(f"SELECT event_id FROM order_outbox WHERE status = 'pending' {where} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
# @18 dynamic-queue-sql
query = "SELECT event_id FROM order_outbox WHERE status = 'pending'"
# @10 dynamic-queue-sql
query += " AND app_code = %s ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"
