//! Every test that is not a unit test, as one program.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counters;
mod layers;
mod readme;
mod servers;
mod workload;
