//! `[[lint.allow]]`: findings of a rule in some files are left out, and what leaves nothing out is a finding.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::diagnostic::{Diagnostic, Level};
use crate::error::Error;
use crate::lint::rules;
use crate::schema;

use super::super::config::{Allow, Config, Word, normal};

/// The entries of all configurations.
pub struct Allows<'a> {
    entries: Vec<Entry<'a>>,
    here: PathBuf,
}

struct Entry<'a> {
    allow: &'a Allow,
    root: PathBuf,
    files: Gitignore,
}

impl<'a> Allows<'a> {
    /// Reads the entries.
    pub fn of(configs: impl Iterator<Item = &'a Config>, here: &Path) -> Result<Allows<'a>, Error> {
        let mut entries = Vec::new();
        for config in configs {
            for allow in &config.lint.allow {
                let root = normal(&config.root);
                check_rule(&allow.rule)?;
                let files = files(&root, &allow.path)?;
                entries.push(Entry { allow, root, files });
            }
        }
        Ok(Allows { entries, here: here.to_owned() })
    }

    /// Takes out what is allowed; with `whole`, all files were looked at, and what allows nothing is a finding.
    pub fn filter(&self, findings: &mut Vec<Diagnostic>, whole: bool) {
        let mut used = vec![false; self.entries.len()];
        findings.retain(|finding| match self.entries.iter().position(|entry| self.allows(entry, finding)) {
            Some(at) => {
                used[at] = true;
                false
            }
            None => true,
        });
        let unused = self.entries.iter().zip(&used).filter(|(_, used)| whole && !**used);
        findings.extend(unused.map(|(entry, _)| {
            let Word { text, place } = &entry.allow.rule;
            let message = format!("nothing in `{}` is found by `{text}`", entry.allow.path.text);
            Diagnostic::new(rules::unused_suppression(), place.clone(), message).help("take the entry out")
        }));
    }

    fn allows(&self, entry: &Entry<'_>, finding: &Diagnostic) -> bool {
        // What makes a definition impossible is no matter of taste.
        let own = rules::find(finding.rule.id).is_some();
        let can = own || schema::rules::can_be_allowed(finding.level) && finding.level < Level::Error;
        let Some(place) = finding.place.as_ref().filter(|_| can && finding.rule.id == entry.allow.rule.text) else {
            return false;
        };
        let path = normal(&self.here.join(&place.source.path));
        // The matcher takes only paths below its root.
        path.starts_with(&entry.root) && entry.files.matched_path_or_any_parents(&path, false).is_ignore()
    }
}

fn check_rule(rule: &Word) -> Result<(), Error> {
    let definitions = schema::rules::all();
    let known = || rules::ALL.iter().map(|check| check.rule.id).chain(definitions.iter().map(|rule| rule.id));
    match known().any(|id| id == rule.text) {
        true => Ok(()),
        false => Err(rule.unknown("rule", known())),
    }
}

fn files(root: &Path, pattern: &Word) -> Result<Gitignore, Error> {
    let mut builder = GitignoreBuilder::new(root);
    let wrong = |why: String| pattern.fault(format!("the configuration is wrong: `{}` {why}", pattern.text));
    if pattern.text.trim().is_empty() || pattern.text.starts_with(['!', '#']) {
        return Err(wrong("names no files".to_owned()));
    }
    builder.add_line(None, &pattern.text).map_err(|error| wrong(format!("is no pattern of paths: {error}")))?;
    builder.build().map_err(|error| wrong(format!("is no pattern of paths: {error}")))
}
