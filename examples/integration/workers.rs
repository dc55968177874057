//! What runs beside the CRM: the webhook's handler, and one worker for each way.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::crm::{self, Contact, Context, HUBSPOT};
use super::db::{BEGIN, Pool, system_integration_inbound as inbound, system_integration_outbound as outbound};
use super::hubspot::{Answer, Api, Change, Event, Round};
use super::queue::{ClaimOptions, EnqueueError, Enqueued, EnqueuedMany, FinishError};
use super::tables::system_integration_inbound as into;
use super::tables::system_integration_outbound as out;

/// Most rows of a round.
const BATCH: u32 = 50;

/// Stores what the webhook tells: each event once, however often it is told. Only when this has returned does the handler say
/// that the events have arrived.
pub async fn webhook(pool: &Pool, events: &[Event]) -> Result<EnqueuedMany, EnqueueError> {
    let mut contents = Vec::with_capacity(events.len());
    for event in events {
        let id = format!("{HUBSPOT}/{:012}", event.id);
        let canonical = json!({
            "name": event.name,
            "email": event.email,
            "version": event.version,
            "record": event.record_version,
        });
        contents.push((id, canonical, json!(event)));
    }
    let rows = events.iter().zip(&contents).map(|(event, (id, payload, raw))| into::NewEvent {
        id,
        external_id: &event.external_id,
        object_type: "Contact",
        event_type: if event.version == 1 { into::event_type::CREATE } else { into::event_type::UPDATE },
        payload,
        raw_payload: Some(raw),
        idempotency_key: id,
    });
    let rows: Vec<into::NewEvent<'_>> = rows.collect();
    let mut transaction = pool.begin_with(BEGIN).await?;
    let enqueued = inbound::enqueue_many(&mut transaction, into::Scope { source: HUBSPOT }, &rows).await?;
    transaction.commit().await?;
    Ok(enqueued)
}

/// What the only sync worker does before its first round: its predecessor may have been killed in the midst of one.
pub async fn recover_sync(pool: &Pool) -> sqlx::Result<u64> {
    let mut recovered = 0;
    loop {
        let batch = inbound::recover(pool, into::Scope { source: HUBSPOT }, 500).await?;
        recovered += batch.moved;
        if !batch.more {
            return Ok(recovered);
        }
    }
}

/// The same of the only outbound worker.
pub async fn recover_push(pool: &Pool) -> sqlx::Result<u64> {
    let mut recovered = 0;
    loop {
        let batch = outbound::recover(pool, out::Scope { destination: HUBSPOT }, 500).await?;
        recovered += batch.moved;
        if !batch.more {
            return Ok(recovered);
        }
    }
}

/// One round of the sync worker: events of the platform become records of the CRM.
pub async fn sync(pool: &Pool, worker: &str) -> Result<Round, FinishError> {
    let options = ClaimOptions { limit: BATCH, ..ClaimOptions::new(worker) };
    let batch = inbound::claim(pool, into::Scope { source: HUBSPOT }, &options).await?;
    let mut round = Round { claimed: batch.held(), ..Round::default() };
    for broken in batch.undecodable {
        if let Some(lease) = broken.of {
            inbound::fail(pool, &lease, &broken.error.to_string()).await?;
        }
        round.dead += 1;
    }
    for claimed in batch.ready {
        match upsert(pool, &claimed).await {
            Ok(skipped) => {
                round.done += 1;
                round.skipped += usize::from(skipped);
            }
            Err(Failed::Never(reason)) => {
                inbound::fail(pool, &claimed.lease, reason).await?;
                round.dead += 1;
            }
            Err(Failed::Later(error)) => {
                inbound::increment_retry(pool, &claimed.lease, &error).await?;
                round.retried += 1;
            }
        }
    }
    Ok(round)
}

/// Why an event is not applied.
enum Failed {
    Never(&'static str),
    Later(String),
}

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Failed::Later(error.to_string())
    }
}

/// Applies an event and finishes its row, in one transaction. Whether it has made a change that is not sent back.
async fn upsert(pool: &Pool, claimed: &into::Claimed) -> Result<bool, Failed> {
    let (row, payload) = (&claimed.row, &claimed.row.payload);
    let text = |name: &str| payload[name].as_str().map(str::to_owned);
    let number = |name: &str| payload[name].as_i64();
    let (Some(email), Some(version)) = (text("email"), number("version")) else {
        return Err(Failed::Never("no email or no version"));
    };
    let mut transaction = pool.begin_with(BEGIN).await?;
    let old = crm::find(&mut transaction, &row.external_id).await?;
    let known = old.clone().unwrap_or_default();
    // A later event came first, or the CRM has changed since: then that change is on its way there.
    let stale =
        version <= known.hubspot_version || number("record").is_some_and(|told| 0 < told && told < known.version);
    let name = text("name").filter(|name| !name.is_empty()).unwrap_or_else(|| known.name.clone());
    let differs = name != known.name || email != known.email;
    let mut skipped = false;
    if !stale && (differs || old.is_none()) {
        let new = Contact { name, email, version: known.version + 1, hubspot_version: version };
        let context = Context { sync_source: Some(&row.source) };
        skipped =
            crm::save(&mut transaction, context, &row.external_id, old.as_ref(), &new).await? == Enqueued::Skipped;
    }
    inbound::complete(&mut *transaction, &claimed.lease).await?;
    transaction.commit().await?;
    Ok(skipped)
}

/// One round of the outbound worker: changes of records go to the platform in one batch, one for each record.
pub async fn push(pool: &Pool, worker: &str, api: &impl Api) -> Result<Round, FinishError> {
    let options = ClaimOptions { limit: BATCH, ..ClaimOptions::new(worker) };
    let batch = outbound::claim(pool, out::Scope { destination: HUBSPOT }, &options).await?;
    let mut round = Round { claimed: batch.held(), ..Round::default() };
    for broken in batch.undecodable {
        if let Some(lease) = broken.of {
            outbound::fail(pool, &lease, &broken.error.to_string()).await?;
        }
        round.dead += 1;
    }
    let (mut changes, mut leases) = (Vec::<Change>::new(), Vec::<Vec<out::Lease>>::new());
    let mut of_record: BTreeMap<String, usize> = BTreeMap::new();
    for claimed in batch.ready {
        // Once more, for rows that another program has written.
        if claimed.row.comes_back() {
            outbound::complete(pool, &claimed.lease).await?;
            round.skipped += 1;
            round.done += 1;
            continue;
        }
        let change = change(&claimed.row);
        let at = *of_record.entry(change.external_id.clone()).or_insert(changes.len());
        match changes.get_mut(at) {
            Some(earlier) => {
                earlier.name = change.name.or(earlier.name.take());
                earlier.email = change.email.or(earlier.email.take());
                earlier.record_version = earlier.record_version.max(change.record_version);
                leases[at].push(claimed.lease);
            }
            None => {
                changes.push(change);
                leases.push(vec![claimed.lease]);
            }
        }
    }
    if changes.is_empty() {
        return Ok(round);
    }
    let answers = match api.push(&changes).await {
        Ok(answers) => answers,
        // It may have them or not: sent again, they do no harm.
        Err(_) => vec![Answer::Busy; changes.len()],
    };
    for (answer, leases) in answers.into_iter().zip(leases) {
        for lease in leases {
            match &answer {
                Answer::Done => {
                    outbound::complete(pool, &lease).await?;
                    round.done += 1;
                }
                Answer::Busy => {
                    outbound::increment_retry(pool, &lease, "the platform is busy").await?;
                    round.retried += 1;
                }
                Answer::Refused(reason) => {
                    outbound::fail(pool, &lease, reason).await?;
                    round.dead += 1;
                }
            }
        }
    }
    Ok(round)
}

/// What differs between the snapshots before and after the change.
fn change(row: &out::Row) -> Change {
    let new = &row.payload["record"];
    let changed = |name: &str| {
        let old = row.old_payload.as_ref().map(|old| &old[name]);
        new[name].as_str().filter(|new| old.and_then(Value::as_str) != Some(*new)).map(str::to_owned)
    };
    Change {
        external_id: row.record_id.clone(),
        name: changed("name"),
        email: changed("email"),
        record_version: new["version"].as_i64().unwrap_or_default(),
    }
}

/// Gives the dead letters of one platform a new life, in both directions: how many.
pub async fn retry_dead_letters(pool: &Pool, platform: &str) -> sqlx::Result<u64> {
    let mut revived = 0;
    loop {
        let into = inbound::replay_batch(pool, into::Scope { source: platform }, 500, false).await?;
        let out = outbound::replay_batch(pool, out::Scope { destination: platform }, 500, false).await?;
        revived += into.moved + out.moved;
        if !into.more && !out.more {
            return Ok(revived);
        }
    }
}
