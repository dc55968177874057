//! The generated Rust code: compiled, formatted, and used on every engine.

mod compiled;
mod events;
mod formatted;
mod subjects;
mod values;

/// The committed code, as a program would have it. `cargo fmt` would give it this project's own lines.
#[rustfmt::skip]
#[path = "../../../generated/rust/mod.rs"]
pub mod generated;

/// The same of a table of every type.
#[rustfmt::skip]
#[path = "every_value/rust/mod.rs"]
mod every_value;
