//! sqlx's driver of MySQL, which is that of MariaDB too.

use super::super::{Driver, HeldTime};

/// The driver. It sets the session's time zone to UTC, so that a TIMESTAMP is read and written as a DATETIME is.
pub static DRIVER: Driver = Driver {
    feature: "mysql",
    database: "sqlx::MySql",
    row: "sqlx::mysql::MySqlRow",
    times: &[HeldTime { zoned: None, ty: "chrono::NaiveDateTime", encode: "self.naive()", decode: "value" }],
};
