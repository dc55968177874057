//! The generated Rust code: compiled, formatted, and used on every engine.

mod compiled;
mod events;
mod formatted;
mod relays;
mod subjects;
mod values;

/// The committed code, as a program would have it.
#[path = "."]
pub mod generated {
    include!("../../../generated/rust/mod.rs");

    /// The same for a table of the tests' own, whose claims are numbered. What its functions take and give is that of the
    /// other tables, so that the same checks run on all. `cargo fmt` would give it this project's own lines.
    #[allow(dead_code)]
    #[rustfmt::skip]
    #[path = "claim_seq/rust"]
    pub mod seq {
        pub use super::{broker, queue, relay};

        pub mod mariadb;
        pub mod mysql;
        pub mod postgres;
        pub mod sqlite;
        pub mod tables;
        pub mod types;
    }
}

/// The same of a table of every type.
#[rustfmt::skip]
#[path = "every_value/rust/mod.rs"]
mod every_value;
