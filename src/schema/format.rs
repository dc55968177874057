//! The definition format, as it stands in the JSON files: every key, frozen.
//!
//! The JSON Schema that editors complete from is generated from these types, their comments included. Keys that a part
//! of claimsmith does not use yet are loaded and checked all the same. What decodes these types is in `keys`.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::Serialize;

use super::duration::Millis;
use super::value::Json;

/// One table: its columns, and what its workers and its history do with it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct TableDef {
    /// The JSON Schema of this format, for editors.
    #[cfg_attr(feature = "schema", serde(rename = "$schema"))]
    pub schema: Option<String>,
    /// Name of the table, where needed with its database (on PostgreSQL: schema) before it: `db.table`.
    pub table_name: String,
    /// Free text that groups tables, such as `system_core`; kept in the generated code.
    pub table_type: Option<String>,
    /// Free text that groups tables, such as `integration`; kept in the generated code.
    pub category: Option<String>,
    /// What the table is for: becomes its comment.
    pub description: Option<String>,
    /// The only service that may scan this table.
    pub owner: Option<String>,
    /// The table's name before it was renamed, for migrations.
    pub renamed_from: Option<String>,
    /// The columns, in their order.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<ColumnDef>"))]
    pub columns: Vec<Json>,
    /// The primary key, if its order is not that of the columns with `primaryKey: true`.
    pub primary_key: Option<Vec<String>>,
    /// Indexes beside those that claimsmith derives from `claim` and `retention`.
    #[cfg_attr(feature = "schema", serde(default), schemars(with = "Vec<IndexDef>"))]
    pub indices: Vec<Json>,
    /// Foreign keys.
    #[cfg_attr(feature = "schema", serde(default), schemars(with = "Vec<ForeignKeyDef>"))]
    pub foreign_keys: Vec<Json>,
    /// How workers claim rows.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Claim>"))]
    pub claim: Option<Json>,
    /// How finished rows leave.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Retention>"))]
    pub retention: Option<Json>,
    /// Where a relay publishes the rows.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Publish>"))]
    pub publish: Option<Json>,
    /// Makes the table the state machine of an event bus: pending → published → consumed.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Bus>"))]
    pub bus: Option<Json>,
    /// Makes the table the memory of idempotent consumers.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Inbox>"))]
    pub inbox: Option<Json>,
    /// Bounds of the metrics queries, and when to raise an alert.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Metrics>"))]
    pub metrics: Option<Json>,
    /// Findings to leave out for this table: rule id → the reason, which may not be empty.
    #[cfg_attr(feature = "schema", serde(default))]
    pub allow: BTreeMap<String, String>,
}

/// A file of several tables.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct FileDef {
    /// The JSON Schema of this format, for editors.
    #[cfg_attr(feature = "schema", serde(rename = "$schema"))]
    pub schema: Option<String>,
    /// The tables.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<TableDef>"))]
    pub tables: Vec<Json>,
}

/// One column.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct ColumnDef {
    /// Name.
    pub name: String,
    /// SQL text such as `VARCHAR(255)`, `BIGINT UNSIGNED`, `DATETIME(3)`, `ENUM('a', 'b')`; upper or lower case.
    #[cfg_attr(feature = "schema", serde(rename = "type"))]
    pub type_text: String,
    /// Part of the primary key, in the order of the columns.
    #[cfg_attr(feature = "schema", serde(default))]
    pub primary_key: bool,
    /// May be NULL. Absent means NOT NULL.
    #[cfg_attr(feature = "schema", serde(default))]
    pub nullable: bool,
    /// Has a unique key of its own.
    #[cfg_attr(feature = "schema", serde(default))]
    pub unique: bool,
    /// Raw SQL text: `'pending'`, `0`, `TRUE`, `NULL`, `CURRENT_TIMESTAMP`, `CURRENT_TIMESTAMP(3)`; in parentheses where
    /// MySQL asks for it (`('{}')` on TEXT and JSON).
    pub default: Option<String>,
    /// Numbered by the database.
    #[cfg_attr(feature = "schema", serde(default))]
    pub auto_increment: bool,
    /// On a TEXT or BLOB column in a key: how many characters of it the key holds.
    pub length: Option<u32>,
    /// Short name for people.
    pub label: Option<String>,
    /// What the column is for.
    pub description: Option<String>,
    /// What the column means to the application, such as `Lookup` or `Password`; kept in the generated code.
    pub logical_type: Option<String>,
    /// The tables whose key the column holds, without a foreign key.
    #[cfg_attr(feature = "schema", serde(default))]
    pub reference_to: OneOrMany,
    /// The column that names a row to people.
    #[cfg_attr(feature = "schema", serde(default))]
    pub is_name_field: bool,
    /// Belongs to the system and not to its users.
    #[cfg_attr(feature = "schema", serde(default, rename = "is_system"))]
    pub is_system: bool,
    /// `binary` or `default`; where it is absent, ids and states are binary and everything else takes the default.
    pub collation: Option<Collation>,
    /// The column's name before it was renamed, for migrations.
    pub renamed_from: Option<String>,
}

/// How strings compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase"))]
pub enum Collation {
    /// Byte by byte.
    Binary,
    /// As the engine's default for text says: on MySQL and MariaDB without regard to case.
    Default,
}

/// One index.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct IndexDef {
    /// Name; absent: `idx_<table>_<columns joined by _>`.
    pub name: Option<String>,
    /// Columns, in the order of the index.
    pub columns: Vec<String>,
    /// No two rows may agree in all columns.
    #[cfg_attr(feature = "schema", serde(default))]
    pub unique: bool,
    /// What the index is for: becomes its comment.
    pub description: Option<String>,
}

/// One foreign key.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct ForeignKeyDef {
    /// Name; absent: `fk_<table>_<columns joined by _>`.
    pub name: Option<String>,
    /// The referencing column, or a list of them.
    pub column: OneOrMany,
    /// `Table(column)`, or `Table(column, column)`.
    pub references: String,
    /// What happens to the row when the referenced row goes: `CASCADE`, `SET NULL`, `RESTRICT`, `NO ACTION`, `SET DEFAULT`.
    pub on_delete: Option<String>,
    /// What happens to the row when the referenced key changes.
    pub on_update: Option<String>,
}

/// How workers claim rows. Each part but `status` may be missing; a finding says what breaks without it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Claim {
    /// Columns that every claim must pin by equality, such as the tenant.
    #[cfg_attr(feature = "schema", serde(default))]
    pub scope: Vec<String>,
    /// There is no scope, by design: one worker pool serves all rows.
    #[cfg_attr(feature = "schema", serde(default))]
    pub global: bool,
    /// The state column and its values.
    pub status: Status,
    /// The column that orders pending rows: when the row was created. Enqueue writes the current time into it where it is a
    /// DATETIME, a TIMESTAMP or a BIGINT whose name ends in `_ms`, and in no key; everything else, such as a sequence or a
    /// priority, is the caller's.
    pub order: Option<String>,
    /// One NOT NULL column that says when a row is due, whether pending or to be retried; set to the creation time at
    /// enqueue.
    pub due: Option<String>,
    /// One further column that a claim may pin by equality, such as the event type.
    pub lane: Option<String>,
    /// What happens after a failure.
    pub retry: Option<Retry>,
    /// How a running row is protected from other workers, and freed when its worker dies.
    pub lease: Option<Lease>,
    /// Instead of a lease: taking a row pushes its retry time forward by this long.
    pub visibility: Option<Millis>,
    /// Columns whose values identify an event, for enqueueing it once.
    #[cfg_attr(feature = "schema", serde(default))]
    pub idempotency_key: Vec<String>,
    /// Columns whose values identify the thing that changed: a change joins the newest pending row of its thing, if that is
    /// of the same type, instead of waiting as a row of its own.
    #[cfg_attr(feature = "schema", serde(default))]
    pub coalesce: Vec<String>,
    /// The event that a row carries.
    pub event: Option<Event>,
    /// Where an event came from, to keep it from being sent back: a column, or a path into the payload (`$.meta.source`).
    pub origin: Option<String>,
    /// Columns that transitions set to the current time.
    pub times: Option<Times>,
    /// Which indexes serve the claim: the leanest set, or the three shapes of the seed system.
    #[cfg_attr(feature = "schema", serde(default))]
    pub indexes: IndexSet,
}

/// The state column and the values it takes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Status {
    /// The column.
    pub column: String,
    /// Waits for its first attempt.
    pub pending: String,
    /// Failed, and waits for its next attempt.
    pub retryable: Option<String>,
    /// Held by a worker.
    pub running: Option<String>,
    /// Handed to the broker, and not yet consumed.
    pub published: Option<String>,
    /// Finished well. New rows get the first; the others are understood.
    pub done: OneOrMany,
    /// Given up.
    pub dead: Option<String>,
}

/// What happens after a failure.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "schema",
    derive(JsonSchema, Serialize),
    serde(rename_all = "camelCase", deny_unknown_fields, default)
)]
pub struct Retry {
    /// The column that says when the next attempt is due; without a retryable state new rows have the current time in it.
    pub at: Option<String>,
    /// The column that counts attempts.
    pub count: Option<String>,
    /// The column that keeps the last error's text.
    pub error: Option<String>,
    /// Most attempts: a number, or the column that holds it for each row.
    pub max: MaxAttempts,
    /// How long to wait between attempts.
    pub backoff: Backoff,
}

/// Most attempts before a row is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(untagged))]
pub enum MaxAttempts {
    /// The same for every row.
    Number(#[cfg_attr(feature = "schema", schemars(range(min = 1)))] u32),
    /// A column holds it; the row wins.
    Column(MaxColumn),
}

impl Default for MaxAttempts {
    fn default() -> Self {
        MaxAttempts::Number(20)
    }
}

/// The column that holds the most attempts of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct MaxColumn {
    /// The column.
    pub column: String,
    /// What enqueue writes where the caller says nothing.
    pub default: u32,
}

/// Exponential backoff: `base × factor^(attempt - 1)`, at most `cap`, spread by `jitter`.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "schema",
    derive(JsonSchema, Serialize),
    serde(rename_all = "camelCase", deny_unknown_fields, default)
)]
pub struct Backoff {
    /// The wait after the first failure.
    pub base: Millis,
    /// How much longer each further wait is; at least 1.
    pub factor: f64,
    /// The longest wait.
    pub cap: Millis,
    /// Share of the wait, from 0 to 1, by which it is spread at random, so that failures do not come back together.
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff { base: Millis(1_000), factor: 2.0, cap: Millis(600_000), jitter: 0.2 }
    }
}

/// How a running row is protected.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Lease {
    /// The column that says until when the row is held.
    pub until: String,
    /// The column that names the worker, and carries the fence where there is no `seq`; at least 40 characters.
    pub by: Option<String>,
    /// A number raised by every claim: the fence.
    pub seq: Option<String>,
    /// How long a lease lasts.
    #[cfg_attr(feature = "schema", serde(rename = "for"))]
    pub lasts: Millis,
}

/// The event that a row carries.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "schema",
    derive(JsonSchema, Serialize),
    serde(rename_all = "camelCase", deny_unknown_fields, default)
)]
pub struct Event {
    /// The column with the event's id, where it is not the primary key.
    pub id: Option<String>,
    /// The column with the event's type.
    #[cfg_attr(feature = "schema", serde(rename = "type"))]
    pub type_column: Option<String>,
    /// The column with the version of the type.
    pub version: Option<String>,
    /// The column with the id of the thing that the event is about.
    pub aggregate: Option<String>,
    /// The column with the event's content.
    pub payload: Option<String>,
    /// The event types that occur: names such as `domain.resource.action`, or objects with their versions and payloads.
    pub types: Vec<EventType>,
}

/// One event type.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(untagged))]
pub enum EventType {
    /// Its name.
    Name(String),
    /// Its name and more.
    Described(DescribedEvent),
}

impl EventType {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            EventType::Name(name) => name,
            EventType::Described(event) => &event.name,
        }
    }

    /// When it is sent.
    pub fn description(&self) -> Option<&str> {
        match self {
            EventType::Name(_) => None,
            EventType::Described(event) => event.description.as_deref(),
        }
    }
}

/// One event type with its version and its payload.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct DescribedEvent {
    /// The name.
    pub name: String,
    /// The version written by producers.
    #[cfg_attr(feature = "schema", serde(default = "one"))]
    pub version: u32,
    /// When the event is sent.
    pub description: Option<String>,
    /// JSON Schema of the payload.
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub payload: Option<Json>,
}

pub(super) fn one() -> u32 {
    1
}

/// Columns that transitions set to the current time.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "schema",
    derive(JsonSchema, Serialize),
    serde(rename_all = "camelCase", deny_unknown_fields, default)
)]
pub struct Times {
    /// Set by every change of the row.
    pub updated: Option<String>,
    /// Set when the row is published.
    pub published: Option<String>,
    /// Set when the row is finished.
    pub finished: Option<String>,
}

/// Which indexes serve a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase"))]
pub enum IndexSet {
    /// The leanest set with rows examined = LIMIT.
    #[default]
    Default,
    /// The three index shapes of the seed system, column by column.
    Seed,
}

/// How finished rows leave.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Retention {
    /// The finished states that leave; on an inbox, which has no states, all rows leave by their age.
    #[cfg_attr(feature = "schema", serde(default))]
    pub states: Vec<String>,
    /// The column that says how old a row is.
    pub age: String,
    /// How long a finished row stays.
    pub keep: Millis,
    /// Most rows of one batch.
    #[cfg_attr(feature = "schema", serde(default = "ten_thousand"))]
    pub batch: u32,
    /// What happens to them.
    pub strategy: Strategy,
    /// The archive table, where needed with its database before it; absent: `<table>_archive`.
    pub into: Option<String>,
    /// Columns that each batch pins by equality; absent: those of the claim.
    pub scope: Option<Vec<String>>,
}

pub(super) fn ten_thousand() -> u32 {
    10_000
}

/// What happens to finished rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase"))]
pub enum Strategy {
    /// They move into an archive table.
    Archive,
    /// They are deleted.
    Delete,
    /// Whole partitions are dropped.
    Partition,
}

/// Where a relay publishes the rows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Publish {
    /// The kind of broker.
    pub broker: Broker,
    /// The topic or subject: its name, or the column that holds it.
    pub topic: NameOrColumn,
    /// The column whose value keys the message (its partition, its order).
    pub key: Option<String>,
    /// The tag that consumers select by.
    #[cfg_attr(feature = "schema", serde(default))]
    pub tag: Tag,
    /// What order consumers can rely on.
    #[cfg_attr(feature = "schema", serde(default))]
    pub order: PublishOrder,
    /// Consumer groups and the tags that each subscribes to, for the check before a producer switches its tag.
    #[cfg_attr(feature = "schema", serde(default))]
    pub consumers: Vec<ConsumerGroup>,
}

/// A kind of broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase"))]
pub enum Broker {
    /// The Kafka protocol.
    Kafka,
    /// NATS JetStream.
    Nats,
    /// Inside the process: tests and the embedded default.
    Memory,
    /// The application's own implementation of the publisher trait.
    Custom,
}

/// A fixed name, or the column that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(untagged))]
pub enum NameOrColumn {
    /// The name.
    Name(String),
    /// The column.
    Column(ColumnRef),
}

/// A column, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct ColumnRef {
    /// The column.
    pub column: String,
}

/// The tag of a published message.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "schema",
    derive(JsonSchema, Serialize),
    serde(rename_all = "camelCase", deny_unknown_fields, default)
)]
pub struct Tag {
    /// What the producer writes.
    pub mode: TagMode,
    /// The one tag of all messages in the mode `legacy`.
    pub legacy: Option<String>,
}

/// What a producer writes as the tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "snake_case"))]
pub enum TagMode {
    /// Nothing.
    #[default]
    None,
    /// The one legacy tag.
    Legacy,
    /// The event's type.
    EventType,
}

/// What order consumers can rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase"))]
pub enum PublishOrder {
    /// None.
    #[default]
    None,
    /// Messages of one key come in the order of their rows.
    Key,
}

/// A consumer group and what it subscribes to.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct ConsumerGroup {
    /// Its name.
    pub group: String,
    /// The tags in its subscription.
    pub tags: Vec<String>,
}

/// The table is the state machine of an event bus.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Bus {
    /// How events reach their handlers.
    #[cfg_attr(feature = "schema", serde(default))]
    pub mode: BusMode,
    /// How long a row may stay published before it goes back to pending.
    pub sweep: Option<Millis>,
}

/// How events reach their handlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase"))]
pub enum BusMode {
    /// Through the broker.
    #[default]
    Broker,
    /// In place, in the process that publishes.
    Sync,
}

/// The table remembers which messages a consumer has handled.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(JsonSchema, Serialize), serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Inbox {
    /// The column that names the consumer.
    pub consumer: String,
    /// The column with the message's id.
    pub message: String,
    /// The column that says when it was handled.
    pub at: Option<String>,
}

/// Bounds of the metrics queries, and when to raise an alert.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "schema",
    derive(JsonSchema, Serialize),
    serde(rename_all = "camelCase", deny_unknown_fields, default)
)]
pub struct Metrics {
    /// Most rows that one count reads; beyond it the answer is "at least".
    pub cap: u32,
    /// Alert when the oldest pending row is older.
    pub oldest_pending: Option<Millis>,
    /// Alert when more rows are open (pending, retryable, running).
    pub backlog: Option<u32>,
    /// Alert when more rows are dead.
    pub dead: Option<u32>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics { cap: 10_000, oldest_pending: None, backlog: None, dead: None }
    }
}

/// One text, or a list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Serialize), serde(transparent))]
pub struct OneOrMany(pub Vec<String>);

#[cfg(feature = "schema")]
impl JsonSchema for OneOrMany {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OneOrMany".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "array"], "items": { "type": "string" } })
    }
}
