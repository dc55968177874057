//! The claim: its columns and states exist, can do their part, and do not get in each other's way.

use std::collections::BTreeMap;

use crate::engine::{Engine, titles};

use super::super::super::format::{Claim, DescribedEvent, Event, EventType, IndexSet, Lease, MaxAttempts, Retry};
use super::super::super::{ColumnType, Literal};
use super::super::failing;
use super::{Kind, Roles, characters, holds, payload};

/// Checks the claim of one table.
pub fn check(claim: &Claim, engines: &[&Engine], roles: &mut Roles<'_>) {
    states(claim, roles);
    distinct(claim, roles);
    seed_shapes(claim, engines, roles);
    columns(claim, roles);
    idempotency(claim, roles);
    origin(claim, roles);
    combinations(claim, roles);
}

/// Checks that the columns of all roles but the state exist and have types that fit.
pub fn columns(claim: &Claim, roles: &mut Roles<'_>) {
    roles.columns("claim.scope", &claim.scope, Kind::Any);
    for (at, name) in claim.scope.iter().enumerate() {
        let column = roles.table.column(name);
        roles.not_null(&format!("claim.scope.{at}"), column, "a claim pins it by equality");
    }
    let is_scope = |name: &str| claim.scope.iter().any(|scope| scope == name);
    let mut key = roles.table.names(&roles.table.primary_key).peekable();
    if key.peek().is_some() && key.all(is_scope) && roles.table.keys_are_understood() {
        roles.fault(
            "claim.scope",
            format!(
                "the scope holds the whole primary key of `{}`: each claim would be about one row",
                roles.table.name
            ),
            "pin only what many rows have in common, such as the tenant",
        );
    }
    let order = roles.optional("claim.order", &claim.order, Kind::Any);
    roles.not_null("claim.order", order, "rows without it would have no place in the queue");
    let due = roles.optional("claim.due", &claim.due, Kind::Time);
    roles.not_null("claim.due", due, "a NULL is never due");
    roles.optional("claim.lane", &claim.lane, Kind::Any);
    roles.columns("claim.idempotencyKey", &claim.idempotency_key, Kind::Any);
    roles.columns("claim.coalesce", &claim.coalesce, Kind::Any);
    claim.retry.iter().for_each(|retry| retry_roles(retry, roles));
    claim.lease.iter().for_each(|lease| lease_roles(lease, roles));
    claim.event.iter().for_each(|event| event_roles(event, roles));
    if let Some(times) = &claim.times {
        roles.optional("claim.times.updated", &times.updated, Kind::Time);
        roles.optional("claim.times.published", &times.published, Kind::Time);
        roles.optional("claim.times.finished", &times.finished, Kind::Time);
    }
}

/// Parts that do not go together.
fn combinations(claim: &Claim, roles: &mut Roles<'_>) {
    if claim.global && !claim.scope.is_empty() {
        roles.fault(
            "claim.global",
            "a claim has a `scope` or is `global`, not both".to_owned(),
            "remove one of the two",
        );
    }
    let status = &claim.status;
    if claim.visibility.is_some() && (status.running.is_some() || status.retryable.is_some()) {
        roles.fault(
            "claim.visibility",
            "with `visibility` a taken row stays pending: there is neither `running` nor `retryable`".to_owned(),
            "remove the two states, or use a `lease`",
        );
    }
    if status.published.is_some() && status.running.is_some() {
        roles.fault(
            "claim.status.published",
            "a row is published from pending: `running` and `published` do not go together".to_owned(),
            "remove `running` and use `visibility`",
        );
    }
    if claim.lease.is_some() && claim.visibility.is_some() {
        roles.fault(
            "claim.visibility",
            "a claim has a `lease` or a `visibility`, not both".to_owned(),
            "remove one of the two",
        );
    }
    if claim.lease.is_some() && claim.status.running.is_none() && roles.table.lacks("claim.status.running") {
        roles.fault(
            "claim.lease",
            "a `lease` needs the state of the rows that it protects".to_owned(),
            "add `claim.status.running`",
        );
    }
    if claim.visibility.is_some_and(|visibility| visibility.0 == 0) {
        roles.fault(
            "claim.visibility",
            "a visibility of no time protects nothing".to_owned(),
            "write for example \"30s\"",
        );
    }
    let pushes = claim.due.is_some() || claim.retry.as_ref().is_some_and(|retry| retry.at.is_some());
    let unclear = !roles.table.lacks("claim.due") || !roles.table.lacks("claim.retry.at");
    if claim.visibility.is_some() && !pushes && !unclear {
        roles.fault(
            "claim.visibility",
            "`visibility` pushes the retry time forward, and there is none".to_owned(),
            "add `claim.retry.at`",
        );
    }
}

/// Roles that one column cannot play at once.
fn distinct(claim: &Claim, roles: &mut Roles<'_>) {
    let mut played: BTreeMap<&str, &str> = [(&*claim.status.column, "claim.status.column")].into();
    let (retry, lease, times) = (claim.retry.as_ref(), claim.lease.as_ref(), claim.times.as_ref());
    let max = retry.and_then(|retry| match &retry.max {
        MaxAttempts::Column(max) => Some(&max.column),
        MaxAttempts::Number(_) => None,
    });
    let named = [
        ("claim.due", claim.due.as_ref()),
        ("claim.lane", claim.lane.as_ref()),
        ("claim.retry.at", retry.and_then(|retry| retry.at.as_ref())),
        ("claim.retry.count", retry.and_then(|retry| retry.count.as_ref())),
        ("claim.retry.error", retry.and_then(|retry| retry.error.as_ref())),
        ("claim.retry.max.column", max),
        ("claim.times.updated", times.and_then(|times| times.updated.as_ref())),
        ("claim.times.published", times.and_then(|times| times.published.as_ref())),
        ("claim.times.finished", times.and_then(|times| times.finished.as_ref())),
        ("claim.lease.until", lease.map(|lease| &lease.until)),
        ("claim.lease.by", lease.and_then(|lease| lease.by.as_ref())),
        ("claim.lease.seq", lease.and_then(|lease| lease.seq.as_ref())),
    ];
    let scope = claim.scope.iter().map(|name| ("claim.scope", name));
    for (path, name) in scope.chain(named.into_iter().filter_map(|(path, name)| Some((path, name?)))) {
        match played.get(&**name).filter(|other| **other != path) {
            Some(other) => {
                roles.fault(
                    path,
                    format!("`{path}` and `{other}` are both `{name}`"),
                    "each of the two needs a column of its own",
                );
            }
            None => _ = played.insert(name, path),
        }
    }
}

/// The seed's shapes have the retry time and the lease in the middle; where an index has no `IS NULL` equality, the retry
/// time must be NOT NULL, so that pending rows can be pinned to its "never failed" value.
fn seed_shapes(claim: &Claim, engines: &[&Engine], roles: &mut Roles<'_>) {
    if claim.indexes != IndexSet::Seed {
        return;
    }
    let at = claim.retry.as_ref().and_then(|retry| retry.at.as_ref());
    let three = [
        (claim.order.is_some(), "claim.order"),
        (at.is_some(), "claim.retry.at"),
        (claim.lease.is_some(), "claim.lease"),
    ];
    if three.into_iter().any(|(given, path)| !given && roles.table.lacks(path)) {
        let message = "the index shapes of `seed` need `order`, `retry.at` and `lease`".to_owned();
        roles.fault("claim.indexes", message, "name the three, or remove `indexes`");
    }
    if claim.status.retryable.is_none() {
        let message = "with the index shapes of `seed` failed rows need a state of their own".to_owned();
        roles.fault("claim.indexes", message, "add `claim.status.retryable`, or remove `indexes`");
    }
    if let Some(column) = at.and_then(|at| roles.table.column(at)) {
        let zoned = matches!(column.ty, ColumnType::Timestamp(_));
        let default = column.default.as_ref().map(|default| &default.value);
        let never = match default {
            None => true,
            Some(Literal::Null) => column.nullable,
            Some(Literal::Number(number)) => number == "0" && !column.nullable,
            Some(Literal::Text(text)) => text == "1970-01-01 00:00:00" && !column.nullable,
            Some(_) => false,
        };
        if zoned || !never {
            let message = "the index shapes of `seed` find pending rows by a retry time that says \"never\"".to_owned();
            roles.fault(
                "claim.retry.at",
                message,
                "make the column BIGINT or DATETIME, and its default 0 or '1970-01-01 00:00:00'",
            );
        }
    }
    let nullable = at.and_then(|at| roles.table.column(at)).is_some_and(|column| column.nullable);
    let strict = failing(engines, |engine| !engine.null_is_equality);
    if nullable && !strict.is_empty() {
        let message = format!("the index shapes of `seed` need a NOT NULL retry time on {}", titles(&strict));
        roles.fault("claim.retry.at", message, "make the column NOT NULL with a default");
    }
}

/// Enqueueing once is the database's work: a unique key over exactly these columns.
fn idempotency(claim: &Claim, roles: &mut Roles<'_>) {
    let table = roles.table;
    let mut key: Vec<usize> = claim.idempotency_key.iter().filter_map(|name| table.position(name)).collect();
    if key.is_empty() || key.len() != claim.idempotency_key.len() {
        return;
    }
    for (at, position) in key.iter().enumerate() {
        let path = format!("claim.idempotencyKey.{at}");
        roles.not_null(&path, Some(&table.columns[*position]), "two NULLs are never the same");
    }
    key.sort_unstable();
    let same = |columns: &[usize]| {
        let mut columns = columns.to_vec();
        columns.sort_unstable();
        columns == key
    };
    let unique = table.indexes.iter().filter(|index| index.unique).any(|index| same(&index.columns));
    if !same(&table.primary_key) && !unique && table.keys_are_understood() {
        let names = claim.idempotency_key.join(", ");
        let message = format!(
            "no unique key of `{}` has exactly the columns {names}: nothing would keep an event from being stored twice",
            table.name
        );
        roles.fault("claim.idempotencyKey", message, "add a unique index on them");
    }
}

fn origin(claim: &Claim, roles: &mut Roles<'_>) {
    let Some(origin) = &claim.origin else { return };
    let Some(path) = origin.strip_prefix("$.") else {
        roles.column("claim.origin", origin, Kind::Text);
        return;
    };
    let word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !path.split('.').all(word) {
        let message = format!("`{origin}` is not a path into the payload");
        roles.fault("claim.origin", message, "write for example `$.metadata.sync_source`");
    }
    let payload = claim.event.as_ref().and_then(|event| event.payload.as_ref());
    if payload.is_none() && roles.table.lacks("claim.event.payload") {
        roles.fault("claim.origin", "a path needs a payload to lead into".to_owned(), "add `claim.event.payload`");
    }
}

fn retry_roles(retry: &Retry, roles: &mut Roles<'_>) {
    roles.optional("claim.retry.at", &retry.at, Kind::Time);
    let count = roles.optional("claim.retry.count", &retry.count, Kind::Count);
    roles.not_null("claim.retry.count", count, "NULL + 1 stays NULL");
    roles.optional("claim.retry.error", &retry.error, Kind::Text);
    if let MaxAttempts::Column(max) = &retry.max {
        let column = roles.column("claim.retry.max.column", &max.column, Kind::Count);
        roles.not_null("claim.retry.max.column", column, "NULL would mean no attempt and no end");
        if max.default == 0 {
            roles.fault(
                "claim.retry.max.default",
                "a row needs at least one attempt".to_owned(),
                "write for example 20",
            );
        }
    }
    let backoff = &retry.backoff;
    if !(1.0..=1_000.0).contains(&backoff.factor) {
        roles.fault(
            "claim.retry.backoff.factor",
            format!("the factor {} is not between 1 and 1000", backoff.factor),
            "2 doubles each wait",
        );
    }
    if !(0.0..=1.0).contains(&backoff.jitter) {
        roles.fault(
            "claim.retry.backoff.jitter",
            format!("the jitter {} is not between 0 and 1", backoff.jitter),
            "0.2 spreads by a fifth",
        );
    }
    if backoff.base > backoff.cap {
        roles.fault(
            "claim.retry.backoff",
            format!("the base {} is over the cap {}", backoff.base, backoff.cap),
            "raise the cap",
        );
    }
}

fn lease_roles(lease: &Lease, roles: &mut Roles<'_>) {
    roles.column("claim.lease.until", &lease.until, Kind::Time);
    let by = roles.optional("claim.lease.by", &lease.by, Kind::Text);
    if let Some((column, length)) =
        by.and_then(|column| Some((column, characters(&column.ty)?))).filter(|(_, length)| *length < 40)
    {
        let message = format!(
            "`{}.{}` holds {length} characters; the worker's name and its fence need 40",
            roles.table.name, column.name
        );
        roles.fault("claim.lease.by", message, "make the column VARCHAR(64)");
    }
    let seq = roles.optional("claim.lease.seq", &lease.seq, Kind::Sequence);
    roles.not_null("claim.lease.seq", seq, "NULL + 1 stays NULL");
    if lease.lasts.0 == 0 {
        roles.fault("claim.lease.for", "a lease of no time protects nothing".to_owned(), "write for example \"30s\"");
    }
}

fn event_roles(event: &Event, roles: &mut Roles<'_>) {
    roles.optional("claim.event.id", &event.id, Kind::Any);
    let type_column = roles.optional("claim.event.type", &event.type_column, Kind::Text);
    roles.optional("claim.event.version", &event.version, Kind::Count);
    roles.optional("claim.event.aggregate", &event.aggregate, Kind::Any);
    if let Some(name) = &event.payload {
        match roles.table.column(name) {
            Some(column) if column.ty.is_text() || column.ty.is_long() => {}
            _ => _ = roles.column("claim.event.payload", name, Kind::Text),
        }
    }
    if event.type_column.is_none() && roles.table.lacks("claim.event.type") && !event.types.is_empty() {
        roles.fault(
            "claim.event.types",
            "event types need the column that holds them".to_owned(),
            "add `claim.event.type`",
        );
    }
    let mut seen = std::collections::BTreeSet::new();
    for (at, event_type) in event.types.iter().enumerate() {
        let path = format!("claim.event.types.{at}");
        if !seen.insert(event_type.name()) {
            roles.fault(&path, format!("the event type `{}` occurs twice", event_type.name()), "remove one of the two");
        }
        if matches!(event_type, EventType::Described(DescribedEvent { version: 0, .. })) {
            roles.fault(&path, "versions count from 1".to_owned(), "write 1");
        }
        if let EventType::Described(DescribedEvent { name, payload: Some(schema), .. }) = event_type {
            payload::check(name, schema, &roles.table.site.step(&format!("{path}.payload")), roles.findings);
        }
        if let Some(column) = type_column {
            holds(event_type.name(), column, &path, roles);
        }
    }
}

fn states(claim: &Claim, roles: &mut Roles<'_>) {
    let status = &claim.status;
    let column = roles.column("claim.status.column", &status.column, Kind::Text);
    roles.not_null("claim.status.column", column, "a row without a state is in no branch");
    if status.done.0.is_empty() {
        roles.fault("claim.status.done", "`done` names no state".to_owned(), "name the state of finished rows");
    }
    let mut named = vec![("pending".to_owned(), &status.pending)];
    let optional = [("retryable", &status.retryable), ("running", &status.running), ("published", &status.published)];
    named.extend(
        optional
            .into_iter()
            .chain([("dead", &status.dead)])
            .filter_map(|(key, state)| Some((key.to_owned(), state.as_ref()?))),
    );
    named.extend(status.done.0.iter().enumerate().map(|(at, state)| (format!("done.{at}"), state)));
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, state) in &named {
        let path = format!("claim.status.{key}");
        if let Some(other) = seen.get(&***state) {
            roles.fault(
                &path,
                format!("the state `{state}` is already that of `{other}`"),
                "each role needs a state of its own",
            );
        }
        seen.entry(state).or_insert(key);
        if state.is_empty() || state.trim() != *state || state.chars().any(char::is_control) {
            roles.fault(
                &path,
                "a state is a visible word without blanks around it".to_owned(),
                "for example `pending`",
            );
        }
        if let Some(column) = column {
            holds(state, column, &path, roles);
        }
    }
    if let Some(Literal::Text(default)) =
        column.and_then(|column| column.default.as_ref()).map(|default| &default.value)
        && *default != status.pending
    {
        let message = format!(
            "new rows start as `{default}`, the default of `{}`, but `pending` is `{}`",
            status.column, status.pending
        );
        roles.fault("claim.status.pending", message, "make the two the same");
    }
}
