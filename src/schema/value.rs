//! JSON values, and the words by which messages call them.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::diagnostic::render::is_reordering;

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

    /// The value as a JSON text over several lines, two blanks for each step in, the keys of objects sorted.
    pub fn pretty(&self) -> String {
        let mut text = String::new();
        self.print(&mut text, 0);
        text
    }

    fn print(&self, text: &mut String, depth: usize) {
        match self {
            Json::Null => text.push_str("null"),
            Json::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Json::Number(number) => text.push_str(&number.to_string()),
            Json::Text(value) => text.push_str(&quoted(value)),
            Json::List(list) => {
                let print = |text: &mut String, value: &Json| value.print(text, depth + 1);
                between(text, depth, ['[', ']'], list.iter(), print);
            }
            Json::Object(map) => between(text, depth, ['{', '}'], map.iter(), |text, (key, value)| {
                text.push_str(&quoted(key));
                text.push_str(": ");
                value.print(text, depth + 1);
            }),
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

/// Prints items in brackets, each on a line of its own.
fn between<T>(
    text: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    items: impl ExactSizeIterator<Item = T>,
    mut print: impl FnMut(&mut String, T),
) {
    let count = items.len();
    text.push(open);
    for (at, item) in items.enumerate() {
        text.push('\n');
        text.push_str(&"  ".repeat(depth + 1));
        print(text, item);
        if at + 1 < count {
            text.push(',');
        }
    }
    if count > 0 {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    }
    text.push(close);
}

/// The text as a JSON string. What cannot be seen, or reorders the text around it, is escaped.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // None of these is beyond the first 65,536 characters, which four digits hold.
            c if c.is_control()
                || is_reordering(c)
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}') =>
            {
                _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
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

    #[test]
    fn what_is_printed_is_the_value_again() -> Result<(), serde_json::Error> {
        let text =
            r#"{"b": [1, -2.5, 1e300, null, []], "a": {"q\"\\\n\u0000": "\u202e\u2028 größe", "": {}}, "c": true}"#;
        let mut findings = Vec::new();
        let source = std::sync::Arc::new(crate::diagnostic::Source::new("value.json", text.to_owned()));
        let printed = super::super::json::read(&source, &mut findings).map(|(value, _)| value.pretty());
        let printed = printed.unwrap_or_default();
        let same: serde_json::Value = serde_json::from_str(&printed)?;
        assert_eq!(same, serde_json::from_str::<serde_json::Value>(text)?);
        assert!(printed.starts_with("{\n  \"a\": {\n    \"\": {},\n"), "{printed}");
        assert!(printed.contains("\\u202e\\u2028 größe"), "{printed}");
        Ok(())
    }
}
