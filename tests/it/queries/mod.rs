//! The statements of the workload on real engines: what they do, row by row and column by column.

mod archive;
mod bus;
mod case;
mod coalesce;
mod driver;
mod effects;
mod enqueue;
mod fences;
mod ids;
mod inbox;
mod many;
mod matrix;
mod model;
mod names;
mod parameters;
mod prepare;
pub mod queue;
mod reach;
mod recover;
mod republish;
mod required;
pub mod time;
mod unmarked;
mod zones;
