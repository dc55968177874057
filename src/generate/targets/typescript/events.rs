//! `typescript/events.ts`: the events that tables carry, for the programs that consume them. It needs nothing of
//! `schema.ts`, so that another service takes this file alone.

use crate::generate::Context;
use crate::generate::Header;
use crate::generate::events::payload::{Ability, Field, Kind, Named, Type, Value, payload};
use crate::generate::events::{self, Consumer, Event};
use crate::schema::{Catalog, Table};
use crate::template::template_object;

use super::names::{EventNames, Names, TableNames};
use super::text::{code, comment, key, literal};

/// One file, whatever the databases are: `typescript/events.ts`, where some table has declared event types or groups of
/// consumers. Names of exports are identifiers of which none is given twice; `Envelope` is kept for the template itself.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventsFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// The tables with events or consumers, in the order of the definitions.
    pub tables: Vec<TableEvents>,
}

template_object!(EventsFile { header, tables });

/// One table with events or consumers.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableEvents {
    /// The table's name, fit for a sentence of a comment.
    pub title: String,
    /// Name of the object of all types' names, such as `walletOutboxEventType`.
    pub types_constant: String,
    /// Name of the union of all events, such as `WalletOutboxEvent`.
    pub union: String,
    /// Name of the object of the groups of consumers, such as `walletOutboxConsumers`.
    pub consumers_constant: String,
    /// Name of the constant of the legacy tag, such as `walletOutboxLegacyTag`.
    pub legacy_constant: String,
    /// The one tag of all messages before the producer tags by type, as a string literal, where it is declared.
    pub legacy: Option<String>,
    /// The event types, in their order; there may be none.
    pub events: Vec<EventCode>,
    /// The groups of consumers, in their order; there may be none.
    pub consumers: Vec<ConsumerCode>,
}

template_object!(TableEvents {
    title,
    types_constant,
    union,
    consumers_constant,
    legacy_constant,
    legacy,
    events,
    consumers
});

/// One event type.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventCode {
    /// The name as it stands in a sentence of a comment.
    pub title: String,
    /// When it is sent, one entry a line, fit for a comment.
    pub about: Vec<String>,
    /// Its name as the key of the object of all types' names, such as `walletGiftDebited`.
    pub key: String,
    /// Its name as a string literal.
    pub name: String,
    /// The version that producers write.
    pub version: String,
    /// Name of its type, such as `WalletOutboxWalletGiftDebitedV1`.
    pub ty: String,
    /// The type of its payload: a name or any other type.
    pub payload: String,
    /// The types that make up the payload.
    pub types: Vec<TypeCode>,
}

template_object!(EventCode { title, about, key, name, version, ty, payload, types });

/// A type with a name: an interface, or a union.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypeCode {
    /// What it is, one entry a line, fit for a comment.
    pub about: Vec<String>,
    /// The name.
    pub name: String,
    /// It is an interface with `fields`, of which there is at least one.
    pub is_interface: bool,
    /// The properties.
    pub fields: Vec<FieldCode>,
    /// Else what it is one of; at least one.
    pub members: Vec<String>,
}

template_object!(TypeCode { about, name, is_interface, fields, members });

/// A property.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldCode {
    /// What it is for, one entry a line, fit for a comment.
    pub about: Vec<String>,
    /// Its name as it stands before the colon, with `?` where it may be missing.
    pub key: String,
    /// Its type.
    pub ty: String,
}

template_object!(FieldCode { about, key, ty });

/// A group of consumers.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConsumerCode {
    /// Its name as it stands before the colon of a property.
    pub key: String,
    /// The tags that it subscribes to, as string literals.
    pub tags: Vec<String>,
    /// The same as one expression, `legacy || type || …`, as a string literal.
    pub selector: String,
}

template_object!(ConsumerCode { key, tags, selector });

/// The file, where there is anything to say.
pub fn file(context: &Context<'_>) -> Option<EventsFile> {
    let tables = tables(context.catalog);
    (!tables.is_empty()).then(|| EventsFile { header: context.header.clone(), tables })
}

fn tables(catalog: &Catalog) -> Vec<TableEvents> {
    let mut names = Names::of_events();
    let of = |table| (table, events::events(table), events::consumers(table));
    let tables = catalog.tables.iter().map(of).filter(|(_, events, groups)| !events.is_empty() || !groups.is_empty());
    // All tables before their types, so that a new event renames no table.
    let named: Vec<_> =
        tables.map(|(table, events, groups)| (table, events, groups, names.events(&table.name.to_string()))).collect();
    named.into_iter().map(|(table, events, groups, own)| describe(table, &events, &groups, own, &mut names)).collect()
}

fn describe(
    table: &Table,
    events: &[Event<'_>],
    consumers: &[Consumer<'_>],
    own: EventNames,
    names: &mut Names,
) -> TableEvents {
    let mut keys = Names::empty();
    let events = events.iter().map(|event| describe_event(event, &own.base, &mut keys, names)).collect();
    let consumer = |consumer: &Consumer<'_>| ConsumerCode {
        key: key(consumer.group),
        tags: consumer.tags.iter().map(|tag| literal(tag)).collect(),
        selector: literal(&consumer.selector),
    };
    TableEvents {
        title: code(&table.name.to_string()),
        types_constant: own.types,
        union: own.union,
        consumers_constant: own.consumers,
        legacy_constant: own.legacy,
        legacy: events::legacy_tag(table).map(literal),
        events,
        consumers: consumers.iter().map(consumer).collect(),
    }
}

fn describe_event(event: &Event<'_>, own: &TableNames, keys: &mut Names, names: &mut Names) -> EventCode {
    let ty = names.below(own, &[event.name, &format!("v{}", event.version)]);
    let (payload, types) = match event.payload {
        None => ("unknown".to_owned(), Vec::new()),
        Some(schema) => {
            let types = payload(schema, Ability::Unions);
            let given: Vec<String> = types.named.iter().map(|named| name(named, event, own, names)).collect();
            let code = types.named.iter().zip(&given).map(|(named, name)| type_code(named, name, event, &given));
            (type_text(&types.root, &given), code.collect())
        }
    };
    EventCode {
        title: code(event.name),
        about: event.description.map(comment).unwrap_or_default(),
        key: keys.key(event.name),
        name: literal(event.name),
        version: event.version.to_string(),
        ty,
        payload,
        types,
    }
}

fn name(named: &Named, event: &Event<'_>, own: &TableNames, names: &mut Names) -> String {
    let version = format!("v{}", event.version);
    let words = [event.name, &version, "payload"].into_iter().chain(named.path.iter().map(|word| &**word));
    names.below(own, &words.collect::<Vec<_>>())
}

fn type_code(named: &Named, name: &str, event: &Event<'_>, given: &[String]) -> TypeCode {
    let place = match named.path.split_last() {
        None => format!("The payload of {}, version {}", code(event.name), event.version),
        Some((last, _)) => format!("A part of the payload of {}: {}", code(event.name), code(last)),
    };
    let about = named.about.as_deref().map(comment).unwrap_or_default();
    let between = (!about.is_empty()).then(String::new);
    let (fields, members) = match &named.kind {
        Kind::Object(fields) => (fields.iter().map(|field| field_code(field, given)).collect(), Vec::new()),
        Kind::Choice(values) => (Vec::new(), values.iter().map(value_text).collect()),
        Kind::Union(types) => (Vec::new(), types.iter().map(|ty| type_text(ty, given)).collect()),
    };
    TypeCode {
        about: [format!("{place}.")].into_iter().chain(between).chain(about).collect(),
        name: name.to_owned(),
        is_interface: matches!(named.kind, Kind::Object(_)),
        fields,
        members,
    }
}

fn field_code(field: &Field, given: &[String]) -> FieldCode {
    FieldCode {
        about: field.about.as_deref().map(comment).unwrap_or_default(),
        key: key(&field.name) + if field.required { "" } else { "?" },
        ty: type_text(&field.ty, given),
    }
}

fn type_text(ty: &Type, given: &[String]) -> String {
    match ty {
        Type::Unknown => "unknown".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer | Type::Number => "number".to_owned(),
        Type::Text => "string".to_owned(),
        Type::List(item) => match &**item {
            Type::Nullable(_) => format!("readonly ({})[]", type_text(item, given)),
            // `readonly` binds looser than `[]`.
            Type::List(_) => format!("readonly ({})[]", type_text(item, given)),
            item => format!("readonly {}[]", type_text(item, given)),
        },
        Type::Map(value) => format!("Readonly<Record<string, {}>>", type_text(value, given)),
        Type::Nullable(ty) => format!("{} | null", type_text(ty, given)),
        Type::Named(at) => given[*at].clone(),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Text(text) => literal(text),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(value) => value.to_string(),
    }
}
