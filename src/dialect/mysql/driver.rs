//! sqlx's driver of MySQL, which is that of MariaDB too.

use super::super::Driver;
use super::super::driver::TWO_TIMES;

/// The driver. It tells a TIMESTAMP from a DATETIME, and sets the session's time zone to UTC.
///
/// 1213 is a deadlock, 1205 a lock that was waited for too long. Names stand at the end of a message, behind the value, which
/// is anybody's text: in quotes, and on MySQL behind the name of the table.
pub static DRIVER: Driver = Driver {
    feature: "mysql",
    database: "sqlx::MySql",
    row: "sqlx::mysql::MySqlRow",
    times: &TWO_TIMES,
    error: "::sqlx::mysql::MySqlDatabaseError",
    is_retryable: "matches!(error.number(), 1205 | 1213)",
    violated: "error.message().rsplit('\\'').nth(1)?.rsplit('.').next()",
};
