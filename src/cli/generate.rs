//! `claimsmith generate`: definitions → files on disk, or with `--check` what differs.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::diagnostic::render::visible;
use crate::diagnostic::{self, Diagnostic, Level};
use crate::dialect;
use crate::error::Error;
use crate::generate::targets;
use crate::generate::{self, Options};
use crate::output::{self, GeneratedFile, Plan};
use crate::schema::{check, load};
use crate::statement;
use crate::template::Templates;
use crate::workload;

use super::config::{Config, relative, slashes};
use super::report::{self, plural};
use super::{Global, Outcome, working_directory};

/// Turn definitions into files.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Definition files or folders, instead of those of the configuration
    #[arg(value_name = "SCHEMA")]
    schemas: Vec<PathBuf>,
    /// Write nothing; print what differs as a unified diff and exit with status 1
    #[arg(long)]
    check: bool,
    /// Remove generated files that nothing generates any more
    #[arg(long)]
    prune: bool,
    /// Databases to generate for: mysql, mariadb, postgres, sqlite
    #[arg(long, value_name = "DIALECT", value_delimiter = ',')]
    dialect: Vec<String>,
    /// Kinds of files to generate: sql
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    target: Vec<String>,
    /// Output folder, instead of that of the configuration
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Outcome> {
    let here = working_directory()?;
    let config = Config::find(global.config.as_deref(), &here)?;
    let dialects = choose(&arguments.dialect, &config.dialects, dialect::ids().collect())
        .map(|name| dialect::find(name).ok_or_else(|| config.unknown("dialect", name, dialect::ids())))
        .collect::<Result<_, _>>()?;
    let targets = choose(&arguments.target, &config.targets, targets::ids().collect())
        .map(|name| targets::find(name).ok_or_else(|| config.unknown("target", name, targets::ids())))
        .collect::<Result<_, _>>()?;
    let schemas = schemas(arguments, &config, &here)?;
    let source = source(&schemas, &config.root);
    let options = Options { dialects, targets, source: &source };

    let shown = |path: &Path| relative(&here, path).unwrap_or_else(|| slashes(path));
    let inputs = load::read(&schemas, shown)?;
    let (catalog, mut findings) = load::load(&inputs);
    let engines: Vec<_> = options.dialects.iter().map(|dialect| dialect.engine()).collect();
    findings.extend(check::check(&catalog, &engines));
    findings.extend(workload::check(&catalog, &engines));
    findings.extend(options.dialects.iter().flat_map(|dialect| statement::differences(&catalog, *dialect)));
    diagnostic::sort(&mut findings);
    report::findings(&findings, global);
    if has_errors(&findings) {
        return Ok(Outcome::Findings);
    }

    let templates = Templates::new(config.templates.as_deref())?;
    let files = generate::run(&catalog, &options, &templates)?;
    let out = arguments.out.as_ref().map_or_else(|| config.out.clone(), |out| here.join(out));
    let plan = output::plan(&out, files, &owned(arguments, &options))?;
    match arguments.check {
        true => print_differences(&plan, &shown(&out)),
        false => write(&plan, arguments.prune, &shown(&out)),
    }
}

fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.level == Level::Error)
}

/// What the flags say, else what the configuration says, else everything; nothing twice.
fn choose<'a>(flags: &'a [String], configured: &'a [String], all: Vec<&'a str>) -> impl Iterator<Item = &'a str> {
    let given = [flags, configured].into_iter().find(|names| !names.is_empty());
    let names: Vec<&str> = given.map_or(all, |names| names.iter().map(String::as_str).collect());
    let first = |(at, name): (usize, &&'a str)| (!names[..at].contains(name)).then_some(*name);
    names.iter().enumerate().filter_map(first).collect::<Vec<_>>().into_iter()
}

fn schemas(arguments: &Arguments, config: &Config, here: &Path) -> Result<Vec<PathBuf>, Error> {
    let schemas: Vec<PathBuf> = match arguments.schemas.is_empty() {
        true => config.schemas.clone(),
        false => arguments.schemas.iter().map(|path| here.join(path)).collect(),
    };
    match schemas.iter().find(|path| !path.exists()) {
        Some(path) => Err(Error::new(format!("no definitions at `{}`", path.display()))
            .help("name definition files or folders as arguments, or as `schemas` in claimsmith.toml")),
        None => Ok(schemas),
    }
}

/// What the header names as the source: the same on every machine.
fn source(schemas: &[PathBuf], root: &Path) -> String {
    let name = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        relative(root, path).or(name).unwrap_or_default()
    };
    let names: Vec<String> = schemas.iter().map(name).collect();
    // The header is one line of a comment, whatever a folder is called.
    statement::comment_lines(&visible(&names.join(", "))).join(" ")
}

/// Where to look for orphans: everywhere, unless flags chose a part.
fn owned(arguments: &Arguments, options: &Options<'_>) -> Vec<String> {
    match arguments.dialect.is_empty() && arguments.target.is_empty() {
        true => vec![String::new()],
        false => generate::owned_folders(options),
    }
}

fn print_differences(plan: &Plan, out: &str) -> anyhow::Result<Outcome> {
    let mut stdout = anstream::stdout();
    for change in &plan.changes {
        write!(stdout, "{}", diff(&format!("{out}/{}", change.file.path), change.before.as_deref(), &change.file))?;
    }
    let mut stderr = anstream::stderr();
    for orphan in &plan.orphans {
        _ = writeln!(
            stderr,
            "{out}/{orphan} is generated by nothing any more (`claimsmith generate --prune` removes it)"
        );
    }
    if plan.is_clean() {
        _ = writeln!(stderr, "{} up to date in {out}", plural(plan.unchanged, "file"));
        return Ok(Outcome::Clean);
    }
    let (changes, orphans) = (plural(plan.changes.len(), "file"), plural(plan.orphans.len(), "orphan"));
    _ = writeln!(stderr, "{changes} out of date, {orphans} in {out}: run `claimsmith generate`");
    Ok(Outcome::Findings)
}

fn diff(path: &str, before: Option<&str>, file: &GeneratedFile) -> String {
    let old = if before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let diff = similar::TextDiff::from_lines(before.unwrap_or_default(), &file.content);
    diff.unified_diff().context_radius(3).header(&old, &format!("b/{path}")).to_string()
}

fn write(plan: &Plan, prune: bool, out: &str) -> anyhow::Result<Outcome> {
    output::apply(plan, prune)?;
    let mut stderr = anstream::stderr();
    let orphans = plural(plan.orphans.len(), "orphan");
    _ = write!(stderr, "{} written, {} unchanged in {out}", plural(plan.changes.len(), "file"), plan.unchanged);
    _ = match (plan.orphans.is_empty(), prune) {
        (true, _) => writeln!(stderr),
        (false, true) => writeln!(stderr, ", {orphans} removed"),
        (false, false) => writeln!(stderr, "; {orphans} left (--prune removes): {}", plan.orphans.join(", ")),
    };
    Ok(Outcome::Clean)
}
