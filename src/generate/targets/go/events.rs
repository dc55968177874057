//! The events that tables carry, in Go.

use crate::generate::events::payload::{Ability, Field, Kind, Named, Type, Value, payload};
use crate::generate::events::{self, Consumer, Event};
use crate::generate::{Context, Header};
use crate::schema::{Table, quoted};
use crate::template::template_object;

use super::names::{Names, exported, words};
use super::text::{comment, tag};
use super::{Constant, FieldCode, block, part};

/// The events that tables carry: `go/events.go`, where some table has declared event types or groups of consumers.
/// `Envelope`, `ParseEnvelope` and `ErrUnknownEvent` are kept for the template itself.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventsFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// Some event's payload has a type.
    pub decodes: bool,
    /// The tables with events or consumers, in the order of the definitions.
    pub tables: Vec<TableEvents>,
}

template_object!(EventsFile { header, decodes, tables });

/// One table with events or consumers.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableEvents {
    /// The table's name, fit for a comment.
    pub title: String,
    /// Name of the function that decodes payloads, such as `DecodeWalletOutboxPayload`.
    pub decode: String,
    /// The constants of the names of all types.
    pub names: Vec<Constant>,
    /// The constants of their versions, in the same order.
    pub versions: Vec<Constant>,
    /// The event types, in the same order.
    pub events: Vec<EventCode>,
    /// The constant of the one tag of all messages before the producer tags by type, where it is declared.
    pub legacy: Option<Constant>,
    /// The constants of what each group of consumers subscribes to, as one expression: `legacy || type || …`.
    pub selectors: Vec<Constant>,
    /// The same as lists of tags, in the same order.
    pub groups: Vec<SelectorCode>,
}

template_object!(TableEvents { title, decode, names, versions, events, legacy, selectors, groups });

/// One event type.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventCode {
    /// When it is sent, fit for a comment; the empty text where that is not said.
    pub about: String,
    /// The constant of its name.
    pub name: String,
    /// The constant of its version.
    pub version: String,
    /// The type of its payload, where one is declared that Go can say.
    pub payload: Option<String>,
    /// The types that make up the payload.
    pub types: Vec<TypeCode>,
}

template_object!(EventCode { about, name, version, payload, types });

/// A type with a name: a struct, or a closed set of texts.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypeCode {
    /// What it is, fit for a comment behind the name.
    pub about: String,
    /// The name.
    pub name: String,
    /// It is a struct with `fields`.
    pub is_struct: bool,
    /// The fields.
    pub fields: Vec<FieldCode>,
    /// Else its values.
    pub values: Vec<Constant>,
}

template_object!(TypeCode { about, name, is_struct, fields, values });

/// A group of consumers.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelectorCode {
    /// What it is, fit for a comment behind the name.
    pub about: String,
    /// Name of the list of tags.
    pub name: String,
    /// The tags as literals.
    pub tags: Vec<String>,
}

template_object!(SelectorCode { about, name, tags });

/// The file, where there is anything to say.
pub fn file(context: &Context<'_>, names: &mut Names) -> Option<EventsFile> {
    let of = |table| (table, events::events(table), events::consumers(table));
    let tables =
        context.catalog.tables.iter().map(of).filter(|(_, events, groups)| !events.is_empty() || !groups.is_empty());
    let tables: Vec<_> = tables.map(|(table, events, groups)| describe(table, &events, &groups, names)).collect();
    let decodes = tables.iter().flat_map(|table| &table.events).any(|event| event.payload.is_some());
    (!tables.is_empty()).then(|| EventsFile { header: context.header.clone(), decodes, tables })
}

fn describe(table: &Table, events: &[Event<'_>], groups: &[Consumer<'_>], names: &mut Names) -> TableEvents {
    let title = comment(&table.name.to_string());
    let base = exported(&table.name.to_string(), "Table");
    let decode = names.take(&format!("Decode{base}Payload"));
    let name = |event: &Event<'_>| (names.take(&format!("{base}Event{}", part(event.name))), quoted(event.name));
    let event_names = block(events.iter().map(name).collect());
    let version = |(event, name): (&Event<'_>, &Constant)| {
        (names.take(&format!("{}Version", name.name)), event.version.to_string())
    };
    let versions = block(events.iter().zip(&event_names).map(version).collect());
    let constants = event_names.iter().zip(&versions);
    let described = events.iter().zip(constants).map(|(event, (name, version))| {
        let (payload, types) = describe_payload(event, &base, names);
        let about = event.description.map(comment).unwrap_or_default();
        EventCode { about, name: name.name.clone(), version: version.name.clone(), payload, types }
    });
    let events = described.collect();
    let legacy = events::legacy_tag(table).map(|tag| {
        let name = names.take(&format!("{base}LegacyTag"));
        let about = format!("is the one tag of all messages while the producer of {title} does not tag by type.");
        Constant { about, padded: name.clone(), name, value: quoted(tag) }
    });
    let selector =
        |group: &Consumer<'_>| (names.take(&format!("{base}Selector{}", part(group.group))), quoted(&group.selector));
    let selectors = block(groups.iter().map(selector).collect());
    let group = |group: &Consumer<'_>| SelectorCode {
        about: format!("are the tags that {} subscribes to.", comment(group.group)),
        name: names.take(&format!("{base}Tags{}", part(group.group))),
        tags: group.tags.iter().map(|tag| quoted(tag)).collect(),
    };
    let groups = groups.iter().map(group).collect();
    TableEvents { title, decode, names: event_names, versions, events, legacy, selectors, groups }
}

fn describe_payload(event: &Event<'_>, base: &str, names: &mut Names) -> (Option<String>, Vec<TypeCode>) {
    let Some(schema) = event.payload else { return (None, Vec::new()) };
    let types = payload(schema, Ability::Enums);
    let root = format!("{base}{}V{}", part(event.name), event.version);
    let name = |named: &Named| {
        let path: String = named.path.iter().map(|word| words(word)).collect();
        names.take(&format!("{root}{path}"))
    };
    let given: Vec<String> = types.named.iter().map(name).collect();
    let code: Vec<TypeCode> =
        types.named.iter().zip(&given).map(|(named, name)| type_code(named, name, event, &given, names)).collect();
    // What is any JSON needs no decoding.
    let root = (types.root != Type::Unknown).then(|| type_text(&types.root, &given));
    (root, code)
}

fn type_code(named: &Named, name: &str, event: &Event<'_>, given: &[String], names: &mut Names) -> TypeCode {
    let place = match named.path.split_last() {
        None => format!("is the payload of {}, version {}.", comment(event.name), event.version),
        Some((last, _)) => format!("is a part of the payload of {}: {}.", comment(event.name), comment(last)),
    };
    let about = named.about.as_deref().or(event.description.filter(|_| named.path.is_empty()));
    let about = about.map(comment).unwrap_or_default();
    let mut own = Names::of_struct();
    let (fields, values) = match &named.kind {
        Kind::Object(fields) => (fields.iter().map(|field| field_code(field, given, &mut own)).collect(), Vec::new()),
        Kind::Choice(values) => {
            let texts = values.iter().filter_map(|value| match value {
                Value::Text(text) => Some(text),
                // Closed sets of others have no name in Go.
                Value::Integer(_) | Value::Boolean(_) => None,
            });
            let constant = |text: &String| (names.take(&format!("{name}{}", part(text))), quoted(text));
            (Vec::new(), block(texts.map(constant).collect()))
        }
        Kind::Union(_) => (Vec::new(), Vec::new()),
    };
    TypeCode {
        about: format!("{place} {about}").trim_end().to_owned(),
        name: name.to_owned(),
        is_struct: matches!(named.kind, Kind::Object(_)),
        fields,
        values,
    }
}

fn field_code(field: &Field, given: &[String], names: &mut Names) -> FieldCode {
    let ty = type_text(&field.ty, given);
    // Lists, maps and any JSON have a nil of their own.
    let has_nil = ["*", "[]", "map[", "json."].iter().any(|start| ty.starts_with(start));
    let pointer = if field.required || has_nil { "" } else { "*" };
    let options = if field.required { "" } else { ",omitempty" };
    let (tag, lost) = match tag(&field.name, options) {
        Some(tag) => (tag, None),
        None => ("`json:\"-\"`".to_owned(), Some("encoding/json cannot hold this name.".to_owned())),
    };
    let missing = (!field.required).then(|| "It may be missing.".to_owned());
    let about = field.about.as_deref().map(comment);
    let head = format!("is {}.", comment(&field.name));
    FieldCode {
        name: names.take(&exported(&field.name, "Field")),
        about: [head].into_iter().chain(about).chain(missing).chain(lost).collect::<Vec<_>>().join(" "),
        ty: format!("{pointer}{ty}"),
        tag,
    }
}

fn type_text(ty: &Type, given: &[String]) -> String {
    match ty {
        Type::Unknown => "json.RawMessage".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Integer => "int64".to_owned(),
        Type::Number => "float64".to_owned(),
        Type::Text => "string".to_owned(),
        Type::List(item) => format!("[]{}", type_text(item, given)),
        Type::Map(value) => format!("map[string]{}", type_text(value, given)),
        Type::Nullable(ty) => match type_text(ty, given) {
            ty if ["[]", "map[", "json."].iter().any(|start| ty.starts_with(start)) => ty,
            ty => format!("*{ty}"),
        },
        Type::Named(at) => given[*at].clone(),
    }
}
