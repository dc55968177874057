//! The keys of the format: under which key each field of its types stands, and what the field is where the key is missing.
//!
//! The JSON Schema is derived from the types themselves. That both speak of the same keys and kinds is a test's to say
//! (`tests/it/definitions/format.rs`); that no field is left out is the compiler's.

use std::collections::BTreeMap;

use super::decode::{Decode, Decoder};
use super::format::{
    Backoff, Broker, Bus, BusMode, Claim, Collation, ColumnDef, ColumnRef, ConsumerGroup, DescribedEvent, Event,
    EventType, FileDef, ForeignKeyDef, Inbox, IndexDef, IndexSet, Lease, MaxAttempts, MaxColumn, Metrics, NameOrColumn,
    OneOrMany, Publish, PublishOrder, Retention, Retry, Status, Strategy, TableDef, Tag, TagMode, Times, one,
    ten_thousand,
};
use super::value::{Json, Number};

/// Decodes a struct. A key without `or` is required, unless its field is an `Option`.
macro_rules! object {
    ($type:ident { $($field:ident: $key:literal $(or $default:expr)?),* $(,)? }) => {
        impl Decode for $type {
            fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
                let mut object = decoder.object(value, &[$($key),*])?;
                Some($type { $($field: object.value($key, None$(.or(Some($default)))?),)* })
            }

            fn stand_in() -> Self {
                $type { $($field: Decode::stand_in(),)* }
            }
        }
    };
}

/// Decodes an enum whose variants are words.
macro_rules! words {
    ($type:ident { $($word:literal => $variant:ident),* $(,)? }) => {
        impl Decode for $type {
            fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
                decoder.word(&value, &[$(($word, $type::$variant)),*])
            }

            fn stand_in() -> Self {
                [$($type::$variant),*][0]
            }
        }
    };
}

object!(TableDef {
    schema: "$schema",
    table_name: "tableName",
    table_type: "tableType",
    category: "category",
    description: "description",
    owner: "owner",
    renamed_from: "renamedFrom",
    columns: "columns",
    primary_key: "primaryKey",
    indices: "indices" or Vec::new(),
    foreign_keys: "foreignKeys" or Vec::new(),
    claim: "claim",
    retention: "retention",
    publish: "publish",
    bus: "bus",
    inbox: "inbox",
    metrics: "metrics",
    allow: "allow" or BTreeMap::new(),
});

object!(FileDef { schema: "$schema", tables: "tables" });

object!(ColumnDef {
    name: "name",
    type_text: "type",
    primary_key: "primaryKey" or false,
    nullable: "nullable" or false,
    unique: "unique" or false,
    default: "default",
    auto_increment: "autoIncrement" or false,
    length: "length",
    label: "label",
    description: "description",
    logical_type: "logicalType",
    reference_to: "referenceTo" or OneOrMany::default(),
    is_name_field: "isNameField" or false,
    is_system: "is_system" or false,
    collation: "collation",
    renamed_from: "renamedFrom",
});

words!(Collation {
    "binary" => Binary,
    "default" => Default,
});

object!(IndexDef {
    name: "name",
    columns: "columns",
    unique: "unique" or false,
    description: "description",
});

object!(ForeignKeyDef {
    name: "name",
    column: "column",
    references: "references",
    on_delete: "onDelete",
    on_update: "onUpdate",
});

object!(Claim {
    scope: "scope" or Vec::new(),
    global: "global" or false,
    status: "status",
    order: "order",
    due: "due",
    lane: "lane",
    retry: "retry",
    lease: "lease",
    visibility: "visibility",
    idempotency_key: "idempotencyKey" or Vec::new(),
    coalesce: "coalesce" or Vec::new(),
    event: "event",
    origin: "origin",
    times: "times",
    indexes: "indexes" or IndexSet::default(),
});

object!(Status {
    column: "column",
    pending: "pending",
    retryable: "retryable",
    running: "running",
    published: "published",
    done: "done",
    dead: "dead",
});

object!(Retry {
    at: "at",
    count: "count",
    error: "error",
    max: "max" or MaxAttempts::default(),
    backoff: "backoff" or Backoff::default(),
});

object!(MaxColumn { column: "column", default: "default" });

object!(Backoff {
    base: "base" or Backoff::default().base,
    factor: "factor" or Backoff::default().factor,
    cap: "cap" or Backoff::default().cap,
    jitter: "jitter" or Backoff::default().jitter,
});

object!(Lease { until: "until", by: "by", seq: "seq", lasts: "for" });

object!(Event {
    id: "id",
    type_column: "type",
    version: "version",
    aggregate: "aggregate",
    payload: "payload",
    types: "types" or Vec::new(),
});

object!(DescribedEvent {
    name: "name",
    version: "version" or one(),
    description: "description",
    payload: "payload",
});

object!(Times { updated: "updated", published: "published", finished: "finished" });

words!(IndexSet {
    "default" => Default,
    "seed" => Seed,
});

object!(Retention {
    states: "states" or Vec::new(),
    age: "age",
    keep: "keep",
    batch: "batch" or ten_thousand(),
    strategy: "strategy",
    into: "into",
    scope: "scope",
});

words!(Strategy {
    "archive" => Archive,
    "delete" => Delete,
    "partition" => Partition,
});

object!(Publish {
    broker: "broker",
    topic: "topic",
    key: "key",
    tag: "tag" or Tag::default(),
    order: "order" or PublishOrder::default(),
    consumers: "consumers" or Vec::new(),
});

words!(Broker {
    "kafka" => Kafka,
    "nats" => Nats,
    "memory" => Memory,
    "custom" => Custom,
});

object!(ColumnRef { column: "column" });

object!(Tag {
    mode: "mode" or TagMode::default(),
    legacy: "legacy",
});

words!(TagMode {
    "none" => None,
    "legacy" => Legacy,
    "event_type" => EventType,
});

words!(PublishOrder {
    "none" => None,
    "key" => Key,
});

object!(ConsumerGroup { group: "group", tags: "tags" });

object!(Bus {
    mode: "mode" or BusMode::default(),
    sweep: "sweep",
});

words!(BusMode {
    "broker" => Broker,
    "sync" => Sync,
});

object!(Inbox { consumer: "consumer", message: "message", at: "at" });

object!(Metrics {
    cap: "cap" or Metrics::default().cap,
    oldest_pending: "oldestPending",
    backlog: "backlog",
    dead: "dead",
});

impl Decode for MaxAttempts {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        let number = match value {
            Json::Object(_) => return MaxColumn::decode(value, decoder).map(MaxAttempts::Column),
            Json::Number(Number::Integer(number)) => u32::try_from(number).ok().filter(|number| *number > 0),
            _ => None,
        };
        let expected = "a number of attempts from 1, or an object with `column` and `default`";
        number.map(MaxAttempts::Number).or_else(|| decoder.mismatch(expected, &value))
    }

    fn stand_in() -> Self {
        MaxAttempts::default()
    }
}

impl Decode for EventType {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        match value {
            Json::Text(name) => Some(EventType::Name(name)),
            Json::Object(_) => DescribedEvent::decode(value, decoder).map(EventType::Described),
            other => decoder.mismatch("an event type's name, or an object with `name`", &other),
        }
    }

    fn stand_in() -> Self {
        EventType::Name(String::new())
    }
}

impl Decode for NameOrColumn {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        match value {
            Json::Text(name) => Some(NameOrColumn::Name(name)),
            Json::Object(_) => ColumnRef::decode(value, decoder).map(NameOrColumn::Column),
            other => decoder.mismatch("a name, or an object with `column`", &other),
        }
    }

    fn stand_in() -> Self {
        NameOrColumn::Name(String::new())
    }
}

impl Decode for OneOrMany {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        match value {
            Json::Text(text) => Some(OneOrMany(vec![text])),
            Json::List(_) => Vec::decode(value, decoder).map(OneOrMany),
            other => decoder.mismatch("a text or a list of texts", &other),
        }
    }

    fn stand_in() -> Self {
        OneOrMany::default()
    }
}
