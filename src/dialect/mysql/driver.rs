//! sqlx's driver of MySQL, which is that of MariaDB too.

use super::super::Driver;
use super::super::driver::TWO_TIMES;

/// The driver. It tells a TIMESTAMP from a DATETIME, and sets the session's time zone to UTC.
pub static DRIVER: Driver =
    Driver { feature: "mysql", database: "sqlx::MySql", row: "sqlx::mysql::MySqlRow", times: &TWO_TIMES };
