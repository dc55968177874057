//! Faults that stop a run: unreadable files, wrong configuration, wrong templates, a full disk.
//!
//! What is wrong with a definition or with SQL is not a fault but a [`Diagnostic`](crate::diagnostic::Diagnostic).

use std::error::Error as StdError;
use std::fmt;

use crate::diagnostic::render::{Report, visible};
use crate::diagnostic::{Level, Place, suggest};

/// The result of everything that can be stopped by a fault.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A fault, with what would mend it.
#[derive(Debug)]
pub struct Error {
    message: String,
    place: Option<Box<Place>>,
    help: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// A fault described by one sentence without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Error { message: message.into(), place: None, help: Vec::new(), source: None }
    }

    /// What was being done to which path when the operating system refused.
    pub fn io(action: &str, path: &std::path::Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let help = match source.kind() {
            ErrorKind::NotFound => "check the path",
            ErrorKind::PermissionDenied => "check the permissions of the file and of its folder",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space; no file was changed by this run",
            ErrorKind::NotADirectory => "a file stands where a folder is needed",
            ErrorKind::IsADirectory => "a folder stands where a file is needed",
            ErrorKind::ReadOnlyFilesystem => "the file system is mounted read-only",
            _ => "",
        };
        let error = Error::new(format!("cannot {action} `{}`: {source}", visible(&path.display().to_string())));
        let error = if help.is_empty() { error } else { error.help(help) };
        Error { source: Some(source.into()), ..error }
    }

    /// A word that is none of the `known` ones.
    pub fn unknown<'a>(what: &str, word: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.collect();
        let error = Error::new(format!("unknown {what} `{word}`"));
        match suggest::closest(word, known.iter().copied()) {
            Some(closest) => error.help(format!("did you mean `{closest}`?")),
            None => error.help(format!("choose from {}", known.join(", "))),
        }
    }

    /// Names the place that caused it.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(Box::new(place));
        self
    }

    /// Adds a way to mend it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// The fault as a report, for the same rendering as findings.
    pub fn report(&self) -> Report<'_> {
        Report {
            level: Level::Error,
            id: None,
            message: &self.message,
            place: self.place.as_deref(),
            label: "",
            related: &[],
            help: &self.help,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
