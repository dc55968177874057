//! The JSON Schema of an event's payload: generators read it word by word, and what they could only skip would be lost from
//! the types without a trace.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;

use super::super::super::{Json, Site, rules};

/// What the value of a keyword must be.
#[derive(Clone, Copy)]
enum Shape {
    /// A schema.
    Schema,
    /// An object of schemas by names.
    Named,
    /// A list of schemas, at least one.
    Schemas,
    /// The name of a type, or a list of such.
    Types,
    /// A list of any values.
    Values,
    /// A list of different texts.
    Names,
    /// A text.
    Text,
    /// `true` or `false`.
    Flag,
}

/// The keywords that some generator reads, and those behind which such keywords may stand. JSON Schema lets others be.
const KEYWORDS: [(&str, Shape); 29] = [
    ("$defs", Shape::Named),
    ("$dynamicRef", Shape::Text),
    ("$id", Shape::Text),
    ("$ref", Shape::Text),
    ("$schema", Shape::Text),
    ("additionalProperties", Shape::Schema),
    ("allOf", Shape::Schemas),
    ("anyOf", Shape::Schemas),
    ("contains", Shape::Schema),
    ("definitions", Shape::Named),
    ("dependentSchemas", Shape::Named),
    ("description", Shape::Text),
    ("else", Shape::Schema),
    ("enum", Shape::Values),
    ("if", Shape::Schema),
    ("items", Shape::Schema),
    ("not", Shape::Schema),
    // A word of OpenAPI.
    ("nullable", Shape::Flag),
    ("oneOf", Shape::Schemas),
    ("patternProperties", Shape::Named),
    ("prefixItems", Shape::Schemas),
    ("properties", Shape::Named),
    ("propertyNames", Shape::Schema),
    ("required", Shape::Names),
    ("then", Shape::Schema),
    ("title", Shape::Text),
    ("type", Shape::Types),
    ("unevaluatedItems", Shape::Schema),
    ("unevaluatedProperties", Shape::Schema),
];

/// The types that JSON Schema has.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// What programs and databases call these.
const OTHER_NAMES: [(&[&str], &str); 6] = [
    (&["list"], "array"),
    (&["bool"], "boolean"),
    (&["bigint", "int", "long"], "integer"),
    (&["decimal", "double", "float"], "number"),
    (&["map", "struct"], "object"),
    (&["text", "varchar"], "string"),
];

/// Checks the schema of one payload.
pub fn check(name: &str, schema: &Json, site: &Site, findings: &mut Vec<Diagnostic>) {
    Checker { event: name, findings }.schema("", schema, site);
}

struct Checker<'a> {
    event: &'a str,
    findings: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn fault(&mut self, keyword: &str, what: &str, site: &Site) -> Diagnostic {
        let keyword = if keyword.is_empty() { String::new() } else { format!("`{keyword}`: ") };
        let message = format!("the payload of `{}`: {keyword}{what}", self.event);
        Diagnostic::new(&rules::WRONG_VALUE, site.place(), message)
    }

    fn add(&mut self, keyword: &str, what: &str, site: &Site, help: &str) {
        let finding = self.fault(keyword, what, site).help(help);
        self.findings.push(finding);
    }

    /// The depth is bounded by the reader of the file.
    fn schema(&mut self, keyword: &str, schema: &Json, site: &Site) {
        match schema {
            Json::Object(keywords) => self.keywords(keywords, site),
            Json::Bool(_) => {}
            other => {
                let help = match (keyword, other) {
                    ("items", Json::List(_)) => "one schema for each place is `prefixItems`",
                    _ => "write an object such as `{ \"type\": \"string\" }`, or `true` for anything",
                };
                self.add(keyword, &format!("expected a JSON Schema, found {}", other.found()), site, help);
            }
        }
    }

    fn keywords(&mut self, keywords: &BTreeMap<String, Json>, site: &Site) {
        let sites = site.named();
        for (keyword, value) in keywords {
            let Some((_, shape)) = KEYWORDS.iter().find(|(known, _)| known == keyword) else { continue };
            let site = sites.get(keyword).unwrap_or(site);
            self.keyword(keyword, *shape, value, site);
        }
    }

    fn keyword(&mut self, keyword: &str, shape: Shape, value: &Json, site: &Site) {
        let elements = site.children();
        let element = |at: usize| elements.get(at).unwrap_or(site);
        let (expected, help) = match (shape, value) {
            (Shape::Schema, value) => return self.schema(keyword, value, site),
            (Shape::Named, Json::Object(schemas)) => {
                let sites = site.named();
                return schemas.iter().for_each(|(name, schema)| {
                    self.schema(&format!("{keyword}.{name}"), schema, sites.get(name).unwrap_or(site))
                });
            }
            (Shape::Schemas, Json::List(schemas)) if !schemas.is_empty() => {
                return schemas.iter().enumerate().for_each(|(at, schema)| self.schema(keyword, schema, element(at)));
            }
            (Shape::Types, Json::Text(word)) => return self.word(word, site),
            (Shape::Types, Json::List(words)) if !words.is_empty() => {
                for (at, word) in words.iter().enumerate() {
                    match word {
                        Json::Text(word) => self.word(word, element(at)),
                        other => {
                            let what = format!("expected the name of a type, found {}", other.found());
                            self.add(keyword, &what, element(at), "write for example `\"string\"`");
                        }
                    }
                }
                return self.twice(keyword, words, &elements);
            }
            (Shape::Names, Json::List(names)) => {
                for (at, name) in names.iter().enumerate().filter(|(_, name)| name.as_str().is_none()) {
                    let what = format!("expected the name of a property, found {}", name.found());
                    self.add(keyword, &what, element(at), "put the name into double quotes");
                }
                return self.twice(keyword, names, &elements);
            }
            (Shape::Values, Json::List(_)) | (Shape::Text, Json::Text(_)) | (Shape::Flag, Json::Bool(_)) => return,
            (Shape::Named, _) => {
                ("an object of JSON Schemas", "write for example `{ \"order_id\": { \"type\": \"string\" } }`")
            }
            (Shape::Schemas, _) => {
                ("a list of at least one JSON Schema", "write for example `[{ \"type\": \"string\" }]`")
            }
            (Shape::Types, _) => {
                ("the name of a type or a list of such", "write for example `\"string\"`, or `[\"string\", \"null\"]`")
            }
            (Shape::Names, _) => ("a list of names of properties", "write for example `[\"order_id\"]`"),
            (Shape::Values, _) => {
                ("a list of values", "write for example `[\"open\", \"closed\"]`, or `const` for one value")
            }
            (Shape::Text, _) => ("a text", "put it into double quotes"),
            (Shape::Flag, _) => ("true or false", "write it without quotes"),
        };
        let found = match value {
            Json::List(list) if list.is_empty() => "an empty list".to_owned(),
            other => other.found(),
        };
        self.add(keyword, &format!("expected {expected}, found {found}"), site, help);
    }

    fn word(&mut self, word: &str, site: &Site) {
        if TYPES.contains(&word) {
            return;
        }
        let finding = self.fault("type", &format!("JSON Schema has no type `{word}`"), site);
        let other = OTHER_NAMES.iter().find(|(names, _)| names.contains(&word));
        let finding = match other {
            Some((_, name)) => finding.help(format!("did you mean `{name}`?")),
            None => finding.did_you_mean(word, TYPES),
        };
        let all = TYPES.map(|word| format!("`{word}`")).join(", ");
        self.findings.push(finding.help(format!("the types are {all}")));
    }

    fn twice(&mut self, keyword: &str, names: &[Json], sites: &[Site]) {
        let mut seen = BTreeSet::new();
        for (at, name) in names.iter().enumerate().filter_map(|(at, name)| Some((at, name.as_str()?))) {
            if let (false, Some(site)) = (seen.insert(name), sites.get(at)) {
                self.add(keyword, &format!("`{name}` stands there twice"), site, "remove one of the two");
            }
        }
    }
}
