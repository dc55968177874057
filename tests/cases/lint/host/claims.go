package claims

import "fmt"

const (
	orderOutbox = "order_outbox"
	columns     = "event_id, payload"
)

func claims(db *sql.DB, filter string) {
	db.Query(`
		SELECT event_id
		FROM order_outbox
		--   ^ claim-without-scope
		WHERE status = 'pending'
		ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED`)
	db.Query("SELECT event_id FROM order_outbox WHERE app_code = ? " +
		"AND (status = 'pending' OR lock_until_ms < ?) " +
		//   ^ claim-or-branch
		"ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	db.Query(fmt.Sprintf("SELECT %s FROM %s WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT %d FOR UPDATE SKIP LOCKED", columns, orderOutbox, 10))
	//                                   ^ claim-without-scope
	db.Query("SELECT " + columns + " FROM " + orderOutbox + " WHERE app_code = ? AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	db.Query("SELECT event_id FROM order_outbox WHERE status = 'pending' " + filter + " ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED")
	// @12 dynamic-queue-sql
	query := "SELECT event_id FROM order_outbox WHERE status = 'pending'"
	// @12 dynamic-queue-sql
	query += " AND app_code = ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"
	var sb strings.Builder
	sb.WriteString("SELECT event_id FROM order_outbox WHERE status = 'pending' ")
	// @18 dynamic-queue-sql
}
