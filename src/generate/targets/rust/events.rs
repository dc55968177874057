//! What a table's file says of its events beside the names of their types: structs of payloads, and what consumers subscribe
//! to.

use crate::generate::events::payload::{Ability, Field, Kind, Named, Type, Value, payload};
use crate::generate::events::{self, Event};
use crate::schema::Table;
use crate::template::template_object;

use super::names::Idents;
use super::needs::{Need, Needs};
use super::text::{Constant, List, breaks, code, literal, prose};

/// The events of a table.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventItems {
    /// The types of payloads, outer ones first.
    pub payloads: Vec<PayloadItem>,
    /// The legacy tag, and the subscription of each group of consumers as one expression: `legacy || type || …`.
    pub subscriptions: Vec<Constant>,
    /// The tags of each group.
    pub tags: Vec<List>,
}

template_object!(EventItems { payloads, subscriptions, tags });

/// A type of the module `payload`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PayloadItem {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The identifier.
    pub name: String,
    /// Of a payload that is a struct: its event's type as a literal.
    pub event_type: Option<String>,
    /// The event's version.
    pub version: String,
    /// What it is: `struct`, `enum`, `alias`.
    pub kind: &'static str,
    /// The fields of a struct, or the variants of an enum, which have no type.
    pub fields: Vec<PayloadField>,
    /// Of an alias: what it stands for.
    pub ty: String,
}

template_object!(PayloadItem { docs, name, event_type, version, kind, fields, ty });

/// A field of a struct, or a variant.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PayloadField {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// Its attributes.
    pub attributes: Vec<String>,
    /// The identifier.
    pub name: String,
    /// The type of a field; of a variant the empty text.
    pub ty: String,
    /// The type stands on a line of its own.
    pub breaks: bool,
}

template_object!(PayloadField { docs, attributes, name, ty, breaks });

/// The events of the table.
pub fn items(table: &Table, needs: &mut Needs) -> EventItems {
    let mut types = Idents::default();
    let payloads: Vec<PayloadItem> =
        events::events(table).iter().enumerate().flat_map(|(at, event)| types_of(event, at, &mut types)).collect();
    let uses_json = |item: &PayloadItem| {
        let holds = |ty: &str| ty.contains("serde_json::");
        holds(&item.ty) || item.fields.iter().any(|field| holds(&field.ty))
    };
    if payloads.iter().any(uses_json) {
        needs.insert(Need::Json);
    }
    let mut constants = Idents::default();
    let mut subscriptions = Vec::new();
    let mut tags = Vec::new();
    if let Some(legacy) = events::legacy_tag(table) {
        let name = constants.constant("legacy_tag", "legacy_tag");
        let docs = "The one tag of all messages while the producer does not tag by type.";
        subscriptions.push(Constant::new(4, docs, name, legacy));
    }
    for (at, group) in events::consumers(table).iter().enumerate() {
        let name = constants.constant(group.group, &format!("group_{}", at + 1));
        let title = code(group.group);
        subscriptions.push(Constant::new(4, &format!("What {title} subscribes to."), name.clone(), &group.selector));
        let list = constants.constant(&format!("{name}_tags"), "tags");
        let items: Vec<String> = group.tags.iter().map(|tag| literal(tag)).collect();
        tags.push(List::new(4, &format!("The tags that {title} subscribes to."), &list, "&str", &items));
    }
    EventItems { payloads, subscriptions, tags }
}

fn types_of(event: &Event<'_>, at: usize, idents: &mut Idents) -> Vec<PayloadItem> {
    let Some(schema) = event.payload else { return Vec::new() };
    let types = payload(schema, Ability::Enums);
    let version = format!("v{}", event.version);
    let fallback = format!("event_{}_{version}", at + 1);
    let mut name = |path: &[String]| {
        let words = [event.name, &version].into_iter().chain(path.iter().map(|word| &**word));
        idents.camel(&words.collect::<Vec<_>>().join("_"), &fallback)
    };
    let given: Vec<String> = types.named.iter().map(|named| name(&named.path)).collect();
    let mut items: Vec<PayloadItem> =
        types.named.iter().zip(&given).map(|(named, name)| item(named, name, event, &given)).collect();
    // A payload that has no type of its own has a name all the same.
    if types.root != Type::Named(0) && types.root != Type::Unknown {
        let alias = PayloadItem {
            docs: docs(event.description, event, &[]),
            name: name(&[]),
            event_type: None,
            version: event.version.to_string(),
            kind: "alias",
            fields: Vec::new(),
            ty: type_text(&types.root, &given),
        };
        items.insert(0, alias);
    }
    items
}

fn item(named: &Named, name: &str, event: &Event<'_>, given: &[String]) -> PayloadItem {
    let about = named.about.as_deref().or(event.description.filter(|_| named.path.is_empty()));
    let (kind, fields) = match &named.kind {
        Kind::Object(fields) => {
            let mut idents = Idents::default();
            let field = |(at, field): (usize, &Field)| field_item(at, field, given, &mut idents);
            ("struct", fields.iter().enumerate().map(field).collect())
        }
        Kind::Choice(values) => {
            let mut idents = Idents::default();
            ("enum", values.iter().enumerate().filter_map(|(at, value)| variant(at, value, &mut idents)).collect())
        }
        // Rust's enums have no untagged members here: the reader gives none.
        Kind::Union(_) => ("enum", Vec::new()),
    };
    let is_root = named.path.is_empty() && kind == "struct";
    PayloadItem {
        docs: docs(about, event, &named.path),
        name: name.to_owned(),
        event_type: is_root.then(|| literal(event.name)),
        version: event.version.to_string(),
        kind,
        fields,
        ty: String::new(),
    }
}

fn docs(about: Option<&str>, event: &Event<'_>, path: &[String]) -> Vec<String> {
    let of = format!("{}, version {}", code(event.name), event.version);
    let head = match path.last() {
        None => format!("The payload of {of}."),
        Some(last) => format!("A part of the payload of {of}: {}.", code(last)),
    };
    let about = about.map(prose).filter(|about| !about.is_empty());
    let between = about.is_some().then(String::new);
    [head].into_iter().chain(between).chain(about).collect()
}

fn field_item(at: usize, field: &Field, given: &[String], idents: &mut Idents) -> PayloadField {
    let name = idents.field(&field.name, &format!("field_{}", at + 1));
    let ty = type_text(&field.ty, given);
    let ty = if field.required || ty.starts_with("Option<") { ty } else { format!("Option<{ty}>") };
    let mut attributes = Vec::new();
    if name.trim_start_matches("r#") != field.name {
        attributes.push(format!("#[serde(rename = {})]", literal(&field.name)));
    }
    if !field.required {
        attributes.push("#[serde(default, skip_serializing_if = \"Option::is_none\")]".to_owned());
    }
    let about = field.about.as_deref().map(prose).filter(|about| !about.is_empty());
    PayloadField {
        docs: vec![about.unwrap_or_else(|| format!("{}.", code(&field.name)))],
        attributes,
        breaks: breaks(8, &format!("pub {name}:"), &format!("{ty},")),
        name,
        ty,
    }
}

fn variant(at: usize, value: &Value, idents: &mut Idents) -> Option<PayloadField> {
    let Value::Text(text) = value else { return None };
    Some(PayloadField {
        docs: vec![format!("{}.", code(text))],
        attributes: vec![format!("#[serde(rename = {})]", literal(text))],
        name: idents.camel(text, &format!("value_{}", at + 1)),
        ty: String::new(),
        breaks: false,
    })
}

fn type_text(ty: &Type, given: &[String]) -> String {
    match ty {
        Type::Unknown => "serde_json::Value".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Integer => "i64".to_owned(),
        Type::Number => "f64".to_owned(),
        Type::Text => "String".to_owned(),
        Type::List(item) => format!("Vec<{}>", type_text(item, given)),
        Type::Map(value) => format!("std::collections::BTreeMap<String, {}>", type_text(value, given)),
        Type::Nullable(ty) => format!("Option<{}>", type_text(ty, given)),
        Type::Named(at) => given[*at].clone(),
    }
}
