//! Text → tokens. Comments and white space are no tokens; comments are kept beside them, for what they say to the linter.

use crate::diagnostic::Span;

use super::Syntax;

/// Stands in a text for what is known only when the program runs: no program can have it in its SQL.
pub const HOLE: char = '\u{1}';

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a bare name.
    Word,
    /// A name in backticks or brackets, or a name or string in double quotes.
    Quoted,
    /// A string.
    Text,
    /// A number.
    Number,
    /// A parameter: exactly one value.
    Param,
    /// A hole: any text.
    Hole,
    /// An operator or punctuation.
    Symbol,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub span: Span,
}

impl Token {
    /// Its text.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.span.start as usize..self.span.end as usize).unwrap_or_default()
    }
}

/// The tokens of a text.
#[derive(Debug, Default)]
pub struct Tokens {
    /// In their order.
    pub tokens: Vec<Token>,
    /// Comments, in their order, with their marks.
    pub comments: Vec<Span>,
}

/// Splits a text into tokens.
pub fn tokenize(text: &str, syntax: &Syntax) -> Tokens {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, syntax, out: Tokens::default(), executable: false };
    while lexer.at < lexer.bytes.len() {
        lexer.next();
    }
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    syntax: &'a Syntax,
    out: Tokens,
    /// Inside `/*! … */`, which MySQL executes.
    executable: bool,
}

const HOLE_BYTE: u8 = HOLE as u8;

/// Operators of more than one byte, the longest first.
const OPERATORS: [&str; 26] = [
    "<=>", "->>", "#>>", "!~*", "<=", ">=", "<>", "!=", "::", ":=", "||", "&&", "->", "#>", "#-", "~*", "!~", "@>",
    "<@", "<<", ">>", "==", "?|", "?&", "@@", "=>",
];

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let span = Span { start: start as u32, end: self.at as u32 };
        self.out.tokens.push(Token { kind, span });
    }

    /// Steps over bytes while they are of a kind.
    fn skip(&mut self, while_: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && while_(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn next(&mut self) {
        let start = self.at;
        let byte = self.bytes[start];
        let next = self.peek(1);
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0 => self.at += 1,
            // A byte order mark and no-break blanks are white space to every client.
            0xef if self.text[start..].starts_with('\u{feff}') => self.at += 3,
            0xc2 if next == 0xa0 => self.at += 2,
            b'-' if next == b'-' && self.is_dash_comment() => self.line_comment(),
            b'#' if next == b'{' => self.braces(2, Kind::Param),
            b'#' if !matches!(next, b'>' | b'-') || self.syntax.hash_comment => self.hash(),
            b'/' if next == b'*' => self.block_comment(),
            b'*' if next == b'/' && self.executable => {
                self.executable = false;
                self.at += 2;
            }
            b'\'' => self.quoted(b'\'', Kind::Text, self.syntax.backslash),
            b'"' => self.quoted(b'"', Kind::Quoted, self.syntax.double_quoted_strings && self.syntax.backslash),
            b'`' => self.quoted(b'`', Kind::Quoted, false),
            b'[' if self.is_bracket_name() => {
                self.skip(|byte| byte != b']');
                self.at += 1;
                self.push(Kind::Quoted, start);
            }
            b'$' => self.dollar(),
            b'{' if next == b'{' => self.braces(2, Kind::Hole),
            b'{' => self.braces(1, Kind::Hole),
            b'?' => {
                self.at += 1;
                self.skip(|byte| byte.is_ascii_digit());
                self.push(Kind::Param, start);
            }
            b':' if is_word_start(next) && start.checked_sub(1).is_none_or(|before| self.bytes[before] != b':') => {
                self.at += 1;
                self.skip(is_word);
                self.push(Kind::Param, start);
            }
            b':' if matches!(next, b'\'' | b'"') => {
                self.at += 1;
                self.quoted(next, Kind::Param, false);
            }
            b'@' if is_word_start(next) || next == b'@' => {
                self.at += 2;
                self.skip(|byte| is_word(byte) || byte == b'.');
                self.push(Kind::Param, start);
            }
            b'%' if self.is_percent_param() => {
                let named = next == b'(';
                self.at += 1;
                if named {
                    self.skip(|byte| byte != b')');
                    self.at += 1;
                }
                self.at += 1;
                self.push(Kind::Param, start);
            }
            b'0'..=b'9' => self.number(),
            b'.' if next.is_ascii_digit() && !self.follows_name() => self.number(),
            HOLE_BYTE if is_word(next) || next == HOLE_BYTE => self.word(),
            HOLE_BYTE => {
                self.at += 1;
                self.push(Kind::Hole, start);
            }
            byte if is_word_start(byte) => self.word(),
            _ => {
                // Most symbols are parentheses and commas, alone.
                let more = b"<>=!-#:|&~*@?".contains(&byte) && b"<>=!-:|&~*@?".contains(&next);
                let begins = |operator: &&&str| self.bytes[start..].starts_with(operator.as_bytes());
                let operator = if more { OPERATORS.iter().find(begins) } else { None };
                self.at += operator.map_or(1, |operator| operator.len());
                self.push(Kind::Symbol, start);
            }
        }
        // A quote that is never closed, or a hostile text: the end is the end.
        self.at = self.at.min(self.bytes.len());
    }

    fn is_dash_comment(&self) -> bool {
        !self.syntax.hash_comment || self.peek(2) <= b' '
    }

    /// Whether the last token ends right here and is a name, so that `.` leads to a part of it.
    fn follows_name(&self) -> bool {
        self.out
            .tokens
            .last()
            .is_some_and(|last| last.span.end as usize == self.at && matches!(last.kind, Kind::Word | Kind::Quoted))
    }

    /// `[name]`, unless it is a subscript.
    fn is_bracket_name(&self) -> bool {
        let subscript = self.out.tokens.last().is_some_and(|last| {
            let adjacent = last.span.end as usize == self.at;
            let array = last.kind == Kind::Word && last.text(self.text).eq_ignore_ascii_case("array");
            array || adjacent && (last.kind != Kind::Symbol || matches!(last.text(self.text), ")" | "]"))
        });
        let inside = &self.bytes[self.at + 1..];
        let end = inside.iter().take(130).position(|byte| *byte == b']');
        let named = end.is_some_and(|end| {
            end > 0 && inside[..end].iter().all(|byte| is_word(*byte) || matches!(byte, b' ' | b'-' | b'.'))
        });
        !subscript && named && !inside[0].is_ascii_digit()
    }

    /// `%s`, `%d`, `%v`, `%(name)s`: what drivers and formats replace.
    fn is_percent_param(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(b' ', |before| self.bytes[before]);
        let free = !is_word(before) && before != b')';
        match self.peek(1) {
            b's' | b'd' | b'v' => free && !is_word(self.peek(2)),
            b'(' => free && is_word_start(self.peek(2)),
            _ => false,
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        self.skip(|byte| byte != b'\n');
        self.out.comments.push(Span { start: start as u32, end: self.at as u32 });
    }

    /// `#`: a comment, or the name of a temporary table.
    fn hash(&mut self) {
        let start = self.at;
        if self.syntax.hash_comment || !is_word_start(self.peek(1)) {
            return self.line_comment();
        }
        self.at += 1;
        self.skip(is_word);
        self.push(Kind::Word, start);
    }

    fn block_comment(&mut self) {
        let start = self.at;
        if self.peek(2) == b'!' || self.peek(2) == b'M' && self.peek(3) == b'!' {
            self.skip(|byte| byte != b'!');
            self.at += 1;
            self.skip(|byte| byte.is_ascii_digit());
            self.executable = true;
            return;
        }
        self.at += 2;
        let mut depth = 1;
        while depth > 0 && self.at < self.bytes.len() {
            match (self.bytes[self.at], self.peek(1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                }
                (b'/', b'*') if self.syntax.nested_comments => {
                    depth += 1;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.out.comments.push(Span { start: start as u32, end: self.at as u32 });
    }

    /// A string or a name up to its closing quote; a doubled quote does not close it.
    fn quoted(&mut self, quote: u8, kind: Kind, backslash: bool) {
        let start = self.at;
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' if backslash => self.at += 2,
                byte if byte == quote && self.peek(1) == quote => self.at += 2,
                byte if byte == quote => break,
                _ => self.at += 1,
            }
        }
        self.at = (self.at + 1).min(self.bytes.len());
        self.push(kind, start);
    }

    /// `${x}`, `$1`, `$name`, `$$ … $$`, `$tag$ … $tag$`.
    fn dollar(&mut self) {
        let start = self.at;
        if self.peek(1) == b'{' {
            return self.braces(2, Kind::Hole);
        }
        self.at += 1;
        let digits = self.peek(0).is_ascii_digit();
        self.skip(|byte| is_word(byte) && byte != b'$');
        if !digits && self.peek(0) == b'$' {
            let tag = &self.text[start..=self.at];
            self.at += 1;
            let rest = &self.text[self.at..];
            // Without its end it is two strange characters and not a string to the end of the file.
            if let Some(end) = rest.find(tag) {
                self.at += end + tag.len();
                return self.push(Kind::Text, start);
            }
        }
        self.push(Kind::Param, start);
    }

    /// `{{ x }}`, `{x}`, `${x}`, `#{x}`: up to the matching brace on the same line, or a lone symbol.
    fn braces(&mut self, open: usize, kind: Kind) {
        let start = self.at;
        let mut depth = 0_i32;
        let mut end = None;
        for (ahead, byte) in self.bytes[start..].iter().enumerate().take(500) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'\n' => break,
                _ => {}
            }
            if depth == 0 && ahead + 1 >= open {
                end = Some(ahead + 1);
                break;
            }
        }
        match end {
            Some(end) => {
                self.at += end;
                // `{{x}}_outbox` is one name of which a part is unknown.
                match kind == Kind::Hole && is_word(self.peek(0)) {
                    true => self.word_from(start),
                    false => self.push(kind, start),
                }
            }
            None => {
                self.at += 1;
                self.push(Kind::Symbol, start);
            }
        }
    }

    fn number(&mut self) {
        let start = self.at;
        self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_');
        self.push(Kind::Number, start);
    }

    fn word(&mut self) {
        self.word_from(self.at);
    }

    fn word_from(&mut self, start: usize) {
        self.skip(|byte| is_word(byte) || byte == HOLE_BYTE);
        // `E'…'`, `N'…'`, `_utf8'…'`, `X'…'` are strings.
        if self.peek(0) == b'\'' {
            let prefix = &self.text[start..self.at];
            let escape = prefix.eq_ignore_ascii_case("e");
            if escape || prefix.len() == 1 && "nNxXbBuU".contains(prefix) || prefix.starts_with('_') {
                self.quoted(b'\'', Kind::Text, escape || self.syntax.backslash);
                if let Some(last) = self.out.tokens.last_mut() {
                    last.span.start = start as u32;
                }
                return;
            }
        }
        self.push(Kind::Word, start);
    }
}

/// The name or string without its quotes, doubled quotes made one.
pub fn unquote(text: &str) -> String {
    let bytes = text.as_bytes();
    let (open, close) = match bytes.first() {
        Some(b'[') => (b'[', b']'),
        Some(quote @ (b'"' | b'`' | b'\'')) => (*quote, *quote),
        Some(b'$') => {
            let tag = text[1..].find('$').map_or(0, |end| end + 2);
            return text.get(tag..text.len().saturating_sub(tag)).unwrap_or_default().to_owned();
        }
        // A prefix such as `E` or `N`.
        _ => match text.find('\'') {
            Some(at) if text.ends_with('\'') => return unquote(&text[at..]),
            _ => return text.to_owned(),
        },
    };
    let inner = text.strip_prefix(open as char).unwrap_or(text);
    let inner = inner.strip_suffix(close as char).unwrap_or(inner);
    let close = (close as char).to_string();
    if inner.contains(&close) { inner.replace(&close.repeat(2), &close) } else { inner.to_owned() }
}
