//! `claimsmith.toml`: found upwards from the working directory, and checked like everything else.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::diagnostic::{Place, Source, Span, suggest};
use crate::error::{Error, Result};

/// The file's name.
pub const FILE: &str = "claimsmith.toml";

/// What the file says; paths are relative to its folder.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Settings {
    schemas: Option<Vec<PathBuf>>,
    out: Option<PathBuf>,
    dialects: Option<Vec<String>>,
    targets: Option<Vec<String>>,
    templates: Option<PathBuf>,
}

/// The configuration of a run, with its defaults.
#[derive(Debug)]
pub struct Config {
    /// The folder of the file, or the working directory where there is none.
    pub root: PathBuf,
    /// Definition files and folders.
    pub schemas: Vec<PathBuf>,
    /// Where generated files go.
    pub out: PathBuf,
    /// For which databases; empty: all.
    pub dialects: Vec<String>,
    /// Which kinds of files; empty: all.
    pub targets: Vec<String>,
    /// The folder of custom templates.
    pub templates: Option<PathBuf>,
    /// Where the file says what it says, for messages.
    source: Option<Arc<Source>>,
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
            None => Ok(Config::new(from.to_owned(), Settings::default(), None)),
        }
    }

    fn read(path: &Path, from: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read the configuration", path, error))?;
        let source = Arc::new(Source::new(relative(from, path).unwrap_or_else(|| slashes(path)), text));
        let settings = toml::from_str(&source.text).map_err(|error| fault(&source, &error))?;
        let root = path.parent().unwrap_or(from).to_owned();
        Ok(Config::new(root, settings, Some(source)))
    }

    fn new(root: PathBuf, settings: Settings, source: Option<Arc<Source>>) -> Config {
        let absolute = |path: PathBuf| root.join(path);
        Config {
            schemas: settings.schemas.unwrap_or_else(|| vec!["schemas".into()]).into_iter().map(absolute).collect(),
            out: absolute(settings.out.unwrap_or_else(|| "generated".into())),
            dialects: settings.dialects.unwrap_or_default(),
            targets: settings.targets.unwrap_or_default(),
            templates: settings.templates.map(absolute),
            root,
            source,
        }
    }

    /// A fault in the list `key`, at the value if it stands in the file.
    pub fn unknown<'a>(&self, key: &str, value: &str, known: impl Iterator<Item = &'a str>) -> Error {
        let known: Vec<&str> = known.collect();
        let error = Error::new(format!("unknown {key} `{value}`"));
        let error = match suggest::closest(value, known.iter().copied()) {
            Some(closest) => error.help(format!("did you mean `{closest}`?")),
            None => error.help(format!("choose from {}", known.join(", "))),
        };
        let quoted = format!("\"{value}\"");
        let place = self.source.as_ref().and_then(|source| {
            let start = source.text.find(&quoted)?;
            let span = Span { start: start as u32, end: (start + quoted.len()) as u32 };
            Some(Place { source: source.clone(), span })
        });
        match place {
            Some(place) => error.at(place),
            None => error,
        }
    }
}

fn fault(source: &Arc<Source>, error: &toml::de::Error) -> Error {
    let message = error.message();
    let fault = Error::new(format!("the configuration is wrong: {message}"));
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let fault = match words.split_first() {
        Some((word, expected)) if message.starts_with("unknown field") => {
            match suggest::closest(word, expected.iter().copied()) {
                Some(closest) => fault.help(format!("did you mean `{closest}`?")),
                None => fault,
            }
        }
        _ => fault,
    };
    match error.span() {
        Some(range) => {
            let span = Span { start: range.start as u32, end: range.end as u32 };
            fault.at(Place { source: source.clone(), span })
        }
        None => fault,
    }
}

/// `path` relative to `base`, with `/`; `None` if it lies outside.
pub fn relative(base: &Path, path: &Path) -> Option<String> {
    let (base, path) = (normal(base), normal(path));
    let relative = path.strip_prefix(&base).ok()?;
    Some(if relative.as_os_str().is_empty() { ".".to_owned() } else { slashes(relative) })
}

/// The path with `/` between its parts.
pub fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let joined = parts.join("/");
    // The root is a part of its own.
    joined.strip_prefix("//").map(|rest| format!("/{rest}")).unwrap_or(joined)
}

/// The path without `.` and, as far as it can be told from the text, without `..`.
fn normal(path: &Path) -> PathBuf {
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
