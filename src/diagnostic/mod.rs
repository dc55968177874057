//! Findings as values: what is wrong, where, and how to mend it.
//!
//! A [`Diagnostic`] carries everything that a report needs and prints nothing itself. [`Report`](render::Report) turns
//! it into text in the manner of rustc.

pub mod render;
pub mod suggest;

use std::sync::{Arc, OnceLock};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something worth knowing, for example how an engine represents a type.
    Note,
    /// Something that will hurt, but does not stop the run.
    Warning,
    /// Something that cannot be right: the run ends with exit status 1.
    Error,
}

impl Level {
    /// The word printed in reports.
    pub fn word(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// One thing that claimsmith looks for: its identity and its documentation.
#[derive(Debug)]
pub struct Rule {
    /// Kebab-case name of the pattern that is found, so that "allow queue-without-lease" reads well.
    pub id: &'static str,
    /// The level at which the rule reports.
    pub level: Level,
    /// One line for lists of rules.
    pub summary: &'static str,
    /// Markdown with the fixed headings `## What it does`, `## Why is this bad?`, `## Example`, `## Use instead` and
    /// `## When it is right to allow it`.
    pub docs: &'static str,
}

/// What some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text that was read, under the name by which reports show it.
#[derive(Debug)]
pub struct Source {
    /// Path as the user gave it, with `/`.
    pub path: String,
    /// The whole text, UTF-8.
    pub text: String,
    /// Where each line starts, found at the first finding.
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// A text under its name.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Source { path: path.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// The number of the line, from 0, that holds the byte.
    fn line(&self, byte: u32) -> usize {
        self.starts().partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The byte at which the line, from 0, starts; the end of the text for lines that do not exist.
    fn line_start(&self, line: usize) -> usize {
        self.starts().get(line).map_or(self.text.len(), |start| *start as usize)
    }

    fn starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            // A byte order mark is no part of the first line.
            let first = if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() as u32 } else { 0 };
            [first].into_iter().chain(breaks.map(|(at, _)| at as u32 + 1)).collect()
        })
    }
}

/// A half-open range of byte offsets into a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

/// A range in a text.
#[derive(Clone, Debug)]
pub struct Place {
    /// The text.
    pub source: Arc<Source>,
    /// The range in it.
    pub span: Span,
}

impl Place {
    /// Line and column of the start, both counted from 1, the column in characters.
    pub fn line_column(&self) -> (usize, usize) {
        self.position(self.span.start)
    }

    /// Line and column behind the end.
    pub fn end_line_column(&self) -> (usize, usize) {
        self.position(self.span.end)
    }

    fn position(&self, byte: u32) -> (usize, usize) {
        let line = self.source.line(byte);
        let before = self.source.text.get(self.source.line_start(line)..byte as usize);
        (line + 1, before.map_or(0, |before| before.chars().count()) + 1)
    }
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What was looked for.
    pub rule: &'static Rule,
    /// The rule's level, unless it was changed for this finding.
    pub level: Level,
    /// One sentence without a full stop.
    pub message: String,
    /// Where; `None` only for what has no text of its own.
    pub place: Option<Place>,
    /// Text beside the marks in the code frame.
    pub label: String,
    /// Further places with their texts, for example the first of two duplicates.
    pub related: Vec<(Place, String)>,
    /// How to mend it, one entry a way.
    pub help: Vec<String>,
    /// What it is about, where that is more than its place: the statement.
    pub extent: Option<Span>,
    /// Changes of the text that certainly mend it and change nothing else; empty where there are none.
    pub fix: Vec<Edit>,
}

/// A change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub text: String,
}

impl Diagnostic {
    /// A finding of `rule` at its own level.
    pub fn new(rule: &'static Rule, place: impl Into<Option<Place>>, message: impl Into<String>) -> Self {
        Diagnostic {
            rule,
            level: rule.level,
            message: message.into(),
            place: place.into(),
            label: String::new(),
            related: Vec::new(),
            help: Vec::new(),
            extent: None,
            fix: Vec::new(),
        }
    }

    /// Sets the text beside the marks in the code frame.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a further place, where there is one.
    pub fn related(mut self, place: impl Into<Option<Place>>, text: impl Into<String>) -> Self {
        self.related.extend(place.into().map(|place| (place, text.into())));
        self
    }

    /// Adds a way to mend it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds "did you mean" if one of `candidates` is close to `word`.
    pub fn did_you_mean<'a>(self, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        match suggest::closest(word, candidates) {
            Some(candidate) => self.help(format!("did you mean `{}`?", render::visible(candidate))),
            None => self,
        }
    }
}

/// Sorts findings by path, position and rule, so that every run prints them in one order.
pub fn sort(findings: &mut [Diagnostic]) {
    findings.sort_by(|a, b| key(a).cmp(&key(b)));
}

fn key(finding: &Diagnostic) -> (&str, Span, &str, &str) {
    let (path, span) = finding.place.as_ref().map_or(("", Span::default()), |place| (&*place.source.path, place.span));
    (path, span, finding.rule.id, &finding.message)
}
