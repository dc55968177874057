//! SELECT event_id FROM order_outbox WHERE status = 'pending' OR lock_until_ms < 1 LIMIT 1 FOR UPDATE: documentation is no SQL.
const TABLE: &str = "order_outbox";
const PENDING: &str = "SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED";
//                                          ^ claim-without-scope

async fn raw(pool: &Pool) {
    sqlx::query!(
        r#"
        SELECT event_id
        FROM order_outbox
        --   ^ claim-without-scope
        WHERE status = 'größe' OR status = 'pending' AND lock_until_ms < 1
        -- @15 claim-or-branch
        -- @24 unknown-state
        ORDER BY created_at_ms, event_id
        LIMIT 10 FOR UPDATE SKIP LOCKED
        "#
    );
    query_as::<_, Row>("SELECT event_id FROM order_outbox WHERE app_code = ? AND status = 'pending' \
                        ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE");
    // @67 claim-without-skip-locked
    query(concat!("SELECT event_id FROM ", "order_outbox WHERE status = 'pending'", " ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"));
    //                                      ^ claim-without-scope
    query(&format!("SELECT event_id FROM {TABLE} WHERE app_code = ? AND (status = 'pending' OR lock_until_ms < {}) ORDER BY created_at_ms, event_id LIMIT {n} FOR UPDATE SKIP LOCKED", now));
    //                                                                  ^ claim-or-branch
    // claimsmith: allow(claim-without-scope) a tool of the operators
    query("SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
}

fn built(scope: Option<&str>) -> String {
    let mut sql = String::from("SELECT event_id FROM order_outbox WHERE status = 'pending'");
    // @33 dynamic-queue-sql
    if scope.is_some() {
        sql.push_str(" AND app_code = ?");
    }
    let mut builder = QueryBuilder::new("SELECT event_id FROM order_outbox WHERE status = 'pending' ");
    // @42 dynamic-queue-sql
    println!("could not select from order_outbox where the status is pending");
    sql + " ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED"
}
