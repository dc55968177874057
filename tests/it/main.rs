//! Every test that is not a unit test, as one program.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod brokers;
mod chaos;
mod cli;
mod consumer;
mod counters;
mod cutover;
mod definitions;
mod demo;
mod events;
mod facts;
mod generated;
mod go;
mod grants;
mod hostile;
mod integration;
mod layers;
mod lint;
mod loaded;
mod output;
mod project;
mod queries;
mod readback;
mod readme;
mod relay;
mod repository;
mod rust;
mod servers;
mod templates;
mod typescript;
mod workload;
