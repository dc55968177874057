//! Brokers that are slow, that cannot be reached, and that are killed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::lab::{Broker, Kafka, Nats, insist, message, next, nothing, run, take, topic};
use super::proxy::{Proxy, Weather};
use super::server::{Private, shared};
use crate::rust::generated::broker::{PublishError, Publisher, Subscriber, Tags};

/// A broker behind a proxy. Kafka's clients go where the broker says that it is, so it must be one that says the proxy.
async fn behind_proxy(name: &str, test: &str) -> Option<(Proxy, Option<Private>)> {
    let proxy = Proxy::new().await;
    let advertised = format!("tcp://{}", proxy.address());
    let own = match name {
        Kafka::NAME => Some(Private::start(name, test, &["--advertised-listener-url", &advertised])?),
        _ => None,
    };
    let address = match &own {
        Some(private) => private.address(),
        None => shared(name, test)?,
    };
    proxy.lead_to(&address);
    Some((proxy, own))
}

/// `behind_proxy!(name)` makes a test for each broker of `async fn name<B: Broker>(broker: B, proxy: Proxy)`.
macro_rules! behind_proxy {
    ($($name:ident),+ $(,)?) => { $(
        mod $name {
            behind_proxy!(@one $name kafka Kafka);
            behind_proxy!(@one $name nats Nats);
        }
    )+ };
    (@one $name:ident $function:ident $broker:ident) => {
        #[test]
        fn $function() {
            use $crate::brokers::lab::{Broker, $broker, run};
            let test = module_path!().split_once("::").map_or("", |(_, path)| path);
            run(async {
                if let Some((proxy, _own)) = super::behind_proxy($broker::NAME, test).await {
                    let broker = $broker::at(proxy.address()).await;
                    super::$name(broker, proxy).await;
                }
            });
        }
    };
}

behind_proxy!(
    a_slow_broker_is_waited_for,
    a_cut_after_sending_is_unknown,
    a_broker_that_does_not_answer_is_unknown_once_it_has_the_message,
    a_subscriber_outlives_cuts,
    who_waits_asks_seldom,
);

async fn a_slow_broker_is_waited_for<B: Broker>(broker: B, proxy: Proxy) {
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(Duration::from_secs(5));
    publisher.publish(&message(&topic, 1)).await.unwrap();
    let delay = Duration::from_millis(200);
    proxy.set(Weather::Slow(delay));
    let begin = Instant::now();
    publisher.publish(&message(&topic, 2)).await.unwrap();
    assert!(begin.elapsed() >= delay * 2, "{:?}", begin.elapsed());
    assert_eq!(take(&mut broker.subscriber(&topic, Tags::default()), 2).await, ["1", "2"]);
}

async fn a_cut_after_sending_is_unknown<B: Broker>(broker: B, proxy: Proxy) {
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(Duration::from_secs(5));
    publisher.publish(&message(&topic, 1)).await.unwrap();
    proxy.set(Weather::CutAfterSend);
    let begin = Instant::now();
    let error = publisher.publish(&message(&topic, 2)).await.unwrap_err();
    assert!(matches!(error, PublishError::Unknown(_)), "{error}");
    // It is noticed, not waited for.
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    // While it cannot connect, nothing is sent.
    let error = publisher.publish(&message(&topic, 3)).await.unwrap_err();
    assert!(matches!(error, PublishError::Transient(_)), "{error}");
    proxy.set(Weather::Fair);
    for id in [2, 3] {
        insist(&publisher, &message(&topic, id)).await.unwrap();
    }
    // The second one was there, and has come twice where nothing keeps it from that.
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    let mut came = take(&mut subscriber, 2).await;
    while came.last().unwrap() != "3" {
        came.extend(take(&mut subscriber, 1).await);
    }
    came.dedup();
    assert_eq!(came, ["1", "2", "3"]);
}

async fn a_broker_that_does_not_answer_is_unknown_once_it_has_the_message<B: Broker>(broker: B, proxy: Proxy) {
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(Duration::from_secs(1));
    publisher.publish(&message(&topic, 1)).await.unwrap();
    proxy.set(Weather::Silent);
    let begin = Instant::now();
    let error = publisher.publish(&message(&topic, 2)).await.unwrap_err();
    assert!(matches!(error, PublishError::Unknown(_)), "{error}");
    // Neither is known whether there is a broker at all.
    let error = publisher.probe().await.unwrap_err();
    assert!(matches!(error, PublishError::Transient(_)), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    proxy.set(Weather::Fair);
    insist(&publisher, &message(&topic, 2)).await.unwrap();
    publisher.probe().await.unwrap();
    let came: BTreeSet<String> = take(&mut broker.subscriber(&topic, Tags::default()), 2).await.into_iter().collect();
    assert_eq!(came, BTreeSet::from(["1".to_owned(), "2".to_owned()]));
}

async fn a_subscriber_outlives_cuts<B: Broker>(broker: B, proxy: Proxy) {
    let topic = topic(&broker, 2).await;
    let publisher = broker.publisher(Duration::from_secs(2));
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    let mut came = BTreeSet::new();
    for round in 0..3 {
        for number in 0..10 {
            insist(&publisher, &message(&topic, round * 10 + number)).await.unwrap();
        }
        while came.len() < round * 10 + 5 {
            let delivery = next(&mut subscriber).await;
            if subscriber.ack(delivery.receipt).await.is_ok() {
                came.insert(delivery.message.id);
            }
        }
        proxy.set(Weather::CutAfterSend);
        let received = tokio::time::timeout(Duration::from_millis(400), async {
            loop {
                match subscriber.receive().await {
                    Ok(delivery) => drop(delivery),
                    Err(error) => return error,
                }
            }
        });
        // Whether or not it has seen one: it goes on.
        _ = received.await;
        proxy.set(Weather::Fair);
    }
    while came.len() < 30 {
        let delivery = next(&mut subscriber).await;
        if subscriber.ack(delivery.receipt).await.is_ok() {
            came.insert(delivery.message.id);
        }
    }
}

/// Neither a broker without messages nor a program without work keeps a processor busy.
async fn who_waits_asks_seldom<B: Broker>(broker: B, proxy: Proxy) {
    let topic = topic(&broker, 1).await;
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    nothing(&mut subscriber).await;
    let before = proxy.sent();
    nothing(&mut subscriber).await;
    nothing(&mut subscriber).await;
    let sent = proxy.sent() - before;
    assert!(sent < 10, "{sent} requests");
    // Nor does one without a broker.
    proxy.lead_to("127.0.0.1:9");
    proxy.break_connections();
    let begin = Instant::now();
    let mut errors = 0;
    while begin.elapsed() < Duration::from_millis(2_000) {
        if let Ok(Err(_)) = tokio::time::timeout(Duration::from_millis(1_000), subscriber.receive()).await {
            errors += 1;
        }
    }
    assert!((1..10).contains(&errors), "{errors} errors");
}

/// Kafka closes connections that are idle for ten minutes.
#[test]
fn an_idle_connection_that_has_died_is_no_failure() {
    let test = "brokers::outages::an_idle_connection_that_has_died_is_no_failure";
    run(async {
        let Some((proxy, _own)) = behind_proxy(Kafka::NAME, test).await else { return };
        let kafka = Kafka::at(proxy.address()).await;
        let topic = topic(&kafka, 2).await;
        let publisher = kafka.publisher(Duration::from_secs(5));
        let mut sent = BTreeSet::new();
        for round in 0..3 {
            for number in 0..3 {
                let id = format!("{round}.{number}");
                publisher.publish(&message(&topic, &id)).await.unwrap();
                sent.insert(id);
            }
            proxy.break_connections();
            // As long as the client needs to hear of it, or not even that.
            tokio::time::sleep(Duration::from_millis(50 * round)).await;
        }
        let mut subscriber = kafka.subscriber(&topic, Tags::default());
        let mut came = BTreeSet::new();
        while came.len() < sent.len() {
            came.extend(take(&mut subscriber, 1).await);
        }
        assert_eq!(came, sent);
    });
}

/// `killed!(name)` makes a test for each broker of `async fn name<B: Broker>(broker: B, private: Private)`.
macro_rules! killed {
    ($name:ident: $($function:ident $broker:ident),+) => {
        mod $name { $(
            #[test]
            fn $function() {
                use $crate::brokers::lab::{Broker, $broker, run};
                let test = module_path!().split_once("::").map_or("", |(_, path)| path);
                if let Some(private) = super::Private::start($broker::NAME, test, &[]) {
                    run(async move { super::$name($broker::at(&private.address()).await, private).await });
                }
            }
        )+ }
    };
}

killed!(a_broker_is_killed_and_comes_back: kafka Kafka, nats Nats);

/// Publisher and subscriber go on with the broker that comes back. NATS has on its disk what it has acknowledged: all comes.
/// This Kafka has it in memory and begins at 0 again: what was not read yet is gone, as with a topic that was deleted, and
/// what is published from then on comes.
async fn a_broker_is_killed_and_comes_back<B: Broker>(broker: B, mut private: Private) {
    let forgets = B::NAME == Kafka::NAME;
    let topic = topic(&broker, 1).await;
    let publisher = broker.publisher(Duration::from_secs(2));
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    let mut sent = BTreeSet::new();
    let mut came = BTreeSet::new();
    for round in 0..2 {
        for number in 0..20 {
            let id = format!("{round}.{number}");
            insist(&publisher, &message(&topic, &id)).await.unwrap();
            sent.insert(id);
        }
        for _ in 0..10 {
            let delivery = next(&mut subscriber).await;
            if subscriber.ack(delivery.receipt).await.is_ok() {
                came.insert(delivery.message.id);
            }
        }
        private.kill();
        let down = message(&topic, "down");
        let error = publisher.publish(&down).await.unwrap_err();
        assert!(!matches!(error, PublishError::Permanent(_)), "{error}");
        for error in [publisher.publish(&down).await, publisher.probe().await] {
            let error = error.unwrap_err();
            assert!(matches!(error, PublishError::Transient(_)), "{error}");
        }
        if forgets {
            // What it has fetched by then is still to come, and after that the broker is missed.
            let missed = async { while subscriber.receive().await.is_ok() {} };
            tokio::time::timeout(Duration::from_secs(5), missed).await.unwrap();
            sent.retain(|id| came.contains(id));
        }
        private.revive();
        if forgets {
            broker.make(&topic, 1).await;
            // It must see that the topic is another one while it is shorter than what it has read: later it cannot.
            let begins_again = async {
                loop {
                    match subscriber.receive().await {
                        Err(error) if error.to_string().contains("oldest") => return,
                        _ => {}
                    }
                }
            };
            tokio::time::timeout(Duration::from_secs(5), begins_again).await.unwrap();
        }
    }
    insist(&publisher, &message(&topic, "last")).await.unwrap();
    sent.insert("last".to_owned());
    while !sent.is_subset(&came) {
        let delivery = next(&mut subscriber).await;
        if subscriber.ack(delivery.receipt).await.is_ok() {
            came.insert(delivery.message.id);
        }
    }
}

killed!(a_broker_is_killed_in_the_midst_of_it: kafka Kafka, nats Nats);

/// While one publishes and another reads. What NATS has acknowledged comes without more ado; what this Kafka has forgotten
/// is published again, as whoever has the rows does with those that were published long ago and never consumed.
async fn a_broker_is_killed_in_the_midst_of_it<B: Broker>(broker: B, mut private: Private) {
    const COUNT: usize = 300;
    let forgets = B::NAME == Kafka::NAME;
    let topic = topic(&broker, 2).await;
    let publisher = broker.publisher(Duration::from_secs(1));
    let mut subscriber = broker.subscriber(&topic, Tags::default());
    let came = Arc::new(Mutex::new(BTreeSet::<usize>::new()));
    let seen = came.clone();
    let reads = tokio::spawn(async move {
        loop {
            let delivery = next(&mut subscriber).await;
            if subscriber.ack(delivery.receipt).await.is_ok() {
                seen.lock().unwrap().insert(delivery.message.id.parse().unwrap());
            }
        }
    });
    let missing = || -> Vec<usize> {
        let came = came.lock().unwrap();
        (0..COUNT).filter(|number| !came.contains(number)).collect()
    };
    let publishes = async {
        for number in 0..COUNT {
            insist(&publisher, &message(&topic, number)).await.unwrap();
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    let kills = async {
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(250)).await;
            private.kill();
            tokio::time::sleep(Duration::from_millis(100)).await;
            tokio::task::block_in_place(|| private.revive());
            if forgets {
                broker.make(&topic, 2).await;
            }
        }
    };
    tokio::join!(publishes, kills);
    while !missing().is_empty() {
        tokio::time::sleep(Duration::from_millis(500)).await;
        for number in missing().into_iter().filter(|_| forgets) {
            insist(&publisher, &message(&topic, number)).await.unwrap();
        }
    }
    reads.abort();
}

/// Nobody listens there.
#[test]
fn what_cannot_connect_is_transient_and_quick() {
    run(async {
        let kafka = Kafka::at("127.0.0.1:9").await.publisher(Duration::from_secs(5));
        let nats = Nats::at("127.0.0.1:9").await.publisher(Duration::from_secs(5));
        let begin = Instant::now();
        for error in [kafka.publish(&message("t", 1)).await, nats.publish(&message("t", 1)).await] {
            let error = error.unwrap_err();
            assert!(matches!(error, PublishError::Transient(_)), "{error}");
        }
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    });
}
