connection.exec("SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
#                                     ^ claim-without-scope
connection.exec(<<~SQL)
  SELECT event_id FROM order_outbox
  --                   ^ claim-without-scope
  WHERE status = #{state} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED
SQL
connection.exec("SELECT event_id FROM order_outbox WHERE status = 'pending' #{filter} ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
# @18 dynamic-queue-sql
