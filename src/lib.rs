//! SQL-first migration and codegen toolkit for outbox, inbox and queue tables.
//!
//! The floors of this crate, lowest first; a module uses only what stands below it:
//!
//! - [`diagnostic`], [`error`], [`engine`]: words, and the facts about database engines as values;
//! - [`schema`], [`output`]: definitions, and files on disk;
//! - [`workload`]: claim and retention → access paths → indexes;
//! - [`dialect`]: all that differs between databases;
//! - [`statement`], [`template`]: SQL statements and text from templates;
//! - [`generate`], `demo`: definitions → files; the main job on an embedded database;
//! - `cli`: the command line.

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
#[cfg(feature = "generate")]
pub mod output;
pub mod schema;
#[cfg(feature = "generate")]
pub mod statement;
#[cfg(feature = "generate")]
pub mod template;
pub mod workload;

#[cfg(feature = "cli")]
pub mod cli;
