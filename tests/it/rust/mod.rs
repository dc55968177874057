//! The generated Rust code.

/// The committed code, as a program would have it. `cargo fmt` would give it this project's own lines.
#[rustfmt::skip]
#[path = "../../../generated/rust/mod.rs"]
mod generated;
