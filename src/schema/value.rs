//! JSON values, and the words by which messages call them.

use std::collections::BTreeMap;
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(BTreeMap<String, Json>),
}

/// A JSON number, as far as it can be held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer of 64 bits, with a sign or without.
    Integer(i128),
    /// Any other.
    Float(f64),
}

impl Json {
    /// The value under the key of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(map) => map.get(key),
            _ => None,
        }
    }

    /// The string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What a value is.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "true or false",
            Json::Number(_) => "a number",
            Json::Text(_) => "a text",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        }
    }

    /// What a value is, and which one.
    pub fn found(&self) -> String {
        match self {
            Json::Bool(value) => value.to_string(),
            Json::Number(number) => format!("the number {number}"),
            Json::Text(text) => format!("the text {text:?}"),
            Json::Null | Json::List(_) | Json::Object(_) => self.kind().to_owned(),
        }
    }
}

impl Number {
    /// The number as JSON writes it; `None` if it is beyond every range.
    pub fn parse(text: &str) -> Option<Number> {
        let is_held = |number: &i128| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(number);
        match text.parse().ok().filter(is_held) {
            Some(number) => Some(Number::Integer(number)),
            None => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Number::Float),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(number) => number.fmt(f),
            // Says what it is, also where there is no fraction.
            Number::Float(number) => fmt::Debug::fmt(number, f),
        }
    }
}

#[cfg(feature = "schema")]
impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(Number::Integer(number)) => serializer.serialize_i128(*number),
            Json::Number(Number::Float(number)) => serializer.serialize_f64(*number),
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(list) => serializer.collect_seq(list),
            Json::Object(map) => serializer.collect_map(map),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, Number};

    #[test]
    fn numbers_are_shown_as_what_they_are() {
        for (text, shown) in [
            ("5", "5"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551616", "1.8446744073709552e19"),
            ("1.50", "1.5"),
            ("5.0", "5.0"),
            ("1e3", "1000.0"),
        ] {
            assert_eq!(Number::parse(text).map(|number| number.to_string()).as_deref(), Some(shown), "{text}");
        }
        for text in ["1e999", "-1e999"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn speaks_of_json() {
        for (value, words) in [
            (Json::Null, "null"),
            (Json::Bool(true), "true"),
            (Json::Number(Number::Integer(-1)), "the number -1"),
            (Json::Text("ye\"s".to_owned()), "the text \"ye\\\"s\""),
            (Json::List(Vec::new()), "a list"),
            (Json::Object([].into()), "an object"),
        ] {
            assert_eq!(value.found(), words);
        }
    }
}
