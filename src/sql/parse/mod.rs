//! Tokens → blocks: a recursive descent over every dialect at once that steps over what it does not know.

mod atom;
mod block;
mod change;
mod expr;
mod from;
mod tail;
mod test;

use crate::diagnostic::Span;

use super::ast::{Block, Role, Statement};
use super::{Kind, Syntax, Token};

/// Deeper nesting is stepped over: no statement that anybody wrote has it, and a hostile one must not end the run.
const MAX_DEPTH: usize = 128;

/// The statements in a run of tokens that begins with one. Text without semicolons may hold several.
pub(super) fn statements(text: &str, tokens: &[Token], syntax: &Syntax) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        let mut parser = Parser {
            text,
            tokens: rest,
            at: 0,
            syntax,
            depth: 0,
            flat: false,
            blocks: Vec::new(),
            doubt: None,
            end: first.span.end,
        };
        if parser.statement(Role::Top, None).is_none() {
            break;
        }
        let used = parser.at.max(1);
        let span = Span { start: first.span.start, end: parser.end };
        statements.push(Statement { span, blocks: parser.blocks, doubt: parser.doubt });
        rest = &rest[used..];
    }
    statements
}

/// The expression that a run of tokens holds.
pub(super) fn expression(text: &str, tokens: &[Token], syntax: &Syntax) -> Option<super::Expr> {
    let end = tokens.first()?.span.end;
    let mut parser =
        Parser { text, tokens, at: 0, syntax, depth: 0, flat: false, blocks: vec![Block::default()], doubt: None, end };
    Some(parser.expr(0))
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    syntax: &'a Syntax,
    depth: usize,
    /// The next query is a branch of a UNION whose other branches are not its own.
    flat: bool,
    blocks: Vec<Block>,
    doubt: Option<Span>,
    /// Where the last token that was taken ends.
    end: u32,
}

impl<'a> Parser<'a> {
    fn token(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn ahead(&self, by: usize) -> Option<&'a Token> {
        self.tokens.get(self.at + by)
    }

    fn start(&self) -> u32 {
        self.token().map_or(self.end, |token| token.span.start)
    }

    fn span_from(&self, start: u32) -> Span {
        Span { start, end: self.end.max(start) }
    }

    /// Whether the token so far ahead is this bare word.
    fn is_word_at(&self, by: usize, word: &str) -> bool {
        let token = self.ahead(by).filter(|token| token.kind == Kind::Word);
        token.is_some_and(|token| token.text(self.text).eq_ignore_ascii_case(word))
    }

    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    fn is_symbol_at(&self, by: usize, symbol: &str) -> bool {
        self.ahead(by).is_some_and(|token| token.kind == Kind::Symbol && token.text(self.text) == symbol)
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        self.is_symbol_at(0, symbol)
    }

    fn is_kind(&self, kind: Kind) -> bool {
        self.token().is_some_and(|token| token.kind == kind)
    }

    fn bump(&mut self) -> Option<&'a Token> {
        let token = self.token()?;
        self.at += 1;
        self.end = token.span.end;
        Some(token)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.bump();
        }
        is
    }

    /// Takes all of the words, or none.
    fn take_words(&mut self, words: &[&str]) -> bool {
        let are = words.iter().enumerate().all(|(by, word)| self.is_word_at(by, word));
        if are {
            words.iter().for_each(|_| _ = self.bump());
        }
        are
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let is = self.is_symbol(symbol);
        if is {
            self.bump();
        }
        is
    }

    /// Notes that something was not understood.
    fn doubt(&mut self) {
        if let (None, Some(token)) = (self.doubt, self.token()) {
            self.doubt = Some(token.span);
        }
    }

    /// Steps over `( … )`; without its end to the end.
    fn skip_group(&mut self) {
        let mut depth = 0_usize;
        while self.token().is_some() {
            if self.is_symbol("(") {
                depth += 1;
            } else if self.is_symbol(")") {
                depth -= 1;
            }
            self.bump();
            if depth == 0 {
                break;
            }
        }
    }

    /// The text of a name without its quotes.
    fn name_of(&self, token: &Token) -> String {
        let text = token.text(self.text);
        match token.kind {
            Kind::Quoted => super::token::unquote(text),
            _ => text.to_owned(),
        }
    }

    /// Opens a block; everything that it holds is put into it by position, since blocks nest.
    fn open(&mut self, block: Block) -> usize {
        self.blocks.push(block);
        self.blocks.len() - 1
    }

    /// Runs `parse` one level deeper, or steps over the group if that is too deep.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.doubt();
            return None;
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        Some(parsed)
    }
}
