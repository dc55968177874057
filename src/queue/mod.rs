//! What is done with queues day by day, from their definitions.

pub mod cutover;
