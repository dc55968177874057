//! `--since`: findings on lines that changed, as git says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;

use super::super::config::normal;

/// What changed since a commit, by absolute path.
#[derive(Debug, Default)]
pub struct Changes {
    files: BTreeMap<PathBuf, Lines>,
}

/// Which lines of a file changed.
#[derive(Debug, PartialEq, Eq)]
enum Lines {
    /// It is new.
    All,
    /// First and last lines of ranges. Where lines were taken out, the lines around the gap.
    Some(Vec<Range>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: usize,
    last: usize,
    /// Only what spans all of it was changed: lines were taken out in its middle.
    gap: bool,
}

impl Changes {
    /// What differs between the files as they are and the commit from which the work on them began.
    pub fn since(revision: &str, here: &Path) -> Result<Changes, Error> {
        // `--output=x` would be a flag.
        let named = !revision.is_empty() && !revision.starts_with('-');
        let up = git(here, &["rev-parse", "--show-cdup"])?;
        let top = normal(&here.join(up.trim_end_matches(['\n', '\r'])));
        let commit = format!("{revision}^{{commit}}");
        let found = named.then(|| git(&top, &["rev-parse", "--verify", "--quiet", &commit]).ok()).flatten();
        let Some(commit) = found.map(|commit| commit.trim().to_owned()) else {
            let fault = Error::new(format!("`{revision}` is no commit of this repository"));
            return Err(
                fault.help("in CI, a shallow clone has only the last commit: fetch the one that is compared with")
            );
        };
        // What others changed there meanwhile did not change here.
        let base = git(&top, &["merge-base", &commit, "HEAD"]).map_or(commit, |base| base.trim().to_owned());
        let flags =
            ["-c", "core.quotepath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv"];
        let rest = ["--no-renames", "--src-prefix=a/", "--dst-prefix=b/", &base, "--"];
        let mut changes = Changes { files: read(&git(&top, &[&flags[..], &rest[..]].concat())?, &top) };
        let new = git(&top, &["ls-files", "--others", "--exclude-standard", "-z"])?;
        for path in new.split('\0').filter(|path| !path.is_empty()) {
            changes.files.insert(normal(&top.join(path)), Lines::All);
        }
        Ok(changes)
    }

    /// Takes out findings about what did not change.
    pub fn filter(&self, findings: &mut Vec<Diagnostic>, here: &Path) {
        findings.retain(|finding| finding.place.as_ref().is_none_or(|place| self.touches(finding, place, here)));
    }

    fn touches(&self, finding: &Diagnostic, place: &Place, here: &Path) -> bool {
        match self.files.get(&normal(&here.join(&place.source.path))) {
            None => false,
            Some(Lines::All) => true,
            Some(Lines::Some(ranges)) => {
                // A condition that was taken out is missing in the statement, not on a line.
                let extent =
                    finding.extent.filter(|extent| extent.start <= place.span.start && place.span.end <= extent.end);
                let whole = Place { source: place.source.clone(), span: extent.unwrap_or(place.span) };
                let (first, last) = (whole.line_column().0, whole.end_line_column().0);
                ranges.iter().any(|range| match range.gap {
                    true => first <= range.first && range.last <= last,
                    false => first <= range.last && range.first <= last,
                })
            }
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new("git").current_dir(folder).args(arguments).output();
    let output = output.map_err(|error| {
        Error::new(format!("cannot run `git`: {error}"))
            .help("`--since` asks git what changed; without git, use a baseline")
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it said nothing").trim_start_matches("fatal: ");
    Err(Error::new(format!("git could not say what changed: {said}")))
}

/// Reads a diff without lines of context.
fn read(diff: &str, top: &Path) -> BTreeMap<PathBuf, Lines> {
    let mut files: BTreeMap<PathBuf, Lines> = BTreeMap::new();
    let mut path: Option<PathBuf> = None;
    let mut lines = diff.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("+++ ") {
            path = unquoted(name).strip_prefix("b/").map(|name| normal(&top.join(name)));
            continue;
        }
        let Some((taken, added)) = line.strip_prefix("@@ ").and_then(hunk) else { continue };
        if let Some(path) = &path
            && let Lines::Some(ranges) = files.entry(path.clone()).or_insert(Lines::Some(Vec::new()))
        {
            ranges.push(match added.1 {
                0 => Range { first: added.0, last: added.0 + 1, gap: true },
                count => Range { first: added.0, last: added.0 + count - 1, gap: false },
            });
        }
        // What is inside looks like anything.
        for _ in 0..taken.1 + added.1 {
            lines.next();
        }
    }
    files
}

/// `-a,b +c,d @@`: first lines and numbers of lines.
fn hunk(rest: &str) -> Option<((usize, usize), (usize, usize))> {
    let mut words = rest.split(' ');
    let range = |word: Option<&str>, mark: char| {
        let word = word?.strip_prefix(mark)?;
        let (first, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some((range(words.next(), '-')?, range(words.next(), '+')?))
}

/// A path as git writes it: in quotes if it holds what would end a line.
fn unquoted(name: &str) -> String {
    let name = name.strip_suffix('\t').unwrap_or(name);
    let Some(inside) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else { return name.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = inside.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut number = u32::from(digit - b'0');
                while let Some(next) = rest.next_if(|next| (b'0'..=b'7').contains(next)) {
                    number = number * 8 + u32::from(next - b'0');
                }
                bytes.push(number as u8);
            }
            other => bytes.extend(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Lines, Range, read, unquoted};

    #[test]
    fn hunks_are_read_and_what_is_in_them_is_not() {
        let diff = "diff --git a/x.sql b/x.sql\n--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@ SELECT\n-a\n-b\n+++ b/other.sql\n\
            @@ -9 +7,0 @@\n-gone\n@@ -12,0 +11,3 @@\n+1\n+2\n+3\n";
        let files = read(diff, Path::new("/top"));
        let range = |first, last, gap| Range { first, last, gap };
        let expected = Lines::Some(vec![range(1, 1, false), range(7, 8, true), range(11, 13, false)]);
        assert_eq!(files.into_iter().collect::<Vec<_>>(), [("/top/x.sql".into(), expected)]);
    }

    #[test]
    fn quoted_names_are_read() {
        assert_eq!(unquoted("b/a b.sql\t"), "b/a b.sql");
        assert_eq!(unquoted(r#""b/a\"\\\303\244\n""#), "b/a\"\\ä\n");
    }
}
