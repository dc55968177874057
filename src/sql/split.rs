//! Tokens → statements: at semicolons, and inside the bodies of procedures at the words behind which a statement begins.

use std::ops::Range;

use super::token::unquote;
use super::{Kind, Token};

/// A run of tokens that belongs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// It begins with SELECT, UPDATE and so on.
    Rows(Range<usize>),
    /// It makes or changes a table or an index.
    Ddl(Range<usize>),
}

const VERBS: [&str; 6] = ["SELECT", "WITH", "UPDATE", "DELETE", "INSERT", "REPLACE"];

/// Words behind which a statement may begin.
const BEFORE: [&str; 18] = [
    "BEGIN", "THEN", "ELSE", "LOOP", "DO", "AS", "IS", "QUERY", "IN", "REPEAT", "EXPLAIN", "ANALYZE", "ANALYSE",
    "VERBOSE", "RETURN", "ATOMIC", "GO", "FOR",
];

/// The pieces of a text, in their order.
pub fn pieces(text: &str, tokens: &[Token]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut depth = 0_usize;
    for at in 0..=tokens.len() {
        let ends = match tokens.get(at) {
            None => true,
            Some(token) if token.kind == Kind::Symbol => match token.text(text) {
                ";" => {
                    depth = 0;
                    true
                }
                "(" => {
                    depth += 1;
                    false
                }
                ")" => {
                    depth = depth.saturating_sub(1);
                    false
                }
                _ => false,
            },
            Some(token) => depth == 0 && is_batch_end(text, tokens, at, token),
        };
        if ends {
            piece(text, tokens, from..at, &mut pieces);
            from = at + 1;
        }
    }
    pieces
}

/// `GO` on a line of its own.
fn is_batch_end(text: &str, tokens: &[Token], at: usize, token: &Token) -> bool {
    if token.kind != Kind::Word || !token.text(text).eq_ignore_ascii_case("go") {
        return false;
    }
    let breaks = |from: u32, to: u32| text.get(from as usize..to as usize).is_none_or(|gap| gap.contains('\n'));
    let before = at.checked_sub(1).is_none_or(|before| breaks(tokens[before].span.end, token.span.start));
    before && tokens.get(at + 1).is_none_or(|next| breaks(token.span.end, next.span.start))
}

fn piece(text: &str, tokens: &[Token], range: Range<usize>, pieces: &mut Vec<Piece>) {
    let word = |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word).map_or("", |token| token.text(text));
    let is = |at: usize, words: &[&str]| words.iter().any(|wanted| word(at).eq_ignore_ascii_case(wanted));
    let Some(first) = range.clone().next() else { return };
    let opens_query = || {
        let open = range.clone().take_while(|at| tokens[*at].text(text) == "(").count();
        open > 0 && is(first + open, &["SELECT", "WITH"])
    };
    if is(first, &VERBS) && !(is(first, &["REPLACE"]) && tokens.get(first + 1).is_some_and(|t| t.text(text) == "(")) {
        return procedural(text, tokens, range, pieces, true);
    }
    if opens_query() {
        return pieces.push(Piece::Rows(range));
    }
    if is(first, &["CREATE", "ALTER", "DROP", "RENAME"]) {
        let object = (first + 1..range.end).take(6).find(|at| is(*at, &["TABLE", "INDEX"]));
        let other = ["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "VIEW", "RULE", "POLICY"];
        if object.is_some_and(|object| !(first + 1..object).any(|at| is(at, &other))) {
            return pieces.push(Piece::Ddl(range));
        }
    }
    procedural(text, tokens, range, pieces, false);
}

/// Statements anywhere in a run of tokens; with `first`, one begins with it.
fn procedural(text: &str, tokens: &[Token], range: Range<usize>, pieces: &mut Vec<Piece>, first: bool) {
    let mut depth = 0_usize;
    let mut starts = Vec::new();
    for at in range.clone() {
        let token = &tokens[at];
        let word = token.text(text);
        match token.kind {
            Kind::Symbol if word == "(" => depth += 1,
            Kind::Symbol if word == ")" => depth = depth.saturating_sub(1),
            Kind::Word if depth == 0 && VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb)) => {
                let begins = match at.checked_sub(1).filter(|before| range.contains(before)) {
                    None => true,
                    Some(before) => follows(text, &tokens[before], word, first),
                };
                if begins {
                    starts.push(at);
                }
            }
            _ => {}
        }
    }
    for (nth, start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(range.end);
        pieces.push(Piece::Rows(*start..end));
    }
}

/// Whether a statement that begins with `verb` may stand behind the token.
fn follows(text: &str, before: &Token, verb: &str, in_rows: bool) -> bool {
    let word = before.text(text);
    if before.kind != Kind::Word || !BEFORE.iter().any(|allowed| word.eq_ignore_ascii_case(allowed)) {
        return false;
    }
    // `FOR UPDATE`, `DO UPDATE`, `THEN UPDATE` of MERGE; `x AS select`.
    let changes = !verb.eq_ignore_ascii_case("select") && !verb.eq_ignore_ascii_case("with");
    let clause = changes && ["FOR", "DO"].iter().any(|other| word.eq_ignore_ascii_case(other));
    let loops = ["LOOP", "BEGIN", "DO", "GO"].iter().any(|other| word.eq_ignore_ascii_case(other));
    !clause && (!in_rows || loops)
}

/// A text inside the text that is SQL itself: a `$$` body, a string that is prepared or executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its bytes, without the quotes.
    pub range: Range<usize>,
    /// `%I` and `%L` in it are holes.
    pub format: bool,
}

/// The texts inside the text that are SQL themselves.
pub fn bodies(text: &str, tokens: &[Token]) -> Vec<Body> {
    let mut bodies = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Text) {
        let raw = token.text(text);
        let start = token.span.start as usize;
        if let Some(tag) = raw.strip_prefix('$').and_then(|rest| rest.find('$')).map(|end| end + 2) {
            if raw.len() >= 2 * tag {
                bodies.push(Body { range: start + tag..start + raw.len() - tag, format: true });
            }
            continue;
        }
        let plain =
            raw.len() > 20 && raw.starts_with('\'') && raw.ends_with('\'') && !raw[1..raw.len() - 1].contains('\'');
        let caller = at.checked_sub(1).map_or("", |before| tokens[before].text(text));
        let called = at.checked_sub(2).map_or("", |before| tokens[before].text(text));
        let runs = ["FROM", "EXECUTE", "EXEC", "=", ":="].iter().any(|word| caller.eq_ignore_ascii_case(word));
        let runs = runs
            || caller == "("
                && ["format", "concat", "sp_executesql"].iter().any(|word| called.eq_ignore_ascii_case(word));
        if plain && runs && looks_like_sql(&unquote(raw)) {
            bodies
                .push(Body { range: start + 1..start + raw.len() - 1, format: called.eq_ignore_ascii_case("format") });
        }
    }
    bodies
}

/// Whether a text begins as a statement about rows does, and has what such a statement must have.
pub fn looks_like_sql(text: &str) -> bool {
    let mut text = text.trim_start();
    while let Some(rest) = text
        .strip_prefix("--")
        .map(|rest| rest.split_once('\n'))
        .or_else(|| Some(text.strip_prefix("/*")?.split_once("*/")))
    {
        text = rest.map_or("", |(_, rest)| rest).trim_start();
    }
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    let must: &[&str] = match first.to_ascii_uppercase().as_str() {
        "SELECT" | "DELETE" => &["FROM"],
        "UPDATE" => &["SET"],
        "INSERT" | "REPLACE" => &["INTO"],
        "WITH" => &["AS"],
        "CREATE" | "ALTER" => &["TABLE", "INDEX"],
        _ => return false,
    };
    words.any(|word| must.iter().any(|must| word.eq_ignore_ascii_case(must)))
}
