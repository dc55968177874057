//! A file → its statements about tables that may be queues. What cannot be about one is not parsed.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

use crate::diagnostic::{Source, Span};
use crate::dialect::{self, Dialect};
use crate::schema::Catalog;
use crate::sql::ddl::Ddl;
use crate::sql::split::{self, Piece};
use crate::sql::{self, Fragment, HOLE, Item, Statement, Syntax, token};

use super::shared::Shared;
use super::tables::Tables;
use super::{Input, Options};

/// A file with what was read of it.
#[derive(Debug)]
pub struct Unit {
    /// The file.
    pub source: Arc<Source>,
    /// Its texts of SQL.
    pub scripts: Vec<Script>,
}

/// One text of SQL.
pub struct Script {
    /// The text, with its way back to the file.
    pub fragment: Fragment,
    /// The databases that it may be for.
    pub dialects: Vec<&'static dyn Dialect>,
    /// It is the body of a function, or a text that one runs.
    pub body: bool,
    /// Its statements.
    pub statements: Vec<Statement>,
    ddl: Vec<Ddl>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("statements", &self.statements).finish_non_exhaustive()
    }
}

impl Unit {
    /// Its statements about tables and indexes.
    pub fn ddl(&self) -> impl Iterator<Item = &Ddl> {
        self.scripts.iter().flat_map(|script| &script.ddl)
    }
}

/// Finds names of tables that may be queues, and in programs words of SQL.
#[derive(Debug)]
pub struct Finder {
    names: Option<AhoCorasick>,
    verbs: Option<AhoCorasick>,
}

impl Finder {
    /// A finder of the defined tables, and of what the patterns of queue names must contain.
    pub(super) fn new(tables: &Tables, options: &Options) -> Finder {
        Finder::of_words(words(tables, options))
    }

    /// A finder for several runs over the same files: each with its definitions and its options.
    pub fn of_all<'a>(runs: impl IntoIterator<Item = (&'a Catalog, &'a Options)>) -> Finder {
        let words = runs.into_iter().flat_map(|(catalog, options)| words(&Tables::of(catalog, options), options));
        Finder::of_words(words.collect())
    }

    fn of_words(mut words: Vec<String>) -> Finder {
        words.retain(|word| !word.is_empty());
        words.sort();
        words.dedup();
        // Too many words for an automaton: everything is read.
        let build = |words: &[String]| AhoCorasickBuilder::new().ascii_case_insensitive(true).build(words).ok();
        let verbs = ["select", "update", "delete"].map(str::to_owned);
        Finder { names: build(&words), verbs: build(&verbs) }
    }

    /// Where such names occur.
    fn positions(&self, text: &str) -> Option<Vec<usize>> {
        Some(self.names.as_ref()?.find_iter(text).map(|found| found.start()).collect())
    }

    /// Whether a file with this ending may hold SQL about such a table. A program without a verb of SQL that stands for
    /// itself is not parsed: `queue.update()` and `tokio::select!` are everywhere.
    pub fn is_in(&self, text: &[u8], extension: &str) -> bool {
        self.names.as_ref().is_none_or(|finder| finder.is_match(text))
            && (matches!(extension, "sql" | "xml") || self.has_verb(text))
    }

    fn has_verb(&self, text: &[u8]) -> bool {
        let alone = |start: usize, end: usize| {
            let before = start.checked_sub(1).is_none_or(|at| !text[at].is_ascii_alphanumeric() && text[at] != b'_');
            // A literal may end here, and go on in the next line.
            let after = text.get(end).is_none_or(|byte| byte.is_ascii_whitespace() || b"\\\"'`/".contains(byte));
            before && after
        };
        self.verbs.as_ref().is_none_or(|verbs| verbs.find_iter(text).any(|found| alone(found.start(), found.end())))
    }
}

/// What the names of the tables of a run are, or must contain.
fn words(tables: &Tables, options: &Options) -> Vec<String> {
    let longest = |pattern: &String| pattern.split('*').max_by_key(|part| part.len()).unwrap_or_default().to_owned();
    options.queue_tables.iter().map(longest).chain(tables.defined().iter().cloned()).collect()
}

/// Deepest nesting of texts in texts: `EXECUTE '…'` in a body in a body.
const MOST_NESTED: usize = 4;

/// Reads a file.
pub(super) fn read(input: &Input, finder: &Finder, shared: &Shared, options: &Options) -> Unit {
    let source = &input.source;
    let mut scripts = Vec::new();
    if !input.companion && finder.is_in(source.text.as_bytes(), &input.extension) {
        for fragment in fragments(input, shared) {
            script(fragment, finder, &source.path, options, 0, &mut scripts);
        }
    }
    Unit { source: source.clone(), scripts }
}

/// Whether files with this ending are read.
pub fn is_known(extension: &str) -> bool {
    extension == "sql" || extension == "xml" && cfg!(feature = "mybatis") || is_host(extension)
}

#[cfg(feature = "host")]
fn is_host(extension: &str) -> bool {
    sql::host::is_known(extension)
}

#[cfg(not(feature = "host"))]
fn is_host(_: &str) -> bool {
    false
}

#[cfg(feature = "lang-go")]
fn of_program(input: &Input, shared: &Shared) -> Vec<Fragment> {
    sql::host::fragments(&input.source.text, &input.extension, shared.constants(input))
}

#[cfg(all(feature = "host", not(feature = "lang-go")))]
fn of_program(input: &Input, _: &Shared) -> Vec<Fragment> {
    sql::host::fragments(&input.source.text, &input.extension, sql::host::Constants::new())
}

#[cfg(not(feature = "host"))]
fn of_program(_: &Input, _: &Shared) -> Vec<Fragment> {
    Vec::new()
}

#[cfg(feature = "mybatis")]
fn of_mapper(text: &str, shared: &Shared) -> Vec<Fragment> {
    sql::mybatis::fragments(text, &shared.parts)
}

#[cfg(not(feature = "mybatis"))]
fn of_mapper(_: &str, _: &Shared) -> Vec<Fragment> {
    Vec::new()
}

fn fragments(input: &Input, shared: &Shared) -> Vec<Fragment> {
    match &*input.extension {
        "sql" => vec![Fragment::file(&input.source.text)],
        "xml" => of_mapper(&input.source.text, shared),
        _ => of_program(input, shared),
    }
}

fn script(
    fragment: Fragment,
    finder: &Finder,
    path: &str,
    options: &Options,
    nested: usize,
    scripts: &mut Vec<Script>,
) {
    let Some(names) = finder.positions(&fragment.text).or_else(|| Some(vec![0])) else { return };
    if names.is_empty() {
        return;
    }
    let dialects = guess(&fragment.text, path, &options.dialects);
    let syntax = dialects.first().map_or_else(Syntax::default, |dialect| dialect.syntax());
    let tokens = token::tokenize(&fragment.text, &syntax);
    let all = &tokens.tokens;
    let about_queues = |range: &std::ops::Range<usize>| {
        let (Some(first), Some(last)) = (all.get(range.start), range.end.checked_sub(1).and_then(|last| all.get(last)))
        else {
            return false;
        };
        let at = names.partition_point(|name| *name < first.span.start as usize);
        names.get(at).is_some_and(|name| *name < last.span.end as usize)
    };
    let mut pieces = split::pieces(&fragment.text, all);
    pieces.retain(|piece| match piece {
        // `DROP INDEX name` names no table.
        Piece::Ddl(range) => about_queues(range) || range.len() < 12,
        Piece::Rows(range) => about_queues(range),
    });
    let (mut statements, mut ddl) = (Vec::new(), Vec::new());
    for item in sql::read(&fragment.text, all, &pieces, &syntax) {
        match item {
            Item::Statement(statement) => statements.push(statement),
            Item::Ddl(one) => ddl.push(one),
        }
    }
    let bodies = if nested < MOST_NESTED { split::bodies(&fragment.text, all) } else { Vec::new() };
    let inner: Vec<Fragment> = bodies.into_iter().map(|body| inside(&fragment, body)).collect();
    scripts.push(Script { fragment, dialects, body: nested > 0, statements, ddl });
    for fragment in inner {
        script(fragment, finder, path, options, nested + 1, scripts);
    }
}

/// A text inside a text as a text of its own; what `format` replaces in it are holes.
fn inside(fragment: &Fragment, body: split::Body) -> Fragment {
    let text = fragment.text.get(body.range.clone()).unwrap_or_default();
    let mut inner = Fragment::default();
    let place = |from: usize, to: usize| {
        let span = Span { start: (body.range.start + from) as u32, end: (body.range.start + to) as u32 };
        fragment.place(span)
    };
    let mut from = 0;
    let marks = text.match_indices('%').map(|(at, _)| at).filter(|_| body.format);
    for at in marks {
        let format = text[at + 1..].starts_with(['I', 'L', 's']) && at >= from;
        if format {
            inner.verbatim(&text[from..at], place(from, at).start as usize);
            let hole = place(at, at + 2);
            match text[at + 1..].starts_with('L') {
                // A literal: one value.
                true => inner.written("?", hole.start as usize..hole.end as usize),
                false => inner.hole(hole.start as usize..hole.end as usize),
            }
            from = at + 2;
        }
    }
    inner.verbatim(&text[from..], place(from, text.len()).start as usize);
    inner
}

/// The databases that a text may be for: by a folder of its path, else by what only one of them writes.
fn guess(text: &str, path: &str, candidates: &[&'static dyn Dialect]) -> Vec<&'static dyn Dialect> {
    let by_path: Vec<_> = dialect::ALL
        .into_iter()
        .filter(|dialect| path.split(['/', '.', '_', '-']).any(|part| part.eq_ignore_ascii_case(dialect.engine().id)))
        .collect();
    if !by_path.is_empty() {
        return by_path;
    }
    if candidates.len() <= 1 {
        return candidates.to_vec();
    }
    // Enough of it to see whose it is.
    let mut end = text.len().min(20_000);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let upper = text[..end].to_ascii_uppercase();
    let score = |dialect: &&'static dyn Dialect| dialect.signs().iter().filter(|sign| upper.contains(**sign)).count();
    let best = candidates.iter().map(score).max().unwrap_or_default();
    let mut likely: Vec<&'static dyn Dialect> =
        candidates.iter().filter(|dialect| score(dialect) == best).copied().collect();
    if text.contains(HOLE) && likely.is_empty() {
        likely = candidates.to_vec();
    }
    likely
}
