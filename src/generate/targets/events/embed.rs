//! A schema that was a document of its own → the same as a part of another document.

use std::fmt::Write;

use crate::schema::Json;

/// Keywords whose values are data and no schemas.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// Keywords whose values are objects of schemas, by names that are no keywords.
const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The schema where it is found under `reference`: what it refers to in itself is there now. A schema with an `$id` stays
/// as it is, since that makes it a document of its own wherever it stands.
pub fn embed(schema: &Json, reference: &str) -> Json {
    let Json::Object(map) = schema else { return schema.clone() };
    if map.contains_key("$id") {
        return schema.clone();
    }
    let keywords = map.iter().filter(|(key, _)| *key != "$schema");
    Json::Object(keywords.map(|(key, value)| (key.clone(), keyword(key, value, reference))).collect())
}

fn keyword(key: &str, value: &Json, reference: &str) -> Json {
    match (key, value) {
        (key, value) if DATA.contains(&key) => value.clone(),
        ("$ref" | "$dynamicRef", Json::Text(target)) => Json::Text(match target.strip_prefix('#') {
            // A name such as `#item` is one of the whole document.
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => format!("{reference}{pointer}"),
            _ => target.clone(),
        }),
        (key, Json::Object(map)) if NAMED.contains(&key) => {
            Json::Object(map.iter().map(|(name, value)| (name.clone(), embed(value, reference))).collect())
        }
        (_, Json::List(list)) => Json::List(list.iter().map(|value| embed(value, reference)).collect()),
        (_, value) => embed(value, reference),
    }
}

/// A key as it stands in the fragment of a URI that is a JSON pointer.
pub fn pointer(key: &str) -> String {
    let mut pointer = String::new();
    for byte in key.replace('~', "~0").replace('/', "~1").bytes() {
        match byte {
            b'~' | b'.' | b'_' | b'-' => pointer.push(byte as char),
            byte if byte.is_ascii_alphanumeric() => pointer.push(byte as char),
            byte => _ = write!(pointer, "%{byte:02X}"),
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{embed, pointer};
    use crate::diagnostic::Source;
    use crate::schema::{Json, read_json};

    fn json(text: &str) -> Json {
        let source = Arc::new(Source::new("payload.json", text.to_owned()));
        read_json(&source, &mut Vec::new()).map_or(Json::Null, |(value, _)| value)
    }

    #[test]
    fn references_lead_to_where_the_schema_is_now() {
        for (before, after) in [
            (r##"{"$ref": "#/$defs/a", "$schema": "x"}"##, r##"{"$ref": "#/$defs/e.v1/$defs/a"}"##),
            (r##"{"items": [{"$ref": "#"}]}"##, r##"{"items": [{"$ref": "#/$defs/e.v1"}]}"##),
            // Neither a name, nor another document, nor data, nor a property of that name.
            (r##"{"$ref": "#a"}"##, r##"{"$ref": "#a"}"##),
            (r##"{"$ref": "other.json#/a"}"##, r##"{"$ref": "other.json#/a"}"##),
            (r##"{"const": {"$ref": "#/a"}}"##, r##"{"const": {"$ref": "#/a"}}"##),
            (
                r##"{"properties": {"$ref": {"$ref": "#/a"}, "const": {"$ref": "#/a"}}}"##,
                r##"{"properties": {"$ref": {"$ref": "#/$defs/e.v1/a"}, "const": {"$ref": "#/$defs/e.v1/a"}}}"##,
            ),
            (r##"{"$id": "urn:a", "$ref": "#/a"}"##, r##"{"$id": "urn:a", "$ref": "#/a"}"##),
        ] {
            assert_eq!(embed(&json(before), "#/$defs/e.v1"), json(after), "{before}");
        }
        assert_eq!(pointer("a.b/c~ ö\"%"), "a.b~1c~0%20%C3%B6%22%25");
    }
}
