//! What a consumer's `build.rs` calls: definitions → Rust code and SQL in `OUT_DIR`, and what cargo has to know of it.
//!
//! The `main` of `build.rs` is:
//!
//! ```no_run
//! claimsmith::build_script::configure().schemas("schemas").dialect("sqlite").compile();
//! ```
//!
//! The program takes the file in where it wants the modules:
//!
//! ```ignore
//! mod db {
//!     include!(concat!(env!("OUT_DIR"), "/sqlite.rs"));
//! }
//! const SCHEMA: &str = include_str!(concat!(env!("OUT_DIR"), "/sql/sqlite/schema.sql"));
//! ```

mod told;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::diagnostic::render::{Report, visible};
use crate::diagnostic::{Diagnostic, Level};
use crate::dialect::{self, Dialect};
use crate::error::{Error, Result};
use crate::generate::targets::rust::{self, Settings};
use crate::generate::targets::sql::Sql;
use crate::generate::{self, Options};
use crate::output::{self, GeneratedFile};
use crate::schema::{Catalog, load};
use crate::template::{self, Templates};

pub use told::Failure;
use told::Told;

/// Where definitions are if nothing else is said.
const SCHEMAS: &str = "schemas";

/// Begins with the defaults: the definitions in `schemas`, no database, files in `OUT_DIR`.
pub fn configure() -> Builder {
    Builder::default()
}

/// What is to be generated, and from what. Paths are relative to the folder of the crate's `Cargo.toml`.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing happens before `compile`"]
pub struct Builder {
    schemas: Vec<PathBuf>,
    dialects: Vec<String>,
    out_dir: Option<PathBuf>,
    rust_only: bool,
    templates: Option<PathBuf>,
    brokers: Vec<String>,
    rust: Settings,
}

impl Builder {
    /// Adds a definition file, or a folder of which every `*.json` counts. Without any it is the folder `schemas`.
    pub fn schemas(mut self, path: impl Into<PathBuf>) -> Self {
        self.schemas.push(path.into());
        self
    }

    /// Adds a database: `mysql`, `mariadb`, `postgres` or `sqlite`. Its code is in `<dialect>.rs` and needs sqlx. Without
    /// any, `tables.rs` has the types and constants of the tables, which need no sqlx.
    pub fn dialect(mut self, id: impl Into<String>) -> Self {
        self.dialects.push(id.into());
        self
    }

    /// Writes into this folder rather than into `OUT_DIR`, which is the only other place where anything is ever written.
    pub fn out_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(path.into());
        self
    }

    /// Whether to leave out `sql/<dialect>/schema.sql` and `sql/<dialect>/queries/<table>.sql`.
    pub fn rust_only(mut self, yes: bool) -> Self {
        self.rust_only = yes;
        self
    }

    /// A folder of templates that take the place of the built-in ones of the same names.
    pub fn templates(mut self, folder: impl Into<PathBuf>) -> Self {
        self.templates = Some(folder.into());
        self
    }

    /// Adds an attribute such as `#[derive(Hash)]` to the row of a table, or of all for `*`.
    pub fn table_attribute(mut self, path: impl Into<String>, attribute: impl Into<String>) -> Self {
        self.rust.table_attributes.push((path.into(), attribute.into()));
        self
    }

    /// Adds an attribute such as `#[serde(skip)]` to the fields of columns: `table.column`, `table.*`, `*.column` or `*`.
    pub fn column_attribute(mut self, path: impl Into<String>, attribute: impl Into<String>) -> Self {
        self.rust.column_attributes.push((path.into(), attribute.into()));
        self
    }

    /// Adds the code for a kind of broker that no definition names: `kafka` or `nats`.
    pub fn broker(mut self, name: impl Into<String>) -> Self {
        self.brokers.push(name.into());
        self
    }

    /// Lets relays and consumers count what happens by the crate metrics, which the program then needs.
    pub fn metrics(mut self, yes: bool) -> Self {
        self.rust.metrics = yes;
        self
    }

    /// Lets relays and consumers show what happens by the crate tracing, which the program then needs.
    pub fn tracing(mut self, yes: bool) -> Self {
        self.rust.tracing = yes;
        self
    }

    /// Generates. What is wrong is told to cargo line by line, with file, line and column; then the build script ends with
    /// exit status 1.
    pub fn compile(self) {
        let Err(failure) = self.try_compile() else { return };
        let mut told = Told::default();
        failure.reports().iter().for_each(|report| told.report(report));
        told.print();
        // A build script fails by its exit status; a panic would bury the findings.
        std::process::exit(1);
    }

    /// Generates, and leaves it to the caller what becomes of a failure. What cargo is to watch, and warnings, are told to
    /// cargo in any case.
    ///
    /// # Errors
    ///
    /// If a definition has an error, and if a file cannot be read or written. Nothing is written then.
    pub fn try_compile(&self) -> Result<(), Failure> {
        let mut told = Told::default();
        let done = Folders::of_cargo().map_err(Failure::Fault).and_then(|folders| self.generate(&folders, &mut told));
        told.print();
        done
    }

    fn generate(&self, folders: &Folders, told: &mut Told) -> Result<(), Failure> {
        let dialects = self.chosen_dialects()?;
        let (catalog, loaded) = self.load(folders, told)?;
        let findings = generate::findings(&catalog, &dialects, loaded);
        let (errors, others): (Vec<_>, Vec<_>) = findings.into_iter().partition(|it| it.level == Level::Error);
        others.iter().for_each(|finding| told.report(&Report::from(finding)));
        if !errors.is_empty() {
            return Err(Failure::Definitions(errors));
        }
        let templates = self.read_templates(folders, told)?;
        self.write(folders, self.files(&catalog, &dialects, &templates)?, &dialects)?;
        Ok(())
    }

    /// The databases, each once.
    fn chosen_dialects(&self) -> Result<Vec<&'static dyn Dialect>> {
        let mut chosen: Vec<&'static dyn Dialect> = Vec::new();
        for id in &self.dialects {
            let dialect = dialect::find(id).ok_or_else(|| Error::unknown("dialect", id, dialect::ids()))?;
            if chosen.iter().all(|other| other.engine() != dialect.engine()) {
                chosen.push(dialect);
            }
        }
        Ok(chosen)
    }

    fn schema_paths(&self) -> Vec<PathBuf> {
        if self.schemas.is_empty() { vec![SCHEMAS.into()] } else { self.schemas.clone() }
    }

    fn load(&self, folders: &Folders, told: &mut Told) -> Result<(Catalog, Vec<Diagnostic>)> {
        let given = self.schema_paths();
        given.iter().try_for_each(|path| told.watch(path))?;
        let paths: Vec<PathBuf> = given.iter().map(|path| folders.manifest.join(path)).collect();
        if let Some(missing) = paths.iter().find(|path| !path.exists()) {
            let message = format!("no definitions at `{}`", visible(&missing.display().to_string()));
            return Err(Error::new(message).help("name definition files or folders with `schemas`"));
        }
        let inputs = load::read(&paths, |path| folders.shown(path))?;
        let files = inputs.iter().map(|input| Path::new(&input.path)).filter(|path| !given.iter().any(|it| it == path));
        files.into_iter().try_for_each(|path| told.watch(path))?;
        Ok(load::load(&inputs))
    }

    fn read_templates(&self, folders: &Folders, told: &mut Told) -> Result<Templates> {
        let Some(given) = &self.templates else { return Templates::new(None) };
        told.watch(given)?;
        let folder = folders.manifest.join(given);
        for path in template::custom_files(&folder)? {
            told.watch(Path::new(&folders.shown(&path)))?;
        }
        Templates::new(Some(&folder))
    }

    fn files(
        &self,
        catalog: &Catalog,
        dialects: &[&'static dyn Dialect],
        templates: &Templates,
    ) -> Result<Vec<GeneratedFile>> {
        let (source, rust) = (self.source(), self.rust()?);
        let options = |dialects: &[&'static dyn Dialect]| options(dialects, rust.clone(), &source);
        // A file for each database, as a program includes one.
        let mut files = match dialects {
            [] => vec![generate::bundle(catalog, &options(&[]), templates)?],
            some => {
                let bundle =
                    |dialect: &&'static dyn Dialect| generate::bundle(catalog, &options(&[*dialect]), templates);
                some.iter().map(bundle).collect::<Result<_>>()?
            }
        };
        if !self.rust_only {
            files.extend(generate::run(catalog, &options(dialects), templates)?);
        }
        Ok(files)
    }

    /// The choices about Rust code.
    fn rust(&self) -> Result<Settings> {
        let brokers = self.brokers.iter().map(|name| {
            let known = rust::broker(name);
            known.ok_or_else(|| Error::unknown("broker", name, rust::BROKERS.iter().map(|(name, _)| *name)))
        });
        Ok(Settings { brokers: brokers.collect::<Result<_>>()?, ..self.rust.clone() })
    }

    /// What the header names as the source: the same on every machine.
    fn source(&self) -> String {
        let name = |path: &PathBuf| match path.file_name() {
            Some(name) if path.is_absolute() => name.to_string_lossy().into_owned(),
            _ => path.display().to_string(),
        };
        self.schema_paths().iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn write(&self, folders: &Folders, files: Vec<GeneratedFile>, dialects: &[&'static dyn Dialect]) -> Result<()> {
        let out = match &self.out_dir {
            Some(folder) => folders.manifest.join(folder),
            None => folders.out.clone(),
        };
        let ours = self.out_dir.is_none();
        if ours {
            refuse_links(&out, &files)?;
        }
        // Statements of a table that is gone must not be found any more. In a folder that was asked for they are not ours.
        let owned = match ours && !self.rust_only {
            true => generate::owned_folders(&options(dialects, Settings::default(), "")),
            false => Vec::new(),
        };
        output::apply(&output::plan(&out, files, &owned)?, ours)
    }
}

/// A link in `OUT_DIR` would lead out of it.
fn refuse_links(out: &Path, files: &[GeneratedFile]) -> Result<()> {
    for file in files {
        let path = out.join(&file.path);
        if let Some(link) = path.ancestors().take_while(|path| *path != out).find(|path| path.is_symlink()) {
            let message = format!("`{}` is a link, and may lead out of OUT_DIR", visible(&link.display().to_string()));
            return Err(Error::new(message).help("remove it, or ask for another folder with `out_dir`"));
        }
    }
    Ok(())
}

/// What is generated beside the file for `include!`.
fn options<'a>(dialects: &[&'static dyn Dialect], rust: Settings, source: &'a str) -> Options<'a> {
    Options { dialects: dialects.to_vec(), targets: vec![&Sql], rust, source }
}

/// The folders that cargo gives a build script.
struct Folders {
    /// The folder of the crate's `Cargo.toml`; empty if that is the working directory, so that messages are short.
    manifest: PathBuf,
    /// `OUT_DIR`.
    out: PathBuf,
}

impl Folders {
    fn of_cargo() -> Result<Folders> {
        let of = |name: &str| {
            let missing =
                || Error::new(format!("{name} is not set")).help("call this from a `build.rs` that cargo runs");
            std::env::var_os(name).map(PathBuf::from).ok_or_else(missing)
        };
        let manifest = of("CARGO_MANIFEST_DIR")?;
        let here = std::env::current_dir().is_ok_and(|here| here == manifest);
        Ok(Folders { manifest: if here { PathBuf::new() } else { manifest }, out: of("OUT_DIR")? })
    }

    /// The path as the build script gave it.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.manifest).unwrap_or(path).display().to_string()
    }
}
