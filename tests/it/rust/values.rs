//! The extreme values of every type go into every engine and come back as they were, through the generated code.

use std::process::Command;

use bigdecimal::BigDecimal;
use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use sqlx::{ConnectOptions, mysql::MySqlConnectOptions, postgres::PgConnectOptions, sqlite::SqliteConnectOptions};

use crate::servers::{Scratch, Server, on_servers};

use super::every_value::tables::every_value::{Kind, Row};
use super::every_value::tables::every_value_nullable as nullable;
use super::every_value::{mariadb, mysql, postgres, sqlite, tables, types};
use super::generated as shipped;
use super::generated::tables::wallet_outbox;

#[test]
fn the_code_of_the_fixtures_is_up_to_date() {
    for config in ["tests/cases/rust/claimsmith.toml", "tests/cases/rust/claim_seq.toml"] {
        let output = Command::new(env!("CARGO_BIN_EXE_claimsmith"))
            .args(["generate", "--check", "--config", config])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "run `claimsmith generate --config {config}`:\n{text}");
    }
}

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn time(text: &str) -> NaiveTime {
    text.parse().unwrap()
}

fn at(text: &str) -> NaiveDateTime {
    text.parse().unwrap()
}

fn decimal(text: &str) -> BigDecimal {
    text.parse().unwrap()
}

/// The smallest value of every column.
fn lowest() -> Row {
    Row {
        id: 1,
        bool: false,
        i8: i8::MIN,
        u8: 0,
        i16: i16::MIN,
        u16: 0,
        i24: -(1 << 23),
        u24: 0,
        i32: i32::MIN,
        u32: 0,
        i64: i64::MIN,
        u64: 0,
        seen_at_ms: types::EpochMs(i64::MIN),
        decimal: decimal("-99999999999999.9999"),
        decimal_whole: decimal("-99999999999999999999"),
        decimal_long: decimal("-99999999999999999999999999999999999.999999999999999999999999999999"),
        float: -f32::MAX,
        double: -f64::MAX,
        char: String::new(),
        r#type: String::new(),
        self_: String::new(),
        longtext: String::new(),
        binary: vec![0; 16],
        varbinary: Vec::new(),
        blob: Vec::new(),
        date: date("1000-01-01"),
        time: time("00:00:00"),
        time_micros: time("00:00:00"),
        datetime: types::Utc::new(at("1000-01-01T00:00:00")),
        datetime_millis: types::Utc::new(at("1000-01-01T00:00:00.000")),
        datetime_micros: types::Utc::new(at("1000-01-01T00:00:00.000001")),
        timestamp: types::Utc::new(at("1970-01-01T00:00:01")),
        timestamp_micros: types::Utc::new(at("1970-01-01T00:00:01.000000")),
        json: serde_json::json!(null),
        kind: Kind::A,
        __sys_gen_note: String::new(),
    }
}

/// The largest value of every column.
fn highest() -> Row {
    Row {
        id: i64::MAX as u64,
        bool: true,
        i8: i8::MAX,
        u8: u8::MAX,
        i16: i16::MAX,
        u16: u16::MAX,
        i24: (1 << 23) - 1,
        u24: (1 << 24) - 1,
        i32: i32::MAX,
        u32: u32::MAX,
        i64: i64::MAX,
        u64: u64::MAX,
        seen_at_ms: types::EpochMs(i64::MAX),
        decimal: decimal("99999999999999.9999"),
        decimal_whole: decimal("99999999999999999999"),
        decimal_long: decimal("99999999999999999999999999999999999.999999999999999999999999999999"),
        float: f32::MAX,
        double: f64::MAX,
        char: "a\u{10FFFF}客".to_owned(),
        r#type: "'\"`\\\n\r\t%_\u{202E}😀".to_owned(),
        self_: "\u{1}".repeat(1_000),
        longtext: "😀".repeat(50_000),
        binary: vec![0xFF; 16],
        varbinary: (0..64).collect(),
        blob: (0..=255).cycle().take(100_000).collect(),
        date: date("9999-12-31"),
        time: time("23:59:59"),
        time_micros: time("23:59:59.999999"),
        datetime: types::Utc::new(at("9999-12-31T23:59:59")),
        datetime_millis: types::Utc::new(at("9999-12-31T23:59:59.999")),
        datetime_micros: types::Utc::new(at("9999-12-31T23:59:59.999999")),
        timestamp: types::Utc::new(at("2038-01-19T03:14:07")),
        timestamp_micros: types::Utc::new(at("2038-01-19T03:14:07.499999")),
        json: serde_json::json!({ "a": [1, -1, 1.5, "\u{10FFFF}'\\", true, null, { "b": {} }], "u": u64::MAX }),
        kind: Kind::Value7,
        __sys_gen_note: "x".to_owned(),
    }
}

/// Values that are neither: small fractions, and digits that a writer could leave out.
fn between() -> Row {
    Row {
        id: 2,
        decimal: decimal("1.5000"),
        decimal_whole: decimal("100"),
        decimal_long: decimal("0.000000000000000000000000000001"),
        float: f32::MIN_POSITIVE,
        double: f64::MIN_POSITIVE,
        time_micros: time("00:00:00.000001"),
        datetime: types::Utc::new(at("2026-02-28T12:00:00.999999")),
        datetime_millis: types::Utc::new(at("2026-02-28T12:00:00.120999")),
        kind: Kind::Self_,
        json: serde_json::json!("text"),
        ..highest()
    }
}

/// The row of the table in which everything may be NULL.
fn as_nullable(row: Row) -> nullable::Row {
    serde_json::from_value(serde_json::to_value(row).unwrap()).unwrap()
}

/// A row of nothing.
fn nulls() -> nullable::Row {
    let mut object = serde_json::to_value(as_nullable(lowest())).unwrap();
    object
        .as_object_mut()
        .unwrap()
        .iter_mut()
        .filter(|(name, _)| *name != "id")
        .for_each(|(_, value)| *value = serde_json::Value::Null);
    serde_json::from_value(object).unwrap()
}

fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Inserts rows and reads them, and gives them back in the order of their ids.
macro_rules! round_trip {
    ($options:ty, $url:expr, $module:ident, $rows:expr, $nullable:expr) => {
        wait(async {
            let mut connection = $url.parse::<$options>().unwrap().connect().await.unwrap();
            for row in $rows {
                $module::every_value::insert(&mut connection, row).await?;
            }
            for row in $nullable {
                $module::every_value_nullable::insert(&mut connection, row).await?;
            }
            let rows: Vec<Row> =
                sqlx::query_as("SELECT * FROM every_value ORDER BY id").fetch_all(&mut connection).await?;
            let nullable: Vec<nullable::Row> =
                sqlx::query_as("SELECT * FROM every_value_nullable ORDER BY id").fetch_all(&mut connection).await?;
            sqlx::Result::Ok((rows, nullable))
        })
    };
}

/// Inserts a row, reads it, gives it a state that nobody knows, and reads it again.
macro_rules! state_that_nobody_knows {
    ($options:ty, $url:expr, $module:ident, $row:expr) => {
        wait(async {
            let mut connection = $url.parse::<$options>().unwrap().connect().await.unwrap();
            shipped::$module::wallet_outbox::insert(&mut connection, $row).await.unwrap();
            let select = "SELECT * FROM wallet_outbox";
            let read: wallet_outbox::Row = sqlx::query_as(select).fetch_one(&mut connection).await.unwrap();
            assert_eq!(read, *$row);
            sqlx::query("UPDATE wallet_outbox SET status = 'frozen'").execute(&mut connection).await.unwrap();
            sqlx::query_as::<_, wallet_outbox::Row>(select).fetch_one(&mut connection).await.unwrap_err()
        })
    };
}

type Rows = (Vec<Row>, Vec<nullable::Row>);

fn round_trip(scratch: &Scratch, rows: &[Row], nullable: &[nullable::Row]) -> sqlx::Result<Rows> {
    let url = scratch.url();
    match scratch.server {
        Server::MySql => round_trip!(MySqlConnectOptions, url, mysql, rows, nullable),
        Server::MariaDb => round_trip!(MySqlConnectOptions, url, mariadb, rows, nullable),
        Server::Postgres => round_trip!(PgConnectOptions, url, postgres, rows, nullable),
        Server::Sqlite => round_trip!(SqliteConnectOptions, url, sqlite, rows, nullable),
    }
}

/// The columns in which two rows differ, as other programs see them: to the last digit.
fn differences(one: &impl serde::Serialize, other: &impl serde::Serialize) -> Vec<String> {
    let [one, other] = [serde_json::to_value(one).unwrap(), serde_json::to_value(other).unwrap()];
    let cut = |value: &serde_json::Value| value.to_string().chars().take(60).collect::<String>();
    let columns = one.as_object().unwrap().iter().zip(other.as_object().unwrap());
    let differing = columns.filter(|(one, other)| one != other);
    differing.map(|((name, one), (_, other))| format!("{name}: {} became {}", cut(one), cut(other))).collect()
}

fn create(scratch: &mut Scratch) {
    let path =
        format!("{}/tests/it/rust/every_value/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), scratch.server.id());
    scratch.run(&std::fs::read_to_string(path).unwrap()).unwrap();
}

fn extreme_values_come_back(scratch: &mut Scratch) {
    create(scratch);
    let mut rows = vec![lowest(), between(), highest()];
    if scratch.server == Server::Sqlite {
        rows.iter_mut().for_each(|row| row.u64 = row.u64.min(i64::MAX as u64));
    }
    let mut nullable: Vec<nullable::Row> = rows.iter().cloned().map(as_nullable).collect();
    nullable.push(nullable::Row { id: 3, ..nulls() });
    nullable.sort_by_key(|row| row.id);
    let (read, read_nullable) = round_trip(scratch, &rows, &nullable).unwrap();
    let wrong: Vec<String> = rows.iter().zip(&read).flat_map(|(row, read)| differences(row, read)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let wrong = nullable.iter().zip(&read_nullable).flat_map(|(row, read)| differences(row, read));
    assert_eq!(wrong.collect::<Vec<_>>().join("\n"), "");
    assert_eq!((read.len(), read_nullable.len()), (rows.len(), nullable.len()));
    assert!(read == rows && read_nullable == nullable, "what is the same in JSON differs");
}
on_servers!(extreme_values_come_back);

/// What an engine cannot hold is an error at the insert, not another value.
fn what_does_not_fit_is_an_error(scratch: &mut Scratch) {
    create(scratch);
    let error = match scratch.server {
        Server::Sqlite => round_trip(scratch, &[Row { u64: u64::MAX, ..lowest() }], &[]).unwrap_err(),
        // The column is numbered by the database, and its numbers have a sign there.
        _ => round_trip(scratch, &[Row { id: u64::MAX, ..lowest() }], &[]).unwrap_err(),
    };
    assert!(matches!(error, sqlx::Error::Encode(_)), "{error:?}");
}
on_servers!(what_does_not_fit_is_an_error: postgres, sqlite);

/// A value that is not in its closed set is an error of its row, which names it.
fn an_unknown_value_is_named(scratch: &mut Scratch) {
    let schema = format!("{}/generated/sql/{}/schema.sql", env!("CARGO_MANIFEST_DIR"), scratch.server.id());
    scratch.run(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let row = event();
    let url = scratch.url();
    let error = match scratch.server {
        Server::MySql => state_that_nobody_knows!(MySqlConnectOptions, url, mysql, &row),
        Server::MariaDb => state_that_nobody_knows!(MySqlConnectOptions, url, mariadb, &row),
        Server::Postgres => state_that_nobody_knows!(PgConnectOptions, url, postgres, &row),
        Server::Sqlite => state_that_nobody_knows!(SqliteConnectOptions, url, sqlite, &row),
    };
    let sqlx::Error::ColumnDecode { index, source } = error else { panic!("{error:?}") };
    assert_eq!(index, "\"status\"");
    assert_eq!(source.to_string(), "wallet_outbox.status: unknown value \"frozen\"");
}
on_servers!(an_unknown_value_is_named);

/// An event of a queue.
fn event() -> wallet_outbox::Row {
    wallet_outbox::Row {
        app_code: "chat".to_owned(),
        event_id: "e1".to_owned(),
        event_type: wallet_outbox::event_type::WALLET_BALANCE_CHANGED.to_owned(),
        user_id: 7,
        idempotency_key: "k1".to_owned(),
        payload: serde_json::json!({ "balance": 5 }),
        status: wallet_outbox::Status::Pending,
        worker_id: None,
        lock_until_ms: shipped::types::EpochMs(0),
        retry_count: 0,
        next_retry_at_ms: shipped::types::EpochMs(0),
        last_error: None,
        created_at_ms: shipped::types::EpochMs(1_700_000_000_000),
        updated_at_ms: shipped::types::EpochMs(1_700_000_000_000),
    }
}

/// Names are exactly those of the definition.
#[test]
fn names_are_those_of_the_definition() {
    assert_eq!(tables::every_value::TABLE, "every_value");
    assert_eq!(tables::every_value::column::TYPE, "type");
    assert_eq!(tables::every_value::column::SELF, "self");
    assert_eq!(tables::every_value::column::SYS_GEN_NOTE, "__sys_gen_note");
    assert_eq!(tables::every_value::COLUMNS.len(), 36);
    assert_eq!(Kind::TEXTS, ["a", "it's", "A B", "Self", "back\\slash", "客户", ""]);
    let all: Vec<&str> = Kind::ALL.into_iter().map(Kind::as_str).collect();
    assert_eq!(all, Kind::TEXTS);
    let error = "A".parse::<Kind>().unwrap_err();
    assert_eq!(error.to_string(), "every_value.Kind: unknown value \"A\"");
    let shown = serde_json::to_value(highest()).unwrap();
    assert_eq!(shown["type"], highest().r#type);
    assert_eq!(shown["i64"], "9223372036854775807");
    assert_eq!(shown["seen_at_ms"], i64::MAX);
    assert_eq!(shown["binary"], "ff".repeat(16));
    assert_eq!(shown["datetime_millis"], "9999-12-31T23:59:59.999Z");
    assert_eq!(serde_json::to_value(between()).unwrap()["decimal"], "1.5000");
}
