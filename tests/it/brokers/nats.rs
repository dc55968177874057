//! What NATS alone has: its memory of what was published, and consumers that it keeps.

use std::collections::BTreeSet;
use std::time::Duration;

use super::lab::{ACK_WAIT, Broker, Nats, message, next, nothing, run, take, topic};
use super::server::shared;
use crate::rust::generated::broker::{Message, PublishError, Publisher, Subscriber, Tags};
use crate::rust::generated::nats::{NatsConsumer, NatsStart, NatsSubscriber};

fn on_nats<F: Future<Output = ()>>(test: &str, body: impl FnOnce(Nats) -> F) {
    if let Some(address) = shared(Nats::NAME, test) {
        run(async { body(Nats::at(&address).await).await });
    }
}

#[test]
fn what_is_published_twice_is_stored_once() {
    on_nats("brokers::nats::what_is_published_twice_is_stored_once", |nats| async move {
        let topic = topic(&nats, 1).await;
        let publisher = nats.publisher(Duration::from_secs(5));
        for (attempt, id) in [(1, "one"), (2, "one"), (1, "two"), (3, "one")] {
            let again = Message { attempt: Some(attempt), ..message(&topic, id) };
            publisher.publish(&again).await.unwrap();
        }
        let mut stream = nats.context().get_stream(Nats::stream(&topic)).await.unwrap();
        assert_eq!(stream.info().await.unwrap().state.messages, 2);
        assert_eq!(take(&mut nats.subscriber(&topic, Tags::default()), 2).await, ["one", "two"]);
    });
}

/// Its row was published and put back: its limit of attempts is another one.
#[test]
fn what_is_to_come_once_more_is_stored_once_more() {
    on_nats("brokers::nats::what_is_to_come_once_more_is_stored_once_more", |nats| async move {
        let topic = topic(&nats, 1).await;
        let publisher = nats.publisher(Duration::from_secs(5));
        for most in [20, 20, 21, 21] {
            let again = Message { most_attempts: Some(most), ..message(&topic, "one") };
            publisher.publish(&again).await.unwrap();
        }
        let mut subscriber = nats.subscriber(&topic, Tags::default());
        assert_eq!(take(&mut subscriber, 2).await, ["one", "one"]);
        nothing(&mut subscriber).await;
    });
}

/// Ids are those of a topic, and a stream may hold several.
#[test]
fn the_same_id_in_two_topics_is_two_messages() {
    on_nats("brokers::nats::the_same_id_in_two_topics_is_two_messages", |nats| async move {
        let base = topic(&nats, 1).await;
        let subjects = [format!("{base}.a"), format!("{base}.b")];
        let config = async_nats::jetstream::stream::Config {
            name: format!("{}_both", Nats::stream(&base)),
            subjects: subjects.to_vec(),
            ..Default::default()
        };
        nats.context().create_stream(config.clone()).await.unwrap();
        let publisher = nats.publisher(Duration::from_secs(5));
        for subject in &subjects {
            publisher.publish(&message(subject, "one")).await.unwrap();
        }
        let both = NatsConsumer::new(&config.name, "both");
        let mut both = NatsSubscriber::new(nats.client.clone(), both);
        for subject in &subjects {
            assert_eq!(next(&mut both).await.message.topic, *subject);
        }
        let one = NatsConsumer { subject: Some(subjects[1].clone()), ..NatsConsumer::new(&config.name, "one") };
        let mut one = NatsSubscriber::new(nats.client.clone(), one);
        assert_eq!(next(&mut one).await.message.topic, subjects[1]);
        nothing(&mut one).await;
    });
}

#[test]
fn a_stream_says_what_is_too_large_and_when_it_is_full() {
    on_nats("brokers::nats::a_stream_says_what_is_too_large_and_when_it_is_full", |nats| async move {
        let base = topic(&nats, 1).await;
        let subject = format!("{base}.small");
        let config = async_nats::jetstream::stream::Config {
            name: format!("{}_small", Nats::stream(&base)),
            subjects: vec![subject.clone()],
            max_message_size: 1_000,
            max_messages: 1,
            discard: async_nats::jetstream::stream::DiscardPolicy::New,
            ..Default::default()
        };
        nats.context().create_stream(config).await.unwrap();
        let publisher = nats.publisher(Duration::from_secs(5));
        let large = Message { payload: vec![0; 2_000], ..message(&subject, "large") };
        let error = publisher.publish(&large).await.unwrap_err();
        assert!(matches!(error, PublishError::Permanent(_)), "{error}");
        let tag = Some("t".repeat(70_000));
        let error = publisher.publish(&Message { tag, ..message(&base, "headers") }).await.unwrap_err();
        assert!(matches!(error, PublishError::Permanent(_)), "{error}");
        publisher.publish(&message(&subject, 1)).await.unwrap();
        let error = publisher.publish(&message(&subject, 2)).await.unwrap_err();
        assert!(matches!(error, PublishError::Transient(_)), "{error}");
    });
}

#[test]
fn subscribers_of_one_name_share() {
    on_nats("brokers::nats::subscribers_of_one_name_share", |nats| async move {
        let topic = topic(&nats, 1).await;
        let publisher = nats.publisher(Duration::from_secs(5));
        let few = NatsConsumer { ahead: 1, ..Nats::consumer(&topic) };
        let mut pair = [0, 1].map(|_| NatsSubscriber::new(nats.client.clone(), few.clone()));
        for subscriber in &mut pair {
            nothing(subscriber).await;
        }
        for number in 0..40 {
            publisher.publish(&message(&topic, number)).await.unwrap();
        }
        let share = |mut subscriber: NatsSubscriber| async move {
            let mut ids = Vec::new();
            while let Ok(delivery) = tokio::time::timeout(ACK_WAIT * 2, subscriber.receive()).await {
                let delivery = delivery.unwrap().unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
                subscriber.ack(delivery.receipt).await.unwrap();
                ids.push(delivery.message.id);
            }
            ids
        };
        let [one, two] = pair;
        let (one, two) = tokio::join!(share(one), share(two));
        assert!(!one.is_empty() && !two.is_empty(), "{} and {}", one.len(), two.len());
        let all: BTreeSet<&String> = one.iter().chain(&two).collect();
        assert_eq!((one.len() + two.len(), all.len()), (40, 40));
    });
}

#[test]
fn as_many_messages_are_out_as_may_be() {
    on_nats("brokers::nats::as_many_messages_are_out_as_may_be", |nats| async move {
        let topic = topic(&nats, 1).await;
        let publisher = nats.publisher(Duration::from_secs(5));
        for number in 0..4 {
            publisher.publish(&message(&topic, number)).await.unwrap();
        }
        let what = NatsConsumer { max_ack_pending: 2, ack_wait: Duration::from_secs(60), ..Nats::consumer(&topic) };
        let mut subscriber = NatsSubscriber::new(nats.client.clone(), what);
        let (first, second) = (next(&mut subscriber).await, next(&mut subscriber).await);
        assert_eq!([&first.message.id, &second.message.id], ["0", "1"]);
        nothing(&mut subscriber).await;
        subscriber.ack(first.receipt).await.unwrap();
        assert_eq!(take(&mut subscriber, 2).await, ["2", "3"]);
        drop(second);
    });
}

#[test]
fn a_consumer_that_begins_with_the_latest() {
    on_nats("brokers::nats::a_consumer_that_begins_with_the_latest", |nats| async move {
        let topic = topic(&nats, 1).await;
        let publisher = nats.publisher(Duration::from_secs(5));
        publisher.publish(&message(&topic, "old")).await.unwrap();
        let what = NatsConsumer { start: NatsStart::Latest, ..Nats::consumer(&topic) };
        let mut subscriber = NatsSubscriber::new(nats.client.clone(), what);
        nothing(&mut subscriber).await;
        publisher.publish(&message(&topic, "new")).await.unwrap();
        assert_eq!(take(&mut subscriber, 1).await, ["new"]);
    });
}

/// It is made again, and begins where the definition says.
#[test]
fn a_consumer_that_somebody_deletes_is_made_again() {
    on_nats("brokers::nats::a_consumer_that_somebody_deletes_is_made_again", |nats| async move {
        let topic = topic(&nats, 1).await;
        let publisher = nats.publisher(Duration::from_secs(5));
        publisher.publish(&message(&topic, 1)).await.unwrap();
        let mut subscriber = nats.subscriber(&topic, Tags::default());
        assert_eq!(take(&mut subscriber, 1).await, ["1"]);
        let stream = nats.context().get_stream(Nats::stream(&topic)).await.unwrap();
        stream.delete_consumer("it").await.unwrap();
        let error = subscriber.receive().await.map(drop).unwrap_err().to_string();
        assert!(!error.is_empty());
        assert_eq!(take(&mut subscriber, 1).await, ["1"]);
    });
}

#[test]
fn messages_of_other_programs() {
    on_nats("brokers::nats::messages_of_other_programs", |nats| async move {
        let topic = topic(&nats, 1).await;
        let mut headers = async_nats::HeaderMap::new();
        headers.append("tag", "first");
        headers.append("tag", "50 % off");
        headers.insert("other", "");
        let context = nats.context();
        context.publish(topic.clone(), "plain".into()).await.unwrap().await.unwrap();
        context.publish_with_headers(topic.clone(), headers, "tagged".into()).await.unwrap().await.unwrap();
        let mut subscriber = nats.subscriber(&topic, Tags::default());
        let plain = Message { id: "1".into(), topic: topic.clone(), payload: b"plain".into(), ..Message::default() };
        assert_eq!(next(&mut subscriber).await.message, plain);
        let tag = Some("50 % off".into());
        let tagged = Message { id: "2".into(), payload: b"tagged".into(), tag, ..plain };
        assert_eq!(next(&mut subscriber).await.message, tagged);
    });
}
