// Made from templates/rust/kafka.rs.jinja by a test; do not edit
// fingerprint of no definition
//
// Needs in Cargo.toml:
//
//     rskafka = { version = "0.6", default-features = false }
//     tokio = { version = "1", features = ["sync", "time"] }
//
// and of rskafka the feature `transport-tls` for encryption, and `compression-…` where other producers compress what a
// subscriber reads.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rskafka::chrono::DateTime;
use rskafka::client::error::{Error as KafkaError, ProtocolError, RequestError};
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use rskafka::record::{Record, RecordAndOffset};
use rskafka::{BackoffConfig, BackoffError};
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::broker::{Delivery, Error, Message, PublishError, Publisher, Subscriber, Tags};

/// How long to wait for an answer of a broker, unless the program says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest message that a cluster takes by default.
const MAX_BYTES: usize = 1_000_000;

/// After which time the partitions of topics are asked for again: somebody may have added some.
const TOPICS_AGE: Duration = Duration::from_secs(300);

/// How long a broker may keep a subscriber waiting for a message before it says that there is none.
const FETCH_WAIT_MS: i32 = 500;

/// How much of a partition a subscriber asks for at a time. A larger message comes nevertheless.
const FETCH_BYTES: i32 = 4 * 1024 * 1024;

/// The wait after a first failure; it doubles with each that follows.
const PAUSE: Duration = Duration::from_millis(100);

/// How often it doubles.
const MOST_DOUBLINGS: u32 = 6;

/// Where a cluster is, and how to connect to it.
#[derive(Clone)]
pub struct KafkaCluster {
    builder: Arc<dyn Fn() -> ClientBuilder + Send + Sync>,
}

impl KafkaCluster {
    /// The cluster of these brokers, each given as `host:port`, without encryption or login.
    pub fn new(brokers: impl IntoIterator<Item = impl Into<String>>) -> KafkaCluster {
        let brokers: Vec<String> = brokers.into_iter().map(Into::into).collect();
        KafkaCluster::with(move || ClientBuilder::new(brokers.clone()))
    }

    /// The cluster to which such a builder connects: for encryption, logins and names of clients. A builder is made for
    /// each connection, and what it says about retries is not used.
    pub fn with(builder: impl Fn() -> ClientBuilder + Send + Sync + 'static) -> KafkaCluster {
        KafkaCluster {
            builder: Arc::new(builder),
        }
    }

    /// The client tries everything once: who retries must know what went wrong, and whether anything was sent by then.
    async fn connect(&self) -> Result<Client, KafkaError> {
        let once = BackoffConfig {
            deadline: Some(Duration::ZERO),
            ..BackoffConfig::default()
        };
        (self.builder)().backoff_config(once).build().await
    }
}

impl std::fmt::Debug for KafkaCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaCluster").finish_non_exhaustive()
    }
}

/// Publishes to Kafka. A message with a key goes to the partition that Kafka's own producers choose for it by default (the
/// hash `murmur2` of the key, modulo their number), one without to each in turn. It is published when all replicas in sync
/// have it.
///
/// It connects when it has something to publish, and again when a connection is lost. A message that goes out on a
/// connection which has been idle is sent a second time if that turns out to be dead, so a topic may hold a message twice,
/// under one id. Topics must exist: until one does, its messages are [`PublishError::Transient`].
#[derive(Debug)]
pub struct KafkaPublisher {
    cluster: KafkaCluster,
    timeout: Duration,
    max_bytes: usize,
    connection: Mutex<Option<Arc<Connection>>>,
    /// Held while it connects: a hundred messages at once connect once.
    connecting: AsyncMutex<()>,
    turn: AtomicUsize,
}

/// A connected client, with what it has learned. It is thrown away as a whole when anything about it is in doubt.
#[derive(Debug)]
struct Connection {
    client: Client,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    topics: HashMap<String, Vec<i32>>,
    asked: Option<Instant>,
    partitions: HashMap<(String, i32), Arc<PartitionClient>>,
}

impl Connection {
    fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }

    /// The partitions of a topic, in their order; `None`: there is no such topic.
    async fn partitions(&self, topic: &str) -> Result<Option<Vec<i32>>, KafkaError> {
        {
            let known = self.known();
            let fresh = known
                .asked
                .is_some_and(|asked| asked.elapsed() < TOPICS_AGE);
            if let Some(found) = known.topics.get(topic).filter(|_| fresh) {
                return Ok(Some(found.clone()));
            }
        }
        let topics = partitions_by_topic(&self.client).await?;
        let found = topics.get(topic).cloned();
        let mut known = self.known();
        known.topics = topics;
        known.asked = Some(Instant::now());
        Ok(found)
    }

    /// The connection to the leader of a partition, and whether it has been used before.
    async fn leader(
        &self,
        topic: &str,
        partition: i32,
    ) -> Result<(Arc<PartitionClient>, bool), KafkaError> {
        let key = (topic.to_owned(), partition);
        let known = self.known().partitions.get(&key).cloned();
        if let Some(known) = known {
            return Ok((known, true));
        }
        let leader = leader(&self.client, topic, partition).await?;
        self.known().partitions.insert(key, leader.clone());
        Ok((leader, false))
    }
}

/// A panic elsewhere leaves whole values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a broker does in time, or that it has not.
async fn within<T, E: Into<Error>>(
    patience: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, Error> {
    match timeout(patience, answer).await {
        Ok(answer) => answer.map_err(Into::into),
        Err(_) => Err(late(patience)),
    }
}

fn late(patience: Duration) -> Error {
    format!("no answer within {patience:?}").into()
}

async fn partitions_by_topic(client: &Client) -> Result<HashMap<String, Vec<i32>>, KafkaError> {
    let topics = client.list_topics().await?.into_iter();
    let topics = topics.filter(|topic| !topic.partitions.is_empty());
    let sorted = topics.map(|topic| (topic.name, topic.partitions.into_iter().collect()));
    Ok(sorted.collect())
}

async fn leader(
    client: &Client,
    topic: &str,
    partition: i32,
) -> Result<Arc<PartitionClient>, KafkaError> {
    let unknown = UnknownTopicHandling::Error;
    Ok(Arc::new(
        client.partition_client(topic, partition, unknown).await?,
    ))
}

/// Why one try to publish was none.
enum Failure {
    /// It was on a connection from before, which may have been dead for long: a new one may do better.
    Old(PublishError),
    New(PublishError),
}

impl KafkaPublisher {
    /// Publishes to this cluster, with ten seconds for each message, and a million bytes.
    pub fn new(cluster: KafkaCluster) -> KafkaPublisher {
        KafkaPublisher {
            cluster,
            timeout: TIMEOUT,
            max_bytes: MAX_BYTES,
            connection: Mutex::new(None),
            connecting: AsyncMutex::new(()),
            turn: AtomicUsize::new(0),
        }
    }

    /// How long a message may take, connecting included.
    pub fn with_timeout(self, timeout: Duration) -> KafkaPublisher {
        KafkaPublisher { timeout, ..self }
    }

    /// How large a message may be, with its key and headers: as large as the topics take (`max.message.bytes`). Larger ones
    /// are [`PublishError::Permanent`] without being sent.
    pub fn with_max_bytes(self, max_bytes: usize) -> KafkaPublisher {
        KafkaPublisher { max_bytes, ..self }
    }

    /// A connection, and whether it is from before.
    async fn connection(&self) -> Result<(Arc<Connection>, bool), KafkaError> {
        let known = || lock(&self.connection).clone();
        if let Some(connection) = known() {
            return Ok((connection, true));
        }
        let _connecting = self.connecting.lock().await;
        if let Some(connection) = known() {
            return Ok((connection, false));
        }
        let new = Arc::new(Connection {
            client: self.cluster.connect().await?,
            known: Mutex::default(),
        });
        *lock(&self.connection) = Some(new.clone());
        Ok((new, false))
    }

    /// The next message gets a new connection, unless there is a new one already.
    fn forget(&self, old: &Arc<Connection>) {
        let mut connection = lock(&self.connection);
        if connection
            .as_ref()
            .is_some_and(|connection| Arc::ptr_eq(connection, old))
        {
            *connection = None;
        }
    }

    /// The leader of the message's partition, and whether the connection to it is from before; `None`: there is no such topic.
    async fn leader(
        &self,
        connection: &Connection,
        message: &Message,
    ) -> Result<Option<(Arc<PartitionClient>, bool)>, KafkaError> {
        let Some(partitions) = connection.partitions(&message.topic).await? else {
            return Ok(None);
        };
        let choice = match &message.key {
            Some(key) => murmur2(key.as_bytes()) as usize & 0x7fff_ffff,
            None => self.turn.fetch_add(1, Ordering::Relaxed),
        };
        let partition = partitions[choice % partitions.len()];
        connection.leader(&message.topic, partition).await.map(Some)
    }

    async fn send(&self, message: &Message, until: Instant) -> Result<(), Failure> {
        let transient = |error: Error| Failure::New(PublishError::Transient(error));
        let late = || late(self.timeout);
        // Nothing of the message goes out before `produce`.
        let (connection, old) = match timeout_at(until, self.connection()).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return Err(transient(error.into())),
            Err(_) => return Err(transient(late())),
        };
        let failure = match timeout_at(until, self.leader(&connection, message)).await {
            Ok(Ok(Some((leader, old)))) => {
                let produced = leader.produce(vec![record(message)], Compression::NoCompression);
                match timeout_at(until, produced).await {
                    Ok(Ok(_)) => return Ok(()),
                    Ok(Err(error)) if old && is_of_connection(&error) => {
                        Failure::Old(PublishError::Unknown(error.into()))
                    }
                    Ok(Err(error)) => Failure::New(judge(error)),
                    Err(_) => Failure::New(PublishError::Unknown(late())),
                }
            }
            Ok(Ok(None)) => transient(format!("there is no topic `{}`", message.topic).into()),
            Ok(Err(error)) if old => Failure::Old(PublishError::Transient(error.into())),
            Ok(Err(error)) => transient(error.into()),
            Err(_) => transient(late()),
        };
        if !matches!(failure, Failure::New(PublishError::Permanent(_))) {
            self.forget(&connection);
        }
        Err(failure)
    }
}

/// The error itself, where it says that a first try was the only one.
fn cause(error: &KafkaError) -> Option<&KafkaError> {
    match error {
        KafkaError::RetryFailed(BackoffError::DeadlineExceded { source, .. }) => {
            source.downcast_ref::<KafkaError>().and_then(cause)
        }
        error => Some(error),
    }
}

/// Whether the connection broke while an answer was awaited, or had broken before anything was sent.
fn is_of_connection(error: &KafkaError) -> bool {
    let broken =
        |error: &RequestError| matches!(error, RequestError::Poisoned(_) | RequestError::IO(_));
    matches!(cause(error), Some(KafkaError::Request(error)) if broken(error))
}

/// What an error means for a message that was to be produced.
fn judge(error: KafkaError) -> PublishError {
    let kind = match cause(&error) {
        // Of connecting, and of asking who leads.
        None | Some(KafkaError::Connection(_)) => PublishError::Transient,
        Some(KafkaError::Request(RequestError::NoVersionMatch { .. })) => PublishError::Transient,
        Some(KafkaError::ServerError { protocol_error, .. }) => match protocol_error {
            ProtocolError::MessageTooLarge
            | ProtocolError::RecordListTooLarge
            | ProtocolError::InvalidTopicException
            | ProtocolError::InvalidTimestamp
            | ProtocolError::InvalidRecord => PublishError::Permanent,
            // The leader has it, or the broker does not say.
            ProtocolError::RequestTimedOut
            | ProtocolError::NotEnoughReplicasAfterAppend
            | ProtocolError::NetworkException
            | ProtocolError::KafkaStorageError
            | ProtocolError::UnknownServerError
            | ProtocolError::Unknown(_) => PublishError::Unknown,
            _ => PublishError::Transient,
        },
        Some(_) => PublishError::Unknown,
    };
    kind(error.into())
}

impl Publisher for KafkaPublisher {
    async fn publish(&self, message: &Message) -> Result<(), PublishError> {
        let permanent = |error: String| PublishError::Permanent(error.into());
        check_topic(&message.topic).map_err(permanent)?;
        let size = record(message).approximate_size();
        if size > self.max_bytes {
            let most = self.max_bytes;
            let error = format!("it has {size} bytes, and {most} are the most");
            return Err(permanent(error));
        }
        let until = Instant::now() + self.timeout;
        let first = match self.send(message, until).await {
            Ok(()) => return Ok(()),
            Err(Failure::New(error)) => return Err(error),
            Err(Failure::Old(error)) => error,
        };
        match (self.send(message, until).await, first) {
            (Ok(()), _) => Ok(()),
            // Whatever the second try says: nobody knows about the first.
            (Err(_), first @ PublishError::Unknown(_)) => Err(first),
            (Err(Failure::Old(second) | Failure::New(second)), _) => Err(second),
        }
    }

    /// Asks a broker for the topics.
    async fn probe(&self) -> Result<(), PublishError> {
        let connection = within(self.timeout, self.connection()).await;
        let (connection, _) = connection.map_err(PublishError::Transient)?;
        let answer = within(self.timeout, connection.client.list_topics()).await;
        answer.map(drop).map_err(|error| {
            self.forget(&connection);
            PublishError::Transient(error)
        })
    }
}

/// A name that no broker takes makes a message that none takes.
fn check_topic(topic: &str) -> Result<(), String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let fits = (1..=249).contains(&topic.len());
    match fits && topic.bytes().all(allowed) && topic != "." && topic != ".." {
        true => Ok(()),
        false => Err(format!("a topic cannot be called `{topic}`")),
    }
}

fn record(message: &Message) -> Record {
    let headers = message.headers().into_iter();
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(since_epoch.as_millis()).ok();
    Record {
        key: message.key.clone().map(String::into_bytes),
        value: Some(message.payload.clone()),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.into_bytes()))
            .collect(),
        timestamp: now
            .and_then(DateTime::from_timestamp_millis)
            .unwrap_or_default(),
    }
}

/// The hash by which Kafka's producers choose the partition of a key.
fn murmur2(key: &[u8]) -> u32 {
    const FACTOR: u32 = 0x5bd1_e995;
    let mix = |hash: u32, shift: u32| hash ^ (hash >> shift);
    let mut hash = 0x9747_b28c ^ key.len() as u32;
    let words = key.chunks_exact(4);
    let rest = words.remainder();
    for word in words {
        let word = word
            .iter()
            .rev()
            .fold(0, |word, byte| (word << 8) | u32::from(*byte));
        let word = mix(word.wrapping_mul(FACTOR), 24).wrapping_mul(FACTOR);
        hash = hash.wrapping_mul(FACTOR) ^ word;
    }
    if !rest.is_empty() {
        let rest = rest
            .iter()
            .rev()
            .fold(0, |word, byte| (word << 8) | u32::from(*byte));
        hash = (hash ^ rest).wrapping_mul(FACTOR);
    }
    mix(mix(hash, 13).wrapping_mul(FACTOR), 15)
}

/// Where a [`KafkaSubscriber`] begins to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KafkaStart {
    /// At the oldest message that there still is.
    Earliest,
    /// At the first message that comes after it has begun.
    Latest,
    /// At these offsets of partitions, as [`KafkaSubscriber::positions`] has given them; in others at the oldest message.
    At(BTreeMap<i32, i64>),
}

/// What a [`KafkaSubscriber`] reads.
#[derive(Clone, Debug)]
pub struct KafkaAssignment {
    /// The topic.
    pub topic: String,
    /// Its partitions; `None`: all, those included that are added later, from their oldest message on. There are no groups:
    /// who shares a topic among programs gives each its partitions.
    pub partitions: Option<Vec<i32>>,
    /// Where it begins.
    pub start: KafkaStart,
    /// Which messages it is for. Others are skipped, and counted by [`KafkaSubscriber::skipped`].
    pub tags: Tags,
    /// So many messages of a partition may be out at once: from the oldest on that is not handled yet.
    pub max_open: usize,
    /// How long an answer of a broker may take. It must be longer than the half second that a broker without messages takes.
    pub timeout: Duration,
}

impl KafkaAssignment {
    /// All partitions of a topic from the oldest message on, with all tags.
    pub fn new(topic: impl Into<String>) -> KafkaAssignment {
        KafkaAssignment {
            topic: topic.into(),
            partitions: None,
            start: KafkaStart::Earliest,
            tags: Tags::default(),
            max_open: 1_000,
            timeout: TIMEOUT,
        }
    }
}

/// Reads partitions of a topic. Kafka is not told how far it has come: the program stores
/// [`KafkaSubscriber::positions`], best in the transaction that handles a message, and starts from them.
///
/// A receipt that is dropped without [`Subscriber::ack`] brings its message again. After an error, the next
/// [`Subscriber::receive`] waits a little, longer after each, and connects again. A partition that does not have the
/// offset which is next (its messages were deleted before they were read, or it has lost them) is an error once, and then
/// read from its oldest message on.
pub struct KafkaSubscriber {
    cluster: KafkaCluster,
    what: KafkaAssignment,
    partitions: BTreeMap<i32, Partition>,
    client: Option<Arc<Client>>,
    asked: Option<Instant>,
    sender: UnboundedSender<Place>,
    dropped: UnboundedReceiver<Place>,
    last: i32,
    skipped: u64,
    failures: u32,
    resume: Option<Instant>,
}

/// How far a partition is read.
struct Partition {
    /// What is fetched next.
    next: From,
    /// The first offset that has never been looked at; none before the broker has said where the start is.
    fresh: Option<i64>,
    /// What was handed out, from the oldest on that is not handled.
    open: BTreeMap<i64, State>,
    /// Counts how often the partition began again: older receipts say nothing about the messages that it has now.
    life: u64,
    fetched: VecDeque<RecordAndOffset>,
    leader: Option<Arc<PartitionClient>>,
    failures: u32,
    /// Goes on where it was when a `receive` was dropped.
    fetch: Option<Fetch>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum From {
    Earliest,
    Latest,
    Offset(i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Out,
    Dropped,
    Handled,
}

type Fetch = Pin<Box<dyn Future<Output = Result<Fetched, Error>> + Send>>;

struct Fetched {
    leader: Arc<PartitionClient>,
    from: i64,
    records: Vec<RecordAndOffset>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    partition: i32,
    offset: i64,
    life: u64,
}

/// The right to say that a message of [`KafkaSubscriber`] was handled.
#[derive(Debug)]
pub struct KafkaReceipt {
    place: Place,
    /// Gone once it is handled.
    dropped: Option<UnboundedSender<Place>>,
}

impl Drop for KafkaReceipt {
    fn drop(&mut self) {
        if let Some(dropped) = self.dropped.take() {
            // Without its subscriber there is nobody to bring the message again: the next one does.
            _ = dropped.send(self.place);
        }
    }
}

impl Partition {
    fn new(next: From) -> Partition {
        Partition {
            next,
            fresh: match next {
                From::Offset(offset) => Some(offset),
                From::Earliest | From::Latest => None,
            },
            open: BTreeMap::new(),
            life: 0,
            fetched: VecDeque::new(),
            leader: None,
            failures: 0,
            fetch: None,
        }
    }

    /// Everything before it is handled.
    fn position(&self) -> Option<i64> {
        self.open
            .first_key_value()
            .map(|(offset, _)| *offset)
            .or(self.fresh)
    }

    fn close(&mut self, place: Place) {
        if place.life != self.life {
            return;
        }
        if let Some(state) = self.open.get_mut(&place.offset) {
            *state = State::Handled;
        }
        while let Some(first) = self
            .open
            .first_entry()
            .filter(|first| *first.get() == State::Handled)
        {
            first.remove();
        }
    }

    /// Reads from the place on once more; what is out or handled by now is passed over.
    fn reopen(&mut self, place: Place) {
        let state = self.open.get_mut(&place.offset);
        let Some(state) = state.filter(|_| place.life == self.life) else {
            return;
        };
        *state = State::Dropped;
        self.next = From::Offset(self.position().unwrap_or(place.offset));
        self.fetched.clear();
        self.fetch = None;
    }

    fn begin_again(&mut self) {
        *self = Partition {
            life: self.life + 1,
            leader: self.leader.take(),
            failures: self.failures + 1,
            ..Partition::new(From::Earliest)
        };
    }

    /// Whether there is anything to fetch that it may hand out.
    fn has_room(&self, max_open: usize) -> bool {
        self.open.len() < max_open.max(1)
            || self.open.values().any(|state| *state == State::Dropped)
    }

    /// Whether nobody has looked at the message at an offset before.
    fn is_fresh(&self, offset: i64) -> bool {
        self.fresh.is_none_or(|fresh| offset >= fresh)
    }

    /// The next message that is to be looked at: those that are out or were handled or skipped before are not.
    fn pop(&mut self, max_open: usize) -> Option<RecordAndOffset> {
        while let Some(first) = self.fetched.front() {
            let offset = first.offset;
            let fresh = self.is_fresh(offset);
            if fresh && self.open.len() >= max_open.max(1) {
                return None;
            }
            let first = self.fetched.pop_front();
            if fresh {
                self.fresh = Some(offset + 1);
            }
            if fresh || self.open.get(&offset) == Some(&State::Dropped) {
                return first;
            }
        }
        None
    }
}

impl KafkaSubscriber {
    /// Reads from this cluster; it connects when the first message is asked for.
    pub fn new(cluster: KafkaCluster, what: KafkaAssignment) -> KafkaSubscriber {
        let (sender, dropped) = unbounded_channel();
        KafkaSubscriber {
            cluster,
            what,
            partitions: BTreeMap::new(),
            client: None,
            asked: None,
            sender,
            dropped,
            last: -1,
            skipped: 0,
            failures: 0,
            resume: None,
        }
    }

    /// From which offset on each partition is to be read again, should this subscriber end now: all messages before it are
    /// handled or were skipped. A partition is missing until the broker has said where it starts.
    pub fn positions(&self) -> BTreeMap<i32, i64> {
        let position = |(id, partition): (&i32, &Partition)| Some((*id, partition.position()?));
        self.partitions.iter().filter_map(position).collect()
    }

    /// How many messages were skipped because of their tags.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Connects, and finds the partitions.
    async fn assign(&mut self) -> Result<Arc<Client>, Error> {
        if let Some(client) = &self.client
            && self.asked.is_some_and(|asked| asked.elapsed() < TOPICS_AGE)
        {
            return Ok(client.clone());
        }
        let client = match &self.client {
            Some(client) => client.clone(),
            None => Arc::new(within(self.what.timeout, self.cluster.connect()).await?),
        };
        let topic = &self.what.topic;
        let mut topics = within(self.what.timeout, partitions_by_topic(&client)).await?;
        let found = topics
            .remove(topic)
            .ok_or_else(|| format!("there is no topic `{topic}`"))?;
        let wanted = self.what.partitions.as_ref().unwrap_or(&found);
        if let Some(missing) = wanted.iter().find(|id| !found.contains(id)) {
            return Err(format!("`{topic}` has no partition {missing}").into());
        }
        let first_time = self.partitions.is_empty();
        for id in wanted {
            let start = match &self.what.start {
                // All that a partition holds which was not there before has come since.
                _ if !first_time => From::Earliest,
                KafkaStart::Earliest => From::Earliest,
                KafkaStart::Latest => From::Latest,
                KafkaStart::At(offsets) => offsets
                    .get(id)
                    .map_or(From::Earliest, |at| From::Offset(*at)),
            };
            self.partitions
                .entry(*id)
                .or_insert_with(|| Partition::new(start));
        }
        self.client = Some(client.clone());
        self.asked = Some(Instant::now());
        Ok(client)
    }

    /// Begins to fetch from all partitions of which everything has been handed out.
    fn begin_fetches(&mut self, client: &Arc<Client>) {
        for (id, partition) in &mut self.partitions {
            let idle = partition.fetch.is_none() && partition.fetched.is_empty();
            if idle && partition.has_room(self.what.max_open) {
                let fetch = fetch(
                    client.clone(),
                    partition.leader.clone(),
                    (self.what.topic.clone(), *id),
                    partition.next,
                    (pause(partition.failures), self.what.timeout),
                );
                partition.fetch = Some(Box::pin(fetch));
            }
        }
    }

    /// Everything that has come by now, from all partitions, so that none is kept waiting by another.
    fn poll_fetches(&mut self, cx: &mut Context<'_>) -> Poll<Vec<(i32, Result<Fetched, Error>)>> {
        let mut ready = Vec::new();
        for (id, partition) in &mut self.partitions {
            if let Some(fetch) = &mut partition.fetch
                && let Poll::Ready(fetched) = fetch.as_mut().poll(cx)
            {
                partition.fetch = None;
                ready.push((*id, fetched));
            }
        }
        let mut dropped = false;
        while let Poll::Ready(Some(place)) = self.dropped.poll_recv(cx) {
            dropped = true;
            self.reopen(place);
        }
        match ready.is_empty() && !dropped {
            true => Poll::Pending,
            false => Poll::Ready(ready),
        }
    }

    fn reopen(&mut self, place: Place) {
        if let Some(partition) = self.partitions.get_mut(&place.partition) {
            partition.reopen(place);
        }
    }

    fn take(&mut self, id: i32, fetched: Result<Fetched, Error>) -> Result<(), Error> {
        let Some(partition) = self.partitions.get_mut(&id) else {
            return Ok(());
        };
        match fetched {
            Ok(fetched) => {
                partition.failures = 0;
                partition.leader = Some(fetched.leader);
                partition.fresh.get_or_insert(fetched.from);
                let next = fetched
                    .records
                    .last()
                    .map_or(fetched.from, |last| last.offset + 1);
                partition.next = From::Offset(next);
                partition.fetched.extend(fetched.records);
                Ok(())
            }
            Err(error) if is_out_of_range(&error) => {
                partition.begin_again();
                let topic = &self.what.topic;
                Err(format!(
                    "partition {id} of `{topic}` is read from its oldest message on: {error}"
                )
                .into())
            }
            Err(error) => {
                // Its leader may be another one by now, or the cluster somewhere else. Other partitions go on.
                partition.failures += 1;
                partition.leader = None;
                self.client = None;
                Err(error)
            }
        }
    }

    /// The next of the messages that were fetched: partitions take turns.
    fn hand_out(&mut self) -> Option<Delivery<KafkaReceipt>> {
        let (before, after): (Vec<i32>, Vec<i32>) =
            self.partitions.keys().partition(|id| **id <= self.last);
        for id in after.into_iter().chain(before) {
            let Some(partition) = self.partitions.get_mut(&id) else {
                continue;
            };
            while let Some(record) = partition.pop(self.what.max_open) {
                let offset = record.offset;
                let message = message(&self.what.topic, id, record);
                if !self.what.tags.select(message.tag.as_deref()) {
                    self.skipped += 1;
                    continue;
                }
                partition.open.insert(offset, State::Out);
                self.last = id;
                let receipt = KafkaReceipt {
                    place: Place {
                        partition: id,
                        offset,
                        life: partition.life,
                    },
                    dropped: Some(self.sender.clone()),
                };
                return Some(Delivery { message, receipt });
            }
        }
        None
    }

    /// One round: `None`: nothing has come yet.
    async fn round(&mut self) -> Result<Option<Delivery<KafkaReceipt>>, Error> {
        while let Ok(place) = self.dropped.try_recv() {
            self.reopen(place);
        }
        if let Some(delivery) = self.hand_out() {
            return Ok(Some(delivery));
        }
        if let Some(resume) = self.resume {
            sleep_until(resume).await;
            self.resume = None;
        }
        let client = match self.assign().await {
            Ok(client) => client,
            Err(error) => {
                self.failures += 1;
                self.resume = Some(Instant::now() + pause(self.failures));
                self.client = None;
                return Err(error);
            }
        };
        self.failures = 0;
        self.begin_fetches(&client);
        let fetched = poll_fn(|cx| self.poll_fetches(cx)).await;
        // All of them, before the first error is one.
        let taken = fetched
            .into_iter()
            .map(|(id, fetched)| self.take(id, fetched));
        let taken: Vec<Result<(), Error>> = taken.collect();
        taken.into_iter().collect::<Result<(), Error>>()?;
        Ok(self.hand_out())
    }
}

/// How long to wait after so many failures in a row.
fn pause(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        _ => PAUSE * 2_u32.pow((failures - 1).min(MOST_DOUBLINGS)),
    }
}

async fn fetch(
    client: Arc<Client>,
    known: Option<Arc<PartitionClient>>,
    (topic, partition): (String, i32),
    from: From,
    (pause, patience): (Duration, Duration),
) -> Result<Fetched, Error> {
    sleep(pause).await;
    let is_new = known.is_none();
    let leader = match known {
        Some(leader) => leader,
        None => within(patience, leader(&client, &topic, partition)).await?,
    };
    let at = match from {
        From::Offset(offset) => {
            if is_new {
                within(patience, check_end(&leader, offset)).await?;
            }
            let records = leader.fetch_records(offset, 1..FETCH_BYTES, FETCH_WAIT_MS);
            let (records, _) = within(patience, records).await?;
            return Ok(Fetched {
                leader,
                from: offset,
                records,
            });
        }
        From::Earliest => OffsetAt::Earliest,
        From::Latest => OffsetAt::Latest,
    };
    // Kept before anything is fetched: "latest" must not be asked for twice.
    let from = within(patience, leader.get_offset(at)).await?;
    Ok(Fetched {
        leader,
        from,
        records: Vec::new(),
    })
}

/// A broker that has lost its messages has lost the connection before. Not all of them say by themselves that an offset is
/// too large: some let the subscriber wait until there are so many messages again. Nor do all say rightly where the last one
/// is, so it counts as well that there is one just before the offset.
async fn check_end(leader: &PartitionClient, offset: i64) -> Result<(), Error> {
    let end = leader.get_offset(OffsetAt::Latest).await?;
    if end >= offset {
        return Ok(());
    }
    let before = leader.fetch_records(offset - 1, 1..FETCH_BYTES, FETCH_WAIT_MS);
    let (before, _) = before.await?;
    match before.is_empty() {
        true => Err(OutOfRange { offset, end }.into()),
        false => Ok(()),
    }
}

/// What a broker says by `OffsetOutOfRange`, if it does.
#[derive(Debug)]
struct OutOfRange {
    offset: i64,
    end: i64,
}

impl std::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is next, and it ends at {}", self.offset, self.end)
    }
}

impl std::error::Error for OutOfRange {}

fn is_out_of_range(error: &Error) -> bool {
    let of_broker = error.downcast_ref::<KafkaError>().and_then(cause);
    let code = match of_broker {
        Some(KafkaError::ServerError { protocol_error, .. }) => Some(*protocol_error),
        _ => None,
    };
    code == Some(ProtocolError::OffsetOutOfRange) || error.is::<OutOfRange>()
}

/// A message of a program that gives it no id gets its place as one.
fn message(topic: &str, partition: i32, record: RecordAndOffset) -> Message {
    let RecordAndOffset { record, offset } = record;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut message = Message {
        topic: topic.to_owned(),
        key: record.key.as_deref().map(text),
        payload: record.value.unwrap_or_default(),
        ..Message::default()
    };
    for (name, value) in &record.headers {
        message.set_header(name, &text(value));
    }
    if message.id.is_empty() {
        message.id = format!("{partition}/{offset}");
    }
    message
}

impl Subscriber for KafkaSubscriber {
    type Receipt = KafkaReceipt;

    async fn receive(&mut self) -> Result<Option<Delivery<KafkaReceipt>>, Error> {
        loop {
            if let Some(delivery) = self.round().await? {
                return Ok(Some(delivery));
            }
        }
    }

    async fn ack(&mut self, mut receipt: KafkaReceipt) -> Result<(), Error> {
        let own = |sender: &UnboundedSender<Place>| sender.same_channel(&self.sender);
        if receipt.dropped.take_if(|sender| own(sender)).is_none() {
            return Err("the receipt is of another subscriber".into());
        }
        if let Some(partition) = self.partitions.get_mut(&receipt.place.partition) {
            partition.close(receipt.place);
        }
        Ok(())
    }
}
