//! What a definition must have so that a relay can publish the rows of its table and an event bus can handle them.

use super::format::{Claim, NameOrColumn};
use super::{ColumnType, Table};

/// What is in the way of a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The role that is missing; none where it is there and its column does not fit.
    pub missing: Option<&'static str>,
    /// What is in the way, as a part of a sentence.
    pub message: String,
    /// How to mend it.
    pub help: &'static str,
}

/// Everything that is in the way of a relay for a table with `publish` or `bus`, and of handlers where it is a bus; nothing
/// for a table that asks for neither, or that has no claim.
pub fn unrelayed(table: &Table) -> Vec<Lack> {
    let (true, Some(claim)) = (table.publish.is_some() || table.bus.is_some(), &table.claim) else { return Vec::new() };
    let mut lacks = Vec::new();
    let mut add = |missing, message, help| lacks.push(Lack { missing, message, help });
    if table.publish.is_none() {
        add(
            Some("publish"),
            "there is no `publish`, which says how a row becomes a message".to_owned(),
            "add `publish`",
        );
    }
    if claim.lease.is_none() && claim.visibility.is_none() {
        let message = "nothing holds a row for a while (`lease` or `visibility`)".to_owned();
        add(Some("claim.lease"), message, "add `claim.lease` with `claim.status.running`, or `claim.visibility`");
    }
    if claim.retry.is_none() {
        add(Some("claim.retry"), "a row cannot be put back (`retry`)".to_owned(), "add `claim.retry`");
    }
    if claim.status.dead.is_none() {
        let message = "a row cannot be given up (`status.dead`)".to_owned();
        add(Some("claim.status.dead"), message, "add `claim.status.dead`");
    }
    content(table, claim, &mut add);
    texts(table, claim, &mut add);
    lacks
}

fn content(table: &Table, claim: &Claim, add: &mut impl FnMut(Option<&'static str>, String, &'static str)) {
    let event = claim.event.as_ref();
    let is_bus = table.bus.is_some();
    match event.and_then(|event| event.payload.as_ref()) {
        None => {
            let message = "no column holds a message's content (`event.payload`)".to_owned();
            add(Some("claim.event.payload"), message, "add `claim.event.payload`");
        }
        Some(name) => {
            let column = table.column(name);
            let fits = |ty: &ColumnType| is_text(ty) || *ty == ColumnType::Json || !is_bus && is_binary(ty);
            if let Some(column) = column.filter(|column| !fits(&column.ty)) {
                let message = format!("the content is in `{name}`, which is {}", column.ty);
                add(None, message, "make the column LONGTEXT or JSON");
            }
        }
    }
    if !is_bus {
        return;
    }
    let type_and_content = event.into_iter().flat_map(|event| [&event.type_column, &event.payload]).flatten();
    for name in type_and_content.filter(|name| claim.scope.contains(name)) {
        let message = format!("`{name}` is of the event and of the scope, which who publishes gives apart");
        add(None, message, "take another column");
    }
    match event.and_then(|event| event.type_column.as_ref()) {
        None => {
            let message =
                "no column holds the type of an event, by which its handler is found (`event.type`)".to_owned();
            add(Some("claim.event.type"), message, "add `claim.event.type`");
        }
        Some(name) => {
            if let Some(column) = table.column(name).filter(|column| !is_text(&column.ty)) {
                let message = format!("the type of an event is in `{name}`, which is {}", column.ty);
                add(None, message, "make the column VARCHAR(64)");
            }
        }
    }
}

/// What is written into a message as text.
fn texts(table: &Table, claim: &Claim, add: &mut impl FnMut(Option<&'static str>, String, &'static str)) {
    let scope = claim.scope.iter().filter_map(|name| table.position(name));
    let mut key: Vec<usize> = table.primary_key.clone();
    key.extend(scope.filter(|at| !table.primary_key.contains(at)));
    if table.primary_key.is_empty() {
        let message = "no key says which row a message comes from".to_owned();
        add(Some("primaryKey"), message, "add `primaryKey`");
    }
    for at in key {
        let column = &table.columns[at];
        let is_enum = matches!(column.ty, ColumnType::Enum(_));
        if column.nullable || is_enum || !is_word(table, at) {
            let null = if column.nullable { " and may be NULL" } else { "" };
            let message = format!("a part of the key is {}{null}", what(table, at));
            add(None, message, "keys are text or whole numbers, and NOT NULL");
        }
    }
    let publish = table.publish.as_ref();
    let topic = publish.and_then(|publish| match &publish.topic {
        NameOrColumn::Column(topic) => Some(&topic.column),
        NameOrColumn::Name(_) => None,
    });
    let event_type = claim.event.as_ref().and_then(|event| event.type_column.as_ref());
    let roles = [
        ("publish.topic.column", topic),
        ("publish.key", publish.and_then(|publish| publish.key.as_ref())),
        ("claim.event.type", event_type.filter(|_| table.bus.is_none())),
    ];
    for (role, name) in roles {
        let at = name.and_then(|name| table.position(name));
        if let Some(at) = at.filter(|at| !is_word(table, *at)) {
            let message = format!("`{role}` is {}", what(table, at));
            add(None, message, "take a column of text or whole numbers");
        }
    }
}

/// The column with its type, as a part of a sentence.
fn what(table: &Table, at: usize) -> String {
    let column = &table.columns[at];
    let time = if table.holds_epoch_ms(column) { " and a time" } else { "" };
    format!("`{}`, which is {}{time}", column.name, column.ty)
}

fn is_text(ty: &ColumnType) -> bool {
    matches!(ty, ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_))
}

fn is_binary(ty: &ColumnType) -> bool {
    matches!(ty, ColumnType::Binary(_) | ColumnType::Varbinary(_) | ColumnType::Blob(_))
}

/// Whether the column's values have one text that says which they are.
fn is_word(table: &Table, at: usize) -> bool {
    let column = &table.columns[at];
    let is_whole = matches!(column.ty, ColumnType::Int { .. }) && !table.holds_epoch_ms(column);
    is_text(&column.ty) || matches!(column.ty, ColumnType::Enum(_)) || is_whole
}
