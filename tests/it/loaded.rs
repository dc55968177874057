//! Definitions loaded and checked as `claimsmith generate` does it, without the program.

use std::path::Path;
use std::sync::Arc;

use claimsmith::diagnostic::render::{Report, render};
use claimsmith::diagnostic::{self, Diagnostic, Source};
use claimsmith::dialect::{self, Dialect};
use claimsmith::generate::targets::rust::Settings;
use claimsmith::generate::{self, Options, targets};
use claimsmith::output::GeneratedFile;
use claimsmith::schema::{Catalog, check, load};
use claimsmith::statement;
use claimsmith::template::Templates;

/// Every dialect.
pub const ALL: [&str; 4] = ["mysql", "mariadb", "postgres", "sqlite"];

/// Definitions, and what was found in them.
pub struct Loaded {
    pub catalog: Catalog,
    pub findings: Vec<Diagnostic>,
    pub dialects: Vec<&'static dyn Dialect>,
}

/// Loads and checks definition files, given by name and text.
pub fn load(files: &[(&str, &str)], dialects: &[&str]) -> Loaded {
    let dialects: Vec<_> = dialects.iter().map(|id| dialect::find(id).unwrap()).collect();
    let input = |(path, text): &(&str, &str)| Arc::new(Source::new((*path).to_owned(), (*text).to_owned()));
    let inputs: Vec<_> = files.iter().map(input).collect();
    let (catalog, mut findings) = load::load(&inputs);
    let engines: Vec<_> = dialects.iter().map(|dialect| dialect.engine()).collect();
    findings.extend(check::check(&catalog, &engines));
    findings.extend(dialects.iter().flat_map(|dialect| statement::differences(&catalog, *dialect)));
    diagnostic::sort(&mut findings);
    Loaded { catalog, findings, dialects }
}

/// Loads one file for all dialects.
pub fn load_text(text: &str) -> Loaded {
    load(&[("t.json", text)], &ALL)
}

impl Loaded {
    /// All findings as they are printed.
    pub fn report(&self) -> String {
        let texts: Vec<String> = self.findings.iter().map(|finding| render(&Report::from(finding), false)).collect();
        texts.join("\n")
    }

    /// The findings as `line:column rule`, in their order.
    pub fn positions(&self) -> Vec<String> {
        let position = |finding: &Diagnostic| {
            let (line, column) = finding.place.as_ref().expect(&finding.message).line_column();
            format!("{line}:{column} {}", finding.rule.id)
        };
        self.findings.iter().map(position).collect()
    }

    /// Ids of the rules that found something, each once.
    pub fn rules(&self) -> Vec<&'static str> {
        let mut ids: Vec<&str> = self.findings.iter().map(|finding| finding.rule.id).collect();
        ids.dedup();
        ids
    }

    /// All help texts.
    pub fn help(&self) -> Vec<&str> {
        self.findings.iter().flat_map(|finding| &finding.help).map(String::as_str).collect()
    }

    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == diagnostic::Level::Error)
    }

    /// The Rust code for all dialects, as a tree of files below `rust/`.
    pub fn rust(&self) -> Vec<GeneratedFile> {
        generate::run(&self.catalog, &self.options(vec![targets::find("rust").unwrap()]), &templates()).unwrap()
    }

    /// The same as one file for `include!`.
    pub fn rust_bundle(&self) -> String {
        generate::bundle(&self.catalog, &self.options(Vec::new()), &templates()).unwrap().content
    }

    fn options(&self, targets: Vec<&'static dyn targets::Target>) -> Options<'static> {
        // With all there is: the committed code is without.
        let rust = Settings { metrics: true, tracing: true, ..Settings::default() };
        Options { dialects: self.dialects.clone(), targets, rust, source: "schemas" }
    }

    /// `schema.sql` of each dialect, in the order in which they were asked for.
    pub fn sql(&self) -> Vec<String> {
        let generate = |dialect: &&'static dyn Dialect| {
            let options = Options { dialects: vec![*dialect], ..self.options(vec![targets::find("sql").unwrap()]) };
            let files = generate::run(&self.catalog, &options, &templates()).unwrap();
            files.into_iter().find(|file| file.path.ends_with("schema.sql")).unwrap().content
        };
        self.dialects.iter().map(generate).collect()
    }
}

fn templates() -> Templates {
    Templates::new(None).unwrap()
}

/// A path below the project.
pub fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The tables of a file or folder, whatever is to be said about them.
pub fn catalog(path: &Path) -> Catalog {
    let inputs = load::read(&[path.to_owned()], |path| path.display().to_string()).unwrap();
    load::load(&inputs).0
}
