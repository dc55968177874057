//! What each template gets, in `templates/README.md`: written from the types when `CLAIMSMITH_UPDATE` is `1`, checked
//! otherwise.

use std::collections::BTreeMap;

use claimsmith::generate::targets;
use claimsmith::statement::Kind;
use claimsmith::template::BUILT_IN;
use serde_json::{Value, json};

use crate::loaded::repository;

const START: &str = "<!-- contexts: made from the types, by the tests with CLAIMSMITH_UPDATE=1 -->\n";
const END: &str = "<!-- end of contexts -->";

/// The rows of one template's table.
struct Rows<'a> {
    schema: &'a Value,
    /// The types that have rows already, with the first field that holds one.
    shown: BTreeMap<&'a str, String>,
    text: String,
}

/// The words for a type.
struct Words<'a> {
    one: String,
    many: String,
    /// What stands behind the field's name to reach what is in it.
    entry: &'static str,
    /// The name of the type whose fields are in it.
    fields: Option<&'a str>,
    /// What it can be, where that is a choice.
    values: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn plain(one: &str, many: &str) -> Words<'a> {
        Words { one: one.to_owned(), many: many.to_owned(), entry: "", fields: None, values: Vec::new() }
    }

    fn list(self) -> Words<'a> {
        let one = if self.fields.is_some() { "list".to_owned() } else { format!("list of {}", self.many) };
        assert!(self.entry.is_empty(), "lists of lists have no words yet: give the inner one a type");
        Words { one, many: "lists".to_owned(), entry: "[]", ..self }
    }

    fn or_none(self) -> Words<'a> {
        Words { one: self.one + " or none", many: self.many + " or none", ..self }
    }
}

impl<'a> Rows<'a> {
    /// The rows of a schema with `$defs`.
    fn of(schema: &'a Value) -> String {
        let mut rows = Rows { schema, shown: BTreeMap::new(), text: String::new() };
        rows.fields(schema, "");
        rows.text
    }

    fn definition(&self, name: &str) -> &'a Value {
        &self.schema["$defs"][name]
    }

    fn fields(&mut self, object: &'a Value, prefix: &str) {
        let names: Vec<&str> = strings(&object["required"]);
        let properties = object["properties"].as_object().unwrap();
        assert_eq!(
            names.len(),
            properties.len(),
            "a field may be missing, which a template cannot ask for: {object:#}"
        );
        names.iter().for_each(|name| self.field(&format!("{prefix}{name}"), &properties[*name]));
    }

    fn field(&mut self, path: &str, schema: &'a Value) {
        let words = self.words(schema);
        let place = format!("{path}{}", words.entry);
        let before = words.fields.and_then(|name| self.shown.get(name));
        let kind = before.map_or(words.one.clone(), |before| format!("{}, as `{before}`", words.one));
        let is_new = before.is_none();
        self.text += &format!("| `{path}` | {kind} | {} |\n", about(schema, &words.values));
        if let Some(name) = words.fields.filter(|_| is_new) {
            self.shown.insert(name, place.clone());
            self.fields(self.definition(name), &format!("{place}."));
        }
    }

    fn words(&self, schema: &'a Value) -> Words<'a> {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            let definition = self.definition(name);
            return match definition["properties"].is_object() {
                true => Words { fields: Some(name), ..Words::plain("object", "objects") },
                false => self.words(definition),
            };
        }
        let values = choices(schema);
        if !values.is_empty() {
            return Words { values, ..Words::plain("text", "texts") };
        }
        let types = match &schema["type"] {
            Value::String(one) => vec![one.as_str()],
            types => strings(types),
        };
        match (&types[..], schema["anyOf"].as_array().map(Vec::as_slice)) {
            ([], Some([one, none])) if none["type"] == "null" => self.words(one).or_none(),
            ([one, "null"], None) => self.typed(one, schema).or_none(),
            ([one], None) => self.typed(one, schema),
            _ => panic!("there are no words yet for {schema:#}"),
        }
    }

    fn typed(&self, one: &str, schema: &'a Value) -> Words<'a> {
        match one {
            "string" => Words::plain("text", "texts"),
            "integer" | "number" => Words::plain("number", "numbers"),
            "boolean" => Words::plain("true or false", "truth values"),
            "array" => self.words(&schema["items"]).list(),
            "object" if schema["additionalProperties"]["type"] == "string" => {
                Words::plain("texts by name", "lists of texts by name")
            }
            _ => panic!("there are no words yet for {schema:#}"),
        }
    }
}

fn strings(array: &Value) -> Vec<&str> {
    array.as_array().into_iter().flatten().map(|value| value.as_str().unwrap()).collect()
}

/// The texts that an enum without data is serialized as; those that have a comment of their own are apart.
fn choices(schema: &Value) -> Vec<&str> {
    let described = schema["oneOf"].as_array().into_iter().flatten();
    let described = described.flat_map(|one| one["const"].as_str().map_or_else(|| choices(one), |value| vec![value]));
    strings(&schema["enum"]).into_iter().chain(described).collect()
}

/// The doc comment as a cell of a table.
fn about(schema: &Value, values: &[&str]) -> String {
    let text = schema["description"].as_str().unwrap_or_else(|| panic!("a field without a doc comment: {schema:#}"));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`");
    let text = text.trim_end_matches('.').replace('|', "\\|");
    match values {
        [] => text,
        values => format!("{text}: `{}`", values.join("`, `")),
    }
}

/// The sections of all templates.
fn sections() -> String {
    let contexts: Vec<_> = targets::ALL.iter().flat_map(|target| target.contexts()).collect();
    let stray = contexts.iter().find(|context| BUILT_IN.iter().all(|it| it.name != context.template));
    assert!(stray.is_none(), "not a built-in template: {stray:?}");
    let mut text = String::new();
    for it in BUILT_IN {
        let of_it: Vec<_> = contexts.iter().filter(|context| context.template == it.name).collect();
        let [context] = of_it[..] else { panic!("`{}` has {} contexts: see `Target::contexts`", it.name, of_it.len()) };
        let schema = context.schema.as_value();
        text += &format!("\n## `{}`, version {}\n\n", it.name, it.version);
        text += schema["description"].as_str().unwrap();
        text += &format!("\n\n| name | type | what it is |\n| --- | --- | --- |\n{}", Rows::of(schema));
    }
    text + "\n"
}

#[test]
fn the_page_says_what_each_template_gets() {
    let path = repository("templates/README.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (committed, after) = rest.split_once(END).unwrap();
    let made = sections();
    if std::env::var("CLAIMSMITH_UPDATE").as_deref() == Ok("1") {
        std::fs::write(&path, format!("{before}{START}{made}{END}{after}")).unwrap();
    } else {
        assert!(committed == made, "run the tests with CLAIMSMITH_UPDATE=1 to renew {}:\n{made}", path.display());
    }
}

/// The words of an enum are written out for templates, and derived for the page.
#[test]
fn what_a_statement_makes_has_the_words_of_the_page() {
    let context = targets::ALL.iter().flat_map(|target| target.contexts()).next().unwrap();
    let kinds = [Kind::Setting, Kind::Database, Kind::Table, Kind::Index, Kind::Comment, Kind::ForeignKey];
    assert_eq!(choices(&context.schema.as_value()["$defs"]["Kind"]), kinds.map(Kind::word));
}

/// A tree, and what fields may be.
#[test]
fn types_have_words() {
    let schema = json!({
        "required": ["root", "other", "names", "none", "kind", "perhaps", "count", "big"],
        "properties": {
            "big": { "type": "boolean", "description": "Big." },
            "count": { "type": ["integer", "null"], "description": "How\nmany | of [`Node`].", "minimum": 0 },
            "kind": { "$ref": "#/$defs/Kind", "description": "Its kind." },
            "names": { "type": "array", "items": { "type": "string" }, "description": "Names …" },
            "none": { "type": ["array", "null"], "items": { "$ref": "#/$defs/Kind" }, "description": "Kinds." },
            "other": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }], "description": "Another." },
            "perhaps": { "anyOf": [{ "$ref": "#/$defs/Kind" }, { "type": "null" }], "description": "A kind?" },
            "root": { "$ref": "#/$defs/Node", "description": "The first." },
        },
        "$defs": {
            "Kind": { "oneOf": [
                { "type": "string", "enum": ["a", "b"] }, { "type": "string", "const": "c", "description": "C." },
            ] },
            "Node": {
                "required": ["nodes", "id"],
                "properties": {
                    "id": { "type": "number", "description": "Its number." },
                    "nodes": { "type": "array", "items": { "$ref": "#/$defs/Node" }, "description": "Below it." },
                },
            },
        },
    });
    let rows = "\
        | `root` | object | The first |\n\
        | `root.nodes` | list, as `root` | Below it |\n\
        | `root.id` | number | Its number |\n\
        | `other` | object or none, as `root` | Another |\n\
        | `names` | list of texts | Names … |\n\
        | `none` | list of texts or none | Kinds: `a`, `b`, `c` |\n\
        | `kind` | text | Its kind: `a`, `b`, `c` |\n\
        | `perhaps` | text or none | A kind?: `a`, `b`, `c` |\n\
        | `count` | number or none | How many \\| of `Node` |\n\
        | `big` | true or false | Big |\n";
    assert_eq!(Rows::of(&schema), rows);
}
