//! The other platform, as far as the CRM knows it: contacts, what it tells by its webhook, and the batches that it takes.

use std::collections::BTreeMap;

/// A contact over there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contact {
    pub name: String,
    pub email: String,
    /// Of the last change that came from the CRM.
    pub record_version: i64,
    /// Goes up with each change, wherever it comes from.
    pub version: i64,
}

/// What the webhook tells of a change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Event {
    pub id: u64,
    pub external_id: String,
    pub name: String,
    pub email: String,
    /// Of the contact over there.
    pub version: i64,
    /// Of the record, where the contact has something of the CRM.
    pub record_version: i64,
}

/// A change for over there: what is not said stays.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Change {
    pub external_id: String,
    pub name: Option<String>,
    pub email: Option<String>,
    pub record_version: i64,
}

/// What becomes of a change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub enum Answer {
    Done,
    /// Later perhaps.
    Busy,
    /// Never.
    Refused(String),
}

/// What a round of a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Rows that were claimed.
    pub claimed: usize,
    /// Rows that are done with.
    pub done: usize,
    /// Of these, rows whose change would have gone to where it comes from.
    pub skipped: usize,
    /// Rows that wait for their next attempt.
    pub retried: usize,
    pub dead: usize,
}

/// How the CRM reaches the platform.
pub trait Api {
    /// Sends a batch: an answer for each change. After an error nobody knows what became of them.
    async fn push(&self, changes: &[Change]) -> Result<Vec<Answer>, String>;
}

/// The platform itself, as examples and tests have it.
#[derive(Debug, Default)]
pub struct Portal {
    pub contacts: BTreeMap<String, Contact>,
    /// Told by the webhook until it is said that they have arrived.
    pub events: Vec<Event>,
    /// How many changes it took.
    pub taken: usize,
    told: u64,
}

impl Portal {
    /// Somebody over there changes the email of a contact, which may be new.
    pub fn edit(&mut self, external_id: &str, email: &str) {
        let contact = self.contacts.entry(external_id.to_owned()).or_default();
        email.clone_into(&mut contact.email);
        self.tell(external_id);
    }

    /// Takes a batch of the CRM. Like the real one it tells of these changes, too.
    pub fn take(&mut self, changes: &[Change]) -> Vec<Answer> {
        let take = |change: &Change| {
            if change.name.as_deref() == Some("") {
                return Answer::Refused("a contact has a name".to_owned());
            }
            self.taken += 1;
            let contact = self.contacts.entry(change.external_id.clone()).or_default();
            // What was sent twice, or late, changes nothing.
            if change.record_version > contact.record_version {
                contact.record_version = change.record_version;
                change.name.iter().for_each(|name| contact.name.clone_from(name));
                change.email.iter().for_each(|email| contact.email.clone_from(email));
                self.tell(&change.external_id);
            }
            Answer::Done
        };
        changes.iter().map(take).collect()
    }

    /// Events that have arrived are not told again.
    pub fn arrived(&mut self, ids: &[u64]) {
        self.events.retain(|event| !ids.contains(&event.id));
    }

    fn tell(&mut self, external_id: &str) {
        let Some(contact) = self.contacts.get_mut(external_id) else { return };
        contact.version += 1;
        self.told += 1;
        self.events.push(Event {
            id: self.told,
            external_id: external_id.to_owned(),
            name: contact.name.clone(),
            email: contact.email.clone(),
            version: contact.version,
            record_version: contact.record_version,
        });
    }
}
