//! `claimsmith generate`: definitions → files on disk, or with `--check` what differs.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::diagnostic::render::{visible, visible_lines};
use crate::diagnostic::{Diagnostic, Level};
use crate::dialect;
use crate::error::Error;
use crate::generate::targets;
use crate::generate::targets::rust::{BROKERS, Settings, broker};
use crate::generate::{self, Options};
use crate::output::{self, GeneratedFile, Plan};
use crate::schema::load;
use crate::template::Templates;

use super::config::{Config, RustSettings, Word, relative, shown, way};
use super::report::{self, plural};
use super::{Global, Outcome, print, working_directory};

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
    #[arg(long, value_name = "DIALECT", value_delimiter = ',', help = listed("Databases to generate for", dialect::ids()))]
    dialect: Vec<String>,
    #[arg(long, value_name = "TARGET", value_delimiter = ',', help = listed("Kinds of files to generate", targets::ids()))]
    target: Vec<String>,
    /// Output folder, instead of that of the configuration
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The text and the words that a flag takes.
fn listed<'a>(text: &str, words: impl Iterator<Item = &'a str>) -> String {
    format!("{text}: {}", words.collect::<Vec<_>>().join(", "))
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Outcome> {
    let here = working_directory()?;
    let config = Config::find(global.config.as_deref(), &here)?;
    let dialects = choose(&arguments.dialect, &config.dialects, dialect::ids())
        .iter()
        .map(|word| dialect::find(&word.text).ok_or_else(|| word.unknown("dialect", dialect::ids())))
        .collect::<Result<_, _>>()?;
    let targets = choose(&arguments.target, &config.targets, targets::ids())
        .iter()
        .map(|word| targets::find(&word.text).ok_or_else(|| word.unknown("target", targets::ids())))
        .collect::<Result<_, _>>()?;
    let schemas = schemas(&arguments.schemas, &config, &here)?;
    let source = source(&schemas, &config.root);
    let rust = rust_settings(&config.rust)?;
    let options = Options { dialects, targets, rust, source: &source };

    let inputs = load::read(&schemas, |path| shown(&here, path))?;
    let (catalog, loaded) = load::load(&inputs);
    let findings = generate::findings(&catalog, &options.dialects, loaded);
    report::findings(&findings, global);
    if has_errors(&findings) {
        return Ok(Outcome::Findings);
    }

    // From here on by their ways from the working directory, for messages.
    let templates = Templates::new(config.templates.map(|folder| way(&here, &folder)).as_deref())?;
    let files = generate::run(&catalog, &options, &templates)?;
    let out = arguments.out.as_ref().map_or(config.out, |out| here.join(out));
    let plan = output::plan(&way(&here, &out), files, &owned(arguments, &options))?;
    match arguments.check {
        true => print_differences(&plan, &here, &out),
        false => write(&plan, arguments.prune, &visible(&shown(&here, &out))),
    }
}

fn rust_settings(settings: &RustSettings) -> Result<Settings, Error> {
    let names = || BROKERS.iter().map(|(name, _)| *name);
    let known = |word: &Word| broker(&word.text).ok_or_else(|| word.unknown("broker", names()));
    let brokers = settings.brokers.iter().map(known).collect::<Result<_, _>>()?;
    Ok(Settings { brokers, metrics: settings.metrics, tracing: settings.tracing, ..Settings::default() })
}

/// Whether one of them stops the run.
pub fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.level == Level::Error)
}

/// What the flags say, else what the configuration says, else everything; nothing twice.
fn choose<'a>(flags: &[String], configured: &[Word], all: impl Iterator<Item = &'a str>) -> Vec<Word> {
    let mut words: Vec<Word> = match (flags, configured) {
        ([], []) => all.map(Word::from).collect(),
        ([], configured) => configured.to_vec(),
        (flags, _) => flags.iter().map(|flag| Word::from(&**flag)).collect(),
    };
    let mut seen = BTreeSet::new();
    words.retain(|word| seen.insert(word.text.clone()));
    words
}

/// The definitions that arguments name, else those of the configuration.
pub fn schemas(given: &[PathBuf], config: &Config, here: &Path) -> Result<Vec<PathBuf>, Error> {
    let help = "name definition files or folders as arguments, or as `schemas` in claimsmith.toml";
    if !given.is_empty() {
        let schemas: Vec<PathBuf> = given.iter().map(|path| here.join(path)).collect();
        return match schemas.iter().find(|path| !path.exists()) {
            Some(path) => Err(Error::new(format!("no definitions at `{}`", shown(here, path))).help(help)),
            None => Ok(schemas),
        };
    }
    if config.schemas.is_empty() {
        return Err(Error::new("`schemas` in the configuration is an empty list: there are no definitions").help(help));
    }
    let path = |word: &Word| {
        let path = config.root.join(&word.text);
        let fault = || word.fault(format!("no definitions at `{}`", shown(here, &path))).help(help);
        if path.exists() { Ok(path) } else { Err(fault()) }
    };
    config.schemas.iter().map(path).collect()
}

/// What the header names as the source: the same on every machine.
fn source(schemas: &[PathBuf], root: &Path) -> String {
    let name = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        relative(root, path).or(name).unwrap_or_default()
    };
    let mut names: Vec<String> = schemas.iter().map(name).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names.join(", ")
}

/// Where to look for orphans: everywhere, unless flags chose a part.
fn owned(arguments: &Arguments, options: &Options<'_>) -> Vec<String> {
    match arguments.dialect.is_empty() && arguments.target.is_empty() {
        true => vec![String::new()],
        false => generate::owned_folders(options),
    }
}

fn print_differences(plan: &Plan, here: &Path, out: &Path) -> anyhow::Result<Outcome> {
    // Tools refuse paths that lead out of the working directory: there the output folder is the root of the paths.
    let below = relative(here, out).is_some();
    let path = |path: &str| if below { shown(here, &out.join(path)) } else { path.to_owned() };
    let diffs =
        plan.changes.iter().map(|change| diff(&path(&change.file.path), change.before.as_deref(), &change.file));
    let diffs: String = diffs.collect();
    print(&if std::io::stdout().is_terminal() { visible_lines(&diffs) } else { diffs })?;

    let mut stderr = anstream::stderr();
    let folder = visible(&shown(here, out));
    for orphan in &plan.orphans {
        let orphan = visible(&shown(here, &out.join(orphan)));
        _ = writeln!(stderr, "{orphan} is generated by nothing any more (`claimsmith generate --prune` removes it)");
    }
    if plan.is_clean() {
        _ = writeln!(stderr, "{} up to date in {folder}", plural(plan.unchanged, "file"));
        return Ok(Outcome::Clean);
    }
    let (changes, orphans) = (plural(plan.changes.len(), "file"), plural(plan.orphans.len(), "orphan"));
    let prune = if plan.orphans.is_empty() { "" } else { " --prune" };
    _ = writeln!(stderr, "{changes} out of date, {orphans} in {folder}: run `claimsmith generate{prune}`");
    if !below && !plan.changes.is_empty() {
        _ = writeln!(stderr, "the paths in the diff begin in {folder}");
    }
    Ok(Outcome::Findings)
}

fn diff(path: &str, before: Option<&str>, file: &GeneratedFile) -> String {
    let old = if before.is_some() { diff_name(&format!("a/{path}")) } else { "/dev/null".to_owned() };
    let new = diff_name(&format!("b/{path}"));
    // Lines as the tools see them: they end at a line feed only.
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (before, after) = (lines(before.unwrap_or_default()), lines(&file.content));
    let diff = similar::TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
    diff.unified_diff().context_radius(3).header(&old, &new).to_string()
}

/// A file name as `git diff` writes it: a tab ends a name with blanks, and quotes hold one with stranger characters.
fn diff_name(path: &str) -> String {
    let strange = |c: char| matches!(c, '"' | '\\') || visible(c.encode_utf8(&mut [0; 4])).len() > c.len_utf8();
    if !path.contains(strange) {
        return if path.contains(char::is_whitespace) { format!("{path}\t") } else { path.to_owned() };
    }
    let mut name = String::from("\"");
    for c in path.chars() {
        match strange(c) {
            true => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| name.push_str(&format!("\\{byte:03o}"))),
            false => name.push(c),
        }
    }
    name + "\""
}

fn write(plan: &Plan, prune: bool, out: &str) -> anyhow::Result<Outcome> {
    output::apply(plan, prune)?;
    let mut stderr = anstream::stderr();
    let orphans = plural(plan.orphans.len(), "orphan");
    _ = write!(stderr, "{} written, {} unchanged in {out}", plural(plan.changes.len(), "file"), plan.unchanged);
    _ = match (plan.orphans.is_empty(), prune) {
        (true, _) => writeln!(stderr),
        (false, true) => writeln!(stderr, ", {orphans} removed"),
        (false, false) => {
            writeln!(stderr, "; {orphans} left (--prune removes): {}", visible(&plan.orphans.join(", ")))
        }
    };
    Ok(Outcome::Clean)
}

#[cfg(test)]
mod tests {
    use super::{GeneratedFile, diff, diff_name};

    #[test]
    fn names_are_written_as_git_writes_them() {
        assert_eq!(diff_name("a/sql/größe.sql"), "a/sql/größe.sql");
        assert_eq!(diff_name("a/the output/x.sql"), "a/the output/x.sql\t");
        assert_eq!(diff_name("a/t\tq\"b\\\u{202e}"), r#""a/t\011q\042b\134\342\200\256""#);
    }

    #[test]
    fn a_carriage_return_ends_no_line_of_a_diff() {
        let file = GeneratedFile { path: "x".to_owned(), content: "1\rone\n2".to_owned() };
        let expected = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-1\rtwo\n+1\rone\n 2\n\\ No newline at end of file\n";
        assert_eq!(diff("x", Some("1\rtwo\n2"), &file), expected);
    }
}
