//! The clock of PostgreSQL.

use crate::schema::ColumnType;

/// `statement_timestamp()` and not `clock_timestamp()`, which is volatile: as a bound it would become a filter, and an
/// empty queue would read every row that is not due yet. Cut off, not rounded: a rounded time can lie in the future.
pub fn now(ty: &ColumnType) -> String {
    let cut = |digits: u8| match digits {
        0 => "date_trunc('second', statement_timestamp())".to_owned(),
        1..=5 => "date_trunc('milliseconds', statement_timestamp())".to_owned(),
        _ => "statement_timestamp()".to_owned(),
    };
    match ty {
        ColumnType::DateTime(digits) => format!("({} AT TIME ZONE 'UTC')", cut(*digits)),
        ColumnType::Timestamp(digits) => cut(*digits),
        _ => "floor(EXTRACT(EPOCH FROM statement_timestamp()) * 1000)::BIGINT".to_owned(),
    }
}

/// Now plus `millis`.
pub fn later(ty: &ColumnType, millis: &str) -> String {
    match ty.is_time() {
        true => format!("{} + {millis}::BIGINT * INTERVAL '1 millisecond'", now(ty)),
        false => format!("{} + {millis}", now(ty)),
    }
}

/// Now less `millis`.
pub fn earlier(ty: &ColumnType, millis: &str) -> String {
    match ty.is_time() {
        true => format!("{} - {millis}::BIGINT * INTERVAL '1 millisecond'", now(ty)),
        false => format!("{} - {millis}", now(ty)),
    }
}

/// What [`now`] begins with, and a given time in its place.
pub fn moment(_: &ColumnType) -> (String, String) {
    ("statement_timestamp()".to_owned(), "to_timestamp({} / 1000.0)".to_owned())
}
