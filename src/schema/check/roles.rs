//! Roles: the columns and states that claim, retention, publishing, bus and inbox name exist and can do their part.

use crate::diagnostic::Diagnostic;

use super::super::format::{Claim, Event, Lease, MaxAttempts, NameOrColumn, Retention, Retry};
use super::super::lower::missing_column;
use super::super::{Column, ColumnType, Literal, Table, rules};

/// What a role asks of its column's type.
#[derive(Clone, Copy)]
enum Kind {
    /// Anything that can be compared.
    Any,
    /// A string or ENUM.
    Text,
    /// Epoch milliseconds (BIGINT) or DATETIME, TIMESTAMP.
    Time,
    /// An integer.
    Count,
    /// BIGINT.
    Sequence,
}

impl Kind {
    fn accepts(self, ty: &ColumnType) -> bool {
        match self {
            Kind::Any => !matches!(ty, ColumnType::Json),
            Kind::Text => ty.is_text(),
            Kind::Time => ty.is_time() || matches!(ty, ColumnType::Int { bytes: 8, .. }),
            Kind::Count => matches!(ty, ColumnType::Int { .. }),
            Kind::Sequence => matches!(ty, ColumnType::Int { bytes: 8, .. }),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Kind::Any => "a type that can be compared",
            Kind::Text => "VARCHAR, CHAR, TEXT or ENUM",
            Kind::Time => "BIGINT (epoch milliseconds), DATETIME or TIMESTAMP",
            Kind::Count => "an integer type",
            Kind::Sequence => "BIGINT",
        }
    }
}

/// Checks all roles of one table.
pub fn check(table: &Table, findings: &mut Vec<Diagnostic>) {
    let mut roles = Roles { table, findings };
    if let Some(claim) = &table.claim {
        claim_roles(claim, &mut roles);
        states(claim, &mut roles);
    }
    if let Some(retention) = &table.retention {
        retention_roles(retention, &mut roles);
    }
    if let Some(publish) = &table.publish {
        if let NameOrColumn::Column(topic) = &publish.topic {
            roles.column("publish.topic.column", &topic.column, Kind::Text);
        }
        roles.optional("publish.key", &publish.key, Kind::Any);
        let tag = &publish.tag;
        if tag.mode == super::super::format::TagMode::Legacy && tag.legacy.is_none() {
            roles.fault(
                "publish.tag",
                "the tag mode `legacy` needs the tag itself".to_owned(),
                "add `\"legacy\": \"…\"`",
            );
        }
        if publish.order == super::super::format::PublishOrder::Key && publish.key.is_none() {
            roles.fault(
                "publish.order",
                "an order by key needs a `key`".to_owned(),
                "name the column that keys the messages",
            );
        }
    }
    if let Some(inbox) = &table.inbox {
        roles.column("inbox.consumer", &inbox.consumer, Kind::Text);
        roles.column("inbox.message", &inbox.message, Kind::Any);
        roles.optional("inbox.at", &inbox.at, Kind::Time);
        let key: Vec<&str> = table.names(&table.primary_key).collect();
        if key != [&*inbox.consumer, &*inbox.message] && table.broken.is_empty() {
            let help = format!("write `\"primaryKey\": [\"{}\", \"{}\"]`", inbox.consumer, inbox.message);
            roles.fault("inbox", "the primary key of an inbox is its consumer and message".to_owned(), &help);
        }
    }
    if table.bus.is_some() && table.claim.as_ref().is_none_or(|claim| claim.status.published.is_none()) {
        roles.fault("bus", "an event bus needs the state `published`".to_owned(), "add `claim.status.published`");
    }
}

struct Roles<'a> {
    table: &'a Table,
    findings: &'a mut Vec<Diagnostic>,
}

impl<'a> Roles<'a> {
    /// The column in the role at `path`, if it exists.
    fn column(&mut self, path: &str, name: &str, kind: Kind) -> Option<&'a Column> {
        let table = self.table;
        match table.column(name) {
            Some(column) if kind.accepts(&column.ty) => Some(column),
            Some(column) => {
                let message =
                    format!("`{path}`: `{}.{name}` is {}, the role needs {}", table.name, column.ty, kind.expected());
                let finding = Diagnostic::new(&rules::WRONG_VALUE, table.site.at(path), message);
                self.findings.push(finding.related(column.site.at("type"), "this type"));
                Some(column)
            }
            None if table.broken.iter().any(|broken| broken == name) => None,
            None => {
                self.findings.push(missing_column(table, name, &format!("`{path}`"), table.site.at(path)));
                None
            }
        }
    }

    fn optional(&mut self, path: &str, name: &Option<String>, kind: Kind) -> Option<&'a Column> {
        self.column(path, name.as_deref()?, kind)
    }

    fn columns(&mut self, path: &str, names: &[String], kind: Kind) {
        for (at, name) in names.iter().enumerate() {
            self.column(&format!("{path}.{at}"), name, kind);
            if names[..at].contains(name) {
                self.fault(&format!("{path}.{at}"), format!("`{path}` names `{name}` twice"), "remove one of the two");
            }
        }
    }

    fn not_null(&mut self, path: &str, column: Option<&Column>, why: &str) {
        if let Some(column) = column.filter(|column| column.nullable) {
            self.fault(
                path,
                format!("`{path}`: `{}.{}` may not be nullable: {why}", self.table.name, column.name),
                "make the column NOT NULL",
            );
        }
    }

    fn fault(&mut self, path: &str, message: String, help: &str) {
        let finding = Diagnostic::new(&rules::WRONG_VALUE, self.table.site.at(path), message);
        self.findings.push(finding.help(help));
    }
}

fn claim_roles(claim: &Claim, roles: &mut Roles<'_>) {
    roles.columns("claim.scope", &claim.scope, Kind::Any);
    for (at, name) in claim.scope.iter().enumerate() {
        let column = roles.table.column(name);
        roles.not_null(&format!("claim.scope.{at}"), column, "a claim pins it by equality");
    }
    if claim.global && !claim.scope.is_empty() {
        roles.fault(
            "claim.global",
            "a claim has a `scope` or is `global`, not both".to_owned(),
            "remove one of the two",
        );
    }
    let order = roles.optional("claim.order", &claim.order, Kind::Any);
    roles.not_null("claim.order", order, "rows without it would have no place in the queue");
    let due = roles.optional("claim.due", &claim.due, Kind::Time);
    roles.not_null("claim.due", due, "a NULL is never due");
    roles.optional("claim.lane", &claim.lane, Kind::Any);
    roles.columns("claim.idempotencyKey", &claim.idempotency_key, Kind::Any);
    roles.columns("claim.coalesce", &claim.coalesce, Kind::Any);
    if let Some(origin) = claim.origin.as_ref().filter(|origin| !origin.starts_with("$.")) {
        roles.column("claim.origin", origin, Kind::Text);
    }
    claim.retry.iter().for_each(|retry| retry_roles(retry, roles));
    claim.lease.iter().for_each(|lease| lease_roles(lease, roles));
    claim.event.iter().for_each(|event| event_roles(event, roles));
    if let Some(times) = &claim.times {
        roles.optional("claim.times.updated", &times.updated, Kind::Time);
        roles.optional("claim.times.published", &times.published, Kind::Time);
        roles.optional("claim.times.finished", &times.finished, Kind::Time);
    }
    if claim.lease.is_some() && claim.visibility.is_some() {
        roles.fault(
            "claim.visibility",
            "a claim has a `lease` or a `visibility`, not both".to_owned(),
            "remove one of the two",
        );
    }
    let pushes = claim.due.is_some() || claim.retry.as_ref().is_some_and(|retry| retry.at.is_some());
    if claim.visibility.is_some() && !pushes {
        roles.fault(
            "claim.visibility",
            "`visibility` pushes the retry time forward, and there is none".to_owned(),
            "add `claim.retry.at`",
        );
    }
}

fn retry_roles(retry: &Retry, roles: &mut Roles<'_>) {
    roles.optional("claim.retry.at", &retry.at, Kind::Time);
    let count = roles.optional("claim.retry.count", &retry.count, Kind::Count);
    roles.not_null("claim.retry.count", count, "NULL + 1 stays NULL");
    roles.optional("claim.retry.error", &retry.error, Kind::Text);
    if let MaxAttempts::Column(max) = &retry.max {
        roles.column("claim.retry.max.column", &max.column, Kind::Count);
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
    let mut seen = std::collections::BTreeSet::new();
    for (at, event_type) in event.types.iter().enumerate() {
        let path = format!("claim.event.types.{at}");
        if !seen.insert(event_type.name()) {
            roles.fault(&path, format!("the event type `{}` occurs twice", event_type.name()), "remove one of the two");
        }
        if let Some(column) = type_column {
            holds(event_type.name(), column, &path, roles);
        }
    }
}

fn retention_roles(retention: &Retention, roles: &mut Roles<'_>) {
    let age = roles.column("retention.age", &retention.age, Kind::Time);
    roles.not_null("retention.age", age, "a row without an age would stay for ever");
    roles.columns("retention.scope", retention.scope.as_deref().unwrap_or_default(), Kind::Any);
    if retention.batch == 0 {
        roles.fault("retention.batch", "a batch of no rows removes nothing".to_owned(), "write for example 10000");
    }
    if retention.states.is_empty() {
        roles.fault("retention.states", "`states` names no state".to_owned(), "name the finished states");
    }
    let Some(claim) = &roles.table.claim else {
        roles.fault("retention", "`retention` needs `claim.status` to know the states".to_owned(), "add `claim`");
        return;
    };
    let status = &claim.status;
    let finished: Vec<&String> = status.done.0.iter().chain(&status.dead).collect();
    for (at, state) in retention.states.iter().enumerate().filter(|(_, state)| !finished.contains(state)) {
        let message = format!("`{state}` is not a finished state of `{}`", roles.table.name);
        let names: Vec<&str> = finished.iter().map(|name| name.as_str()).collect();
        roles.fault(
            &format!("retention.states.{at}"),
            message,
            &format!("the finished states are {}", names.join(", ")),
        );
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
    for (at, (key, state)) in named.iter().enumerate() {
        let path = format!("claim.status.{key}");
        if let Some((other, _)) = named[..at].iter().find(|(_, other)| other == state) {
            roles.fault(
                &path,
                format!("the state `{state}` is already that of `{other}`"),
                "each role needs a state of its own",
            );
        }
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

/// The column can hold the value.
fn holds(value: &str, column: &Column, path: &str, roles: &mut Roles<'_>) {
    if let ColumnType::Enum(members) = &column.ty
        && !members.iter().any(|member| member == value)
    {
        roles.fault(
            path,
            format!("`{value}` is not a member of the ENUM `{}`", column.name),
            &format!("the members are {}", members.join(", ")),
        );
    }
    if let Some(most) = characters(&column.ty).filter(|most| value.chars().count() > *most as usize) {
        roles.fault(
            path,
            format!("`{value}` is longer than the {most} characters of `{}`", column.name),
            "make the column longer",
        );
    }
}

fn characters(ty: &ColumnType) -> Option<u32> {
    match ty {
        ColumnType::Char(most) | ColumnType::Varchar(most) => Some(*most),
        _ => None,
    }
}
