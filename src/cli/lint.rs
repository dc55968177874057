//! `claimsmith lint`: SQL and definitions → findings.

mod allow;
mod baseline;
mod ci;
mod fix;
mod json;
mod projects;
mod sarif;
mod since;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::diagnostic::render::{Report as Text, concise, visible};
use crate::diagnostic::{self, Diagnostic, Level};
use crate::dialect::catalogue;
use crate::error::Error;
use crate::lint::Report;
use crate::lint::files::{self, Files, Listing, Skip};

use super::config::{Config, shown};
use super::report::{self, plural};
use super::{Global, Outcome, print, working_directory};

use allow::Allows;
use fix::Fixed;
use projects::Projects;
use since::Changes;

/// Find dangerous statements on queues.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Files or folders to lint, instead of `lint.paths` of the configuration, else the working directory; `-` is standard
    /// input, as SQL
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to print findings
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// The lowest level that makes the exit status 1
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    fail_on: FailOn,
    /// Databases that the statements are for, instead of those of the configuration
    #[arg(long, value_name = "DIALECT", value_delimiter = ',')]
    dialect: Vec<String>,
    /// Exit with 1 if more statements than this could not be judged in full, since a part of their text is unknown
    #[arg(long, value_name = "N")]
    max_unanalyzed: Option<usize>,
    /// A database whose tables are as the statements find them, where neither definitions nor SQL of the linted files make
    /// them: `mysql://`, `mariadb://`, `postgres://` or `sqlite://`. It is only read
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Only what is wrong with statements that changed since this commit, or since the work here began if that is later
    #[arg(long, value_name = "COMMIT")]
    since: Option<String>,
    /// Change the files where that certainly mends a finding and changes nothing else: SKIP LOCKED, the key at the end of an
    /// order, LIMIT before the lock
    #[arg(long, conflicts_with = "write_baseline")]
    fix: bool,
    /// Leave out what this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write what is found into this file, for `--baseline`, and exit with 0
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With the code, on standard error
    Human,
    /// One line each, on standard output
    Concise,
    /// One JSON object, on standard output
    Json,
    /// SARIF 2.1.0, on standard output
    Sarif,
    /// Workflow commands of GitHub, on standard output
    Github,
    /// A code quality report of GitLab, on standard output
    Gitlab,
    /// JUnit's XML, on standard output
    Junit,
}

/// From which level on findings make the exit status 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Errors
    Error,
    /// Errors and warnings
    Warning,
    /// Everything
    Note,
    /// Nothing
    Never,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Outcome> {
    let here = working_directory()?;
    let config = Config::find(global.config.as_deref(), &here)?;
    let piped = arguments.paths.iter().any(|path| path.as_os_str() == "-");
    if piped && (arguments.fix || arguments.since.is_some()) {
        return Err(Error::new("standard input has no file to change, and no history").into());
    }
    let listing = if piped { Listing::default() } else { listing(arguments, &config, &here)? };
    let mut projects = Projects::of(config, arguments, global.config.is_some(), &listing, &here)?;
    let mut tables = None;
    if let Some(url) = &arguments.database_url {
        let finder = projects.finder();
        let found = catalogue::read(url, &|table| finder.may_name(table))?;
        tables = Some(found.tables.len());
        projects.learn(found, arguments);
    }
    let mut files = match piped {
        true => standard_input()?,
        false => files::read_all(listing, &projects.finder(), |path| shown(&here, path)),
    };
    let mut report = projects.lint(&files.inputs);
    // What `--fix` changed is told by all that was found; else it is not kept twice.
    let found = if arguments.fix { report.findings.clone() } else { std::mem::take(&mut report.findings) };
    let mut left = remaining(found, arguments, &projects, &here)?;
    if arguments.fix {
        let fixed = fix::apply(&left.findings, &report.findings, &mut files.inputs, &projects, &here)?;
        if fixed.files > 0 {
            report = projects.lint(&files.inputs);
            left = remaining(std::mem::take(&mut report.findings), arguments, &projects, &here)?;
        }
        say_fixed(&fixed);
    }
    files.read = files.read.saturating_sub(report.tangled.len());
    files.skipped.extend(report.tangled.iter().map(|path| (path.clone(), Skip::Tangled)));
    let mut findings = left.findings;
    diagnostic::sort(&mut findings);
    if let Some(path) = &arguments.write_baseline {
        baseline::write(&findings, &here.join(path))?;
        let path = shown(&here, &here.join(path));
        _ = writeln!(anstream::stderr(), "{} written to {path}", plural(findings.len(), "finding"));
        return Ok(Outcome::Clean);
    }
    match arguments.format {
        Format::Human => report::findings(&findings, global),
        Format::Concise => {
            print(&findings.iter().map(|finding| format!("{}\n", concise(&Text::from(finding)))).collect::<String>())?;
        }
        Format::Json => print(&json::text(&findings, &report, &files))?,
        Format::Sarif => print(&sarif::text(&findings))?,
        Format::Github => print(&ci::github(&findings))?,
        Format::Gitlab => print(&ci::gitlab(&findings))?,
        Format::Junit => print(&ci::junit(&findings))?,
    }
    summary(&report, &files, left.known, tables);
    Ok(outcome(arguments, &findings, &report))
}

/// What is left of what was found.
struct Left {
    findings: Vec<Diagnostic>,
    /// How many the baseline knows.
    known: usize,
}

/// Findings without those that the configuration allows, that are about unchanged lines, or that the baseline knows.
fn remaining(
    mut findings: Vec<Diagnostic>,
    arguments: &Arguments,
    projects: &Projects,
    here: &Path,
) -> anyhow::Result<Left> {
    let whole = arguments.paths.is_empty() && arguments.since.is_none();
    Allows::of(projects.all.iter().map(|project| &project.config), here)?.filter(&mut findings, whole);
    if let Some(revision) = &arguments.since {
        Changes::since(revision, here)?.filter(&mut findings, here);
    }
    diagnostic::sort(&mut findings);
    let known = match &arguments.baseline {
        Some(path) => baseline::filter(&mut findings, &here.join(path))?,
        None => 0,
    };
    Ok(Left { findings, known })
}

fn say_fixed(fixed: &Fixed) {
    let mut err = anstream::stderr();
    _ = writeln!(err, "{} mended in {}", plural(fixed.findings, "finding"), plural(fixed.files, "file"));
    for path in &fixed.changed {
        _ = writeln!(err, "{} changed meanwhile and was left as it is", visible(path));
    }
}

fn outcome(arguments: &Arguments, findings: &[Diagnostic], report: &Report) -> Outcome {
    let least = match arguments.fail_on {
        FailOn::Error => Some(Level::Error),
        FailOn::Warning => Some(Level::Warning),
        FailOn::Note => Some(Level::Note),
        FailOn::Never => None,
    };
    let fails = least.is_some_and(|least| findings.iter().any(|finding| finding.level >= least));
    let unknown = arguments.max_unanalyzed.is_some_and(|most| report.dynamic > most);
    if fails || unknown { Outcome::Findings } else { Outcome::Clean }
}

/// What was looked at, so that silence can be told from not having looked.
fn summary(report: &Report, files: &Files, known: usize, tables: Option<usize>) {
    let mut err = anstream::stderr();
    let mut line = format!("{} about queues in {}", plural(report.statements, "statement"), plural(files.read, "file"));
    if report.dynamic > 0 {
        line.push_str(&format!("; {} not known in full before the program runs", report.dynamic));
    }
    if let Some(tables) = tables {
        line.push_str(&format!("; {} told by the database", plural(tables, "table")));
    }
    if known > 0 {
        line.push_str(&format!("; {} known from the baseline", plural(known, "finding")));
    }
    _ = writeln!(err, "{line}");
    let mut counts: BTreeMap<Skip, Vec<&str>> = BTreeMap::new();
    files.skipped.iter().for_each(|(path, why)| counts.entry(*why).or_default().push(path));
    for (why, paths) in counts {
        let first = paths.first().map(|path| visible(path)).unwrap_or_default();
        let more = if paths.len() > 1 { ", …" } else { "" };
        _ = writeln!(err, "{} skipped, {}: {first}{more}", plural(paths.len(), "file"), why.text());
    }
}

fn standard_input() -> Result<Files, Error> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(files::MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| Error::io("read", Path::new("standard input"), error))?;
    Ok(Files { inputs: vec![files::input("<stdin>", text, "sql")], read: 1, skipped: Vec::new() })
}

fn listing(arguments: &Arguments, config: &Config, here: &Path) -> Result<Listing, Error> {
    let paths: Vec<PathBuf> = match (arguments.paths.as_slice(), &config.lint.paths) {
        ([], Some(words)) => words.iter().map(|word| config.root.join(&word.text)).collect(),
        ([], None) => vec![here.to_owned()],
        (paths, _) => paths.iter().map(|path| here.join(path)).collect(),
    };
    files::list(&paths, |path| shown(here, path))
}
