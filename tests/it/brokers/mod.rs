//! The generated publishers and subscribers, on real brokers.
//!
//! A test that goes for both is a function of a [`Broker`](lab::Broker), of which `on_brokers!` makes one for each. A broker
//! is the one that all tests share, or one of the test's own, which it may kill; see `tests/run.sh`.

mod kafka;
pub mod lab;
mod nats;
mod outages;
mod proxy;
pub mod server;
mod travel;
