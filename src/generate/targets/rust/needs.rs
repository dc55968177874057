//! What generated code needs: the parts of `types`, and other crates.

use std::collections::BTreeSet;

use crate::dialect::Driver;
use crate::schema::format::Broker;
use crate::template::template_object;

use super::Settings;

/// One thing that generated code needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The crate chrono.
    Chrono,
    /// The crate bigdecimal.
    BigDecimal,
    /// The crate serde_json.
    Json,
    /// `types::Utc`.
    Utc,
    /// `types::EpochMs`.
    EpochMs,
    /// 64-bit integers as text in JSON.
    BigIntText,
    /// Dates as text in JSON.
    DateText,
    /// Times of day as text in JSON.
    TimeText,
    /// Decimal numbers as text in JSON.
    DecimalText,
    /// Bytes as text in JSON.
    BytesText,
    /// `types::UnknownValue`.
    UnknownValue,
    /// `types::NotOwner`.
    NotOwner,
    /// The module `queue`.
    Queue,
    /// The modules `broker` and `relay`.
    Relay,
    /// The module `bus`.
    Bus,
    /// The module `kafka`.
    Kafka,
    /// The module `nats`.
    Nats,
}

impl Need {
    /// The module of a kind of broker; `None` where there is none of its own.
    pub fn of(broker: Broker) -> Option<Need> {
        match broker {
            Broker::Kafka => Some(Need::Kafka),
            Broker::Nats => Some(Need::Nats),
            Broker::Memory | Broker::Custom => None,
        }
    }
}

/// Everything that is needed, each once.
pub type Needs = BTreeSet<Need>;

/// The parts of `types` that are needed.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parts {
    /// The time in UTC of DATETIME and TIMESTAMP columns.
    pub utc: bool,
    /// The time of columns in epoch milliseconds.
    pub epoch_ms: bool,
    /// What writes values to JSON as text.
    pub text: bool,
    /// The types of which that is the text of `Display`.
    pub text_by_display: Vec<&'static str>,
    /// Decimal numbers are written so.
    pub decimal: bool,
    /// Bytes are written so.
    pub bytes: bool,
    /// The error of a value that is not in its closed set.
    pub unknown_value: bool,
    /// The error of a service that is not the owner of a table.
    pub not_owner: bool,
}

template_object!(Parts { utc, epoch_ms, text, text_by_display, decimal, bytes, unknown_value, not_owner });

impl Parts {
    /// The parts among what is needed.
    pub fn of(needs: &Needs) -> Parts {
        let has = |need| needs.contains(&need);
        let texts: [(Need, &[&str]); 5] = [
            (Need::BigIntText, &["i64", "u64"]),
            (Need::DateText, &["chrono::NaiveDate"]),
            (Need::TimeText, &["chrono::NaiveTime"]),
            (Need::DecimalText, &[]),
            (Need::BytesText, &[]),
        ];
        Parts {
            utc: has(Need::Utc),
            epoch_ms: has(Need::EpochMs),
            text: texts.iter().any(|(need, _)| has(*need)),
            text_by_display: texts
                .iter()
                .filter(|(need, _)| has(*need))
                .flat_map(|(_, types)| *types)
                .copied()
                .collect(),
            decimal: has(Need::DecimalText),
            bytes: has(Need::BytesText),
            unknown_value: has(Need::UnknownValue),
            not_owner: has(Need::NotOwner),
        }
    }
}

/// What the adapter for NATS needs.
const NATS: &str = r#"async-nats = { version = "0.51", default-features = false, features = ["jetstream", "ring"] }"#;

/// The lines of `[dependencies]` that the code needs.
pub fn dependencies(needs: &Needs, drivers: &[&Driver], settings: &Settings) -> Vec<String> {
    let has = |need| needs.contains(&need);
    let mut lines = Vec::new();
    if has(Need::Nats) {
        lines.push(NATS.to_owned());
    }
    if has(Need::BigDecimal) {
        lines.push("bigdecimal = \"0.4\"".to_owned());
    }
    if has(Need::Chrono) {
        lines.push("chrono = { version = \"0.4\", default-features = false, features = [\"std\"] }".to_owned());
    }
    if has(Need::Relay) {
        lines.push("futures-util = { version = \"0.3\", default-features = false, features = [\"std\"] }".to_owned());
    }
    if has(Need::Relay) && settings.metrics {
        lines.push("metrics = \"0.24\"".to_owned());
    }
    if has(Need::Kafka) {
        lines.push("rskafka = { version = \"0.6\", default-features = false }".to_owned());
    }
    lines.push("serde = { version = \"1\", features = [\"derive\"] }".to_owned());
    if has(Need::Json) {
        lines.push("serde_json = \"1\"".to_owned());
    }
    if !drivers.is_empty() {
        let features = [(Need::BigDecimal, "bigdecimal"), (Need::Chrono, "chrono"), (Need::Json, "json")];
        let mut features: BTreeSet<&str> =
            features.iter().filter(|(need, _)| has(*need)).map(|(_, name)| *name).collect();
        features.extend(drivers.iter().map(|driver| driver.feature));
        let features: Vec<String> = features.iter().map(|name| format!("\"{name}\"")).collect();
        // Which runtime and which TLS is for the program to choose.
        lines.push(format!("sqlx = {{ version = \"0.9\", features = [{}] }}", features.join(", ")));
    }
    if has(Need::Relay) {
        lines.push("tokio = { version = \"1\", features = [\"sync\", \"time\"] }".to_owned());
        if settings.tracing {
            lines.push("tracing = \"0.1\"".to_owned());
        }
    }
    lines
}
