//! What a program holds of the events of a table, whatever its language: the declared types with their payloads, and what
//! each group of consumers subscribes to.

pub mod payload;

use std::collections::BTreeSet;

use crate::schema::format::{ConsumerGroup, EventType};
use crate::schema::{Json, Table};

/// A declared event type.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Its name.
    pub name: &'a str,
    /// The version that producers write.
    pub version: u32,
    /// When it is sent.
    pub description: Option<&'a str>,
    /// JSON Schema of its payload.
    pub payload: Option<&'a Json>,
}

/// The declared event types, in their order.
pub fn events<'a>(table: &'a Table) -> Vec<Event<'a>> {
    let event = table.claim.as_ref().and_then(|claim| claim.event.as_ref());
    let of = |ty: &'a EventType| match ty {
        EventType::Name(name) => Event { name, version: 1, description: None, payload: None },
        EventType::Described(event) => Event {
            name: &event.name,
            version: event.version,
            description: event.description.as_deref(),
            payload: event.payload.as_ref(),
        },
    };
    event.into_iter().flat_map(|event| event.types.iter().map(of)).collect()
}

/// A group of consumers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer<'a> {
    /// The group's name.
    pub group: &'a str,
    /// The tags that it subscribes to, each once.
    pub tags: Vec<&'a str>,
    /// The same as one expression: `legacy || type || …`.
    pub selector: String,
}

/// The groups of consumers, in their order.
pub fn consumers<'a>(table: &'a Table) -> Vec<Consumer<'a>> {
    let groups = table.publish.iter().flat_map(|publish| &publish.consumers);
    let of = |group: &'a ConsumerGroup| {
        let mut seen = BTreeSet::new();
        let tags: Vec<&str> = group.tags.iter().map(|tag| &**tag).filter(|tag| seen.insert(*tag)).collect();
        Consumer { group: &group.group, selector: tags.join(" || "), tags }
    };
    groups.map(of).collect()
}

/// The one tag of all messages before the producer tags by type, where it is declared.
pub fn legacy_tag(table: &Table) -> Option<&str> {
    table.publish.as_ref().and_then(|publish| publish.tag.legacy.as_deref())
}
