//! Records of the CRM, and what saving one brings about: an event for subscribers of the same process, and a change for the
//! other platform, both in the transaction of the record.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, QueryBuilder, Row};

use super::db::{Connection, system_integration_outbound as outbound, system_outbox_event as events};
use super::queue::{EnqueueError, Enqueued};
use super::tables::system_integration_outbound::{NewEvent, Scope, event_type as outbound_type};
use super::tables::system_outbox_event::{NewEvent as RecordEvent, event_type as record_type};

type Database = <Connection as sqlx::Connection>::Database;

/// The other platform.
pub const HUBSPOT: &str = "hubspot";

const CONTACTS: &str = "CREATE TABLE contacts (id VARCHAR(64) PRIMARY KEY, name VARCHAR(100) NOT NULL,
    email VARCHAR(100) NOT NULL, version BIGINT NOT NULL, hubspot_version BIGINT NOT NULL)";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contact {
    pub name: String,
    pub email: String,
    /// Goes up with each change.
    pub version: i64,
    /// The contact's version over there when it was synchronized last.
    pub hubspot_version: i64,
}

impl Contact {
    fn json(&self) -> Value {
        json!({ "name": self.name, "email": self.email, "version": self.version })
    }
}

/// On whose behalf something is saved: the first layer against loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The platform that a change comes from, if not from the CRM's own users.
    pub sync_source: Option<&'a str>,
}

/// The contact, locked by the transaction that `connection` is in.
pub async fn find(connection: &mut Connection, id: &str) -> sqlx::Result<Option<Contact>> {
    // Who changes a row first has it until the end, on every engine.
    let mut lock = QueryBuilder::<Database>::new("UPDATE contacts SET version = version WHERE id = ");
    lock.push_bind(id).build().execute(&mut *connection).await?;
    let mut find =
        QueryBuilder::<Database>::new("SELECT name, email, version, hubspot_version FROM contacts WHERE id = ");
    let row = find.push_bind(id).build().fetch_optional(connection).await?;
    let contact = |row: <Database as sqlx::Database>::Row| {
        Ok(Contact {
            name: row.try_get(0)?,
            email: row.try_get(1)?,
            version: row.try_get(2)?,
            hubspot_version: row.try_get(3)?,
        })
    };
    row.map(contact).transpose()
}

/// Saves a contact in the place of `old`, in the transaction of `connection`. What it says is what became of the change for
/// the other platform.
pub async fn save(
    connection: &mut Connection,
    context: Context<'_>,
    id: &str,
    old: Option<&Contact>,
    new: &Contact,
) -> Result<Enqueued, EnqueueError> {
    if old.is_some() {
        let mut update = QueryBuilder::<Database>::new("UPDATE contacts SET name = ");
        update.push_bind(&new.name).push(", email = ").push_bind(&new.email);
        update.push(", version = ").push_bind(new.version);
        update.push(", hubspot_version = ").push_bind(new.hubspot_version);
        update.push(" WHERE id = ").push_bind(id).build().execute(&mut *connection).await?;
    } else {
        let mut insert =
            QueryBuilder::<Database>::new("INSERT INTO contacts (id, name, email, version, hubspot_version) ");
        insert.push_values([new], |mut row, new| {
            row.push_bind(id).push_bind(&new.name).push_bind(&new.email);
            row.push_bind(new.version).push_bind(new.hubspot_version);
        });
        insert.build().execute(&mut *connection).await?;
    }
    hooks(connection, context, id, old, new).await
}

/// What saving brings about.
async fn hooks(
    connection: &mut Connection,
    context: Context<'_>,
    id: &str,
    old: Option<&Contact>,
    new: &Contact,
) -> Result<Enqueued, EnqueueError> {
    // The second layer: the change says where it comes from.
    let metadata = json!({ "sync_source": context.sync_source });
    // Times of the tables are whole seconds: the ids of a record's changes keep their order within one.
    let change = format!("{id}/{:010}", new.version);
    let (old, new) = (old.map(Contact::json), new.json());
    let payload = json!({ "id": id, "record": new, "old": old, "metadata": metadata });
    let (record, type_out) = match old {
        Some(_) => (record_type::RECORD_UPDATED, outbound_type::UPDATE),
        None => (record_type::RECORD_CREATED, outbound_type::CREATE),
    };
    let event = RecordEvent { __sys_gen_id: &change, event_type: record, payload: &payload };
    // Its id is new: it is inserted.
    _ = events::enqueue(&mut *connection, &event).await?;
    let event = NewEvent {
        id: &change,
        object_type: "Contact",
        record_id: id,
        event_type: type_out,
        payload: &json!({ "record": new, "metadata": metadata }),
        old_payload: old.as_ref(),
    };
    // The third layer: what comes from there is not sent there; the answer is `Skipped`.
    outbound::enqueue(connection, Scope { destination: HUBSPOT }, &event).await
}

/// The tables of an example or a test.
pub async fn create(connection: &mut Connection, schema: &str) -> sqlx::Result<()> {
    for script in [schema, CONTACTS] {
        sqlx::raw_sql(AssertSqlSafe(script.to_owned())).execute(&mut *connection).await?;
    }
    Ok(())
}
