//! Kafka alone.
