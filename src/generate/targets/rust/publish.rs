//! How rows become messages, the same for every database: a part of `rust/tables/<table>.rs`.

use crate::schema::format::{self, BusMode, NameOrColumn};
use crate::schema::{Column, ColumnType, Table, in_order};
use crate::template::template_object;

use super::queue::{self, Columns, StructField};
use super::table::ColumnItem;
use super::text::{literal, structure};

/// How rows of a table become messages.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// The fields of the key.
    pub key: Vec<KeyPart>,
    /// `Key { … }` out of variables of these names.
    pub made_key: Vec<String>,
    /// The topic of a row, as an expression of `self`.
    pub topic: String,
    /// What chooses its partition, if anything does.
    pub partition: Option<String>,
    /// That is a whole number.
    pub by_number: bool,
    /// The type of its event, if a column holds it.
    pub event_type: Option<String>,
    /// Its content.
    pub payload: String,
    /// The one legacy tag, as a literal.
    pub legacy_tag: Option<String>,
    /// The variant of `TagMode` that the definition says.
    pub tag: &'static str,
    /// Messages of one key come in the order of their rows.
    pub in_order: bool,
    /// What an event bus adds.
    pub bus: Option<Bus>,
}

template_object!(Published {
    key,
    made_key,
    topic,
    partition,
    by_number,
    event_type,
    payload,
    legacy_tag,
    tag,
    in_order,
    bus
});

/// What an event bus adds.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bus {
    /// What the row of an event has beside the event itself.
    pub route: Vec<StructField>,
    /// Some of it is borrowed.
    pub route_borrows: bool,
    /// The fields of `NewEvent` with their values, out of `envelope`, `payload` and `route`.
    pub event: Vec<EventField>,
    /// The payload is written as JSON rather than as text.
    pub is_json: bool,
    /// Events are handled in place.
    pub is_sync: bool,
    /// After how many milliseconds a row is published again whose message never arrived.
    pub sweep_ms: Option<String>,
}

template_object!(Bus { route, route_borrows, event, is_json, is_sync, sweep_ms });

/// A field of `NewEvent`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventField {
    /// The identifier.
    pub name: String,
    /// Its value.
    pub value: String,
}

template_object!(EventField { name, value });

/// A field of a key.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyPart {
    /// The identifier.
    pub name: String,
    /// The type.
    pub ty: String,
}

template_object!(KeyPart { name, ty });

/// How the table's rows become messages; `None` where they are not published, or where a relay could not do all of its work:
/// it takes rows for a while, tries them again, gives them up, and names them by text.
pub fn published(table: &Table, items: &[ColumnItem]) -> Option<Published> {
    let publish = table.publish.as_ref()?;
    if !is_relayed(table) {
        return None;
    }
    let text = |name: &str| text(table, items, table.position(name)?);
    let claim = table.claim.as_ref()?;
    let event = claim.event.as_ref()?;
    let topic = match &publish.topic {
        NameOrColumn::Name(name) => format!("{}.to_owned()", literal(name)),
        NameOrColumn::Column(column) => whole(text(&column.column)?),
    };
    let partition = match &publish.key {
        Some(name) => Some(optional(text(name)?)),
        None => None,
    };
    let event_type = match &event.type_column {
        Some(name) => Some(optional(text(name)?)),
        None => None,
    };
    let key = |at: &usize| KeyPart { name: items[*at].field.clone(), ty: items[*at].ty.clone() };
    let key: Vec<KeyPart> = Columns::of(table).key.iter().map(key).collect();
    Some(Published {
        made_key: structure("Key", &key.iter().map(|part| part.name.clone()).collect::<Vec<_>>()),
        key,
        topic,
        partition,
        by_number: publish.key.as_ref().and_then(|name| table.column(name)).is_some_and(is_number),
        event_type,
        payload: payload(items, table.position(event.payload.as_ref()?)?)?,
        legacy_tag: publish.tag.legacy.as_deref().map(literal),
        tag: match publish.tag.mode {
            format::TagMode::None => "None",
            format::TagMode::Legacy => "Legacy",
            format::TagMode::EventType => "EventType",
        },
        in_order: in_order(table),
        bus: bus(table, items),
    })
}

/// What an event bus adds; `None` where the table is none.
fn bus(table: &Table, items: &[ColumnItem]) -> Option<Bus> {
    let bus = table.bus.as_ref()?;
    let event = table.claim.as_ref()?.event.as_ref()?;
    let is = |role: &Option<String>, at: usize| role.as_ref().is_some_and(|name| table.position(name) == Some(at));
    let (mut route, mut fields, mut is_json, mut has) = (Vec::new(), Vec::new(), false, (false, false));
    for at in Columns::of(table).event {
        let item = &items[at];
        let filled = if is(&event.payload, at) {
            has.0 = true;
            is_json = item.ty.contains("serde_json::Value");
            let is_text = is_json || item.ty.contains("String");
            is_text.then(|| "payload".to_owned())
        } else if is(&event.type_column, at) {
            has.1 = true;
            item.ty.contains("String").then(|| "&envelope.event_type".to_owned())
        } else if is(&event.id, at) {
            item.ty.contains("String").then(|| "&envelope.event_id".to_owned())
        } else if is(&event.aggregate, at) {
            item.ty.contains("String").then(|| "&envelope.aggregate_id".to_owned())
        } else if is(&event.version, at) {
            match item.ty.trim_start_matches("Option<").trim_end_matches('>') {
                "u32" => Some("envelope.event_version".to_owned()),
                ty @ ("i64" | "u64") => Some(format!("{ty}::from(envelope.event_version)")),
                ty @ ("i32" | "i16" | "u16") => {
                    Some(format!("{ty}::try_from(envelope.event_version).unwrap_or({ty}::MAX)"))
                }
                _ => None,
            }
        } else {
            None
        };
        let is_optional = item.ty.starts_with("Option<");
        let value = match filled {
            Some(value) if is_optional => format!("Some({value})"),
            Some(value) => value,
            None if is(&event.payload, at) || is(&event.type_column, at) => return None,
            None => {
                let field = queue::event_field(table, at, items);
                let value = format!("route.{}", field.name);
                route.push(field);
                value
            }
        };
        fields.push(EventField { name: item.field.clone(), value });
    }
    if has != (true, true) {
        return None;
    }
    Some(Bus {
        route_borrows: route.iter().any(|field| field.ty.contains("'a")),
        route,
        event: fields,
        is_json,
        is_sync: bus.mode == BusMode::Sync,
        sweep_ms: bus.sweep.map(|sweep| sweep.0.to_string()),
    })
}

/// Whether the table's rows can be relayed: they are held for a while, put back and given up, and a text says which one it is.
fn is_relayed(table: &Table) -> bool {
    let (Some(_), Some(claim)) = (&table.publish, &table.claim) else { return false };
    let is_held = claim.lease.is_some() || claim.visibility.is_some();
    let key = Columns::of(table).key;
    let is_plain = |at: &usize| {
        let column = &table.columns[*at];
        let is_text = matches!(column.ty, ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_));
        let is_whole = matches!(column.ty, ColumnType::Int { .. }) && !table.holds_epoch_ms(column);
        (is_text || is_whole) && !column.nullable
    };
    is_held
        && claim.retry.is_some()
        && claim.status.dead.is_some()
        && claim.event.as_ref().is_some_and(|event| event.payload.is_some())
        && !key.is_empty()
        && key.iter().all(is_plain)
}

fn is_number(column: &Column) -> bool {
    matches!(column.ty, ColumnType::Int { .. })
}

/// The text of a column, as an expression, and whether it may be missing; `None` where it is no text and no whole number.
fn text(table: &Table, items: &[ColumnItem], at: usize) -> Option<(String, bool)> {
    let field = &items[at].field;
    let is_missing = items[at].ty.starts_with("Option<");
    let expression = match &table.columns[at].ty {
        ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_) | ColumnType::Enum(_) => {
            let is_text = items[at].ty.contains("String");
            match (is_text, is_missing) {
                (true, _) => format!("self.{field}.clone()"),
                (false, true) => format!("self.{field}.map(|value| value.to_string())"),
                (false, false) => format!("self.{field}.to_string()"),
            }
        }
        ColumnType::Int { .. } if table.holds_epoch_ms(&table.columns[at]) => return None,
        ColumnType::Int { .. } if is_missing => format!("self.{field}.map(|value| value.to_string())"),
        ColumnType::Int { .. } => format!("self.{field}.to_string()"),
        _ => return None,
    };
    Some((expression, is_missing))
}

fn whole((expression, is_missing): (String, bool)) -> String {
    if is_missing { format!("{expression}.unwrap_or_default()") } else { expression }
}

fn optional((expression, is_missing): (String, bool)) -> String {
    if is_missing { expression } else { format!("Some({expression})") }
}

fn payload(items: &[ColumnItem], at: usize) -> Option<String> {
    let field = &items[at].field;
    Some(match items[at].ty.as_str() {
        "String" => format!("self.{field}.clone().into_bytes()"),
        "Option<String>" => format!("self.{field}.clone().unwrap_or_default().into_bytes()"),
        "Vec<u8>" => format!("self.{field}.clone()"),
        "Option<Vec<u8>>" => format!("self.{field}.clone().unwrap_or_default()"),
        "serde_json::Value" => format!("self.{field}.to_string().into_bytes()"),
        "Option<serde_json::Value>" => {
            format!("self.{field}.as_ref().map(|value| value.to_string().into_bytes()).unwrap_or_default()")
        }
        _ => return None,
    })
}
