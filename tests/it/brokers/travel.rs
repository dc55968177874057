//! What a message is at the other end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::lab::{ACK_WAIT, Broker, message, nothing, on_brokers, take, topic};
use crate::rust::generated::broker::{Message, PublishError, Publisher, Subscriber, Tags};

const SECONDS: Duration = Duration::from_secs(5);

on_brokers!(
    a_message_comes_as_it_went,
    what_is_too_large_or_has_no_place_is_permanent,
    a_topic_that_is_not_there_yet_is_transient,
    a_key_keeps_its_order,
    a_message_that_is_not_handled_comes_again,
    tags_choose_messages,
    dropping_a_future_loses_nothing,
    a_probe_asks_the_broker,
);

async fn a_message_comes_as_it_went<B: Broker>(broker: B) {
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(SECONDS);
    let full = Message {
        id: "wallet\u{1f}17".into(),
        topic: topic.clone(),
        key: Some("key of é 漢".into()),
        tag: Some("domain.resource.action".into()),
        event_type: Some("type".into()),
        attempt: Some(2),
        most_attempts: Some(20),
        payload: br#"{"amount": 1}"#.into(),
    };
    let bytes: Vec<u8> = (0..=255).collect();
    let sent = [
        full.clone(),
        message(&topic, "plain"),
        Message { payload: Vec::new(), ..message(&topic, "empty") },
        Message { payload: bytes.repeat(3_516), ..message(&topic, "900 kB of every byte") },
        Message { tag: Some(String::new()), key: Some(String::new()), ..message(&topic, "empty texts") },
        Message {
            tag: Some("100%, %41 and %".into()),
            key: Some("two\r\nlines\0".into()),
            event_type: Some("a: b".into()),
            ..message(&topic, " \u{3000}spaces around\t ")
        },
        Message { attempt: Some(i64::MIN), most_attempts: Some(i64::MAX), ..message(&topic, "limits") },
    ];
    for message in &sent {
        publisher.publish(message).await.unwrap();
    }
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    for message in sent {
        let delivery = subscriber.receive().await.unwrap().unwrap();
        assert_eq!(delivery.message, message);
        subscriber.ack(delivery.receipt).await.unwrap();
    }
    nothing(&mut subscriber).await;
}

async fn what_is_too_large_or_has_no_place_is_permanent<B: Broker>(broker: B) {
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(SECONDS);
    let large = Message { payload: vec![7; 1_100_000], ..message(&topic, "large") };
    let topics = ["", "two words", "line\n", ".."];
    let mut wrong: Vec<Message> = topics.iter().map(|topic| message(topic, "nowhere")).collect();
    wrong.push(large);
    for message in wrong {
        let error = publisher.publish(&message).await.unwrap_err();
        assert!(matches!(error, PublishError::Permanent(_)), "{:?}: {error}", message.topic);
    }
    // And it goes on as if nothing had been.
    publisher.publish(&message(&topic, "small")).await.unwrap();
    assert_eq!(take(&mut broker.subscriber(&topic, Tags::default()), 1).await, ["small"]);
}

async fn a_topic_that_is_not_there_yet_is_transient<B: Broker>(broker: B) {
    let later = format!("{}-later", topic(&broker, 1).await);
    let publisher = broker.publisher(SECONDS);
    let error = publisher.publish(&message(&later, 1)).await.unwrap_err();
    assert!(matches!(error, PublishError::Transient(_)), "{error}");
    let mut subscriber = broker.subscriber(&later, Tags::default());
    subscriber.receive().await.map(|delivery| delivery.map(|delivery| delivery.message)).unwrap_err();
    broker.make(&later, 1).await;
    publisher.publish(&message(&later, 1)).await.unwrap();
    assert_eq!(take(&mut subscriber, 1).await, ["1"]);
}

async fn a_key_keeps_its_order<B: Broker>(broker: B) {
    const KEYS: usize = 6;
    const EACH: usize = 20;
    let topic = topic(&broker, 3).await;
    let publisher = broker.publisher(SECONDS);
    for number in 0..KEYS * EACH {
        let key = Some(format!("key {}", number % KEYS));
        publisher.publish(&Message { key, ..message(&topic, number) }).await.unwrap();
    }
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    let mut by_key: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for _ in 0..KEYS * EACH {
        let delivery = subscriber.receive().await.unwrap().unwrap();
        by_key.entry(delivery.message.key.unwrap()).or_default().push(delivery.message.id.parse().unwrap());
        subscriber.ack(delivery.receipt).await.unwrap();
    }
    assert_eq!(by_key.len(), KEYS);
    for numbers in by_key.values() {
        assert_eq!(numbers.len(), EACH);
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}

async fn a_message_that_is_not_handled_comes_again<B: Broker>(broker: B) {
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(SECONDS);
    for number in 0..3 {
        publisher.publish(&message(&topic, number)).await.unwrap();
    }
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    assert_eq!(take(&mut subscriber, 1).await, ["0"]);
    // Its receipt is dropped, and the message after it is handled meanwhile or not.
    assert_eq!(subscriber.receive().await.unwrap().unwrap().message.id, "1");
    let mut again: Vec<String> = take(&mut subscriber, 2).await;
    again.sort();
    assert_eq!(again, ["1", "2"]);
    nothing(&mut subscriber).await;

    // It comes to the next subscriber, where the first one ends with it.
    publisher.publish(&message(&topic, 3)).await.unwrap();
    let delivery = subscriber.receive().await.unwrap().unwrap();
    assert_eq!(delivery.message.id, "3");
    let mut next = broker.successor(&topic, &subscriber);
    drop(subscriber);
    drop(delivery);
    assert_eq!(take(&mut next, 1).await, ["3"]);
    tokio::time::sleep(ACK_WAIT).await;
    nothing(&mut next).await;
}

async fn tags_choose_messages<B: Broker>(broker: B) {
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(SECONDS);
    for (id, tag) in [("1", Some("one")), ("2", None), ("3", Some("two")), ("4", Some("three")), ("5", Some("one"))] {
        publisher.publish(&Message { tag: tag.map(str::to_owned), ..message(&topic, id) }).await.unwrap();
    }
    let mut subscriber = broker.subscriber(&topic, Tags(&["one", "three"]));
    assert_eq!(take(&mut subscriber, 3).await, ["1", "4", "5"]);
    nothing(&mut subscriber).await;
    assert_eq!(B::skipped(&subscriber), 2);
    // Those that were skipped are done, too.
    let mut next = broker.successor(&topic, &subscriber);
    tokio::time::sleep(ACK_WAIT).await;
    nothing(&mut next).await;
}

/// Whoever waits for something else beside does so.
async fn dropping_a_future_loses_nothing<B: Broker>(broker: B) {
    let topic = topic(&broker, 2).await;
    let publisher = broker.publisher(SECONDS);
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    let mut received = BTreeSet::new();
    let mut impatience = 0;
    for number in 0..60_u64 {
        let sent = message(&topic, number);
        // Cut off at any time, and then published until it is.
        let cut = tokio::time::timeout(Duration::from_micros(number * 40), publisher.publish(&sent)).await;
        if cut.is_err() {
            publisher.publish(&sent).await.unwrap();
        }
    }
    while received.len() < 60 {
        impatience = (impatience + 1) % 10;
        let patience = Duration::from_micros(1 << impatience);
        if let Ok(delivery) = tokio::time::timeout(patience, subscriber.receive()).await {
            let delivery = delivery.unwrap().unwrap();
            subscriber.ack(delivery.receipt).await.unwrap();
            received.insert(delivery.message.id);
        }
    }
}

async fn a_probe_asks_the_broker<B: Broker>(broker: B) {
    broker.publisher(SECONDS).probe().await.unwrap();
    let nowhere = B::at("127.0.0.1:9").await;
    let publisher = nowhere.publisher(SECONDS);
    for error in [publisher.probe().await, publisher.publish(&message("t", 1)).await] {
        let error = error.unwrap_err();
        assert!(matches!(error, PublishError::Transient(_)), "{error}");
    }
    let mut subscriber = nowhere.subscriber("t", Tags::default());
    for _ in 0..3 {
        let came = subscriber.receive().await.map(|delivery| delivery.map(|delivery| delivery.message));
        came.unwrap_err();
    }
}
