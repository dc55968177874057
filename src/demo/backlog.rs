//! A backlog as production has it: nearly all of it history, a thin layer of open rows on top.

use crate::dialect::live::Embedded;
use crate::error::Result;

/// The tenant whose rows are claimed: six of ten are its.
pub const TENANT: &str = "lalu";

/// Epoch milliseconds of the database's clock.
pub const NOW: &str = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";

/// Rows of one INSERT.
const CHUNK: u32 = 10_000;

/// Loads `rows` rows, oldest first: 98.9 % delivered, then of each thousand open ones 460 pending, 360 retryable, of which
/// a quarter is due, 90 delivering, half of them by workers that are gone, and 90 dead.
pub fn load(database: &mut Embedded, rows: u32, loaded: &mut dyn FnMut(u32)) -> Result<()> {
    let finished = u64::from(rows) * 989 / 1000;
    let mut from = 0;
    while from < rows {
        let to = (from + CHUNK).min(rows);
        database.run(&insert(from, to, rows, finished))?;
        from = to;
        loaded(from);
    }
    database.run("ANALYZE")
}

fn insert(from: u32, to: u32, rows: u32, finished: u64) -> String {
    format!(
        "BEGIN;
WITH RECURSIVE
  numbers(n) AS (VALUES ({from}) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {to}),
  clock(now) AS (SELECT {NOW}),
  parts AS (
    -- Tenants go by the last digit and kinds by those before it, so that each tenant has rows of every kind.
    SELECT n, now,
      CASE WHEN n * 7 % 10 < 6 THEN '{TENANT}' WHEN n * 7 % 10 < 9 THEN 'yoyo' ELSE 'mimi' END AS tenant,
      CASE WHEN n < {finished} THEN 'delivered'
           WHEN n / 10 * 11 % 100 < 46 THEN 'pending'
           WHEN n / 10 * 11 % 100 < 82 THEN 'retryable'
           WHEN n / 10 * 11 % 100 < 91 THEN 'delivering'
           ELSE 'dead' END AS state,
      n / 10 * 11 % 100 AS kind,
      now - ({rows} - n) * 1000 AS created
    FROM numbers, clock
  )
INSERT INTO wallet_outbox (app_code, event_id, event_type, user_id, idempotency_key, payload, status, worker_id,
  lock_until_ms, retry_count, next_retry_at_ms, last_error, created_at_ms, updated_at_ms)
SELECT tenant, printf('event-%08d', n), 'WalletGiftDebited', n % 5000, printf('booking-%08d', n),
  json_object('user_id', n % 5000, 'coin_spent', n % 100), state,
  CASE state WHEN 'delivering' THEN 'worker-1' END,
  CASE WHEN state <> 'delivering' THEN 0 WHEN kind % 2 = 0 THEN now - 60000 ELSE now + 3600000 END,
  CASE state WHEN 'retryable' THEN 1 WHEN 'dead' THEN 20 ELSE 0 END,
  CASE WHEN state <> 'retryable' THEN 0 WHEN kind % 4 = 0 THEN now - 60000 ELSE now + 3600000 END,
  CASE state WHEN 'retryable' THEN 'broker: timed out' WHEN 'dead' THEN 'broker: message refused' END,
  created, created
FROM parts;
COMMIT;"
    )
}

#[cfg(test)]
mod tests {
    use super::super::{catalog, schema};
    use super::{NOW, load};
    use crate::dialect::EMBEDDED;
    use crate::dialect::live::Embedded;

    #[test]
    fn every_tenant_has_rows_of_every_kind() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Embedded::open(&folder.path().join("t.db")).unwrap();
        schema(&catalog(), EMBEDDED).iter().for_each(|statement| database.run(statement).unwrap());
        load(&mut database, 100_000, &mut |_| {}).unwrap();
        let (due, held) = (format!("next_retry_at_ms <= {NOW}"), format!("lock_until_ms <= {NOW}"));
        let kinds = [
            "status = 'pending'".to_owned(),
            format!("status = 'retryable' AND {due}"),
            format!("status = 'retryable' AND NOT {due}"),
            format!("status = 'delivering' AND {held}"),
            format!("status = 'delivering' AND NOT {held}"),
            "status = 'dead'".to_owned(),
        ];
        for tenant in ["lalu", "yoyo", "mimi"] {
            for kind in &kinds {
                let sql = format!("SELECT 1 FROM wallet_outbox WHERE app_code = '{tenant}' AND {kind}");
                assert!(database.measure(&sql, &[]).unwrap().rows > 0, "{tenant}: {kind}");
            }
        }
    }
}
