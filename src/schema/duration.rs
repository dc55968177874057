//! Durations in definitions: `250ms`, `30s`, `10m`, `6h`, `30d`.

#[cfg(feature = "schema")]
use serde::{Serialize, Serializer};

use super::decode::{Decode, Decoder};
use super::value::Json;

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(pub u64);

/// The units, longest first, with their milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// The longest duration taken, in days: some hundred years, far from every overflow of epoch milliseconds.
const MAX_DAYS: u64 = 36_500;

impl std::str::FromStr for Millis {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = UNITS.iter().find(|(name, _)| *name == unit).ok_or(EXPECTED)?.1;
        let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or(EXPECTED)?;
        match millis <= MAX_DAYS * 86_400_000 {
            true => Ok(Millis(millis)),
            false => Err("a duration of at most 36500d"),
        }
    }
}

const EXPECTED: &str = "a duration such as \"250ms\", \"30s\", \"10m\", \"6h\" or \"30d\"";

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fits = |(_, unit): &&(&str, u64)| self.0.is_multiple_of(*unit);
        let (name, unit) = UNITS.iter().find(fits).unwrap_or(&("ms", 1));
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl Decode for Millis {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        let expected = match &value {
            Json::Text(text) => match text.parse() {
                Ok(millis) => return Some(millis),
                Err(expected) => expected,
            },
            _ => EXPECTED,
        };
        decoder.mismatch(expected, &value)
    }

    fn stand_in() -> Self {
        Millis(1_000)
    }
}

#[cfg(feature = "schema")]
impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Millis {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$", "examples": ["30s", "10m", "30d"] })
    }
}

#[cfg(test)]
mod tests {
    use super::Millis;

    #[test]
    fn reads_what_it_writes() {
        for (text, millis) in [("250ms", 250), ("30s", 30_000), ("10m", 600_000), ("30d", 2_592_000_000), ("0ms", 0)] {
            assert_eq!(text.parse(), Ok(Millis(millis)));
            assert_eq!(Millis(millis).to_string().parse(), Ok(Millis(millis)));
        }
        for wrong in ["", "s", "30", "1.5s", "-1s", "1 s", "99999999999999999999s", "18446744073709551615d", "36501d"] {
            assert!(wrong.parse::<Millis>().is_err(), "{wrong}");
        }
    }
}
