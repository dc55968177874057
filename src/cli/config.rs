//! `claimsmith.toml`: found upwards from the working directory, and checked like everything else.

mod lint;

use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Place, Source, Span, suggest};
use crate::error::{Error, Result};

pub use lint::{Allow, LintSettings};

/// The file's name.
pub const FILE: &str = "claimsmith.toml";

/// The keys of the file.
const KEYS: [&str; 7] = ["schemas", "out", "dialects", "targets", "templates", "rust", "lint"];

/// The keys of `[rust]`.
const RUST_KEYS: [&str; 3] = ["brokers", "metrics", "tracing"];

/// A text of the file, or of a flag.
#[derive(Clone, Debug)]
pub struct Word {
    /// The text.
    pub text: String,
    /// Where it stands in the file.
    pub place: Option<Place>,
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Word { text: text.to_owned(), place: None }
    }
}

impl Word {
    /// A fault about this text: shown in the file if it stands there.
    pub fn fault(&self, message: impl Into<String>) -> Error {
        self.at(Error::new(message))
    }

    fn at(&self, fault: Error) -> Error {
        match &self.place {
            Some(place) => fault.at(place.clone()),
            None => fault,
        }
    }

    /// A fault: the text is none of the `known` ones.
    pub fn unknown<'a>(&self, what: &str, known: impl Iterator<Item = &'a str>) -> Error {
        self.at(Error::unknown(what, &self.text, known))
    }
}

/// What the file says; paths are relative to its folder.
#[derive(Debug, Default)]
struct Settings {
    schemas: Option<Vec<Word>>,
    out: Option<String>,
    dialects: Vec<Word>,
    targets: Vec<Word>,
    templates: Option<String>,
    rust: RustSettings,
    lint: LintSettings,
}

/// What `[rust]` says of generated Rust code.
#[derive(Clone, Debug, Default)]
pub struct RustSettings {
    /// Kinds of brokers that the program uses beside those that its definitions name.
    pub brokers: Vec<Word>,
    /// Relays and consumers count what happens by the crate metrics.
    pub metrics: bool,
    /// Relays and consumers show what happens by the crate tracing.
    pub tracing: bool,
}

/// The configuration of a run, with its defaults.
#[derive(Debug)]
pub struct Config {
    /// The folder of the file, or the working directory where there is none.
    pub root: PathBuf,
    /// Definition files and folders, relative to `root`.
    pub schemas: Vec<Word>,
    /// Where generated files go.
    pub out: PathBuf,
    /// For which databases; empty: all.
    pub dialects: Vec<Word>,
    /// Which kinds of files; empty: all.
    pub targets: Vec<Word>,
    /// The folder of custom templates.
    pub templates: Option<PathBuf>,
    /// Of generated Rust code.
    pub rust: RustSettings,
    /// What `lint` is told.
    pub lint: LintSettings,
}

impl Config {
    /// Reads `explicit`, or the nearest file upwards from `from`, or takes the defaults.
    pub fn find(explicit: Option<&Path>, from: &Path) -> Result<Config> {
        let path = match explicit {
            Some(path) => Some(from.join(path)),
            None => from.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file()),
        };
        match path {
            Some(path) => Config::read(&path, from),
            None => Ok(Config::new(from.to_owned(), Settings::default())),
        }
    }

    /// Reads a file; `from` is the working directory.
    pub fn read(path: &Path, from: &Path) -> Result<Config> {
        let shown = shown(from, path);
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| Error::io("read the configuration", Path::new(&shown), error))?;
        let settings = settings(&Arc::new(Source::new(shown, text)))?;
        Ok(Config::new(path.parent().unwrap_or(from).to_owned(), settings))
    }

    fn new(root: PathBuf, settings: Settings) -> Config {
        Config {
            schemas: settings.schemas.unwrap_or_else(|| vec!["schemas".into()]),
            out: root.join(settings.out.as_deref().unwrap_or("generated")),
            dialects: settings.dialects,
            targets: settings.targets,
            templates: settings.templates.map(|path| root.join(path)),
            rust: settings.rust,
            lint: settings.lint,
            root,
        }
    }
}

fn settings(source: &Arc<Source>) -> Result<Settings> {
    let reader = Reader { source };
    let table = DeTable::parse(&source.text).map_err(|error| {
        let message = error.message().trim().replace('\n', "; ");
        reader.fault(error.span().unwrap_or_default(), message)
    })?;
    let mut settings = Settings::default();
    for (key, value) in table.get_ref() {
        let name: &str = key.get_ref();
        match name {
            "schemas" => settings.schemas = Some(reader.list(name, value)?),
            "out" => settings.out = Some(reader.text(name, value)?.text),
            "dialects" => settings.dialects = reader.list(name, value)?,
            "targets" => settings.targets = reader.list(name, value)?,
            "templates" => settings.templates = Some(reader.text(name, value)?.text),
            "rust" => settings.rust = reader.rust(value)?,
            "lint" => settings.lint = reader.lint(value)?,
            _ => return Err(reader.unknown(name, key.span(), &KEYS)),
        }
    }
    Ok(settings)
}

/// Takes values of the file for what they should be, and says in the file's words what they are instead.
struct Reader<'a> {
    source: &'a Arc<Source>,
}

impl Reader<'_> {
    fn unknown(&self, name: &str, at: Range<usize>, keys: &[&str]) -> Error {
        let message = format!("unknown field `{name}`, expected one of `{}`", keys.join("`, `"));
        let fault = self.fault(at, message);
        match suggest::closest(name, keys.iter().copied()) {
            Some(closest) => fault.help(format!("did you mean `{closest}`?")),
            None => fault,
        }
    }

    fn place(&self, range: Range<usize>) -> Place {
        Place { source: self.source.clone(), span: Span { start: range.start as u32, end: range.end as u32 } }
    }

    fn fault(&self, range: Range<usize>, message: String) -> Error {
        Error::new(format!("the configuration is wrong: {message}")).at(self.place(range))
    }

    fn expected(&self, key: &str, what: &str, value: &Spanned<DeValue<'_>>) -> Error {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.fault(value.span(), format!("`{key}`: expected {what}, found {found}"))
    }

    fn text(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Word> {
        match value.get_ref().as_str() {
            Some(text) => Ok(Word { text: text.to_owned(), place: Some(self.place(value.span())) }),
            None => Err(self.expected(key, "a text", value)),
        }
    }

    fn rust(&self, value: &Spanned<DeValue<'_>>) -> Result<RustSettings> {
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.expected("rust", "a table", value));
        };
        let mut settings = RustSettings::default();
        for (key, value) in table {
            let name: &str = key.get_ref();
            let said = || match value.get_ref() {
                DeValue::Boolean(said) => Ok(*said),
                _ => Err(self.expected(&format!("rust.{name}"), "true or false", value)),
            };
            match name {
                "brokers" => settings.brokers = self.list("rust.brokers", value)?,
                "metrics" => settings.metrics = said()?,
                "tracing" => settings.tracing = said()?,
                _ => return Err(self.unknown(name, key.span(), &RUST_KEYS)),
            }
        }
        Ok(settings)
    }

    fn list(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<Word>> {
        match value.get_ref().as_array() {
            Some(values) => values.iter().map(|value| self.text(key, value)).collect(),
            None => Err(self.expected(key, "a list of texts", value)),
        }
    }
}

/// `path` relative to `base`, with `/`; `None` if it lies outside.
pub fn relative(base: &Path, path: &Path) -> Option<String> {
    let (base, path) = (normal(base), normal(path));
    let relative = path.strip_prefix(&base).ok()?;
    Some(if relative.as_os_str().is_empty() { ".".to_owned() } else { slashes(relative) })
}

/// What messages call `path`: the way to it from the working directory.
pub fn shown(here: &Path, path: &Path) -> String {
    slashes(&way(&normal(here), &normal(path)))
}

/// The way to `path` from the folder `here`, up and down; the path itself where they share nothing but the root. Both are
/// absolute, and `here` goes through no link: `..` leads where it seems to.
pub fn way(here: &Path, path: &Path) -> PathBuf {
    let shared = here.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let named = |part: &Component<'_>| matches!(part, Component::Normal(_));
    if !here.components().take(shared).any(|part| named(&part)) {
        return path.to_owned();
    }
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(path.components().skip(shared)).collect();
    if way.as_os_str().is_empty() { ".".into() } else { way }
}

/// The path with `/` between its parts.
fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let joined = parts.join("/");
    // The root is a part of its own.
    joined.strip_prefix("//").map(|rest| format!("/{rest}")).unwrap_or(joined)
}

/// The path without `.` and, as far as it can be told from the text, without `..`.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{shown, way};

    #[test]
    fn ways_lead_up_and_down() {
        let here = Path::new("/a/b");
        for (path, expected) in [
            ("/a/b", "."),
            ("/a/b/c/d", "c/d"),
            ("/a", ".."),
            ("/a/c", "../c"),
            ("/b/c", "/b/c"),
            ("/a/b/../c", "../c"),
            ("/a/b/./c/../d", "d"),
        ] {
            assert_eq!(shown(here, Path::new(path)), expected, "{path}");
        }
        // What is opened goes through the same folders, of which some may be links.
        assert_eq!(way(here, Path::new("/a/b/c/../d")), Path::new("c/../d"));
        assert_eq!(way(Path::new("/"), Path::new("/a")), Path::new("/a"));
    }
}
