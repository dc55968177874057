//! The disk → files to be linted. What cannot hold SQL about a queue is read and let go at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{WalkBuilder, WalkState};

use super::finder::Finder;
use super::shared::{self, Wanted};
use super::{Input, parallel, unit};
use crate::diagnostic::Source;
use crate::error::{Error, Result};

/// Largest file that is read: no SQL that a person wrote is larger, and dumps are.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Lines within which a file says that it is generated.
const HEADER_LINES: usize = 5;

/// Files of a run.
#[derive(Debug, Default)]
pub struct Files {
    /// Those that may hold SQL about a queue.
    pub inputs: Vec<Input>,
    /// All that were looked at.
    pub read: usize,
    /// Those that were not, each with the reason.
    pub skipped: Vec<(String, Skip)>,
}

/// Why a file is not linted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// It has more bytes than [`MOST_BYTES`].
    Large,
    /// It is not UTF-8, or holds NUL bytes.
    NotText,
    /// It says of itself that it is generated.
    Generated,
    /// The system refused it.
    Unreadable,
    /// It is so far from its language that reading it would not end.
    Tangled,
}

impl Skip {
    /// What is said of such files.
    pub fn text(self) -> &'static str {
        match self {
            Skip::Large => "larger than 16 MiB",
            Skip::NotText => "not text",
            Skip::Generated => "generated",
            Skip::Unreadable => "unreadable",
            Skip::Tangled => "too far from its language to be parsed",
        }
    }
}

/// What became of one file.
enum Outcome {
    Kept(Input),
    /// Nothing in it can be about a queue.
    Empty,
    Skipped(String, Skip),
}

/// The names of files to be read.
#[derive(Debug, Default)]
pub struct Listing {
    /// Files, each with whether it was named: such a file is read whatever it is.
    pub files: Vec<(PathBuf, bool)>,
    /// Folders that could not be listed.
    pub unlisted: Vec<PathBuf>,
}

/// Files below the paths, without what `.gitignore` files name; files that are named are read whatever they are.
pub fn list(paths: &[PathBuf], shown: impl Fn(&Path) -> String) -> Result<Listing> {
    let mut listing = Listing::default();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| Error::io("lint", Path::new(&shown(path)), error))?;
        match metadata.is_dir() {
            true => walk(path, &mut listing.files, &mut listing.unlisted),
            false => listing.files.push((path.clone(), true)),
        }
    }
    // As paths are ordered, by their parts; in bytes that is much faster.
    let parts = |path: &Path| {
        let mut bytes = path.as_os_str().as_encoded_bytes().to_vec();
        bytes.iter_mut().filter(|byte| std::path::is_separator(char::from(**byte))).for_each(|byte| *byte = 0);
        bytes
    };
    listing.files.sort_by_cached_key(|(path, named)| (parts(path), *named));
    // A file that is named, too, comes first: it is read as such.
    listing.files.dedup_by(|a, b| {
        a.0 == b.0 && {
            b.1 |= a.1;
            true
        }
    });
    Ok(listing)
}

/// Reads files that may hold SQL about one of the finder's tables.
pub fn read_all(listing: Listing, finder: &Finder, shown: impl Fn(&Path) -> String + Sync) -> Files {
    let outcomes = parallel(&listing.files, |(path, named)| read(path, *named, finder, &shown));
    let unlisted = listing.unlisted.iter().map(|path| (shown(path), Skip::Unreadable)).collect();
    let mut files = Files { read: outcomes.len(), skipped: unlisted, ..Files::default() };
    for outcome in outcomes {
        match outcome {
            Outcome::Kept(input) => files.inputs.push(input),
            Outcome::Empty => {}
            Outcome::Skipped(path, why) => {
                files.read -= 1;
                files.skipped.push((path, why));
            }
        }
    }
    let known: BTreeSet<String> = files.inputs.iter().map(|input| input.source.path.clone()).collect();
    let companions = companions(&listing.files, &files.inputs, &known, &shown);
    files.inputs.extend(companions);
    files
}

/// The files that only give names to texts which the kept ones use: generated ones, too.
fn companions(
    all: &[(PathBuf, bool)],
    kept: &[Input],
    known: &BTreeSet<String>,
    shown: &(impl Fn(&Path) -> String + Sync),
) -> Vec<Input> {
    if !kept.iter().any(|input| matches!(&*input.extension, "go" | "xml")) {
        return Vec::new();
    }
    let others = all.iter().map(|(path, _)| (path, extension(path)));
    let others: Vec<(&PathBuf, String, String)> = others
        .filter(|(_, ending)| matches!(&**ending, "go" | "xml"))
        .map(|(path, ending)| (path, shown(path), ending))
        .collect();
    let programs = others.iter().filter(|(_, _, ending)| ending == "go");
    let folders = programs.map(|(_, path, _)| shared::folder(path).to_owned()).collect();
    let wanted = Wanted::by(kept, &folders);
    let asked: Vec<_> =
        others.into_iter().filter(|(_, path, ending)| !known.contains(path) && wanted.may_be(path, ending)).collect();
    let read = parallel(&asked, |(path, shown, ending)| {
        let file = fs::File::open(path).ok()?;
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
        wanted.is(&text, ending).then(|| Input { companion: true, ..input(shown.clone(), text, ending) })
    });
    read.into_iter().flatten().collect()
}

fn walk(path: &Path, all: &mut Vec<(PathBuf, bool)>, unlisted: &mut Vec<PathBuf>) {
    let (found, refused) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    // A repository that is no git repository (an archive, a container) has its .gitignore all the same.
    let walker = WalkBuilder::new(path).require_git(false).build_parallel();
    walker.run(|| {
        Box::new(|entry| {
            match entry {
                Ok(entry) => {
                    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                    if is_file && unit::is_known(&extension(entry.path())) {
                        found.lock().unwrap_or_else(PoisonError::into_inner).push((entry.into_path(), false));
                    }
                }
                Err(error) if vanished(&error) => {}
                Err(error) => {
                    let at = path_of(&error).unwrap_or(path).to_path_buf();
                    refused.lock().unwrap_or_else(PoisonError::into_inner).push(at);
                }
            }
            WalkState::Continue
        })
    });
    all.append(&mut found.into_inner().unwrap_or_else(PoisonError::into_inner));
    unlisted.append(&mut refused.into_inner().unwrap_or_else(PoisonError::into_inner));
}

/// Whether the entry was there when its folder was listed, and no more when it was looked at.
fn vanished(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// The file or folder that the error is about.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn read(path: &Path, named: bool, finder: &Finder, shown: &impl Fn(&Path) -> String) -> Outcome {
    let skipped = |why| Outcome::Skipped(shown(path), why);
    let Ok(file) = fs::File::open(path) else { return skipped(Skip::Unreadable) };
    // Nearly every file is let go at once: its bytes are read where those of the one before it were.
    BUFFER.with_borrow_mut(|bytes| {
        bytes.clear();
        if file.take(MOST_BYTES + 1).read_to_end(bytes).is_err() {
            return skipped(Skip::Unreadable);
        }
        let outcome = outcome(bytes, path, named, finder, shown);
        // Of a large file nothing is kept.
        bytes.shrink_to(KEPT_BYTES);
        outcome
    })
}

thread_local! {
    /// What the file that is being read holds.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Bytes of the buffer that are kept for the next file.
const KEPT_BYTES: usize = 256 * 1024;

fn outcome(bytes: &[u8], path: &Path, named: bool, finder: &Finder, shown: &impl Fn(&Path) -> String) -> Outcome {
    let skipped = |why| Outcome::Skipped(shown(path), why);
    if bytes.len() as u64 > MOST_BYTES {
        return skipped(Skip::Large);
    }
    if !finder.is_in(bytes, &extension(path)) {
        return Outcome::Empty;
    }
    if bytes.contains(&0) {
        return skipped(Skip::NotText);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return skipped(Skip::NotText) };
    if !named && is_generated(text) {
        return skipped(Skip::Generated);
    }
    Outcome::Kept(input(shown(path), text, &extension(path)))
}

/// Whether a file says of itself that a program made it.
pub fn is_generated(text: &str) -> bool {
    let marks = ["@generated", "Code generated", "DO NOT EDIT"];
    text.lines().take(HEADER_LINES).any(|line| marks.iter().any(|mark| line.contains(mark)))
}

/// A text under its name.
pub fn input(path: impl Into<String>, text: impl Into<String>, extension: &str) -> Input {
    Input { source: Arc::new(Source::new(path, text)), extension: extension.to_owned(), companion: false }
}
