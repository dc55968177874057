//! How consumers read from each broker.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::brokers::lab::{Broker, Kafka, Nats};
use crate::rust::generated::broker::{Delivery, Error, Subscriber};
use crate::rust::generated::kafka::{KafkaAssignment, KafkaReceipt, KafkaStart, KafkaSubscriber};
use crate::rust::generated::nats::{NatsConsumer, NatsSubscriber};

use super::{PARTITIONS, TOPIC};

pub trait Reads: Broker {
    type Reader: Subscriber;

    /// What the consumer of this number reads, which may keep its position in the folder.
    fn reader(&self, nth: usize, folder: &str) -> Self::Reader;
}

impl Reads for Nats {
    type Reader = NatsSubscriber;

    /// All consumers share one durable, as its documentation wants it where messages are in order.
    fn reader(&self, _: usize, _: &str) -> NatsSubscriber {
        let ack_wait = Duration::from_secs(2);
        let consumer = NatsConsumer::new(Nats::stream(TOPIC), "keeper");
        NatsSubscriber::new(self.client.clone(), NatsConsumer { ack_wait, max_ack_pending: 1, ..consumer })
    }
}

impl Reads for Kafka {
    type Reader = Positioned;

    /// Each consumer has a partition of its own, and goes on where the one before it was.
    fn reader(&self, nth: usize, folder: &str) -> Positioned {
        let partition = nth as i32 % PARTITIONS;
        let file = PathBuf::from(folder).join(format!("position-{partition}.json"));
        let start = match std::fs::read(&file) {
            Ok(text) => KafkaStart::At(serde_json::from_slice(&text).unwrap()),
            Err(_) => KafkaStart::Earliest,
        };
        let timeout = Duration::from_secs(2);
        let partitions = Some(vec![partition]);
        let what = KafkaAssignment { partitions, start, timeout, ..KafkaAssignment::new(TOPIC) };
        Positioned { inner: KafkaSubscriber::new(self.cluster(), what), file }
    }
}

/// Keeps the position after each message, which is later than its transaction: some come again after a kill.
pub struct Positioned {
    inner: KafkaSubscriber,
    file: PathBuf,
}

impl Subscriber for Positioned {
    type Receipt = KafkaReceipt;

    async fn receive(&mut self) -> Result<Option<Delivery<KafkaReceipt>>, Error> {
        self.inner.receive().await
    }

    async fn ack(&mut self, receipt: KafkaReceipt) -> Result<(), Error> {
        self.inner.ack(receipt).await?;
        let positions: BTreeMap<i32, i64> = self.inner.positions();
        // Never half a file, whenever the process is killed.
        let new = self.file.with_extension(format!("{}.new", std::process::id()));
        std::fs::write(&new, serde_json::to_vec(&positions)?)?;
        Ok(std::fs::rename(new, &self.file)?)
    }
}
