//! Brokers as tests use them.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::ConnectOptions;
use async_nats::jetstream;
use rskafka::client::ClientBuilder;

use crate::rust::generated::broker::{Delivery, Error, Message, Publisher, Subscriber, Tags};
use crate::rust::generated::kafka::{KafkaAssignment, KafkaCluster, KafkaPublisher, KafkaSubscriber};
use crate::rust::generated::nats::{NatsConsumer, NatsPublisher, NatsSubscriber};

/// Longer than any of these tests should take.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long a message waits for its acknowledgement where a test waits for it to come again.
pub const ACK_WAIT: Duration = Duration::from_secs(2);

/// A connection to a broker, and what there is to do with it.
pub trait Broker: Sized + Sync {
    /// As in the names of variables.
    const NAME: &'static str;
    type Publisher: Publisher + Send + Sync + 'static;
    type Subscriber: Subscriber<Receipt: std::fmt::Debug + Send> + 'static;

    /// The broker at `host:port`.
    fn at(address: &str) -> impl Future<Output = Self> + Send;

    /// A topic that exists, and has so many partitions where there are such.
    fn make(&self, topic: &str, partitions: i32) -> impl Future<Output = ()> + Send;

    /// With so much time for a message.
    fn publisher(&self, timeout: Duration) -> Self::Publisher;

    /// Reads a topic from its beginning.
    fn subscriber(&self, topic: &str, tags: Tags) -> Self::Subscriber;

    /// The next subscriber of what this one has read: with Kafka, from where it was.
    fn successor(&self, topic: &str, of: &Self::Subscriber) -> Self::Subscriber;

    /// How many messages a subscriber has skipped.
    fn skipped(of: &Self::Subscriber) -> u64;
}

/// `topic`, on a broker that all tests share.
pub async fn topic<B: Broker>(broker: &B, partitions: i32) -> String {
    static STARTED: OnceLock<u128> = OnceLock::new();
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let started = STARTED.get_or_init(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let topic = format!("claimsmith-it.{started}-{}-{count}", std::process::id());
    broker.make(&topic, partitions).await;
    topic
}

pub struct Kafka {
    address: String,
}

impl Kafka {
    pub fn cluster(&self) -> KafkaCluster {
        KafkaCluster::new([self.address.as_str()])
    }
}

impl Broker for Kafka {
    const NAME: &'static str = "kafka";
    type Publisher = KafkaPublisher;
    type Subscriber = KafkaSubscriber;

    async fn at(address: &str) -> Kafka {
        Kafka { address: address.to_owned() }
    }

    async fn make(&self, topic: &str, partitions: i32) {
        let client = ClientBuilder::new(vec![self.address.clone()]).build().await.unwrap();
        client.controller_client().unwrap().create_topic(topic, partitions, 1, 5_000).await.unwrap();
    }

    fn publisher(&self, timeout: Duration) -> KafkaPublisher {
        KafkaPublisher::new(self.cluster()).with_timeout(timeout)
    }

    fn subscriber(&self, topic: &str, tags: Tags) -> KafkaSubscriber {
        KafkaSubscriber::new(self.cluster(), KafkaAssignment { tags, ..KafkaAssignment::new(topic) })
    }

    fn successor(&self, topic: &str, of: &KafkaSubscriber) -> KafkaSubscriber {
        let start = crate::rust::generated::kafka::KafkaStart::At(of.positions());
        KafkaSubscriber::new(self.cluster(), KafkaAssignment { start, ..KafkaAssignment::new(topic) })
    }

    fn skipped(of: &KafkaSubscriber) -> u64 {
        of.skipped()
    }
}

pub struct Nats {
    pub client: async_nats::Client,
}

impl Nats {
    pub fn context(&self) -> jetstream::Context {
        jetstream::new(self.client.clone())
    }

    /// What tests say of a consumer unless they say otherwise.
    pub fn consumer(topic: &str) -> NatsConsumer {
        NatsConsumer { ack_wait: ACK_WAIT, ..NatsConsumer::new(Nats::stream(topic), "it") }
    }

    /// The name of a topic's stream.
    pub fn stream(topic: &str) -> String {
        topic.replace('.', "_")
    }
}

impl Broker for Nats {
    const NAME: &'static str = "nats";
    type Publisher = NatsPublisher;
    type Subscriber = NatsSubscriber;

    async fn at(address: &str) -> Nats {
        let options = ConnectOptions::new().retry_on_initial_connect();
        let options = options.reconnect_delay_callback(|_| Duration::from_millis(50));
        let client = options.connect(format!("nats://{address}")).await.unwrap();
        let connected = || client.connection_state() == async_nats::connection::State::Connected;
        for _ in 0..50 {
            if connected() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Nats { client }
    }

    async fn make(&self, topic: &str, _: i32) {
        let config = jetstream::stream::Config {
            name: Nats::stream(topic),
            subjects: vec![topic.to_owned()],
            ..jetstream::stream::Config::default()
        };
        self.context().create_stream(config).await.unwrap();
    }

    fn publisher(&self, timeout: Duration) -> NatsPublisher {
        NatsPublisher::within(self.client.clone(), timeout)
    }

    fn subscriber(&self, topic: &str, tags: Tags) -> NatsSubscriber {
        NatsSubscriber::new(self.client.clone(), NatsConsumer { tags, ..Nats::consumer(topic) })
    }

    fn successor(&self, topic: &str, _: &NatsSubscriber) -> NatsSubscriber {
        NatsSubscriber::new(self.client.clone(), Nats::consumer(topic))
    }

    fn skipped(of: &NatsSubscriber) -> u64 {
        of.skipped()
    }
}

/// Runs a test to its end, which must come.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ended = runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await });
    runtime.shutdown_background();
    ended.expect("the test should have ended by now");
}

/// `on_brokers!(name)` makes a test for each broker of the function `async fn name<B: Broker>(broker: B)`, on the broker
/// that all tests share.
macro_rules! on_brokers {
    ($($name:ident),+ $(,)?) => { $(
        mod $name {
            $crate::brokers::lab::on_brokers!(@one $name kafka Kafka);
            $crate::brokers::lab::on_brokers!(@one $name nats Nats);
        }
    )+ };
    (@one $name:ident $function:ident $broker:ident) => {
        #[test]
        fn $function() {
            use $crate::brokers::lab::{Broker, $broker, run};
            let test = module_path!().split_once("::").map_or("", |(_, path)| path);
            if let Some(address) = $crate::brokers::server::shared($broker::NAME, test) {
                run(async { super::$name($broker::at(&address).await).await });
            }
        }
    };
}
pub(crate) use on_brokers;

/// A message with an id.
pub fn message(topic: &str, id: impl ToString) -> Message {
    let id = id.to_string();
    Message { payload: format!("payload of {id}").into_bytes(), topic: topic.to_owned(), id, ..Message::default() }
}

/// The next message, whatever goes wrong before: bounded by the time that the test has.
pub async fn next<S: Subscriber>(subscriber: &mut S) -> Delivery<S::Receipt> {
    loop {
        if let Ok(delivery) = subscriber.receive().await {
            return delivery.unwrap();
        }
    }
}

/// That nothing comes for a while.
pub async fn nothing<S: Subscriber>(subscriber: &mut S) {
    let received = tokio::time::timeout(Duration::from_millis(700), subscriber.receive()).await;
    if let Ok(delivery) = received {
        panic!("{:?}", delivery.map(|delivery| delivery.map(|delivery| delivery.message.id)));
    }
}

/// The ids of the next messages, each of which is handled.
pub async fn take<S: Subscriber>(subscriber: &mut S, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..count {
        let delivery = subscriber.receive().await.unwrap().unwrap();
        subscriber.ack(delivery.receipt).await.unwrap();
        ids.push(delivery.message.id);
    }
    ids
}

/// How a program retries what is not final: so often, with a wait that a test can afford.
pub async fn insist(publisher: &impl Publisher, message: &Message) -> Result<usize, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        match publisher.publish(message).await {
            Ok(()) => return Ok(tries),
            Err(error) if tries == 100 => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
