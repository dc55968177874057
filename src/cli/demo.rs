//! `claimsmith demo`: everything on an embedded database in a temporary folder.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use crate::demo::{self, LIMIT, Line, ROWS, TABLE};
use crate::error::Error;

use super::{Outcome, print};

/// Runs the command.
pub fn run() -> anyhow::Result<Outcome> {
    let folder = tempfile::Builder::new().prefix("claimsmith-demo-").tempdir();
    let folder = folder.map_err(|error| Error::io("make a temporary folder below", &std::env::temp_dir(), error))?;
    let lines = load_and_run(folder.path())?;
    print(&format!(
        "{}\n{}\n\n\
         The difference is in the statement, not in the machine: each generated claim pins the tenant and one state, and is\n\
         ordered as its own index is, so it reads as many rows as it takes, however many are due. Next:\n\n\
         \x20 claimsmith generate                                  definitions in schemas/ -> DDL, indexes and statements\n\
         \x20 less generated/sql/mysql/queries/{TABLE}.sql    the statements above, for MySQL\n\
         \x20 tests/run.sh                                         the proof on real servers, by rows read and locked\n",
        table(&lines),
        summary(&lines)
    ))?;
    Ok(Outcome::Clean)
}

/// A bar on a terminal, a line elsewhere.
fn load_and_run(folder: &std::path::Path) -> anyhow::Result<Vec<Line>> {
    let mut err = anstream::stderr();
    let headline = format!("{ROWS} rows of {TABLE}, 98.9 % of them history, on an embedded SQLite");
    if !std::io::stderr().is_terminal() {
        _ = writeln!(err, "loading {headline}");
        return Ok(demo::run(folder, &mut |_| {})?);
    }
    let style = ProgressStyle::with_template("loading {msg} [{bar:30}] {pos}/{len}")?.progress_chars("=> ");
    let bar = ProgressBar::new(ROWS.into()).with_style(style).with_message(headline);
    let lines = demo::run(folder, &mut |loaded| bar.set_position(loaded.into()));
    bar.finish_and_clear();
    Ok(lines?)
}

fn table(lines: &[Line]) -> String {
    let mut text = format!("{:<27} {:>12} {:>7} {:>6} {:>10}\n", "", "steps", "sorted", "rows", "time");
    for (at, line) in lines.iter().enumerate() {
        if at > 0 && line.generated && !lines[at - 1].generated {
            text.push_str("generated:\n");
        }
        let sorted = if line.cost.sorts { "yes" } else { "no" };
        let time = format!("{:.2} ms", line.cost.time.as_secs_f64() * 1000.0);
        let indent = if line.generated { "  " } else { "" };
        let name = format!("{indent}{}", line.name);
        text.push_str(&format!(
            "{name:<27} {:>12} {sorted:>7} {:>6} {time:>10}\n",
            grouped(line.cost.steps),
            line.cost.rows
        ));
    }
    text
}

fn summary(lines: &[Line]) -> String {
    let steps =
        |generated: bool| lines.iter().filter(move |line| line.generated == generated).map(|line| line.cost.steps);
    let (worst, ours) = (steps(false).max().unwrap_or_default(), steps(true).max().unwrap_or(1).max(1));
    format!(
        "For {LIMIT} rows the incident's claim takes {} times the steps of the dearest generated one.",
        grouped(worst / ours)
    )
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
