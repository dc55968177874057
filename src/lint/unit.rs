//! A file → its statements about tables that may be queues. What cannot be about one is not parsed.

use std::sync::Arc;

use crate::diagnostic::{Source, Span};
use crate::dialect::{self, Dialect};
use crate::sql::ddl::Ddl;
use crate::sql::split::{self, Piece};
use crate::sql::{self, Fragment, HOLE, Item, Statement, Syntax, Token, token};

use super::finder::Finder;
use super::shared::Shared;
use super::{Input, Options};

/// A file with the texts of SQL in it.
pub struct Unit {
    /// The file.
    pub source: Arc<Source>,
    /// Its texts of SQL.
    pub scripts: Vec<Script>,
    /// It is so far from its language that it was not read.
    pub tangled: bool,
}

/// One text of SQL, cut into pieces and not yet parsed: what is parsed is ten times as large.
pub struct Script {
    /// The text, with its way back to the file.
    pub fragment: Fragment,
    /// The databases that it may be for.
    pub dialects: Vec<&'static dyn Dialect>,
    /// It is the body of a function, or a text that one runs.
    pub body: bool,
    syntax: Syntax,
    tokens: Vec<Token>,
    pieces: Vec<Piece>,
}

impl Script {
    /// Its statements about rows, in parts of at most so many pieces.
    pub fn statements(&self, most: usize) -> impl Iterator<Item = Vec<Statement>> {
        let statement = |item| match item {
            Item::Statement(statement) => Some(statement),
            Item::Ddl(_) => None,
        };
        self.items(most, |piece| matches!(piece, Piece::Rows(_)))
            .map(move |items| items.into_iter().filter_map(statement).collect())
    }

    /// Its statements about tables and indexes.
    fn ddl(&self) -> impl Iterator<Item = Ddl> {
        let ddl = |item| match item {
            Item::Ddl(ddl) => Some(ddl),
            Item::Statement(_) => None,
        };
        self.items(self.pieces.len(), |piece| matches!(piece, Piece::Ddl(_))).flatten().filter_map(ddl)
    }

    fn items(&self, most: usize, wanted: fn(&Piece) -> bool) -> impl Iterator<Item = Vec<Item>> {
        self.pieces.chunks(most.max(1)).map(move |pieces| {
            let pieces: Vec<Piece> = pieces.iter().filter(|piece| wanted(piece)).cloned().collect();
            sql::read(&self.fragment.text, &self.tokens, &pieces, &self.syntax)
        })
    }
}

/// Deepest nesting of texts in texts: `EXECUTE '…'` in a body in a body.
const MOST_NESTED: usize = 4;

/// Reads a file.
pub(super) fn read(input: &Input, finder: &Finder, shared: &Shared, options: &Options) -> Unit {
    let source = &input.source;
    let (mut scripts, mut tangled) = (Vec::new(), false);
    if !input.companion && finder.is_in(source.text.as_bytes(), &input.extension) {
        let fragments = fragments(input, shared);
        tangled = fragments.is_none();
        for fragment in fragments.unwrap_or_default() {
            script(fragment, finder, &source.path, options, 0, &mut scripts);
        }
    }
    Unit { source: source.clone(), scripts, tangled }
}

/// What a file says of tables and indexes.
pub(super) fn ddl_of(input: &Input, finder: &Finder, shared: &Shared, options: &Options) -> Vec<Ddl> {
    match finder.has_ddl(input.source.text.as_bytes()) {
        true => read(input, finder, shared, options).scripts.iter().flat_map(Script::ddl).collect(),
        false => Vec::new(),
    }
}

/// What a script says of tables and indexes.
pub(super) fn ddl(text: &str, dialect: &dyn Dialect) -> Vec<Ddl> {
    let syntax = dialect.syntax();
    let tokens = token::tokenize(text, &syntax).tokens;
    let pieces = split::pieces(text, &tokens);
    let items = sql::read(text, &tokens, &pieces, &syntax).into_iter();
    let ddl = items.filter_map(|item| match item {
        Item::Ddl(ddl) => Some(ddl),
        Item::Statement(_) => None,
    });
    ddl.collect()
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
fn of_program(input: &Input, shared: &Shared) -> Option<Vec<Fragment>> {
    sql::host::fragments(&input.source.text, &input.extension, shared.constants(input))
}

#[cfg(all(feature = "host", not(feature = "lang-go")))]
fn of_program(input: &Input, _: &Shared) -> Option<Vec<Fragment>> {
    sql::host::fragments(&input.source.text, &input.extension, sql::host::Constants::new())
}

#[cfg(not(feature = "host"))]
fn of_program(_: &Input, _: &Shared) -> Option<Vec<Fragment>> {
    Some(Vec::new())
}

#[cfg(feature = "mybatis")]
fn of_mapper(text: &str, shared: &Shared) -> Vec<Fragment> {
    sql::mybatis::fragments(text, &shared.parts)
}

#[cfg(not(feature = "mybatis"))]
fn of_mapper(_: &str, _: &Shared) -> Vec<Fragment> {
    Vec::new()
}

/// The texts of SQL in a file; `None` if it cannot be read in any time.
fn fragments(input: &Input, shared: &Shared) -> Option<Vec<Fragment>> {
    match &*input.extension {
        "sql" => Some(vec![Fragment::file(&input.source.text)]),
        "xml" => Some(of_mapper(&input.source.text, shared)),
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
    let names = finder.positions(&fragment.text);
    if names.as_ref().is_some_and(Vec::is_empty) {
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
        names.as_ref().is_none_or(|names| {
            let at = names.partition_point(|name| *name < first.span.start as usize);
            names.get(at).is_some_and(|name| *name < last.span.end as usize)
        })
    };
    let mut pieces = split::pieces(&fragment.text, all);
    pieces.retain(|piece| match piece {
        // `DROP INDEX name` names no table.
        Piece::Ddl(range) => about_queues(range) || range.len() < 12,
        Piece::Rows(range) => about_queues(range),
    });
    let bodies = if nested < MOST_NESTED { split::bodies(&fragment.text, all) } else { Vec::new() };
    let inner: Vec<Fragment> = bodies.into_iter().map(|body| inside(&fragment, body)).collect();
    scripts.push(Script { fragment, dialects, body: nested > 0, syntax, tokens: tokens.tokens, pieces });
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
