//! What the templates of brokers make, until a program's own generated code holds it.

/// Messages, and what hands them over.
#[allow(dead_code)]
pub mod broker;

/// Kafka.
#[allow(dead_code)]
pub mod kafka;

/// NATS JetStream.
#[allow(dead_code)]
pub mod nats;
