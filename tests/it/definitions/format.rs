//! The JSON Schema of the format: it is the committed one, and it takes what the loader takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use claimsmith::diagnostic::Source;
use claimsmith::schema::json_schema;
use claimsmith::schema::load::load;
use serde_json::{Value, json};

use super::cases::fixtures;
use crate::loaded::{load_text, repository};
use crate::project::assert_none;

const COMMITTED: &str = "schemas/format/definition.schema.json";

fn schema() -> Value {
    serde_json::from_str(&json_schema::text()).unwrap()
}

/// A file that uses every key of the format.
fn every_key() -> Value {
    serde_json::from_str(&fs::read_to_string(repository("tests/cases/definitions/every-key.json")).unwrap()).unwrap()
}

/// `CLAIMSMITH_UPDATE=1 cargo test` writes the committed file anew.
#[test]
fn the_committed_schema_is_that_of_the_types() {
    let path = repository(COMMITTED);
    if std::env::var_os("CLAIMSMITH_UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, json_schema::text()).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == json_schema::text(), "{COMMITTED} is not up to date: run the test with CLAIMSMITH_UPDATE=1");
}

#[test]
fn what_loads_is_valid() {
    let schema = schema();
    let good = fixtures(".good.json");
    let texts = good.iter().map(|(_, name, text)| (name.clone(), serde_json::from_str(text).unwrap()));
    for (name, value) in texts.chain([("every-key.json".to_owned(), every_key())]) {
        assert!(valid(&schema, &schema, &value), "{name} is refused by the schema");
    }
}

#[test]
fn what_does_not_load_for_its_keys_or_kinds_is_not_valid() {
    let schema = schema();
    for (stem, name, text) in fixtures(".bad.json") {
        if ["unknown-key", "missing-key", "wrong-value", "wrong-value.roles"].contains(&&*stem) {
            assert!(!valid(&schema, &schema, &serde_json::from_str(&text).unwrap()), "{name} is taken by the schema");
        }
    }
    for (pointer, value) in [
        ("/tables/0/claim/retry/max", json!(0)),
        ("/tables/0/claim/retry/max/default", json!(-1)),
        ("/tables/0/claim/lease/for", json!("30 s")),
        ("/tables/0/claim/indexes", json!("most")),
        ("/tables/0/columns/0/default", json!(0)),
        ("/tables/0/columns/0/referenceTo", json!([0])),
        ("/tables/0/publish/topic", json!(5)),
        ("/tables/0/allow", json!({"x": 5})),
    ] {
        let mut file = every_key();
        *file.pointer_mut(pointer).expect(pointer) = value;
        assert!(load_text(&file.to_string()).has_errors(), "{pointer} is taken by the loader");
        assert!(!valid(&schema, &schema, &file), "{pointer} is taken by the schema");
    }
}

/// Keys of the schema ⊆ keys of the loader: the file with every key of the schema loads.
#[test]
fn every_key_of_the_schema_is_taken_by_the_loader() {
    let loaded = load_text(&every_key().to_string());
    assert!(!loaded.has_errors(), "{}", loaded.report());
    let schema = schema();
    let mut used: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    for (pointer, keys) in objects(&schema, &every_key()) {
        let object = every_key().pointer(&pointer).unwrap().as_object().unwrap().clone();
        used.entry(keys).or_default().extend(object.keys().cloned());
    }
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let Some(properties) = definition["properties"].as_object() else { continue };
        let keys: Vec<String> = properties.keys().cloned().collect();
        let used = used.get(&keys).unwrap_or_else(|| panic!("every-key.json has no {name}"));
        for key in &keys {
            assert!(used.contains(key), "every-key.json does not use `{key}` of {name}");
        }
    }
}

/// Keys of the loader ⊆ keys of the schema: for an unknown key, the loader lists the keys that it knows.
#[test]
fn every_key_of_the_loader_is_in_the_schema() {
    let objects = objects(&schema(), &every_key());
    assert!(objects.len() > 40, "objects are missing");
    for (pointer, keys) in objects {
        let mut file = every_key();
        file.pointer_mut(&pointer).unwrap()["zzzzzzzzzzzz"] = json!(1);
        let loaded = load_text(&file.to_string());
        let help = loaded.findings.iter().filter(|finding| finding.rule.id == "unknown-key").flat_map(|f| &f.help);
        let lists: Vec<&String> = help.collect();
        let [list] = lists[..] else { panic!("{pointer}: {}", loaded.report()) };
        let mut known: Vec<&str> = list.strip_prefix("the keys are ").unwrap_or(list).split(", ").collect();
        known.sort_unstable();
        assert_eq!(known, keys, "at {pointer:?}");
    }
}

/// The schema and the decoding of a type are written apart: each key, gone or of another kind, is taken by both or by none.
#[test]
fn the_loader_and_the_schema_agree_on_every_key() {
    let schema = schema();
    let kinds = [
        json!(null),
        json!(true),
        json!(5),
        json!(0),
        json!(1.5),
        json!("none"),
        json!("5s"),
        json!([]),
        json!([5]),
        json!({}),
    ];
    let mut faults = Vec::new();
    let mut compared = BTreeSet::new();
    let tables = every_key()["tables"].as_array().unwrap().clone();
    for file in tables.into_iter().chain([json!({ "$schema": "x", "tables": [] })]) {
        for (pointer, keys) in objects(&schema, &file) {
            // Of each type one object is enough.
            if !compared.insert(keys.clone()) {
                continue;
            }
            let of_key = |key| kinds.iter().map(Some).chain([None]).map(move |kind| (key, kind));
            for (key, kind) in keys.iter().flat_map(of_key) {
                let mut file = file.clone();
                let object = file.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
                match kind {
                    Some(kind) => object.insert(key.clone(), kind.clone()),
                    None => object.remove(key),
                };
                let (_, findings) = load(&[Arc::new(Source::new("t.json", file.to_string()))]);
                let fault = findings.iter().map(|finding| &finding.message).find(|message| is_of_kinds(message));
                if valid(&schema, &schema, &file) != fault.is_none() {
                    faults.push(format!("{pointer}/{key} as {kind:?}: the loader says {fault:?}"));
                }
            }
        }
    }
    assert!(compared.len() > 15, "objects are missing: {compared:?}");
    assert_none(faults);
}

/// Whether a fault is one of keys and kinds. What is wrong with a text that is one, such as a type or a reference, is not.
fn is_of_kinds(message: &str) -> bool {
    [": expected ", ": unknown value ", " lacks the key ", "unknown key "].iter().any(|words| message.contains(words))
}

/// The objects in `value` that have a fixed set of keys: where they are, and the keys, sorted.
fn objects(root: &Value, value: &Value) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    visit(root, root, value, "", &mut found);
    found
}

fn visit(root: &Value, schema: &Value, value: &Value, pointer: &str, found: &mut Vec<(String, Vec<String>)>) {
    let schema = branch(root, schema, value);
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        found.push((pointer.to_owned(), properties.keys().cloned().collect()));
        for (key, value) in object {
            visit(root, &properties[key], value, &format!("{pointer}/{key}"), found);
        }
    }
    for (at, value) in value.as_array().into_iter().flatten().enumerate() {
        visit(root, &schema["items"], value, &format!("{pointer}/{at}"), found);
    }
}

/// The part of the schema that describes the value: references followed, alternatives chosen.
fn branch<'a>(root: &'a Value, schema: &'a Value, value: &Value) -> &'a Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return branch(root, root.pointer(reference.trim_start_matches('#')).unwrap(), value);
    }
    let branches = schema["anyOf"].as_array().into_iter().chain(schema["oneOf"].as_array()).flatten();
    let mut fitting = branches.filter(|branch| valid(root, branch, value));
    fitting.next().map_or(schema, |schema| branch(root, schema, value))
}

/// Whether the value is valid, for the keywords that the schema uses.
fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return schema != &Value::Bool(false) };
    let holds = |(keyword, rule): (&String, &Value)| match keyword.as_str() {
        "$ref" => valid(root, branch(root, schema, value), value),
        "anyOf" => rule.as_array().unwrap().iter().any(|schema| valid(root, schema, value)),
        "oneOf" => rule.as_array().unwrap().iter().filter(|schema| valid(root, schema, value)).count() == 1,
        "type" => match rule.as_array() {
            Some(kinds) => kinds.iter().any(|kind| is(value, kind)),
            None => is(value, rule),
        },
        "const" => value == rule,
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "pattern" => value.as_str().is_none_or(|text| is_duration(rule, text)),
        "items" => value.as_array().into_iter().flatten().all(|value| valid(root, rule, value)),
        "required" => value
            .as_object()
            .is_none_or(|map| rule.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))),
        "properties" => value
            .as_object()
            .into_iter()
            .flatten()
            .all(|(key, value)| rule.get(key).is_none_or(|schema| valid(root, schema, value))),
        "additionalProperties" => value
            .as_object()
            .into_iter()
            .flatten()
            .all(|(key, value)| schema["properties"].get(key).is_some() || valid(root, rule, value)),
        "$schema" | "$defs" | "title" | "description" | "default" | "examples" | "format" => true,
        other => panic!("the keyword `{other}` is not known here: add it"),
    };
    keywords.iter().all(holds)
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the kind `{other}` is not known here: add it"),
    }
}

/// The one pattern of the schema.
fn is_duration(pattern: &Value, text: &str) -> bool {
    assert_eq!(pattern, "^[0-9]+(ms|s|m|h|d)$");
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < text.len() && ["ms", "s", "m", "h", "d"].contains(&unit)
}
