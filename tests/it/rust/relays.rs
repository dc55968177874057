//! `publish-without-relay` speaks exactly where no relay, or no consumer, is generated.

use serde_json::{Value, json};

use crate::loaded::load_text;

/// A bus that has all that it needs.
fn whole() -> Value {
    json!({
        "tableName": "deeds",
        "columns": [
            { "name": "id", "type": "VARCHAR(36)" },
            { "name": "kind", "type": "VARCHAR(64)" },
            { "name": "subject", "type": "BIGINT" },
            { "name": "payload", "type": "LONGTEXT" },
            { "name": "state", "type": "VARCHAR(20)" },
            { "name": "due_at_ms", "type": "BIGINT", "default": "0" },
            { "name": "tries", "type": "INT", "default": "0" },
            { "name": "published_at_ms", "type": "BIGINT", "nullable": true },
            { "name": "created_at_ms", "type": "BIGINT" }
        ],
        "primaryKey": ["id"],
        "claim": {
            "global": true,
            "status": { "column": "state", "pending": "new", "published": "sent", "done": "done", "dead": "dead" },
            "due": "due_at_ms",
            "visibility": "30s",
            "retry": { "count": "tries" },
            "times": { "published": "published_at_ms" },
            "event": { "type": "kind", "payload": "payload" }
        },
        "publish": { "broker": "custom", "topic": "deeds", "key": "subject" },
        "bus": { "mode": "broker" },
        "retention": { "states": ["done"], "age": "created_at_ms", "keep": "30d", "strategy": "delete" }
    })
}

/// Buses of other kinds than the shipped one: without a sweep, and with a scope, a key of two columns and an unsigned number.
pub fn buses() -> String {
    let mut scoped = whole();
    scoped["tableName"] = json!("scoped_deeds");
    let columns = scoped["columns"].as_array_mut().unwrap();
    columns[0] = json!({ "name": "number", "type": "BIGINT UNSIGNED" });
    columns[5] = json!({ "name": "due_at", "type": "DATETIME(3)", "nullable": true });
    columns[7] = json!({ "name": "published_at", "type": "TIMESTAMP", "nullable": true });
    columns.push(json!({ "name": "app_code", "type": "VARCHAR(32)" }));
    columns.push(json!({ "name": "part", "type": "CHAR(8)" }));
    scoped["primaryKey"] = json!(["app_code", "part", "number"]);
    let claim = scoped["claim"].as_object_mut().unwrap();
    claim.remove("global");
    claim.remove("due");
    claim.insert("scope".to_owned(), json!(["app_code"]));
    claim["retry"]["at"] = json!("due_at");
    claim["times"]["published"] = json!("published_at");
    scoped["bus"]["sweep"] = json!("5m");
    json!([whole(), scoped]).to_string()
}

#[test]
fn every_open_state_of_a_bus_is_walked() {
    let code = load_text(&buses()).rust_bundle();
    // On four databases.
    assert_eq!(code.matches("pub async fn check_backlog(").count(), 8);
    assert_eq!(code.matches("stranded: Some(").count(), 8, "both times of the second table may be NULL");
}

/// The definition with another value, or without the key.
fn with(pointer: &str, value: Value) -> Value {
    let mut table = whole();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = table.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(map), Value::Null) => _ = map.remove(key),
        (parent, value) => parent[key] = value,
    }
    table
}

#[test]
fn who_gets_no_relay_is_told_why() {
    // A change, and whether there is a relay and a consumer then.
    let cases = [
        ("/tableName", json!("deeds"), true),
        ("/columns/0/type", json!("BIGINT"), true),
        ("/columns/0/type", json!("BINARY(16)"), false),
        ("/columns/0/type", json!("DECIMAL(18,0)"), false),
        ("/columns/0/type", json!("ENUM('a', 'b')"), false),
        ("/columns/0/type", json!("DATETIME"), false),
        ("/columns/1/type", json!("ENUM('a', 'b')"), false),
        ("/columns/2/type", json!("ENUM('a', 'b')"), true),
        ("/columns/2/type", json!("DOUBLE"), false),
        ("/columns/3/type", json!("JSON"), true),
        ("/columns/3/type", json!("BLOB"), false),
        ("/columns/3/type", json!("ENUM('a', 'b')"), false),
        ("/primaryKey", json!(["id", "created_at_ms"]), false),
        ("/claim/visibility", Value::Null, false),
        ("/claim/retry", Value::Null, false),
        ("/claim/status/dead", Value::Null, false),
        ("/claim/event", Value::Null, false),
        ("/claim/event/payload", Value::Null, false),
        ("/claim/event/type", Value::Null, false),
        ("/claim/scope", json!(["kind"]), false),
        ("/publish/key", Value::Null, true),
        ("/publish/key", json!("published_at_ms"), false),
        ("/publish/topic", json!({ "column": "subject" }), true),
        ("/publish/topic", json!({ "column": "kind" }), true),
    ];
    for (pointer, value, relayed) in cases {
        let what = format!("{pointer} = {value}");
        let mut table = with(pointer, value);
        if pointer == "/claim/scope" {
            table["claim"].as_object_mut().unwrap().remove("global");
        }
        let loaded = load_text(&table.to_string());
        let said = loaded.findings.iter().filter(|finding| finding.rule.id == "publish-without-relay").count();
        let code = loaded.rust_bundle();
        let has_all =
            code.matches("pub async fn relay<").count() >= 4 && code.matches("pub async fn drain(").count() == 4;
        assert_eq!(has_all, relayed, "{what}");
        assert_eq!(said, usize::from(!relayed), "{what}: {}", loaded.report());
    }
    // Without a bus the content may be bytes, and nobody asks for the type.
    for (pointer, value) in [("/columns/3/type", json!("BLOB")), ("/claim/event/type", Value::Null)] {
        let mut table = with(pointer, value);
        table.as_object_mut().unwrap().remove("bus");
        let loaded = load_text(&table.to_string());
        assert!(!loaded.rules().contains(&"publish-without-relay"), "{}", loaded.report());
        assert!(loaded.rust_bundle().contains("pub async fn relay<"));
    }
}
