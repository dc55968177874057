//! Times as milliseconds since 1970 in UTC, as columns hold them, and a clock that stands still.

use claimsmith::schema::ColumnType;

use crate::servers::Server;

pub const SECOND: i64 = 1_000;
pub const DAY: i64 = 86_400 * SECOND;

/// Where the clock stands: 2027-01-15 12:00:00. Noon, because a Julian day begins there and is a whole number.
pub const NOON: i64 = 20_833 * DAY + DAY / 2;

/// `2027-01-15 12:00:00`, with milliseconds where there are some.
pub fn text(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(DAY), ms.rem_euclid(DAY));
    // Howard Hinnant's civil_from_days.
    let z = days + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60);
    let whole = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    if rest % 1_000 == 0 { whole } else { format!("{whole}.{:03}", rest % 1_000) }
}

/// The opposite of [`text`].
pub fn parse(text: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| text[range].parse::<i64>().unwrap();
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468;
    let fraction = text.get(20..).map_or(0, |digits| format!("{digits:0<3}")[..3].parse().unwrap());
    days * DAY + (number(11..13) * 60 + number(14..16)) * 60_000 + number(17..19) * SECOND + fraction
}

/// A time as a column of this type holds it, read as text.
pub fn held(ty: &ColumnType, ms: i64) -> String {
    if ty.is_time() { text(ms) } else { ms.to_string() }
}

/// The time that a text of [`held`] is.
pub fn read(ty: &ColumnType, held: &str) -> i64 {
    if ty.is_time() { parse(held) } else { held.parse().unwrap() }
}

/// The statement with its clock standing at `ms`; on MySQL and MariaDB the session's clock is set instead.
pub fn frozen(server: Server, sql: &str, ms: i64) -> String {
    match server {
        Server::MySql | Server::MariaDb => sql.to_owned(),
        Server::Postgres => sql.replace("statement_timestamp()", &format!("TIMESTAMPTZ '{}+00'", text(ms))),
        Server::Sqlite => sql.replace("'now'", &format!("'{}'", text(ms))),
    }
}

#[test]
fn texts_are_read_back() {
    assert_eq!(text(NOON), "2027-01-15 12:00:00");
    for ms in [0, 951_782_399_999, 951_782_400_000, 1_709_164_800_001, NOON] {
        assert_eq!(parse(&text(ms)), ms);
    }
    assert_eq!(parse("2027-01-15 12:00:00.5"), NOON + 500);
}
