//! The JSON Schema of a payload → types that programming languages have.
//!
//! A type may hold more than the schema allows and never less, so that no valid payload is refused: what no type can say
//! (patterns, ranges, `allOf`, references …) is left out, and what is left with no shape at all is [`Type::Unknown`].

use std::collections::BTreeSet;

use crate::schema::{Json, Number};

/// The types of one payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    /// What the payload is.
    pub root: Type,
    /// The types that need a name of their own, outer ones first.
    pub named: Vec<Named>,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Any JSON.
    Unknown,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Text.
    Text,
    /// A list.
    List(Box<Type>),
    /// An object with any keys.
    Map(Box<Type>),
    /// `null`, or something else.
    Nullable(Box<Type>),
    /// The position of a type in [`Payload::named`].
    Named(usize),
}

/// A type with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Where it stands: the words from the payload down to it; of the payload itself none.
    pub path: Vec<String>,
    /// What the schema says it is for.
    pub about: Option<String>,
    /// What it is.
    pub kind: Kind,
}

/// What a named type is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An object with known keys; it may have others.
    Object(Vec<Field>),
    /// One of these values.
    Choice(Vec<Value>),
    /// One of these types.
    Union(Vec<Type>),
}

/// A key of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key.
    pub name: String,
    /// What the schema says it is for.
    pub about: Option<String>,
    /// It may not be missing.
    pub required: bool,
    /// Its value.
    pub ty: Type,
}

/// A value that can be written as a literal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number that every language holds exactly.
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
}

/// What a language can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Types that are one of several types, and values as types.
    Unions,
    /// Closed sets of texts, and no other choice.
    Enums,
}

/// The types of a payload, as far as a language can say them.
pub fn payload(schema: &Json, ability: Ability) -> Payload {
    let mut named = Vec::new();
    let root = Reader { ability, named: &mut named }.read(schema, &[]);
    Payload { root, named }
}

/// 2⁵³ − 1: beyond it JavaScript takes different numbers for the same.
const MOST_EXACT: i128 = (1 << 53) - 1;

struct Reader<'a> {
    ability: Ability,
    named: &'a mut Vec<Named>,
}

impl Reader<'_> {
    fn read(&mut self, schema: &Json, path: &[String]) -> Type {
        let ty = self.read_shape(schema, path);
        // A word of OpenAPI and not of JSON Schema: a type that is wider than the schema does no harm.
        let nullable = schema.get("nullable") == Some(&Json::Bool(true));
        match ty {
            Type::Unknown | Type::Nullable(_) => ty,
            ty if nullable => Type::Nullable(Box::new(ty)),
            ty => ty,
        }
    }

    /// The narrowest of what the schema says by values, by `type`, and by alternatives: a valid value is all of them.
    fn read_shape(&mut self, schema: &Json, path: &[String]) -> Type {
        let values = match (schema.get("const"), schema.get("enum")) {
            (Some(value), _) => Some(std::slice::from_ref(value)),
            (None, Some(Json::List(values))) => Some(&**values),
            _ => None,
        };
        let choice = values.map_or(Type::Unknown, |values| self.choice(values, schema, path));
        if choice != Type::Unknown {
            return choice;
        }
        match schema.get("type") {
            Some(Json::Text(word)) => return self.of_word(word, schema, path),
            Some(Json::List(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
                let is_null = |at: usize| words[at] == "null";
                return self.union(schema, path, words.len(), is_null, |reader, at, path| {
                    reader.of_word(words[at], schema, path)
                });
            }
            _ => {}
        }
        match schema.get("oneOf").or_else(|| schema.get("anyOf")) {
            Some(Json::List(all)) => {
                let is_null = |at: usize| is_null(&all[at]);
                self.union(schema, path, all.len(), is_null, |reader, at, path| reader.read(&all[at], path))
            }
            _ => Type::Unknown,
        }
    }

    fn of_word(&mut self, word: &str, schema: &Json, path: &[String]) -> Type {
        match word {
            "boolean" => Type::Boolean,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "string" => Type::Text,
            "array" => Type::List(Box::new(match (schema.get("prefixItems"), schema.get("items")) {
                (None, Some(items)) => self.read(items, &below(path, "item")),
                _ => Type::Unknown,
            })),
            "object" => self.object(schema, path),
            // "null" alone says nothing that is worth a type.
            _ => Type::Unknown,
        }
    }

    fn object(&mut self, schema: &Json, path: &[String]) -> Type {
        let required = match schema.get("required") {
            Some(Json::List(names)) => names.iter().filter_map(Json::as_str).collect(),
            _ => BTreeSet::new(),
        };
        let properties = match schema.get("properties") {
            Some(Json::Object(properties)) => Some(properties),
            _ => None,
        };
        let declared = properties.into_iter().flatten();
        if declared.clone().next().is_none() && required.is_empty() {
            let others = match (schema.get("patternProperties"), schema.get("additionalProperties")) {
                (None, Some(others)) => self.read(others, &below(path, "value")),
                _ => Type::Unknown,
            };
            return Type::Map(Box::new(others));
        }
        // The place is taken first: outer types come before inner ones.
        let place = self.named.len();
        self.named.push(Named { path: path.to_vec(), about: about(schema), kind: Kind::Object(Vec::new()) });
        let mut fields: Vec<Field> = Vec::new();
        for (name, property) in declared {
            fields.push(Field {
                name: name.clone(),
                about: about(property),
                required: required.contains(&**name),
                ty: self.read(property, &below(path, name)),
            });
        }
        let undeclared = required.iter().filter(|name| properties.is_none_or(|all| !all.contains_key(**name)));
        fields.extend(undeclared.map(|name| Field {
            name: (*name).to_owned(),
            about: None,
            required: true,
            ty: Type::Unknown,
        }));
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        self.named[place].kind = Kind::Object(fields);
        Type::Named(place)
    }

    fn choice(&mut self, values: &[Json], schema: &Json, path: &[String]) -> Type {
        let nullable = values.contains(&Json::Null);
        let mut literals = Vec::new();
        for value in values.iter().filter(|value| **value != Json::Null) {
            match literal(value) {
                Some(literal) if literals.contains(&literal) => {}
                Some(literal) => literals.push(literal),
                None => return Type::Unknown,
            }
        }
        let all = |is: fn(&Value) -> bool| literals.iter().all(is);
        let ty = match self.ability {
            _ if literals.is_empty() => return Type::Unknown,
            Ability::Enums if all(|value| matches!(value, Value::Integer(_))) => Type::Integer,
            Ability::Enums if all(|value| matches!(value, Value::Boolean(_))) => Type::Boolean,
            Ability::Enums if !all(|value| matches!(value, Value::Text(_))) => return Type::Unknown,
            _ => self.name(path, schema, Kind::Choice(literals)),
        };
        if nullable { Type::Nullable(Box::new(ty)) } else { ty }
    }

    /// One of `count` types, of which some are null.
    fn union(
        &mut self,
        schema: &Json,
        path: &[String],
        count: usize,
        is_null: impl Fn(usize) -> bool,
        mut member: impl FnMut(&mut Self, usize, &[String]) -> Type,
    ) -> Type {
        let before = self.named.len();
        let others: Vec<usize> = (0..count).filter(|at| !is_null(*at)).collect();
        let (mut nullable, mut members) = (others.len() < count, Vec::new());
        for at in &others {
            // A lone member is what the whole is, and is called so.
            let path = if others.len() == 1 { path.to_vec() } else { below(path, &format!("option {}", at + 1)) };
            let ty = match member(self, *at, &path) {
                Type::Nullable(ty) => {
                    nullable = true;
                    *ty
                }
                ty => ty,
            };
            if !members.contains(&ty) {
                members.push(ty);
            }
        }
        let ty = match (members.len(), self.ability) {
            (1, _) => members.remove(0),
            (2.., Ability::Unions) if !members.contains(&Type::Unknown) => {
                self.name(path, schema, Kind::Union(members))
            }
            _ => Type::Unknown,
        };
        match ty {
            Type::Unknown => {
                // What is used by nothing has no name either.
                self.named.truncate(before);
                Type::Unknown
            }
            ty if nullable => Type::Nullable(Box::new(ty)),
            ty => ty,
        }
    }

    fn name(&mut self, path: &[String], schema: &Json, kind: Kind) -> Type {
        self.named.push(Named { path: path.to_vec(), about: about(schema), kind });
        Type::Named(self.named.len() - 1)
    }
}

fn below(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

fn about(schema: &Json) -> Option<String> {
    let text = |key| schema.get(key).and_then(Json::as_str).filter(|text| !text.trim().is_empty());
    text("description").or_else(|| text("title")).map(str::to_owned)
}

fn is_null(schema: &Json) -> bool {
    schema.get("const") == Some(&Json::Null) || schema.get("type").and_then(Json::as_str) == Some("null")
}

fn literal(value: &Json) -> Option<Value> {
    match value {
        Json::Text(text) => Some(Value::Text(text.clone())),
        Json::Bool(value) => Some(Value::Boolean(*value)),
        Json::Number(Number::Integer(number)) if number.abs() <= MOST_EXACT => {
            i64::try_from(*number).ok().map(Value::Integer)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Ability, Kind, Payload, Type, payload};
    use crate::diagnostic::Source;
    use crate::schema::{Json, read_json};

    fn json(text: &str) -> Json {
        let source = Arc::new(Source::new("payload.json", text.to_owned()));
        read_json(&source, &mut Vec::new()).map_or(Json::Null, |(value, _)| value)
    }

    /// The types in a notation of their own, those with names in their order.
    fn shown(schema: &str, ability: Ability) -> String {
        let Payload { root, named } = payload(&json(schema), ability);
        let all = named.iter().enumerate().map(|(at, named)| {
            let ty = |ty: &Type| show(ty);
            let kind = match &named.kind {
                Kind::Object(fields) => {
                    let field = |field: &super::Field| {
                        format!("{}{}: {}", field.name, if field.required { "" } else { "?" }, ty(&field.ty))
                    };
                    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
                }
                Kind::Choice(values) => format!("{values:?}"),
                Kind::Union(types) => types.iter().map(ty).collect::<Vec<_>>().join(" | "),
            };
            format!("; {at} {} = {kind}", named.path.join("."))
        });
        show(&root) + &all.collect::<String>()
    }

    fn show(ty: &Type) -> String {
        match ty {
            Type::List(item) => format!("[{}]", show(item)),
            Type::Map(value) => format!("map {}", show(value)),
            Type::Nullable(ty) => format!("{}?", show(ty)),
            Type::Named(at) => format!("#{at}"),
            ty => format!("{ty:?}"),
        }
    }

    #[test]
    fn a_type_never_holds_less_than_the_schema_allows() {
        for (schema, unions, enums) in [
            ("true", "Unknown", "Unknown"),
            ("{}", "Unknown", "Unknown"),
            (r#"{"properties": {"a": {"type": "string"}}}"#, "Unknown", "Unknown"),
            (r##"{"$ref": "#/$defs/a"}"##, "Unknown", "Unknown"),
            (r#"{"type": "string", "pattern": "^a"}"#, "Text", "Text"),
            (r#"{"type": ["integer", "null"]}"#, "Integer?", "Integer?"),
            (r#"{"type": "integer", "nullable": true}"#, "Integer?", "Integer?"),
            (r#"{"type": ["integer", "string"]}"#, "#0; 0  = Integer | Text", "Unknown"),
            (r#"{"type": "null"}"#, "Unknown", "Unknown"),
            (r#"{"type": "array", "items": {"type": "number"}}"#, "[Number]", "[Number]"),
            (r#"{"type": "array", "prefixItems": [{}], "items": {"type": "number"}}"#, "[Unknown]", "[Unknown]"),
            (r#"{"type": "object"}"#, "map Unknown", "map Unknown"),
            (r#"{"type": "object", "additionalProperties": {"type": "boolean"}}"#, "map Boolean", "map Boolean"),
            (
                r#"{"type": "object", "required": ["z", "a"], "properties": {"a": {"type": "string"}, "b": {"enum": ["x", null]}}}"#,
                r#"#0; 0  = {a: Text, b?: #1?, z: Unknown}; 1 b = [Text("x")]"#,
                r#"#0; 0  = {a: Text, b?: #1?, z: Unknown}; 1 b = [Text("x")]"#,
            ),
            (r#"{"const": 1}"#, "#0; 0  = [Integer(1)]", "Integer"),
            (r#"{"enum": [1, "a"]}"#, r#"#0; 0  = [Integer(1), Text("a")]"#, "Unknown"),
            (r#"{"enum": [1.5], "type": "number"}"#, "Number", "Number"),
            (r#"{"enum": [9007199254740993]}"#, "Unknown", "Unknown"),
            (r#"{"enum": [null]}"#, "Unknown", "Unknown"),
            (
                r#"{"anyOf": [{"type": "null"}, {"type": "object", "required": ["a"]}]}"#,
                "#0?; 0  = {a: Unknown}",
                "#0?; 0  = {a: Unknown}",
            ),
            (
                r#"{"oneOf": [{"type": "object", "required": ["a"]}, {"type": "string"}]}"#,
                "#1; 0 option 1 = {a: Unknown}; 1  = #0 | Text",
                "Unknown",
            ),
            (r#"{"oneOf": [{"type": "object", "required": ["a"]}, {}]}"#, "Unknown", "Unknown"),
            (r#"{"allOf": [{"type": "string"}]}"#, "Unknown", "Unknown"),
        ] {
            assert_eq!(shown(schema, Ability::Unions), unions, "{schema}");
            assert_eq!(shown(schema, Ability::Enums), enums, "{schema}");
        }
    }
}
