//! What Kafka alone has: partitions, and positions that the program keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rskafka::client::ClientBuilder;
use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::record::Record;

use super::lab::{Broker, Kafka, message, next, nothing, run, take, topic};
use super::server::shared;
use crate::rust::generated::broker::{Message, Publisher, Subscriber, Tags};
use crate::rust::generated::kafka::{KafkaAssignment, KafkaStart, KafkaSubscriber};

fn on_kafka<F: Future<Output = ()>>(test: &str, body: impl FnOnce(Kafka, String) -> F) {
    if let Some(address) = shared(Kafka::NAME, test) {
        run(async { body(Kafka::at(&address).await, address.clone()).await });
    }
}

/// The partitions that Java's producers choose, by their published hashes: `toPositive(murmur2(key)) % partitions`.
#[test]
fn a_key_goes_where_other_producers_put_it() {
    let hashes = [
        ("21", -973_932_308),
        ("foobar", -790_332_482),
        ("a-little-bit-long-string", -985_981_536),
        ("a-little-bit-longer-string", -1_486_304_829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
        ("abc", 479_470_107),
    ];
    on_kafka("brokers::kafka::a_key_goes_where_other_producers_put_it", |kafka, _| async move {
        const PARTITIONS: i32 = 7;
        let topic = topic(&kafka, PARTITIONS).await;
        let publisher = kafka.publisher(Duration::from_secs(5));
        let mut expected: BTreeMap<i32, i64> = (0..PARTITIONS).map(|id| (id, 0)).collect();
        for (key, hash) in hashes {
            let keyed = Message { key: Some(key.to_owned()), ..message(&topic, key) };
            publisher.publish(&keyed).await.unwrap();
            *expected.get_mut(&((hash & 0x7fff_ffff) % PARTITIONS)).unwrap() += 1;
        }
        let mut subscriber = kafka.subscriber(&topic, Tags::default());
        take(&mut subscriber, hashes.len()).await;
        nothing(&mut subscriber).await;
        assert_eq!(subscriber.positions(), expected);
    });
}

#[test]
fn messages_without_a_key_take_all_partitions() {
    on_kafka("brokers::kafka::messages_without_a_key_take_all_partitions", |kafka, _| async move {
        let topic = topic(&kafka, 3).await;
        let publisher = kafka.publisher(Duration::from_secs(5));
        for number in 0..9 {
            publisher.publish(&message(&topic, number)).await.unwrap();
        }
        let mut subscriber = kafka.subscriber(&topic, Tags::default());
        take(&mut subscriber, 9).await;
        assert_eq!(subscriber.positions(), BTreeMap::from([(0, 3), (1, 3), (2, 3)]));
    });
}

#[test]
fn a_position_stays_at_the_oldest_message_that_is_open() {
    on_kafka("brokers::kafka::a_position_stays_at_the_oldest_message_that_is_open", |kafka, _| async move {
        let topic = topic(&kafka, 1).await;
        let publisher = kafka.publisher(Duration::from_secs(5));
        for number in 0..5 {
            publisher.publish(&message(&topic, number)).await.unwrap();
        }
        let mut subscriber = kafka.subscriber(&topic, Tags::default());
        assert!(subscriber.positions().is_empty());
        let mut receipts = Vec::new();
        for number in 0..4 {
            let delivery = next(&mut subscriber).await;
            assert_eq!(delivery.message.id, number.to_string());
            receipts.push(Some(delivery.receipt));
        }
        let position = |subscriber: &KafkaSubscriber| subscriber.positions()[&0];
        assert_eq!(position(&subscriber), 0);
        for (handled, then) in [(1, 0), (0, 2), (3, 2)] {
            subscriber.ack(receipts[handled].take().unwrap()).await.unwrap();
            assert_eq!(position(&subscriber), then, "after {handled}");
        }
        // The next one begins with what is open, even if that was handled beyond.
        let mut successor = kafka.successor(&topic, &subscriber);
        assert_eq!(take(&mut successor, 3).await, ["2", "3", "4"]);
        assert_eq!(position(&successor), 5);
        // The first one gets back what it drops, but nothing that it has handled.
        receipts.clear();
        assert_eq!(take(&mut subscriber, 2).await, ["2", "4"]);
        assert_eq!(position(&subscriber), 5);
        // A receipt is for the subscriber that gave it.
        publisher.publish(&message(&topic, 5)).await.unwrap();
        let delivery = next(&mut subscriber).await;
        successor.ack(delivery.receipt).await.unwrap_err();
        assert_eq!(position(&successor), 5);
        assert_eq!(take(&mut subscriber, 1).await, ["5"]);
    });
}

#[test]
fn as_many_messages_are_out_as_may_be() {
    on_kafka("brokers::kafka::as_many_messages_are_out_as_may_be", |kafka, _| async move {
        let topic = topic(&kafka, 1).await;
        let publisher = kafka.publisher(Duration::from_secs(5));
        for number in 0..6 {
            publisher.publish(&message(&topic, number)).await.unwrap();
        }
        let what = KafkaAssignment { max_open: 3, ..KafkaAssignment::new(&topic) };
        let mut subscriber = KafkaSubscriber::new(kafka.cluster(), what);
        let mut out = Vec::new();
        for _ in 0..3 {
            out.push(next(&mut subscriber).await);
        }
        nothing(&mut subscriber).await;
        // One that is dropped while the subscriber waits comes again, and makes no room for others.
        let dropped = out.pop().unwrap();
        let (again, ()) = tokio::join!(next(&mut subscriber), async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            drop(dropped);
        });
        assert_eq!(again.message.id, "2");
        nothing(&mut subscriber).await;
        for delivery in out.into_iter().chain([again]) {
            subscriber.ack(delivery.receipt).await.unwrap();
        }
        assert_eq!(take(&mut subscriber, 3).await, ["3", "4", "5"]);
    });
}

#[test]
fn the_latest_and_partitions_of_ones_own() {
    on_kafka("brokers::kafka::the_latest_and_partitions_of_ones_own", |kafka, _| async move {
        let topic = topic(&kafka, 2).await;
        let publisher = kafka.publisher(Duration::from_secs(5));
        // Without keys, they take turns.
        for id in ["old 0", "old 1"] {
            publisher.publish(&message(&topic, id)).await.unwrap();
        }
        let latest = KafkaAssignment { start: KafkaStart::Latest, ..KafkaAssignment::new(&topic) };
        let mut latest = KafkaSubscriber::new(kafka.cluster(), latest);
        nothing(&mut latest).await;
        assert_eq!(latest.positions(), BTreeMap::from([(0, 1), (1, 1)]));
        for id in ["new 0", "new 1"] {
            publisher.publish(&message(&topic, id)).await.unwrap();
        }
        let came: BTreeSet<String> = take(&mut latest, 2).await.into_iter().collect();
        assert_eq!(came, BTreeSet::from(["new 0".to_owned(), "new 1".to_owned()]));
        let one = KafkaAssignment {
            partitions: Some(vec![1]),
            start: KafkaStart::At(BTreeMap::from([(0, 1), (1, 1)])),
            ..KafkaAssignment::new(&topic)
        };
        let mut one = KafkaSubscriber::new(kafka.cluster(), one);
        assert_eq!(take(&mut one, 1).await, ["new 1"]);
        nothing(&mut one).await;
        let missing = KafkaAssignment { partitions: Some(vec![2]), ..KafkaAssignment::new(&topic) };
        let missing = KafkaSubscriber::new(kafka.cluster(), missing).receive().await.map(drop).unwrap_err();
        assert!(missing.to_string().contains("no partition 2"), "{missing}");
    });
}

/// Further than the topic goes: its messages were deleted, or it is another one by now.
#[test]
fn an_offset_that_there_is_not_is_an_error_once() {
    on_kafka("brokers::kafka::an_offset_that_there_is_not_is_an_error_once", |kafka, _| async move {
        let topic = topic(&kafka, 1).await;
        let publisher = kafka.publisher(Duration::from_secs(5));
        publisher.publish(&message(&topic, 1)).await.unwrap();
        let start = KafkaStart::At(BTreeMap::from([(0, 17)]));
        let beyond = KafkaAssignment { start, ..KafkaAssignment::new(&topic) };
        let mut subscriber = KafkaSubscriber::new(kafka.cluster(), beyond);
        let error = subscriber.receive().await.map(drop).unwrap_err().to_string();
        assert!(error.contains("is read from its oldest message on"), "{error}");
        assert_eq!(take(&mut subscriber, 1).await, ["1"]);
    });
}

/// Many messages at once, without headers and without content.
#[test]
fn messages_of_other_programs() {
    on_kafka("brokers::kafka::messages_of_other_programs", |kafka, address| async move {
        let topic = topic(&kafka, 1).await;
        let client = ClientBuilder::new(vec![address]).build().await.unwrap();
        let partition = client.partition_client(&topic, 0, UnknownTopicHandling::Error).await.unwrap();
        let record = |number: u8| Record {
            key: Some(vec![0xff, number]),
            value: (number != 1).then(|| vec![number]),
            headers: BTreeMap::from([("tag".to_owned(), vec![b't', 0xff]), ("other".to_owned(), Vec::new())]),
            timestamp: Default::default(),
        };
        partition.produce((0..50).map(record).collect(), Compression::NoCompression).await.unwrap();
        let mut subscriber = kafka.subscriber(&topic, Tags::default());
        for number in 0..50 {
            let delivery = next(&mut subscriber).await;
            let expected = Message {
                id: format!("0/{number}"),
                topic: topic.clone(),
                key: Some(format!("\u{fffd}{}", number as char)),
                tag: Some("t\u{fffd}".to_owned()),
                payload: if number == 1 { Vec::new() } else { vec![number] },
                ..Message::default()
            };
            assert_eq!(delivery.message, expected);
            subscriber.ack(delivery.receipt).await.unwrap();
        }
        assert_eq!(subscriber.positions(), BTreeMap::from([(0, 50)]));
        // From the midst of what was written at once.
        let start = KafkaStart::At(BTreeMap::from([(0, 30)]));
        let rest = KafkaAssignment { start, ..KafkaAssignment::new(&topic) };
        let mut rest = KafkaSubscriber::new(kafka.cluster(), rest);
        assert_eq!(take(&mut rest, 20).await[0], "0/30");
    });
}
