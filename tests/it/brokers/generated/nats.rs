// Made from templates/rust/nats.rs.jinja by a test; do not edit
// fingerprint of no definition
//
// Needs in Cargo.toml:
//
//     async-nats = { version = "0.51", default-features = false, features = ["jetstream", "ring"] }
//     futures-util = { version = "0.3", default-features = false }
//     tokio = { version = "1", features = ["time"] }
//
// and of async-nats the feature `nkeys` for logins by key.

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::{
    Context, ContextBuilder, PublishError as NatsError, PublishErrorKind,
};
use async_nats::jetstream::message::{Acker, Message as NatsMessage, PublishMessage};
use async_nats::jetstream::{Error as JetStreamError, ErrorCode};
use async_nats::{Client, HeaderMap};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::broker::{Delivery, Error, Message, PublishError, Publisher, Subscriber, Tags};

/// The header of a message's key: a subject has no partitions, and keeps the order of all its messages.
pub const KEY: &str = "message-key";

/// How long to wait for an answer of the server, unless the program says otherwise.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How often to look, while an answer is awaited, whether there is still somebody to give it.
const LOOK: Duration = Duration::from_millis(50);

/// How often a subscriber that waits for a message looks whether there is still a connection.
const WATCH: Duration = Duration::from_millis(500);

/// How long the server may be silent towards a subscriber before it is asked again.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How long one request for messages stands.
const EXPIRES: Duration = Duration::from_secs(15);

/// The wait after a first failure; it doubles with each that follows.
const PAUSE: Duration = Duration::from_millis(100);

/// How often it doubles.
const MOST_DOUBLINGS: u32 = 6;

/// Publishes to streams of JetStream: the message's topic is the subject. A stream must have been made for it: until then its
/// messages are [`PublishError::Transient`].
///
/// A message that is published again within the stream's `duplicate_window` (two minutes, unless it says otherwise) is not
/// stored again, and that is success: topic and [`Message::id`] together are its `Nats-Msg-Id`. Whoever wants an event to
/// come once more within that time must give it another id.
///
/// The client connects again by itself; while it has no connection, messages are [`PublishError::Transient`] at once.
#[derive(Clone, Debug)]
pub struct NatsPublisher {
    context: Context,
    timeout: Duration,
}

impl NatsPublisher {
    /// Publishes through a client, with five seconds for each message. With
    /// [`retry_on_initial_connect`](async_nats::ConnectOptions::retry_on_initial_connect) a client is there before its
    /// server.
    pub fn new(client: Client) -> NatsPublisher {
        NatsPublisher::within(client, TIMEOUT)
    }

    /// The same with another time for each message.
    pub fn within(client: Client, timeout: Duration) -> NatsPublisher {
        let context = ContextBuilder::new().timeout(timeout).build(client);
        NatsPublisher { context, timeout }
    }

    /// What connection there is, by its number.
    fn connection(&self) -> Result<u64, PublishError> {
        connection(&self.context).map_err(PublishError::Transient)
    }

    /// Returns when the connection of this number is gone.
    async fn lost(&self, number: u64) {
        while connection(&self.context).is_ok_and(|now| now == number) {
            sleep(LOOK).await;
        }
    }
}

/// The number of the client's connection, if it is connected.
fn connection(context: &Context) -> Result<u64, Error> {
    let client = context.client();
    match client.connection_state() {
        State::Connected => Ok(client.statistics().connects.load(Ordering::Relaxed)),
        State::Disconnected | State::Pending => Err("there is no connection to the server".into()),
    }
}

/// Returns when there is no connection.
async fn disconnected(context: &Context) -> Error {
    loop {
        sleep(WATCH).await;
        if let Err(error) = connection(context) {
            return error;
        }
    }
}

fn judge(error: NatsError) -> PublishError {
    let of_server = std::error::Error::source(&error);
    let of_server = of_server.and_then(|source| source.downcast_ref::<JetStreamError>());
    let code = of_server.map(|error| error.error_code());
    match (error.kind(), code) {
        (PublishErrorKind::MaxPayloadExceeded, _)
        | (_, Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM))
        | (_, Some(ErrorCode::STREAM_HEADER_EXCEEDS_MAXIMUM)) => {
            PublishError::Permanent(error.into())
        }
        (PublishErrorKind::StreamNotFound | PublishErrorKind::MaxAckPending, _) => {
            PublishError::Transient(error.into())
        }
        // The server has said no.
        (_, Some(_)) => PublishError::Transient(error.into()),
        _ => PublishError::Unknown(error.into()),
    }
}

impl Publisher for NatsPublisher {
    async fn publish(&self, message: &Message) -> Result<(), PublishError> {
        if !is_subject(&message.topic) {
            let error = format!(
                "nothing can be published to the subject `{}`",
                message.topic
            );
            return Err(PublishError::Permanent(error.into()));
        }
        let number = self.connection()?;
        let publish = PublishMessage::build()
            .payload(message.payload.clone().into())
            .headers(headers(message));
        let sent = self
            .context
            .send_publish(message.topic.clone(), publish)
            .await;
        let answer = sent.map_err(|error| match error.kind() {
            // It has not even been queued.
            PublishErrorKind::TimedOut => PublishError::Transient(error.into()),
            _ => judge(error),
        })?;
        match select(answer.into_future(), pin!(self.lost(number))).await {
            // It may be that the server had it before, which is as good.
            Either::Left((Ok(_), _)) => Ok(()),
            Either::Left((Err(error), _)) => Err(judge(error)),
            Either::Right(_) => {
                let error = "the connection was lost before the server answered";
                Err(PublishError::Unknown(error.into()))
            }
        }
    }

    /// Asks JetStream for its streams.
    async fn probe(&self) -> Result<(), PublishError> {
        self.connection()?;
        let mut streams = self.context.stream_names();
        match timeout(self.timeout, streams.next()).await {
            Ok(None | Some(Ok(_))) => Ok(()),
            Ok(Some(Err(error))) => Err(PublishError::Transient(error.into())),
            Err(_) => Err(PublishError::Transient(late(self.timeout))),
        }
    }
}

fn late(patience: Duration) -> Error {
    format!("no answer within {patience:?}").into()
}

/// Whether a message can go there: names between dots, without space and without what stands for other names.
fn is_subject(subject: &str) -> bool {
    let is_name = |name: &str| {
        let special = |char: char| char.is_whitespace() || char.is_control() || "*>".contains(char);
        !name.is_empty() && !name.contains(special)
    };
    subject.split('.').all(is_name)
}

fn headers(message: &Message) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in message.headers() {
        headers.insert(name, escaped(&value));
    }
    if let Some(key) = &message.key {
        headers.insert(KEY, escaped(key));
    }
    // A stream may hold several topics, and a topic has no space.
    let id = format!("{} {}", message.topic, message.id);
    headers.insert(NATS_MESSAGE_ID, escaped(&id));
    headers
}

/// A header has one line, and loses the space around it: that is written as in URLs, and so is `%`.
fn escaped(value: &str) -> String {
    let inner = value.trim_start();
    let start = value.len() - inner.len();
    let end = start + inner.trim_end().len();
    let mut escaped = String::with_capacity(value.len());
    for (place, char) in value.char_indices() {
        let around = char.is_whitespace() && !(start..end).contains(&place);
        if around || char == '%' || char.is_control() {
            let mut bytes = [0; 4];
            for byte in char.encode_utf8(&mut bytes).bytes() {
                escaped.push_str(&format!("%{byte:02X}"));
            }
        } else {
            escaped.push(char);
        }
    }
    escaped
}

/// The way back. What is no escape stays as it is: other programs know nothing of this.
fn unescaped(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let escape = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escape.filter(|_| *byte == b'%') {
            Some(escape) => {
                bytes.push(escape);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| value.to_owned())
}

/// Where a consumer begins, when it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NatsStart {
    /// At the oldest message of the stream.
    #[default]
    Earliest,
    /// At the first message that comes after it.
    Latest,
}

/// What a [`NatsSubscriber`] reads: a durable consumer of a stream, which the server keeps. All subscribers of one name share
/// its messages.
#[derive(Clone, Debug)]
pub struct NatsConsumer {
    /// The stream.
    pub stream: String,
    /// The name of the consumer; it is made where there is none, and changed where it is otherwise.
    pub durable: String,
    /// Only messages of this subject, which may stand for several; `None`: all of the stream.
    pub subject: Option<String>,
    /// Where it begins.
    pub start: NatsStart,
    /// Which messages it is for. Others are said to be handled, and counted by [`NatsSubscriber::skipped`].
    pub tags: Tags,
    /// When a message that was not said to be handled comes again. It counts from when the server sends the message, so it
    /// must be longer than the handling of [`NatsConsumer::ahead`] messages takes.
    pub ack_wait: Duration,
    /// How many messages may be out at once, among all subscribers of the name. A message that comes again comes after others
    /// that were out with it: only with 1 is the order that of the stream whatever happens.
    pub max_ack_pending: u32,
    /// How many messages a subscriber gets before they are asked for.
    pub ahead: usize,
    /// How long an answer of the server may take.
    pub timeout: Duration,
}

impl NatsConsumer {
    /// All messages of a stream from the oldest on, with all tags, 30 seconds for each.
    pub fn new(stream: impl Into<String>, durable: impl Into<String>) -> NatsConsumer {
        NatsConsumer {
            stream: stream.into(),
            durable: durable.into(),
            subject: None,
            start: NatsStart::Earliest,
            tags: Tags::default(),
            ack_wait: Duration::from_secs(30),
            max_ack_pending: 1_000,
            ahead: 8,
            timeout: TIMEOUT,
        }
    }

    fn config(&self) -> pull::Config {
        pull::Config {
            durable_name: Some(self.durable.clone()),
            filter_subject: self.subject.clone().unwrap_or_default(),
            deliver_policy: match self.start {
                NatsStart::Earliest => DeliverPolicy::All,
                NatsStart::Latest => DeliverPolicy::New,
            },
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.ack_wait,
            max_ack_pending: self.max_ack_pending.into(),
            ..pull::Config::default()
        }
    }
}

/// Reads as a durable consumer of JetStream. After an error, the next [`Subscriber::receive`] waits a little, longer after
/// each, and begins again.
pub struct NatsSubscriber {
    context: Context,
    what: NatsConsumer,
    messages: Option<pull::Stream>,
    skipped: u64,
    failures: u32,
    resume: Option<Instant>,
}

/// The right to say that a message of [`NatsSubscriber`] was handled.
pub struct NatsReceipt(Acker);

impl std::fmt::Debug for NatsReceipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsReceipt").finish_non_exhaustive()
    }
}

impl NatsSubscriber {
    /// Reads through a client; the consumer is made when the first message is asked for.
    pub fn new(client: Client, what: NatsConsumer) -> NatsSubscriber {
        NatsSubscriber {
            context: ContextBuilder::new().timeout(what.timeout).build(client),
            what,
            messages: None,
            skipped: 0,
            failures: 0,
            resume: None,
        }
    }

    /// How many messages were skipped because of their tags.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    async fn begin(&self) -> Result<pull::Stream, Error> {
        connection(&self.context)?;
        let (config, stream) = (self.what.config(), &self.what.stream);
        let begin = async {
            let consumer = self
                .context
                .create_consumer_on_stream(config, stream)
                .await?;
            let messages = consumer
                .stream()
                .max_messages_per_batch(self.what.ahead.max(1));
            let messages = messages
                .heartbeat(HEARTBEAT)
                .expires(EXPIRES)
                .messages()
                .await?;
            Ok(messages)
        };
        let begun = timeout(self.what.timeout, begin).await;
        begun.unwrap_or_else(|_| Err(late(self.what.timeout)))
    }

    /// The next message that the consumer is for; `None`: it was one of the others.
    async fn next(&mut self) -> Result<Option<Delivery<NatsReceipt>>, Error> {
        let messages = match &mut self.messages {
            Some(messages) => messages,
            None => {
                let messages = self.begin().await?;
                self.messages.insert(messages)
            }
        };
        let next = match select(messages.next(), pin!(disconnected(&self.context))).await {
            Either::Left((next, _)) => next,
            // What has come before is still there, and the client asks for more once it is connected again.
            Either::Right((error, _)) => return Err(error),
        };
        let next = match next {
            Some(Ok(next)) => next,
            Some(Err(error)) => {
                self.messages = None;
                return Err(error.into());
            }
            None => {
                self.messages = None;
                return Err("the server has ended the request for messages".into());
            }
        };
        self.failures = 0;
        let message = message(&next);
        let (_, acker) = next.split();
        if self.what.tags.select(message.tag.as_deref()) {
            let receipt = NatsReceipt(acker);
            return Ok(Some(Delivery { message, receipt }));
        }
        acker.ack().await?;
        self.skipped += 1;
        Ok(None)
    }
}

/// A message of a program that gives it no id gets its number in the stream as one.
fn message(from: &NatsMessage) -> Message {
    let mut message = Message {
        topic: from.subject.to_string(),
        payload: from.payload.to_vec(),
        ..Message::default()
    };
    for (name, values) in from.headers.iter().flat_map(HeaderMap::iter) {
        let name: &str = name.as_ref();
        if let Some(value) = values.last() {
            let value = unescaped(value.as_str());
            match name {
                KEY => message.key = Some(value),
                _ => message.set_header(name, &value),
            }
        }
    }
    if message.id.is_empty()
        && let Ok(info) = from.info()
    {
        message.id = info.stream_sequence.to_string();
    }
    message
}

impl Subscriber for NatsSubscriber {
    type Receipt = NatsReceipt;

    async fn receive(&mut self) -> Result<Option<Delivery<NatsReceipt>>, Error> {
        loop {
            if let Some(resume) = self.resume {
                sleep_until(resume).await;
                self.resume = None;
            }
            match self.next().await {
                Ok(None) => {}
                Ok(delivery) => return Ok(delivery),
                Err(error) => {
                    let pause = PAUSE * 2_u32.pow(self.failures);
                    self.failures = MOST_DOUBLINGS.min(self.failures + 1);
                    self.resume = Some(Instant::now() + pause);
                    return Err(error);
                }
            }
        }
    }

    /// Waits for the server's word that it knows.
    async fn ack(&mut self, receipt: NatsReceipt) -> Result<(), Error> {
        receipt.0.double_ack().await
    }
}
