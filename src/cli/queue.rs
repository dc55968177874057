//! `claimsmith queue`: questions about a queue.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use crate::diagnostic::render::visible_lines;
use crate::diagnostic::{Place, suggest};
use crate::error::Error;
use crate::generate;
use crate::queue::cutover::{self, Cutover, Problem, View, word};
use crate::schema::format::TagMode;
use crate::schema::{Catalog, Table, load};

use super::config::{Config, shown};
use super::generate::{has_errors, schemas};
use super::{Global, Outcome, print, report, working_directory};

/// Questions about a queue.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// May the producer write other tags now? Says what each group of consumers would see and miss, and the next step
    Cutover(CutoverArguments),
}

#[derive(Debug, clap::Args)]
struct CutoverArguments {
    /// Definition files or folders, instead of those of the configuration
    #[arg(value_name = "SCHEMA")]
    schemas: Vec<PathBuf>,
    /// The table whose messages they are
    #[arg(long, value_name = "TABLE")]
    table: String,
    /// What the producer is to write from now on
    #[arg(long, value_name = "MODE", default_value = "event_type")]
    to: To,
    /// How to print the answer
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// What a producer writes as the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum To {
    /// The one legacy tag
    Legacy,
    /// The event's type
    EventType,
    /// Nothing
    None,
}

/// How the answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One JSON object
    Json,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Outcome> {
    match &arguments.question {
        Question::Cutover(arguments) => run_cutover(arguments, global),
    }
}

fn run_cutover(arguments: &CutoverArguments, global: &Global) -> anyhow::Result<Outcome> {
    let here = working_directory()?;
    let config = Config::find(global.config.as_deref(), &here)?;
    let inputs = load::read(&schemas(&arguments.schemas, &config, &here)?, |path| shown(&here, path))?;
    let (catalog, loaded) = load::load(&inputs);
    // Tags are the same whatever the database is.
    let findings = generate::findings(&catalog, &[], loaded);
    if has_errors(&findings) {
        report::findings(&findings, global);
        return Ok(Outcome::Findings);
    }
    let table = find(&catalog, &arguments.table)?;
    let to = match arguments.to {
        To::Legacy => TagMode::Legacy,
        To::EventType => TagMode::EventType,
        To::None => TagMode::None,
    };
    let Some(answer) = cutover::check(table, to) else {
        let fault = Error::new(format!("`{}` is published by nobody: its definition has no `publish`", table.name));
        return Err(fault.help("declare where its rows go, with `publish.tag` and `publish.consumers`").into());
    };
    print(&match arguments.format {
        Format::Human => visible_lines(&human(table, &answer)),
        Format::Json => json(table, &answer),
    })?;
    Ok(if answer.refusals.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Table, Error> {
    let names: Vec<String> = catalog.tables.iter().map(|table| table.name.to_string()).collect();
    let found = catalog.tables.iter().find(|table| table.name.to_string() == name);
    found.ok_or_else(|| {
        let fault = Error::new(format!("no definition of a table `{name}`"));
        let publishing = catalog.tables.iter().filter(|table| table.publish.is_some());
        match suggest::closest(name, names.iter().map(|name| &**name)) {
            Some(closest) => fault.help(format!("did you mean `{closest}`?")),
            None => {
                let names: Vec<String> = publishing.map(|table| format!("`{}`", table.name)).collect();
                fault.help(format!("the tables that are published are {}", names.join(", ")))
            }
        }
    })
}

fn human(table: &Table, answer: &Cutover<'_>) -> String {
    let verdict = match (answer.refusals.is_empty(), answer.from == answer.to) {
        (true, true) => "as it is",
        (true, false) => "safe",
        (false, true) => "not as it should be",
        (false, false) => "refused",
    };
    let (from, to) = (word(answer.from), word(answer.to));
    let mut text = match answer.from == answer.to {
        true => format!("{}: the producer writes `{from}`: {verdict}\n", table.name),
        false => format!("{}: the producer's switch from `{from}` to `{to}`: {verdict}\n", table.name),
    };
    for group in &answer.groups {
        text += &view(group, answer);
    }
    for (kind, problems) in [("error", &answer.refusals), ("warning", &answer.warnings)] {
        for problem in problems {
            text += &format!("\n{}{kind}: {}\n  {}\n", position(problem), problem.message, problem.help);
        }
    }
    if !answer.groups.is_empty() {
        text += &match &*answer.no_way_back {
            [] => "\nThe producer can go back to `legacy`: every list holds the legacy tag.\n".to_owned(),
            groups => format!("\nThe producer cannot go back to `legacy`: {} would see nothing.\n", joined(groups)),
        };
    }
    text += "\nFrom the one tag to the types, in this order:\n";
    for (at, step) in answer.steps.iter().enumerate() {
        text += &format!("{:>3}. [{}] {}\n", at + 1, step.state.word(), step.text);
    }
    text
}

fn view(group: &View<'_>, answer: &Cutover<'_>) -> String {
    let list = if group.tags.is_empty() { "everything".to_owned() } else { group.tags.join(" || ") };
    let mut text = format!("\n{}: subscribes to {list}\n", group.group);
    let others: Vec<&str> = group.not.iter().copied().filter(|ty| !group.misses.contains(ty)).collect();
    for (word, types) in [("sees", &group.sees), ("misses", &group.misses), ("leaves out", &others)] {
        if !types.is_empty() {
            text += &format!("  {word:<10}  {}\n", types.join(", "));
        }
    }
    if answer.from != answer.to {
        let old = if group.sees_old { "sees" } else { "misses" };
        text += &format!("  {old:<10}  what was published before the switch\n");
    }
    text
}

/// Where it is, before the message.
fn position(problem: &Problem) -> String {
    let position = |place: &Place| {
        let (line, column) = place.line_column();
        format!("{}:{line}:{column}: ", place.source.path)
    };
    problem.place.as_ref().map(position).unwrap_or_default()
}

fn joined(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    table: String,
    from: &'static str,
    to: &'static str,
    safe: bool,
    groups: Vec<GroupJson<'a>>,
    errors: Vec<ProblemJson<'a>>,
    warnings: Vec<ProblemJson<'a>>,
    /// The groups that would see nothing if the producer went back to the legacy tag.
    no_way_back: &'a [&'a str],
    steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct GroupJson<'a> {
    group: &'a str,
    tags: &'a [&'a str],
    sees: &'a [&'a str],
    not: &'a [&'a str],
    misses: &'a [&'a str],
    sees_published: bool,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    group: Option<&'a str>,
    message: &'a str,
    help: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

#[derive(Serialize)]
struct StepJson<'a> {
    state: &'static str,
    text: &'a str,
}

fn json(table: &Table, answer: &Cutover<'_>) -> String {
    let document = Document {
        version: 1,
        table: table.name.to_string(),
        from: word(answer.from),
        to: word(answer.to),
        safe: answer.refusals.is_empty(),
        groups: answer.groups.iter().map(group_json).collect(),
        errors: answer.refusals.iter().map(problem_json).collect(),
        warnings: answer.warnings.iter().map(problem_json).collect(),
        no_way_back: &answer.no_way_back,
        steps: answer.steps.iter().map(|step| StepJson { state: step.state.word(), text: &step.text }).collect(),
    };
    // Nothing in it can fail to be written.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn group_json<'a>(view: &'a View<'a>) -> GroupJson<'a> {
    GroupJson {
        group: view.group,
        tags: &view.tags,
        sees: &view.sees,
        not: &view.not,
        misses: &view.misses,
        sees_published: view.sees_old,
    }
}

fn problem_json(problem: &Problem) -> ProblemJson<'_> {
    let place = problem.place.as_ref();
    let position = place.map(Place::line_column);
    ProblemJson {
        group: problem.group.as_deref(),
        message: &problem.message,
        help: &problem.help,
        file: place.map(|place| &*place.source.path),
        line: position.map(|(line, _)| line),
        column: position.map(|(_, column)| column),
    }
}
