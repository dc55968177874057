//! What happens to rows after their claim: retention, publishing, bus, inbox and metrics.

use std::collections::BTreeSet;

use super::super::super::format::{
    Bus, BusMode, Inbox, Metrics, NameOrColumn, Publish, PublishOrder, Retention, Strategy, TagMode,
};
use super::super::super::out_of_order;
use super::{Kind, Roles};

/// Checks how finished rows leave.
pub fn retention(retention: &Retention, roles: &mut Roles<'_>) {
    let age = roles.column("retention.age", &retention.age, Kind::Time);
    roles.not_null("retention.age", age, "a row without an age would stay for ever");
    let scope = retention.scope.as_deref().unwrap_or_default();
    roles.columns("retention.scope", scope, Kind::Any);
    for (at, name) in scope.iter().enumerate() {
        let column = roles.table.column(name);
        roles.not_null(&format!("retention.scope.{at}"), column, "each batch pins it by equality");
    }
    if retention.batch == 0 {
        roles.fault("retention.batch", "a batch of no rows removes nothing".to_owned(), "write for example 10000");
    }
    if retention.into.is_some() && retention.strategy != Strategy::Archive {
        roles.fault(
            "retention.into",
            "`into` names an archive, and the strategy makes none".to_owned(),
            "remove it, or write `\"strategy\": \"archive\"`",
        );
    }
    let Some(claim) = &roles.table.claim else {
        let by_age_alone = (roles.table.inbox.is_some() || !roles.table.lacks("inbox")) && retention.states.is_empty();
        // What was not understood has been reported already.
        let unclear = retention.states.is_empty() && !roles.table.lacks("retention.states");
        if !by_age_alone && !unclear && roles.table.lacks("claim") {
            let message =
                "`retention` needs `claim.status` to know the states, or an `inbox` without states".to_owned();
            roles.fault("retention", message, "add `claim`");
        }
        return;
    };
    if retention.states.is_empty() && roles.table.lacks("retention.states") {
        roles.fault("retention.states", "`states` names no state".to_owned(), "name the finished states");
    }
    let status = &claim.status;
    let finished: Vec<&str> = status.done.0.iter().chain(&status.dead).map(String::as_str).collect();
    let known: BTreeSet<&str> = finished.iter().copied().collect();
    for (at, state) in retention.states.iter().enumerate().filter(|(_, state)| !known.contains(state.as_str())) {
        let message = format!("`{state}` is not a finished state of `{}`", roles.table.name);
        roles.fault(
            &format!("retention.states.{at}"),
            message,
            &format!("the finished states are {}", finished.join(", ")),
        );
    }
}

/// Checks where rows are published.
pub fn publish(publish: &Publish, roles: &mut Roles<'_>) {
    if roles.table.claim.is_none() && roles.table.lacks("claim") {
        roles.fault("publish", "a relay takes rows by their `claim`".to_owned(), "add `claim`");
    }
    if let NameOrColumn::Column(topic) = &publish.topic {
        roles.column("publish.topic.column", &topic.column, Kind::Text);
    }
    roles.optional("publish.key", &publish.key, Kind::Any);
    let event = roles.table.claim.as_ref().and_then(|claim| claim.event.as_ref());
    let typed = event.is_some_and(|event| event.type_column.is_some());
    match publish.tag.mode {
        TagMode::Legacy if publish.tag.legacy.is_none() && roles.table.lacks("publish.tag.legacy") => {
            roles.fault(
                "publish.tag",
                "the tag mode `legacy` needs the tag itself".to_owned(),
                "add `\"legacy\": \"…\"`",
            );
        }
        TagMode::EventType if !typed && roles.table.lacks("claim.event.type") => {
            roles.fault(
                "publish.tag",
                "the tag mode `event_type` needs the column of the type".to_owned(),
                "add `claim.event.type`",
            );
        }
        _ => {}
    }
    let missing = out_of_order(roles.table).filter(|_| publish.order == PublishOrder::Key);
    if let Some(missing) = missing.filter(|missing| roles.table.lacks(missing.role)) {
        roles.fault("publish.order", missing.message.to_owned(), missing.help);
    }
    let mut groups = BTreeSet::new();
    for (at, consumer) in publish.consumers.iter().enumerate() {
        if !groups.insert(&consumer.group) {
            let message = format!("the consumer group `{}` occurs twice", consumer.group);
            roles.fault(
                &format!("publish.consumers.{at}.group"),
                message,
                "a group has one subscription: join the two",
            );
        }
    }
}

/// Checks the state machine of an event bus.
pub fn bus(bus: &Bus, roles: &mut Roles<'_>) {
    let claim = roles.table.claim.as_ref();
    let published = claim.is_some_and(|claim| claim.status.published.is_some());
    if !published && roles.table.lacks("claim.status.published") {
        roles.fault("bus", "an event bus needs the state `published`".to_owned(), "add `claim.status.published`");
    }
    if bus.mode == BusMode::Broker && roles.table.publish.is_none() && roles.table.lacks("publish") {
        roles.fault(
            "bus",
            "a bus through a broker needs `publish`".to_owned(),
            "add it, or write `\"mode\": \"sync\"`",
        );
    }
    let timed = claim.and_then(|claim| claim.times.as_ref()).is_some_and(|times| times.published.is_some());
    if bus.sweep.is_some() && !timed && roles.table.lacks("claim.times.published") {
        let message = "a sweep needs the time since which a row is published".to_owned();
        roles.fault("bus.sweep", message, "add `claim.times.published`");
    }
}

/// Checks the memory of idempotent consumers.
pub fn inbox(inbox: &Inbox, roles: &mut Roles<'_>) {
    roles.column("inbox.consumer", &inbox.consumer, Kind::Text);
    roles.column("inbox.message", &inbox.message, Kind::Any);
    roles.optional("inbox.at", &inbox.at, Kind::Time);
    let key: Vec<&str> = roles.table.names(&roles.table.primary_key).collect();
    if key != [&*inbox.consumer, &*inbox.message] && roles.table.keys_are_understood() {
        let help = format!("write `\"primaryKey\": [\"{}\", \"{}\"]`", inbox.consumer, inbox.message);
        roles.fault("inbox", "the primary key of an inbox is its consumer and message".to_owned(), &help);
    }
    if roles.table.claim.is_some() || !roles.table.lacks("claim") {
        roles.fault("inbox", "rows of an `inbox` are not claimed".to_owned(), "remove `claim`, or `inbox`");
    }
}

/// Checks the bounds of the metrics.
pub fn metrics(metrics: &Metrics, roles: &mut Roles<'_>) {
    if roles.table.claim.is_none() && roles.table.lacks("claim") {
        roles.fault("metrics", "metrics count the states of a `claim`".to_owned(), "add `claim`");
    }
    if metrics.cap == 0 {
        roles.fault("metrics.cap", "a count of no rows says nothing".to_owned(), "write for example 10000");
    }
    for (path, limit) in [("metrics.backlog", metrics.backlog), ("metrics.dead", metrics.dead)] {
        if limit.is_some_and(|limit| limit >= metrics.cap) {
            let message = format!("`{path}` is never exceeded: counts end at the cap of {}", metrics.cap);
            roles.fault(path, message, "raise `metrics.cap`");
        }
    }
}
