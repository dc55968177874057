//! The command line. Only this module reads arguments; beside `build_script` only it prints and chooses the exit status.
//!
//! Exit status: 0 clean, 1 findings or differences, 2 the run itself failed.

mod config;
mod demo;
mod explain;
mod generate;
mod lint;
mod queue;
mod report;
mod schema;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ColorChoice, Parser, Subcommand};

use crate::error::Error;

/// SQL-first migration and codegen toolkit for outbox, inbox and queue tables.
#[derive(Debug, Parser)]
#[command(name = "claimsmith", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of all commands.
#[derive(Debug, clap::Args)]
struct Global {
    /// Configuration file; without it `claimsmith.toml` is looked for upwards from the working directory
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
    /// Print findings on one line each, without the code
    #[arg(long, global = true)]
    concise: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Turn definitions into files
    Generate(generate::Arguments),
    /// Find dangerous statements on queues in SQL files and programs, and what is wrong with definitions
    Lint(lint::Arguments),
    /// Day-to-day questions about a queue, answered from its definition
    Queue(queue::Arguments),
    /// Print the documentation of a rule
    Explain(explain::Arguments),
    /// List all rules
    Rules,
    /// Print the JSON Schema of the definition format
    Schema,
    /// Show the main job on an embedded SQLite: the claim of the incident and the generated ones side by side
    Demo,
}

/// How a run that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Exit status 0.
    Clean,
    /// Exit status 1.
    Findings,
}

/// Runs the program.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no faults; a wrong argument is one, with clap's own exit status 2.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            let Err(fault) = written(error.print()) else { return ExitCode::from(code) };
            _ = writeln!(anstream::stderr(), "error: {fault}");
            return ExitCode::from(2);
        }
    };
    match arguments.global.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    match run(&arguments) {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(error) => {
            report::fault(&error, &arguments.global);
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::Generate(command) => generate::run(command, &arguments.global),
        Command::Lint(command) => lint::run(command, &arguments.global),
        Command::Queue(command) => queue::run(command, &arguments.global),
        Command::Explain(command) => explain::run(command),
        Command::Rules => explain::list(),
        Command::Schema => schema::run(),
        Command::Demo => demo::run(),
    }
}

/// Prints to standard output, byte for byte. What the run found out does not depend on whether somebody reads it.
fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Whoever reads our output may have gone, as in `claimsmith schema | head -1`: that is no fault.
fn written(done: std::io::Result<()>) -> Result<(), Error> {
    match done {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The working directory.
fn working_directory() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|error| Error::io("find the working directory", ".".as_ref(), error))
}
