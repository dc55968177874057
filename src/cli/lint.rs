//! `claimsmith lint`: SQL and definitions → findings.

mod baseline;
mod ci;
mod json;
mod sarif;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::diagnostic::render::{Report as Text, concise, visible};
use crate::diagnostic::{self, Diagnostic, Level};
use crate::dialect::{self, Dialect};
use crate::error::Error;
use crate::lint::files::{self, Files, Skip};
use crate::lint::{self, Options, Report, rules};
use crate::schema::{Catalog, check, load};
use crate::workload;

use super::config::{Config, Word, shown};
use super::report::{self, plural};
use super::{Global, Outcome, print, working_directory};

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
    let options = options(arguments, &config)?;
    let (catalog, mut findings) = definitions(&config, &options, &here)?;
    let files = inputs(arguments, &config, &catalog, &options, &here)?;
    let report = lint::run(&files.inputs, &catalog, &options);
    findings.extend(report.findings.iter().cloned());
    diagnostic::sort(&mut findings);
    if let Some(path) = &arguments.write_baseline {
        baseline::write(&findings, &here.join(path))?;
        _ = writeln!(
            anstream::stderr(),
            "{} written to {}",
            plural(findings.len(), "finding"),
            shown(&here, &here.join(path))
        );
        return Ok(Outcome::Clean);
    }
    let known = match &arguments.baseline {
        Some(path) => baseline::filter(&mut findings, &here.join(path))?,
        None => 0,
    };
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
    summary(&report, &files, known);
    Ok(outcome(arguments, &findings, &report))
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
fn summary(report: &Report, files: &Files, known: usize) {
    let mut err = anstream::stderr();
    let mut line = format!("{} about queues in {}", plural(report.statements, "statement"), plural(files.read, "file"));
    if report.dynamic > 0 {
        line.push_str(&format!("; {} not known in full before the program runs", report.dynamic));
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

fn options(arguments: &Arguments, config: &Config) -> Result<Options, Error> {
    let mut options = Options::default();
    let words: Vec<Word> = match arguments.dialect.as_slice() {
        [] => config.dialects.clone(),
        flags => flags.iter().map(|flag| Word::from(&**flag)).collect(),
    };
    if !words.is_empty() {
        let find = |word: &Word| dialect::find(&word.text).ok_or_else(|| word.unknown("dialect", dialect::ids()));
        options.dialects = words.iter().map(find).collect::<Result<Vec<&'static dyn Dialect>, Error>>()?;
    }
    let lower = |words: &Vec<Word>| words.iter().map(|word| word.text.to_lowercase()).collect::<Vec<_>>();
    if let Some(patterns) = &config.lint.queue_tables {
        options.queue_tables = lower(patterns);
    }
    if let Some(scope) = &config.lint.scope {
        options.scope = lower(scope);
    }
    for (id, level) in &config.lint.rules {
        if rules::find(&id.text).is_none() {
            return Err(id.unknown("rule", rules::ALL.iter().map(|check| check.rule.id)));
        }
        let parsed = match &*level.text {
            "off" => None,
            "note" => Some(Level::Note),
            "warning" => Some(Level::Warning),
            "error" => Some(Level::Error),
            _ => return Err(level.unknown("level", ["off", "note", "warning", "error"].into_iter())),
        };
        options.levels.insert(id.text.clone(), parsed);
    }
    Ok(options)
}

/// The definitions and what is wrong with them; without definitions the linter knows what DDL and names say.
fn definitions(config: &Config, options: &Options, here: &Path) -> anyhow::Result<(Catalog, Vec<Diagnostic>)> {
    let paths: Vec<PathBuf> = config.schemas.iter().map(|word| config.root.join(&word.text)).collect();
    // A folder that nobody named need not be there.
    let named = |path: &Path, word: &Word| word.place.is_some() || path.exists();
    let paths: Vec<PathBuf> =
        paths.into_iter().zip(&config.schemas).filter(|(path, word)| named(path, word)).map(|(path, _)| path).collect();
    if paths.is_empty() {
        return Ok((Catalog::default(), Vec::new()));
    }
    let (catalog, mut findings) = load::load(&load::read(&paths, |path| shown(here, path))?);
    let engines: Vec<_> = options.dialects.iter().map(|dialect| dialect.engine()).collect();
    findings.extend(check::check(&catalog, &engines));
    findings.extend(workload::check(&catalog, &engines));
    Ok((catalog, findings))
}

fn inputs(
    arguments: &Arguments,
    config: &Config,
    catalog: &Catalog,
    options: &Options,
    here: &Path,
) -> anyhow::Result<Files> {
    if arguments.paths.iter().any(|path| path.as_os_str() == "-") {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(files::MOST_BYTES).read_to_string(&mut text);
        read.map_err(|error| Error::io("read", Path::new("standard input"), error))?;
        return Ok(Files { inputs: vec![files::input("<stdin>", text, "sql")], read: 1, skipped: Vec::new() });
    }
    let paths: Vec<PathBuf> = match (arguments.paths.as_slice(), &config.lint.paths) {
        ([], Some(words)) => words.iter().map(|word| config.root.join(&word.text)).collect(),
        ([], None) => vec![here.to_owned()],
        (paths, _) => paths.iter().map(|path| here.join(path)).collect(),
    };
    Ok(files::collect(&paths, catalog, options, |path| shown(here, path))?)
}
