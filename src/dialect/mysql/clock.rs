//! The clock of MySQL and MariaDB.

use crate::schema::ColumnType;

/// UTC for DATETIME and epoch milliseconds, whatever the session's time zone: `UNIX_TIMESTAMP(UTC_TIMESTAMP())` would read
/// a UTC value as session time, and `UNIX_TIMESTAMP(NOW())` is ambiguous in a repeated hour.
pub fn now(ty: &ColumnType) -> String {
    match ty {
        ColumnType::DateTime(digits) => format!("UTC_TIMESTAMP({digits})"),
        ColumnType::Timestamp(digits) => format!("CURRENT_TIMESTAMP({digits})"),
        _ => "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000".to_owned(),
    }
}

/// Now plus `millis`.
pub fn later(ty: &ColumnType, millis: &str) -> String {
    match ty.is_time() {
        true => format!("{} + INTERVAL {millis} * 1000 MICROSECOND", now(ty)),
        false => format!("{} + {millis}", now(ty)),
    }
}

/// Now less `millis`.
pub fn earlier(ty: &ColumnType, millis: &str) -> String {
    match ty.is_time() {
        true => format!("{} - INTERVAL {millis} * 1000 MICROSECOND", now(ty)),
        false => format!("{} - {millis}", now(ty)),
    }
}

/// [`now`], and a given time in its place.
pub fn moment(ty: &ColumnType) -> (String, String) {
    let then = match ty {
        // The digits that the column does not have are cut off, as the clock does it, where CAST would round.
        ColumnType::DateTime(0) | ColumnType::Timestamp(0) => {
            "CAST(TIMESTAMPADD(SECOND, {} DIV 1000, '1970-01-01') AS DATETIME(0))".to_owned()
        }
        ColumnType::DateTime(digits @ 1..=2) | ColumnType::Timestamp(digits @ 1..=2) => {
            let step = 10_u32.pow(3 - u32::from(*digits));
            let whole = format!("{{}} DIV {step} * {step}000");
            format!("CAST(TIMESTAMPADD(MICROSECOND, {whole}, '1970-01-01') AS DATETIME({digits}))")
        }
        ColumnType::DateTime(digits) | ColumnType::Timestamp(digits) => {
            format!("CAST(TIMESTAMPADD(MICROSECOND, {{}} * 1000, '1970-01-01') AS DATETIME({digits}))")
        }
        _ => "{}".to_owned(),
    };
    (now(ty), then)
}
