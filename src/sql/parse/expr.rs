//! Expressions. Chains of OR, AND and operators are lists and not towers, so that a chain of a hundred thousand terms is
//! as harmless as one of two.

use super::super::ast::{Expr, ExprKind};
use super::super::{Kind, token};
use super::Parser;

/// Levels, loosest first.
pub(super) const OR: u8 = 0;
const AND: u8 = 1;

/// Words that end an expression.
const ENDS: [&str; 30] = [
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "FOR",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "RETURNING",
    "SET",
    "ON",
    "USING",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "THEN",
    "WHEN",
    "ELSE",
    "END",
    "AS",
    "ASC",
    "DESC",
    "LOCK",
    "INTO",
    "NULLS",
];

/// Words that stand for a value.
const CONSTANTS: [&str; 12] = [
    "TRUE",
    "FALSE",
    "DEFAULT",
    "CURRENT_TIMESTAMP",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "LOCALTIMESTAMP",
    "LOCALTIME",
    "SYSDATE",
    "UTC_TIMESTAMP",
    "UNKNOWN",
    "CURRENT_USER",
];

impl Parser<'_> {
    /// An expression of this level or a tighter one.
    pub(super) fn expr(&mut self, level: u8) -> Expr {
        let start = self.start();
        self.deeper(|parser| parser.chain(level)).unwrap_or_else(|| {
            self.skip_too_deep();
            Expr::opaque(self.span_from(start))
        })
    }

    /// Terms joined by OR or by AND.
    fn chain(&mut self, level: u8) -> Expr {
        let start = self.start();
        let mut terms = vec![if level == OR { self.chain(AND) } else { self.negation() }];
        loop {
            if level == AND && self.is_kind(Kind::Hole) {
                // Behind a whole condition: more conditions may hide here.
                terms.push(self.hole());
                if !self.ends_term() {
                    terms.push(self.negation());
                }
            } else if self.take_operator(level) {
                if self.token().is_none() || self.is_symbol(")") {
                    break;
                }
                terms.push(if level == OR { self.chain(AND) } else { self.negation() });
            } else {
                break;
            }
        }
        if terms.len() == 1 {
            return terms.swap_remove(0);
        }
        let kind = if level == OR { ExprKind::Or(terms) } else { ExprKind::And(terms) };
        Expr { kind, span: self.span_from(start), parenthesised: false }
    }

    fn take_operator(&mut self, level: u8) -> bool {
        let pipes = self.syntax.logical_pipes;
        match level {
            OR => self.take_word("OR") || self.take_word("XOR") || pipes && self.take_symbol("||"),
            _ => self.take_word("AND") || self.take_symbol("&&"),
        }
    }

    /// Whether nothing of an expression follows.
    fn ends_term(&self) -> bool {
        let Some(token) = self.token() else { return true };
        match token.kind {
            Kind::Word => self.is_any(&ENDS) || self.is_any(&["AND", "OR", "XOR"]),
            Kind::Symbol => matches!(token.text(self.text), ")" | "," | ";" | "||" | "&&" | "]"),
            _ => false,
        }
    }

    fn hole(&mut self) -> Expr {
        let start = self.start();
        self.bump();
        Expr { kind: ExprKind::Hole, span: self.span_from(start), parenthesised: false }
    }

    fn negation(&mut self) -> Expr {
        let start = self.start();
        let mut negated = false;
        while self.is_word("NOT") || self.is_symbol("!") {
            self.bump();
            negated = !negated;
        }
        let of = self.predicate();
        if !negated {
            return of;
        }
        Expr { kind: ExprKind::Not(Box::new(of)), span: self.span_from(start), parenthesised: false }
    }

    /// Expressions up to the end of the group, which stays.
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        let mut list = Vec::new();
        while self.token().is_some() && !self.is_symbol(")") && !self.is_symbol("]") {
            list.push(self.expr(OR));
            self.take_word("AS");
            if !self.take_symbol(",") {
                break;
            }
        }
        list
    }

    /// Values joined by arithmetic operators.
    pub(super) fn operands(&mut self) -> Expr {
        let start = self.start();
        let mut list = vec![self.primary()];
        while self.take_arithmetic() {
            list.push(self.primary());
        }
        match list.len() {
            1 => list.swap_remove(0),
            _ => Expr { kind: ExprKind::Calc(list), span: self.span_from(start), parenthesised: false },
        }
    }

    fn take_arithmetic(&mut self) -> bool {
        if self.is_any(&["DIV", "MOD"]) {
            self.bump();
            return true;
        }
        // The operator `?` of JSON, and not a parameter.
        if self.is_kind(Kind::Param) && self.ahead(1).is_some_and(|next| next.kind == Kind::Text) {
            self.bump();
            return true;
        }
        let Some(token) = self.token().filter(|token| token.kind == Kind::Symbol) else { return false };
        let text = token.text(self.text);
        let pipes = text == "||" && !self.syntax.logical_pipes;
        let is =
            matches!(text, "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" | "->" | "->>" | "#>" | "#>>");
        if pipes || is {
            self.bump();
        }
        pipes || is
    }

    /// One value with what stands right behind it.
    pub(super) fn primary(&mut self) -> Expr {
        let start = self.start();
        self.deeper(Self::primary_here).unwrap_or_else(|| {
            self.skip_too_deep();
            Expr::opaque(self.span_from(start))
        })
    }

    fn skip_too_deep(&mut self) {
        match self.is_symbol("(") {
            true => self.skip_group(),
            false => _ = self.bump(),
        }
    }

    fn primary_here(&mut self) -> Expr {
        let start = self.start();
        while ["-", "+", "~"].iter().any(|sign| self.take_symbol(sign)) {}
        let mut expr = self.atom();
        if expr.span.start > start && !matches!(expr.kind, ExprKind::Number(_) | ExprKind::Param) {
            expr = Expr { kind: ExprKind::Calc(vec![expr]), span: self.span_from(start), parenthesised: false };
        }
        loop {
            if self.take_symbol("::") {
                // A type, with its arguments and `[]`.
                self.primary_name();
                while self.is_any(&["VARYING", "PRECISION", "WITH", "WITHOUT", "TIME", "ZONE"]) {
                    self.bump();
                }
                if self.is_symbol("(") {
                    self.skip_group();
                }
                while self.take_symbol("[") {
                    self.take_symbol("]");
                }
            } else if self.is_symbol("[") {
                self.bump();
                self.arguments();
                if !self.take_symbol("]") {
                    self.doubt();
                }
            } else if self.take_word("COLLATE") {
                self.primary_name();
            } else if self.take_words(&["AT", "TIME", "ZONE"]) {
                self.atom();
            } else if self.is_word("OVER") && (self.is_symbol_at(1, "(") || self.ahead(1).is_some()) {
                self.bump();
                match self.is_symbol("(") {
                    true => self.skip_group(),
                    false => _ = self.bump(),
                }
            } else if self.is_word("FILTER") && self.is_symbol_at(1, "(") {
                self.bump();
                self.skip_group();
            } else {
                break;
            }
        }
        let start = start.min(expr.span.start);
        expr.span = self.span_from(start);
        expr
    }
}

/// Whether a word stands for a value.
pub(super) fn is_constant(word: &str) -> bool {
    CONSTANTS.iter().any(|constant| word.eq_ignore_ascii_case(constant))
}

/// Whether a word ends an expression.
pub(super) fn is_end(word: &str) -> bool {
    ENDS.iter().any(|end| word.eq_ignore_ascii_case(end))
}

/// The string without its quotes.
pub(super) fn string(text: &str) -> String {
    token::unquote(text)
}
