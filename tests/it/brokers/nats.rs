//! NATS alone.
