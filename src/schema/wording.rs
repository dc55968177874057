//! serde's messages in the words of JSON.

use serde_json::Value;

/// What a value is.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// `invalid type: integer `5`, expected a string` as `expected a text, found the number 5`.
pub fn of_serde(text: &str) -> String {
    let rest = text.strip_prefix("invalid type: ").or_else(|| text.strip_prefix("invalid value: "));
    if let Some((found, expected)) = rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("expected {}, found {}", self::expected(expected), self::found(found));
    }
    match text.strip_prefix("unknown variant ") {
        Some(rest) => format!("unknown value {rest}"),
        None => text.to_owned(),
    }
}

fn expected(text: &str) -> String {
    match text {
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        "a string" | "string or map" => "a text",
        "u32" => "a whole number from 0 to 4294967295",
        "f64" => "a number",
        _ if text.starts_with("struct ") => "an object",
        other => other,
    }
    .to_owned()
}

fn found(text: &str) -> String {
    let number = ["integer `", "floating point `"].iter().find_map(|start| text.strip_prefix(start));
    match (number, text.strip_prefix("string "), text.strip_prefix("boolean `")) {
        (Some(number), _, _) => format!("the number {}", number.trim_end_matches('`')),
        (_, Some(string), _) => format!("the text {string}"),
        (_, _, Some(boolean)) => boolean.trim_end_matches('`').to_owned(),
        _ => match text {
            "sequence" => "a list".to_owned(),
            "map" => "an object".to_owned(),
            "null" | "unit value" => "null".to_owned(),
            other => other.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::of_serde;

    #[test]
    fn speaks_of_json() {
        for (serde, ours) in [
            ("invalid type: integer `5`, expected a string", "expected a text, found the number 5"),
            ("invalid type: string \"yes\", expected a boolean", "expected true or false, found the text \"yes\""),
            ("invalid type: sequence, expected a map", "expected an object, found a list"),
            (
                "invalid value: integer `-1`, expected u32",
                "expected a whole number from 0 to 4294967295, found the number -1",
            ),
            ("unknown variant `x`, expected `a` or `b`", "unknown value `x`, expected `a` or `b`"),
        ] {
            assert_eq!(of_serde(serde), ours);
        }
    }
}
