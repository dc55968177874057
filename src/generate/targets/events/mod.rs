//! `events/<table>.schema.json`: JSON Schema of the events that a table carries, in their envelope, for whoever reads them
//! in whatever language.

mod embed;

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::generate::events::{self, Event};
use crate::output::{self, GeneratedFile};
use crate::schema::{Json, Table, quoted};
use crate::template::template_object;

use super::super::{Context, Header};
use super::Target;
#[cfg(feature = "schema")]
use super::TemplateContext;

/// JSON Schema files.
pub struct Events;

const SCHEMA: &str = "events/schema.json.jinja";

/// One file for each table with declared event types: `events/<table>.schema.json`. All texts are JSON already.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventsFile {
    /// What makes the file known as generated. JSON has no comments, so `comment` says it as a string.
    pub header: Header,
    /// `header.line` and `header.fingerprint` as one string, for `$comment` within the first five lines.
    pub comment: String,
    /// Whose events they are, as a string.
    pub title: String,
    /// What the table is for, as a string.
    pub description: String,
    /// The declared event types.
    pub events: Vec<EventSchema>,
}

template_object!(EventsFile { header, comment, title, description, events });

/// One event type.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventSchema {
    /// Its name and version in words, as a string.
    pub title: String,
    /// Its name as a string.
    pub name: String,
    /// The version that producers write.
    pub version: String,
    /// When it is sent, as a string.
    pub description: Option<String>,
    /// The key of the payload's schema in `$defs`, as a string: `"order.created.v1"`.
    pub key: String,
    /// Where `$ref` finds that schema, as a string.
    pub reference: String,
    /// The payload's schema over several lines; `true`, which allows anything, where none is declared.
    pub payload: String,
}

template_object!(EventSchema { title, name, version, description, key, reference, payload });

impl Target for Events {
    fn id(&self) -> &'static str {
        "events"
    }

    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>> {
        let mut files = Vec::new();
        let mut taken = BTreeSet::new();
        for table in &context.catalog.tables {
            let events = events::events(table);
            if events.is_empty() {
                continue;
            }
            let file = describe(&context.header, table, &events);
            let mut stem = output::file_stem(&table.name.to_string());
            while !taken.insert(stem.to_lowercase()) {
                stem.push('_');
            }
            let content = context.templates.render(SCHEMA, &file)?;
            files.push(GeneratedFile { path: format!("events/{stem}.schema.json"), content });
        }
        Ok(files)
    }

    fn folders(&self, _: &[&'static dyn Dialect]) -> Vec<String> {
        vec!["events".to_owned()]
    }

    #[cfg(feature = "schema")]
    fn contexts(&self) -> Vec<TemplateContext> {
        vec![TemplateContext::of::<EventsFile>(SCHEMA)]
    }
}

fn describe(header: &Header, table: &Table, events: &[Event<'_>]) -> EventsFile {
    let name = &table.name;
    EventsFile {
        header: header.clone(),
        comment: quoted(&format!("{}; {}", header.line, header.fingerprint)),
        title: quoted(&format!("Events of {name}")),
        description: quoted(table.description.as_deref().unwrap_or("What the table carries, as it is published.")),
        events: events.iter().map(schema).collect(),
    }
}

fn schema(event: &Event<'_>) -> EventSchema {
    let key = format!("{}.v{}", event.name, event.version);
    let reference = format!("#/$defs/{}", embed::pointer(&key));
    EventSchema {
        title: quoted(&format!("{}, version {}", event.name, event.version)),
        name: quoted(event.name),
        version: event.version.to_string(),
        description: event.description.map(quoted),
        payload: event.payload.map_or(Json::Bool(true), |payload| embed::embed(payload, &reference)).pretty(),
        key: quoted(&key),
        reference: quoted(&reference),
    }
}
