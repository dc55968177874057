//! What a queue's definition lacks, and what will break without it.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Rule};

use super::super::format::{Claim, Collation, Strategy, TagMode};
use super::super::rules::rules;
use super::super::tags::Tags;
use super::super::{ColumnType, Lack, Size, Table, coalescing, unrelayed};

rules! {
    /// A queue without a declared workload.
    QUEUE_WITHOUT_CLAIM Warning "queue-without-claim" "a table that looks like a queue declares no workload"
    does "Reports tables named like an outbox, inbox or job queue that have neither `claim` nor `inbox`."
    why "Without a declared workload there is no query to generate, no index to derive and nothing to prove."
    example "{ \"tableName\": \"wallet_outbox\", \"columns\": [] }"
    instead "{ \"tableName\": \"wallet_outbox\", \"columns\": [], \"claim\": { \"status\": {} } }"
    allow "The table is read by no worker of yours."

    /// A claim without scope.
    QUEUE_WITHOUT_SCOPE Warning "queue-without-scope" "a claim has no scope and is not declared global"
    does "Reports claims with neither `scope` nor `global`."
    why "In a shared table a worker without a scope takes the rows of other tenants, and on MySQL, MariaDB and PostgreSQL before 18 its query matches no index that begins with the tenant: 1,000,003 of 1,000,000 rows read, measured."
    example "\"claim\": { \"status\": {} }"
    instead "\"claim\": { \"scope\": [\"app_code\"], \"status\": {} }"
    allow "Write `\"global\": true` instead, if one pool of workers serves all rows."

    /// A claim without an order.
    QUEUE_WITHOUT_ORDER Warning "queue-without-order" "a claim names no column that orders pending rows"
    does "Reports claims without `order`."
    why "Rows are then taken in the order of their keys: the oldest may wait for ever, and the age of the oldest is unknown."
    example "\"claim\": { \"status\": {} }"
    instead "\"claim\": { \"status\": {}, \"order\": \"created_at_ms\" }"
    allow "Keys are themselves in the order of creation."

    /// A claim that marks nothing.
    QUEUE_WITHOUT_MARK Warning "queue-without-mark" "a claim has no way to mark the rows that it takes"
    does "Reports claims with neither a `running` state nor `visibility`."
    why "A taken row looks like any other. On MySQL, MariaDB and PostgreSQL it is locked until the worker's transaction ends, so work must be done within it; SQLite has no such lock, and claimsmith generates no claim there. Nowhere does it generate what needs a holder: complete, retry, dead, extend, release."
    example "\"claim\": { \"status\": { \"column\": \"status\", \"pending\": \"pending\", \"done\": \"done\" } }"
    instead "\"claim\": { \"status\": { \"column\": \"status\", \"pending\": \"pending\", \"running\": \"running\", \"done\": \"done\" } }"
    allow "Workers handle and finish their rows in the transaction of the claim, with statements of their own."

    /// A queue whose rows cannot be told apart for certain.
    INEXACT_KEY Warning "inexact-key" "rows cannot be found again for certain by such a key"
    does "Reports floating-point and JSON columns in the scope or the primary key of a table with a claim."
    why "A worker finishes the row whose key it was given. A floating-point number may be another one after it was read and written, and JSON has many texts for one value: the row would not be found, or another one. claimsmith generates the statements and no functions for such a table."
    example "{ \"name\": \"id\", \"type\": \"DOUBLE\", \"primaryKey\": true }"
    instead "{ \"name\": \"id\", \"type\": \"BIGINT\", \"primaryKey\": true }"
    allow "Workers have functions of their own, and all numbers are ones that the type holds exactly."

    /// A claim without a lease.
    QUEUE_WITHOUT_LEASE Warning "queue-without-lease" "rows of a crashed worker stay running for ever"
    does "Reports claims with a `running` state and neither `lease` nor `visibility`."
    why "A worker that dies leaves its rows running, and nothing can tell them from rows that are being worked on. Without a lease claimsmith generates no reaper and no fence; the only worker of a scope may free all rows with `recover` before its first claim."
    example "\"claim\": { \"status\": { \"running\": \"processing\" } }"
    instead "\"claim\": { \"status\": { \"running\": \"delivering\" }, \"lease\": { \"until\": \"lock_until_ms\", \"by\": \"worker_id\", \"for\": \"30s\" } }"
    allow "The columns cannot be added, and each scope has one worker, which frees its rows with `recover`, or people free them by hand."

    /// A lease without a fence.
    LEASE_WITHOUT_FENCE Warning "lease-without-fence" "a worker whose lease expired can overwrite its successor"
    does "Reports leases with neither `by` nor `seq`."
    why "Nothing tells the row of the second claim from that of the first, so a late completion of the first is taken for the second's."
    example "\"lease\": { \"until\": \"lock_until_ms\", \"for\": \"30s\" }"
    instead "\"lease\": { \"until\": \"lock_until_ms\", \"by\": \"worker_id\", \"for\": \"30s\" }"
    allow "Handling a row twice does no harm."

    /// Retries without a time.
    QUEUE_WITHOUT_RETRY_TIME Warning "queue-without-retry-time" "a failing row is tried again at once, for ever"
    does "Reports claims without `retry.at` and without `due`."
    why "A row that fails is the oldest row of the next claim: workers spin on it. Without the column claimsmith generates no backoff."
    example "\"claim\": { \"retry\": { \"count\": \"retry_count\" } }"
    instead "\"claim\": { \"retry\": { \"at\": \"next_retry_at_ms\", \"count\": \"retry_count\" } }"
    allow "The column cannot be added, and failures are rare and final."

    /// Retries that are not counted.
    QUEUE_WITHOUT_RETRY_COUNT Warning "queue-without-retry-count" "attempts are not counted and never end"
    does "Reports claims without `retry.count`."
    why "A poisoned row is tried for ever. Without the column claimsmith sends nothing to dead by itself."
    example "\"claim\": { \"retry\": { \"at\": \"next_retry_at_ms\" } }"
    instead "\"claim\": { \"retry\": { \"at\": \"next_retry_at_ms\", \"count\": \"retry_count\", \"max\": 20 } }"
    allow "Every failure is final."

    /// Nowhere to put what cannot be handled.
    QUEUE_WITHOUT_DEAD_STATE Warning "queue-without-dead-state" "rows that can never succeed have no state to end in"
    does "Reports claims without `status.dead`."
    why "They stay among the open rows, are tried again, and hide in the counts."
    example "\"status\": { \"pending\": \"pending\", \"done\": \"done\" }"
    instead "\"status\": { \"pending\": \"pending\", \"done\": \"done\", \"dead\": \"dead\" }"
    allow "Handling cannot fail."

    /// Finished rows that never leave.
    QUEUE_WITHOUT_RETENTION Warning "queue-without-retention" "finished rows stay in the table for ever"
    does "Reports claims and inboxes without `retention`."
    why "The table and its indexes grow without bound; every mistake in a query costs more each day."
    example "{ \"claim\": {} }"
    instead "{ \"claim\": {}, \"retention\": { \"states\": [\"done\"], \"age\": \"updated_at_ms\", \"keep\": \"30d\", \"strategy\": \"archive\" } }"
    allow "Something else removes finished rows."

    /// A retry time that may be NULL.
    NULLABLE_DUE_COLUMN Warning "nullable-due-column" "the column that says when a row is due may be NULL"
    does "Reports nullable `retry.at` and `lease.until` columns."
    why "`NULL <= now` is never true: a row with NULL is in no branch. `IS NULL` as an equality keeps the order on MySQL and MariaDB only."
    example "{ \"name\": \"next_retry_at_ms\", \"type\": \"BIGINT\", \"nullable\": true }"
    instead "{ \"name\": \"next_retry_at_ms\", \"type\": \"BIGINT\", \"default\": \"0\" }"
    allow "Every transition of every program writes the column."

    /// Changes that cannot join.
    COALESCE_WITHOUT_EFFECT Warning "coalesce-without-effect" "changes of one thing cannot join the one that waits"
    does "Reports `coalesce` without `order`, without `event.payload`, with a column that may be NULL or is not of the thing, beside an `idempotencyKey`, and with `visibility` but without `retry.count`."
    why "A change joins the newest pending row of its thing, which then has the newer content. Where that could lose a change, or where no row is the newest, claimsmith generates no statement for it: each change waits as a row of its own."
    example "\"claim\": { \"coalesce\": [\"record_id\"] }"
    instead "\"claim\": { \"coalesce\": [\"record_id\"], \"order\": \"created_at_ms\", \"event\": { \"payload\": \"payload\" } }"
    allow "Workers find out for themselves which row of a thing is the newest."

    /// Ids or states compared by the default collation.
    STATE_COLLATION Warning "state-collation" "ids or states are compared without regard to case"
    does "Reports `\"collation\": \"default\"` on keys, states and idempotency keys."
    why "MySQL and MariaDB then take `Ev1` and `eV1` for one id (error 1062) and `PENDING` for `pending`; MariaDB ignores blanks at the end as well."
    example "{ \"name\": \"event_id\", \"type\": \"VARCHAR(64)\", \"collation\": \"default\" }"
    instead "{ \"name\": \"event_id\", \"type\": \"VARCHAR(64)\" }"
    allow "The column must compare like one that exists already."

    /// Event types without a common form.
    EVENT_TYPE_FORMAT Warning "event-type-format" "an event type of another form than `domain.resource.action`"
    does "Reports declared event types that are not at least two lower-case words joined by points, on tables that have `publish` or `bus`."
    why "Without one form, two teams name one event twice."
    example "\"types\": [\"ChatHistoryPersist\"]"
    instead "\"types\": [\"chat.history.persist\"]"
    allow "The names are in use and cannot be changed."

    /// A group that gets no message that it is there for.
    UNSEEN_TAG Warning "unseen-tag" "a group of consumers does not subscribe to the tags that the producer writes"
    does "Compares `publish.tag.mode` with the list of each group in `publish.consumers`: in the mode `legacy` a list needs the legacy tag, in the mode `event_type` a declared event type, and without tags (`none`) there may be no list."
    why "The broker hands a group only what its list names. What it does not name is not refused, delayed or logged: it is invisible to the group, and nobody notices."
    example "\"tag\": { \"mode\": \"event_type\", \"legacy\": \"wallet\" }, \"consumers\": [{ \"group\": \"badge\", \"tags\": [\"wallet\"] }]"
    instead "\"tag\": { \"mode\": \"event_type\", \"legacy\": \"wallet\" }, \"consumers\": [{ \"group\": \"badge\", \"tags\": [\"wallet\", \"WalletGiftDebited\"] }]"
    allow "The group's list stands somewhere else and is known to be right. `claimsmith queue cutover` refuses all the same."

    /// A tag that no message has.
    UNKNOWN_TAG Warning "unknown-tag" "a group of consumers subscribes to a tag that no message has"
    does "Reports tags in `publish.consumers` that are neither the legacy tag nor a declared event type, where event types are declared."
    why "A misspelt tag selects nothing, and the messages that were meant are invisible to the group."
    example "\"types\": [\"order.paid\"] … \"tags\": [\"order.payed\"]"
    instead "\"types\": [\"order.paid\"] … \"tags\": [\"order.paid\"]"
    allow "The type will be declared later. `claimsmith queue cutover` refuses all the same."

    /// Rows that are to be published and that nothing publishes.
    PUBLISH_WITHOUT_RELAY Warning "publish-without-relay" "no relay is generated for rows that are to be published"
    does "Reports tables with `publish` or `bus` for which claimsmith generates no relay, or no consumer, and says what each lacks: rows must be held for a while (`lease` or `visibility`), put back (`retry`) and given up (`status.dead`), their content must be in a column (`event.payload`), and the columns of their key, of the topic and of the message's key must be text or whole numbers. A bus needs `event.type` as well."
    why "The definition promises messages, and the generated code has none that sends them: this is seen only when the function is looked for."
    example "{ \"publish\": { \"topic\": \"orders\" }, \"claim\": { \"status\": { \"running\": \"sending\" } } }"
    instead "{ \"publish\": { \"topic\": \"orders\" }, \"claim\": { \"status\": { \"running\": \"sending\", \"dead\": \"dead\" }, \"lease\": {}, \"retry\": {}, \"event\": { \"payload\": \"payload\" } } }"
    allow "A program of your own publishes the rows, and `publish` says where they go."

    /// Too little room for an error's text.
    ERROR_COLUMN_TOO_SMALL Warning "error-column-too-small" "the column for the last error holds fewer than 200 characters"
    does "Measures the column of `retry.error`."
    why "Texts are cut to fit; what is left of a short one does not say what happened."
    example "{ \"name\": \"last_error\", \"type\": \"VARCHAR(50)\" }"
    instead "{ \"name\": \"last_error\", \"type\": \"TEXT\" }"
    allow "It holds codes, not texts."
}

/// All rules of this module.
pub static RULES: [&Rule; 19] = [
    &QUEUE_WITHOUT_CLAIM,
    &QUEUE_WITHOUT_SCOPE,
    &QUEUE_WITHOUT_ORDER,
    &QUEUE_WITHOUT_MARK,
    &INEXACT_KEY,
    &QUEUE_WITHOUT_LEASE,
    &LEASE_WITHOUT_FENCE,
    &QUEUE_WITHOUT_RETRY_TIME,
    &QUEUE_WITHOUT_RETRY_COUNT,
    &QUEUE_WITHOUT_DEAD_STATE,
    &QUEUE_WITHOUT_RETENTION,
    &NULLABLE_DUE_COLUMN,
    &COALESCE_WITHOUT_EFFECT,
    &STATE_COLLATION,
    &EVENT_TYPE_FORMAT,
    &UNSEEN_TAG,
    &UNKNOWN_TAG,
    &PUBLISH_WITHOUT_RELAY,
    &ERROR_COLUMN_TOO_SMALL,
];

/// Checks one table.
pub fn check(table: &Table, findings: &mut Vec<Diagnostic>) {
    let mut add = |rule: &'static Rule, path: &str, message: String| {
        let finding = Diagnostic::new(rule, table.site.key(path), message).label(rule.summary);
        findings.push(
            finding.help(format!("mend it, or add `\"allow\": {{ \"{}\": \"<the reason>\" }}` to the table", rule.id)),
        );
    };
    let name = &table.name;
    // What is given and was not understood has been reported already.
    let lacks = |understood: bool, path: &str| !understood && table.lacks(path);
    let Some(claim) = &table.claim else {
        if looks_like_a_queue(&name.name) && table.lacks("claim") && lacks(table.inbox.is_some(), "inbox") {
            add(&QUEUE_WITHOUT_CLAIM, "tableName", format!("`{name}` looks like a queue and declares no `claim`"));
        }
        if table.inbox.is_some() && lacks(table.retention.is_some(), "retention") {
            add(&QUEUE_WITHOUT_RETENTION, "inbox", format!("`{name}` has no `retention`"));
        }
        return;
    };
    let status = &claim.status;
    let (retry, lease) = (claim.retry.as_ref(), claim.lease.as_ref());
    if lacks(!claim.scope.is_empty(), "claim.scope") && lacks(claim.global, "claim.global") {
        add(&QUEUE_WITHOUT_SCOPE, "claim", format!("the claim of `{name}` has no `scope`"));
    }
    if lacks(claim.order.is_some(), "claim.order") && lacks(claim.due.is_some(), "claim.due") {
        add(&QUEUE_WITHOUT_ORDER, "claim", format!("the claim of `{name}` has no `order`"));
    }
    if lacks(status.running.is_some(), "claim.status.running") && lacks(claim.visibility.is_some(), "claim.visibility")
    {
        let message = format!("the claim of `{name}` has neither a running state nor `visibility`: it marks nothing");
        add(&QUEUE_WITHOUT_MARK, "claim.status", message);
    }
    if status.running.is_some()
        && lacks(lease.is_some(), "claim.lease")
        && lacks(claim.visibility.is_some(), "claim.visibility")
    {
        add(&QUEUE_WITHOUT_LEASE, "claim", format!("the claim of `{name}` has a running state and no `lease`"));
    }
    if lease.is_some_and(|lease| lease.by.is_none() && lease.seq.is_none())
        && table.lacks("claim.lease.by")
        && table.lacks("claim.lease.seq")
    {
        add(&LEASE_WITHOUT_FENCE, "claim.lease", format!("the lease of `{name}` has neither `by` nor `seq`"));
    }
    if lacks(claim.due.is_some(), "claim.due") && lacks(retry.is_some_and(|retry| retry.at.is_some()), "claim.retry.at")
    {
        add(&QUEUE_WITHOUT_RETRY_TIME, "claim.retry", format!("the claim of `{name}` has no `retry.at`"));
    }
    if lacks(retry.is_some_and(|retry| retry.count.is_some()), "claim.retry.count") {
        add(&QUEUE_WITHOUT_RETRY_COUNT, "claim.retry", format!("the claim of `{name}` has no `retry.count`"));
    }
    if lacks(status.dead.is_some(), "claim.status.dead") {
        add(&QUEUE_WITHOUT_DEAD_STATE, "claim.status", format!("`{name}` has no `dead` state"));
    }
    if lacks(table.retention.is_some(), "retention") {
        add(&QUEUE_WITHOUT_RETENTION, "claim", format!("`{name}` has no `retention`"));
    }
    if table.retention.as_ref().is_some_and(|retention| retention.strategy == Strategy::Partition) {
        let message = format!("no statement removes rows of `{name}`: partitions are not made yet");
        add(&QUEUE_WITHOUT_RETENTION, "retention.strategy", message);
    }
    // What names no column has been reported as well.
    let unclear = |column: Option<&String>, path: &str| match column {
        Some(column) => table.position(column).is_none(),
        None => !table.lacks(path),
    };
    let payload = claim.event.as_ref().and_then(|event| event.payload.as_ref());
    let is_unclear = unclear(claim.order.as_ref(), "claim.order")
        || unclear(payload, "claim.event.payload")
        || unclear(retry.and_then(|retry| retry.count.as_ref()), "claim.retry.count");
    if let Some(Err(reason)) = coalescing(table, claim).filter(|_| !is_unclear) {
        add(&COALESCE_WITHOUT_EFFECT, "claim.coalesce", format!("changes in `{name}` do not join: {reason}"));
    }
    columns(table, claim, &mut add);
    subscriptions(table, &mut add);
    relay(table, findings);
}

/// Why rows that are to be published get no relay.
fn relay(table: &Table, findings: &mut Vec<Diagnostic>) {
    // What is given and was not understood has been reported already.
    let is_clear = |lack: &Lack| lack.missing.is_none_or(|role| table.lacks(role));
    let lacks: Vec<Lack> = unrelayed(table).into_iter().filter(is_clear).collect();
    if lacks.is_empty() {
        return;
    }
    let rule = &PUBLISH_WITHOUT_RELAY;
    let role = if table.publish.is_some() { "publish" } else { "bus" };
    let reasons: Vec<&str> = lacks.iter().map(|lack| &*lack.message).collect();
    let message = format!("`{}` gets no relay: {}", table.name, reasons.join("; "));
    let finding = Diagnostic::new(rule, table.site.key(role), message).label(rule.summary);
    let finding = lacks.iter().fold(finding, |finding, lack| finding.help(lack.help));
    findings.push(finding.help(format!("or add `\"allow\": {{ \"{}\": \"<the reason>\" }}` to the table", rule.id)));
}

/// Who would not see the messages that the table's producer writes.
fn subscriptions(table: &Table, add: &mut dyn FnMut(&'static Rule, &str, String)) {
    let Some(tags) = Tags::of(table) else { return };
    for (at, group) in tags.groups.iter().enumerate() {
        let path = format!("publish.consumers.{at}.tags");
        let name = group.name;
        for unknown in tags.unknown(group) {
            let message = format!("`{}` in the list of `{name}` is no tag of a message", group.tags[unknown]);
            add(&UNKNOWN_TAG, &format!("{path}.{unknown}"), message);
        }
        // A mode that lacks what it needs has been reported.
        let is_clear = tags.mode != TagMode::Legacy || tags.legacy.is_some();
        if tags.missed(group, tags.mode).is_some() && is_clear {
            let why = match (tags.mode, tags.legacy) {
                (TagMode::Legacy, Some(legacy)) => format!("its list lacks `{legacy}`, the tag of every message"),
                (TagMode::EventType, _) => "the tag of a message is its type, and its list names none".to_owned(),
                _ => "messages have no tag, and its list asks for one".to_owned(),
            };
            add(&UNSEEN_TAG, &path, format!("`{name}` sees no message of `{}`: {why}", table.name));
        }
    }
}

fn columns(table: &Table, claim: &Claim, add: &mut dyn FnMut(&'static Rule, &str, String)) {
    let name = &table.name;
    let at = claim.retry.as_ref().and_then(|retry| retry.at.as_deref());
    let until = claim.lease.as_ref().map(|lease| &*lease.until);
    for (path, column) in [("claim.retry.at", at), ("claim.lease.until", until)] {
        if let Some(column) = column.and_then(|column| table.column(column)).filter(|column| column.nullable) {
            add(&NULLABLE_DUE_COLUMN, path, format!("`{name}.{}` may be NULL", column.name));
        }
    }
    let scope = claim.scope.iter().filter_map(|name| table.position(name));
    let mut in_key: Vec<usize> = scope.chain(table.primary_key.iter().copied()).collect();
    in_key.sort_unstable();
    in_key.dedup();
    for at in in_key {
        let column = &table.columns[at];
        if !column.ty.is_exact() {
            let message = format!("`{name}.{}` is {} and a part of what identifies a row", column.name, column.ty);
            add(&INEXACT_KEY, &format!("columns.{at}.type"), message);
        }
    }
    let status = Some((0, &claim.status.column)).into_iter();
    let keys = claim.scope.iter().enumerate().chain(claim.idempotency_key.iter().enumerate()).chain(status);
    let primary = table.names(&table.primary_key).map(str::to_owned).collect::<Vec<_>>();
    let mut said = BTreeSet::new();
    for column in keys.map(|(_, key)| key).chain(&primary).filter_map(|key| table.column(key)) {
        if column.collation == Some(Collation::Default) && said.insert(&column.name) {
            let at = table.position(&column.name).unwrap_or_default();
            add(
                &STATE_COLLATION,
                &format!("columns.{at}.collation"),
                format!("`{name}.{}` has the default collation", column.name),
            );
        }
    }
    let error = claim.retry.as_ref().and_then(|retry| retry.error.as_deref()).and_then(|error| table.column(error));
    if let Some(column) = error.filter(|column| small(&column.ty)) {
        add(&ERROR_COLUMN_TOO_SMALL, "claim.retry.error", format!("`{name}.{}` is {}", column.name, column.ty));
    }
    if table.publish.is_some() || table.bus.is_some() {
        let types = claim.event.iter().flat_map(|event| &event.types).enumerate();
        for (at, event) in types.filter(|(_, event)| !is_event_type(event.name())) {
            add(
                &EVENT_TYPE_FORMAT,
                &format!("claim.event.types.{at}"),
                format!("`{}` is not of the form domain.resource.action", event.name()),
            );
        }
    }
}

fn small(ty: &ColumnType) -> bool {
    match ty {
        ColumnType::Char(most) | ColumnType::Varchar(most) => *most < 200,
        ColumnType::Text(size) => *size == Size::Tiny,
        _ => false,
    }
}

fn is_event_type(name: &str) -> bool {
    let word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
    };
    name.contains('.') && name.split('.').all(word)
}

/// Names of queues, as the linter knows them: `*outbox*`, `*inbox*`, `*_queue`, `*_jobs`, `*job_queue*`.
fn looks_like_a_queue(name: &str) -> bool {
    let name = name.to_lowercase();
    let within = ["outbox", "inbox", "job_queue"].iter().any(|part| name.contains(part));
    within || ["_queue", "_jobs"].iter().any(|end| name.ends_with(end))
}
