//! The modules of brokers: of those that the definitions of `schemas/` name, the committed ones; of another, what its template
//! makes.

pub use crate::rust::generated::{broker, kafka};

/// NATS JetStream.
#[allow(dead_code)]
pub mod nats;
