//! The JSON Schema of the definition format, from its Rust types: for editors.

use schemars::generate::SchemaSettings;
use serde_json::json;

use super::format::{FileDef, TableDef};

/// The schema as text, the same for every run: a table, an array of tables, or an object with `tables`.
pub fn text() -> String {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let table = generator.subschema_for::<TableDef>();
    let file = generator.subschema_for::<FileDef>();
    let definitions = generator.take_definitions(true);
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "claimsmith definition",
        "description": "A table, an array of tables, or an object with `tables`.",
        "anyOf": [table, { "type": "array", "items": table }, file],
        "$defs": definitions,
    });
    // A `Value` prints its keys in their order, so the text does not depend on the run.
    format!("{schema:#}\n")
}
