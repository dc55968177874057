//! SQL-first migration and codegen toolkit for outbox, inbox and queue tables.
//!
//! One JSON definition for each table declares its columns, its indexes and its *workload*: how workers claim rows, and how
//! finished rows leave. From it come SQL and typed Rust code, either by the program `claimsmith generate`, or in the
//! `build.rs` of the crate that uses the tables.
//!
//! # In a `build.rs`
//!
//! 1. In `Cargo.toml`, with the features that a build script needs and no others:
//!
//!    ```toml
//!    [build-dependencies]
//!    claimsmith = { version = "0.1", default-features = false, features = ["generate"] }
//!    ```
//!
//! 2. Definitions in `schemas/*.json`.
//!
//! 3. In the `main` of `build.rs`:
//!
//!    ```no_run
//!    claimsmith::build_script::configure()
//!        .schemas("schemas")
//!        .dialect("sqlite")
//!        .table_attribute("orders", "#[derive(Eq, Hash)]")
//!        .compile();
//!    ```
//!
//! 4. In the program, with the dependencies that the head of the generated file lists:
//!
//!    ```ignore
//!    mod db {
//!        include!(concat!(env!("OUT_DIR"), "/sqlite.rs"));
//!    }
//!    const SCHEMA: &str = include_str!(concat!(env!("OUT_DIR"), "/sql/sqlite/schema.sql"));
//!
//!    sqlx::raw_sql(SCHEMA).execute(&mut connection).await?;
//!    db::sqlite::orders::insert(&mut connection, &row).await?;
//!    let rows: Vec<db::tables::orders::Row> = sqlx::query_as("SELECT * FROM orders").fetch_all(&mut connection).await?;
//!    ```
//!
//! Cargo runs the build script again when a definition, or the folder that holds it, changes. What is wrong in a definition
//! is an error of the build, with file, line and column. [`build_script`] has the choices; `tests/consumer` of the
//! repository is a whole crate.
//!
//! # Features
//!
//! | feature | adds | by default |
//! | --- | --- | --- |
//! | none | [`schema`] and [`workload`]: definitions, their checks, and the indexes that they need | |
//! | `generate` | SQL and Rust code, templates, [`build_script`]; 9 crates in all, none of which talks to a database | yes |
//! | `schema` | the JSON Schema of the definition format | yes |
//! | `live` | talking to databases, with sqlx: `demo`, `lint --database-url` | yes |
//! | `lint` | judging the SQL of others: [`sql`], [`lint`] | yes |
//! | `languages` | SQL in programs: `lang-rust`, `lang-go` …, one feature for each language, and `mybatis` | yes |
//! | `cli` | the program `claimsmith`, with all of the above | yes |
//!
//! # Modules
//!
//! The floors of this crate, lowest first; a module uses only what stands below it:
//!
//! - [`diagnostic`], [`error`], [`engine`]: words, and the facts about database engines as values;
//! - [`schema`], [`sql`], [`output`]: definitions, SQL as others wrote it, and files on disk;
//! - [`workload`]: claim and retention → access paths → indexes;
//! - [`dialect`]: all that differs between databases;
//! - [`statement`], [`template`]: SQL statements and text from templates;
//! - [`generate`], [`lint`], `queue`, `demo`: definitions → files; SQL → findings; what is done with queues day by day; the
//!   main job on an embedded database;
//! - `cli`, [`build_script`]: the command line; what a `build.rs` calls.

#[cfg(feature = "generate")]
pub mod build_script;
#[cfg(feature = "live")]
pub mod demo;
pub mod diagnostic;
#[cfg(feature = "generate")]
pub mod dialect;
pub mod engine;
pub mod error;
#[cfg(feature = "generate")]
pub mod generate;
#[cfg(feature = "lint")]
pub mod lint;
#[cfg(feature = "generate")]
pub mod output;
#[cfg(feature = "cli")]
pub mod queue;
pub mod schema;
#[cfg(feature = "lint")]
pub mod sql;
#[cfg(feature = "generate")]
pub mod statement;
#[cfg(feature = "generate")]
pub mod template;
pub mod workload;

#[cfg(feature = "cli")]
pub mod cli;
