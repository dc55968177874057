// Made from templates/rust/broker.rs.jinja by a test; do not edit
// fingerprint of no definition

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Any error of a broker's client.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What goes through a broker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Tells the message from all others of its topic: the key of its row. Who publishes a row again does so under the same id.
    pub id: String,
    /// The topic or subject.
    pub topic: String,
    /// What chooses the partition: messages of one key stay in their order.
    pub key: Option<String>,
    /// What consumers select by.
    pub tag: Option<String>,
    /// The type of the event.
    pub event_type: Option<String>,
    /// Which attempt to publish the row this is, from 1.
    pub attempt: Option<i64>,
    /// After how many attempts the row is dead.
    pub most_attempts: Option<i64>,
    /// The content.
    pub payload: Vec<u8>,
}

/// The name of the header of each part of a message that is neither its topic nor its key nor its content.
pub mod header {
    /// [`Message::id`](super::Message::id).
    pub const ID: &str = "message-id";
    /// [`Message::tag`](super::Message::tag).
    pub const TAG: &str = "tag";
    /// [`Message::event_type`](super::Message::event_type).
    pub const EVENT_TYPE: &str = "event-type";
    /// [`Message::attempt`](super::Message::attempt).
    pub const ATTEMPT: &str = "attempt";
    /// [`Message::most_attempts`](super::Message::most_attempts).
    pub const MOST_ATTEMPTS: &str = "most-attempts";
}

impl Message {
    /// The headers that a broker carries beside topic, key and content.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let number = |number: Option<i64>| number.map(|number| number.to_string());
        let headers = [
            (header::ID, Some(self.id.clone())),
            (header::TAG, self.tag.clone()),
            (header::EVENT_TYPE, self.event_type.clone()),
            (header::ATTEMPT, number(self.attempt)),
            (header::MOST_ATTEMPTS, number(self.most_attempts)),
        ];
        let given = |(name, value): (&'static str, Option<String>)| Some((name, value?));
        headers.into_iter().filter_map(given).collect()
    }

    /// Takes what a header of this name says; headers of other programs are none of ours.
    pub fn set_header(&mut self, name: &str, value: &str) {
        match name {
            header::ID => self.id = value.to_owned(),
            header::TAG => self.tag = Some(value.to_owned()),
            header::EVENT_TYPE => self.event_type = Some(value.to_owned()),
            header::ATTEMPT => self.attempt = value.parse().ok(),
            header::MOST_ATTEMPTS => self.most_attempts = value.parse().ok(),
            _ => {}
        }
    }
}

/// Why the broker does not have a message.
#[derive(Debug)]
pub enum PublishError {
    /// It does not have it, and may take it later.
    Transient(Error),
    /// It does not have it and never will: the message is too large, or there is no such topic and never will be.
    Permanent(Error),
    /// It may have it: nobody knows. It is published again under the same id.
    Unknown(Error),
}

impl std::fmt::Display for PublishError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PublishError::Transient(error) => write!(f, "the broker did not take it: {error}"),
            PublishError::Permanent(error) => write!(f, "the broker never takes it: {error}"),
            PublishError::Unknown(error) => write!(f, "the broker may have it: {error}"),
        }
    }
}

impl std::error::Error for PublishError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let (PublishError::Transient(error)
        | PublishError::Permanent(error)
        | PublishError::Unknown(error)) = self;
        Some(&**error)
    }
}

/// Who hands messages to a broker.
pub trait Publisher: Sync {
    /// Hands it over, and returns when the broker has it for good. May be dropped at any time: then nobody knows whether the
    /// broker has it.
    fn publish(&self, message: &Message) -> impl Future<Output = Result<(), PublishError>> + Send;

    /// Whether the broker answers: asked while it does not take messages, before one is tried again.
    fn probe(&self) -> impl Future<Output = Result<(), PublishError>> + Send {
        std::future::ready(Ok(()))
    }
}

impl<P: Publisher> Publisher for &P {
    fn publish(&self, message: &Message) -> impl Future<Output = Result<(), PublishError>> + Send {
        P::publish(self, message)
    }

    fn probe(&self) -> impl Future<Output = Result<(), PublishError>> + Send {
        P::probe(self)
    }
}

impl<P: Publisher + Send> Publisher for Arc<P> {
    fn publish(&self, message: &Message) -> impl Future<Output = Result<(), PublishError>> + Send {
        P::publish(self, message)
    }

    fn probe(&self) -> impl Future<Output = Result<(), PublishError>> + Send {
        P::probe(self)
    }
}

/// A message that has come, and the right to say that it was handled.
#[derive(Debug)]
pub struct Delivery<R> {
    /// The message.
    pub message: Message,
    /// What [`Subscriber::ack`] takes.
    pub receipt: R,
}

/// Who gets messages from a broker.
pub trait Subscriber: Send {
    /// The right to say that a message was handled.
    type Receipt: Send;

    /// Waits for the next message; `None`: there are no more, ever. May be dropped at any time, and no message is lost.
    fn receive(
        &mut self,
    ) -> impl Future<Output = Result<Option<Delivery<Self::Receipt>>, Error>> + Send;

    /// Says that the message was handled: it does not come again. Without it, the message comes again, at the latest to the
    /// next subscriber of the group.
    fn ack(&mut self, receipt: Self::Receipt) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The tags that a consumer subscribes to: none means all messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags(pub &'static [&'static str]);

impl Tags {
    /// Whether a message with this tag is one of the consumer's.
    pub fn select(self, tag: Option<&str>) -> bool {
        self.0.is_empty() || tag.is_some_and(|tag| self.0.contains(&tag))
    }
}

impl std::fmt::Display for Tags {
    /// As brokers write it that select by tags: `one || other`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.is_empty() {
            true => f.write_str("*"),
            false => f.write_str(&self.0.join(" || ")),
        }
    }
}

/// A broker inside the process, for tests and for programs that are one process. Its messages are gone with it: the rows
/// that they come from are what lasts.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    groups: Arc<Mutex<Groups>>,
    most: Option<usize>,
}

/// By topic and name.
type Groups = BTreeMap<(String, String), Arc<Group>>;

/// What waits for one group of consumers.
#[derive(Debug)]
struct Group {
    tags: Tags,
    waiting: Mutex<VecDeque<Message>>,
    arrived: Notify,
}

/// A panic elsewhere leaves a queue of whole messages.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// A broker that takes messages for a group until so many wait for it.
    pub fn bounded(most: usize) -> Memory {
        Memory {
            most: Some(most),
            ..Memory::default()
        }
    }

    /// Makes a member of a group, which gets the messages from now on that the group's tags select. Members of one group
    /// share its messages; the tags are those of its first member.
    pub fn subscribe(&self, topic: &str, group: &str, tags: Tags) -> MemorySubscriber {
        let name = (topic.to_owned(), group.to_owned());
        let mut groups = lock(&self.groups);
        let group = groups.entry(name).or_insert_with(|| {
            Arc::new(Group {
                tags,
                waiting: Mutex::default(),
                arrived: Notify::new(),
            })
        });
        MemorySubscriber {
            group: group.clone(),
        }
    }

    fn take(&self, message: &Message) -> Result<(), PublishError> {
        let groups = lock(&self.groups);
        let of_topic = groups
            .iter()
            .filter(|((topic, _), _)| *topic == message.topic);
        let of_topic: Vec<&Arc<Group>> = of_topic.map(|(_, group)| group).collect();
        if of_topic.is_empty() {
            let error = format!("nobody has subscribed to `{}`", message.topic);
            return Err(PublishError::Transient(error.into()));
        }
        let selects = |group: &&&Arc<Group>| group.tags.select(message.tag.as_deref());
        let selecting: Vec<&Arc<Group>> = of_topic.iter().filter(selects).copied().collect();
        // Nobody else adds meanwhile: all groups get the message, or none.
        let full = |group: &&Arc<Group>| {
            self.most
                .is_some_and(|most| lock(&group.waiting).len() >= most)
        };
        if selecting.iter().any(full) {
            let error = format!("a group of `{}` is behind", message.topic);
            return Err(PublishError::Transient(error.into()));
        }
        for group in selecting {
            lock(&group.waiting).push_back(message.clone());
            group.arrived.notify_one();
        }
        Ok(())
    }
}

impl Publisher for Memory {
    fn publish(&self, message: &Message) -> impl Future<Output = Result<(), PublishError>> + Send {
        std::future::ready(self.take(message))
    }
}

/// A member of a group of [`Memory`].
#[derive(Debug)]
pub struct MemorySubscriber {
    group: Arc<Group>,
}

/// A message of [`Memory`]: unless it is handled, it goes back to its group.
#[derive(Debug)]
pub struct MemoryReceipt {
    group: Arc<Group>,
    message: Option<Message>,
}

impl Drop for MemoryReceipt {
    fn drop(&mut self) {
        if let Some(message) = self.message.take() {
            lock(&self.group.waiting).push_front(message);
            self.group.arrived.notify_one();
        }
    }
}

impl Subscriber for MemorySubscriber {
    type Receipt = MemoryReceipt;

    async fn receive(&mut self) -> Result<Option<Delivery<MemoryReceipt>>, Error> {
        loop {
            let next = lock(&self.group.waiting).pop_front();
            if let Some(message) = next {
                let receipt = MemoryReceipt {
                    group: self.group.clone(),
                    message: Some(message.clone()),
                };
                return Ok(Some(Delivery { message, receipt }));
            }
            self.group.arrived.notified().await;
        }
    }

    async fn ack(&mut self, mut receipt: MemoryReceipt) -> Result<(), Error> {
        receipt.message = None;
        Ok(())
    }
}
