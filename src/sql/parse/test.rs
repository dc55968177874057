//! What is true or false: comparisons, IN, BETWEEN, LIKE, IS NULL.

use super::super::Kind;
use super::super::ast::{Comparison, Expr, ExprKind, Role};
use super::Parser;
use super::expr::OR;

/// So many tests of one value in a row are read: `a IS NULL IS FALSE` is one more than anybody writes.
const MAX_TESTS: usize = 4;

/// Functions that keep a list of values apart from `ANY (value)`.
const QUANTIFIERS: [&str; 3] = ["ANY", "SOME", "ALL"];

impl Parser<'_> {
    pub(super) fn predicate(&mut self) -> Expr {
        let start = self.start();
        let mut left = self.operands();
        for _ in 0..MAX_TESTS {
            let made = |kind, parser: &Self| Expr { kind, span: parser.span_from(start), parenthesised: false };
            let comparison = self.comparison();
            if let Some(comparison) = comparison {
                if QUANTIFIERS.iter().any(|word| self.is_word(word)) && self.is_symbol_at(1, "(") {
                    let kind = self.quantified(comparison, left);
                    left = made(kind, self);
                    continue;
                }
                let right = self.operands();
                left = made(ExprKind::Compare(comparison, Box::new(left), Box::new(right)), self);
            } else if self.take_word("IS") {
                let negated = self.take_word("NOT");
                let of = Box::new(left);
                if self.take_word("NULL") {
                    left = made(ExprKind::IsNull { of, negated }, self);
                } else {
                    let distinct = self.take_words(&["DISTINCT", "FROM"]);
                    let right = Box::new(self.operands());
                    let equal = if negated == distinct { Comparison::Equal } else { Comparison::NotEqual };
                    left = made(ExprKind::Compare(equal, of, right), self);
                }
            } else if self.is_any(&["ISNULL", "NOTNULL"]) && !self.is_symbol_at(1, "(") {
                let negated = self.is_word("NOTNULL");
                self.bump();
                left = made(ExprKind::IsNull { of: Box::new(left), negated }, self);
            } else {
                let negated = self.is_word("NOT")
                    && ["IN", "LIKE", "ILIKE", "BETWEEN", "REGEXP", "RLIKE", "GLOB", "SIMILAR"]
                        .iter()
                        .any(|word| self.is_word_at(1, word));
                if negated {
                    self.bump();
                }
                if self.take_word("IN") {
                    let kind = self.list(left, negated);
                    left = made(kind, self);
                } else if self.take_word("BETWEEN") {
                    self.take_word("SYMMETRIC");
                    let low = self.operands();
                    self.take_word("AND");
                    let high = self.operands();
                    left = made(ExprKind::Between { of: Box::new(left), bounds: vec![low, high], negated }, self);
                } else if self.is_any(&["LIKE", "ILIKE", "REGEXP", "RLIKE", "GLOB", "SIMILAR", "MATCH"]) {
                    self.bump();
                    self.take_word("TO");
                    self.take_word("BINARY");
                    let right = self.operands();
                    if self.take_word("ESCAPE") {
                        self.operands();
                    }
                    let kind = ExprKind::Compare(Comparison::Like, Box::new(left), Box::new(right));
                    let like = made(kind, self);
                    left = if negated { made(ExprKind::Not(Box::new(like)), self) } else { like };
                } else {
                    return left;
                }
            }
            // `a = b = c` and other towers end here.
            if self.at_comparison() {
                self.doubt();
                while self.comparison().is_some() {
                    self.operands();
                }
                return Expr::opaque(self.span_from(start));
            }
        }
        left
    }

    fn at_comparison(&self) -> bool {
        self.token().is_some_and(|token| token.kind == Kind::Symbol && symbol(token.text(self.text)).is_some())
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let token = self.token().filter(|token| token.kind == Kind::Symbol)?;
        let comparison = symbol(token.text(self.text))?;
        self.bump();
        Some(comparison)
    }

    /// `= ANY (…)`.
    fn quantified(&mut self, comparison: Comparison, left: Expr) -> ExprKind {
        let all = self.is_word("ALL");
        self.bump();
        let of = Box::new(left);
        let equal = comparison == Comparison::Equal && !all;
        if self.is_query_at(1) {
            let query = self.group_query(Role::In);
            return match query {
                Some(query) if equal => ExprKind::InQuery { of, query, negated: false },
                _ => ExprKind::Calc(vec![*of]),
            };
        }
        self.bump();
        let start = self.start();
        let value = match self.token() {
            Some(_) if !self.is_symbol(")") => self.expr(OR),
            _ => Expr::opaque(self.span_from(start)),
        };
        self.close_group();
        match (equal, value.kind) {
            (true, ExprKind::Query(query)) => ExprKind::InQuery { of, query, negated: false },
            (true, ExprKind::Call { name, arguments }) if name.eq_ignore_ascii_case("array") => {
                match arguments.first().map(|first| &first.kind) {
                    Some(ExprKind::Query(query)) => ExprKind::InQuery { of, query: *query, negated: false },
                    _ => ExprKind::In { of, list: arguments, negated: false },
                }
            }
            (true, kind) => ExprKind::Any { of, value: Box::new(Expr { kind, span: value.span, parenthesised: true }) },
            (false, kind) => ExprKind::Calc(vec![*of, Expr { kind, span: value.span, parenthesised: true }]),
        }
    }

    fn group_query(&mut self, role: Role) -> Option<usize> {
        self.bump();
        let query = self.statement(role, None);
        self.close_group();
        query
    }

    /// `IN (…)`, `IN ?`, `IN {list}`.
    fn list(&mut self, left: Expr, negated: bool) -> ExprKind {
        let of = Box::new(left);
        if !self.is_symbol("(") {
            let list = vec![self.primary()];
            return ExprKind::In { of, list, negated };
        }
        if self.is_query_at(1) && !self.is_word_at(1, "VALUES") {
            return match self.group_query(Role::In) {
                Some(query) => ExprKind::InQuery { of, query, negated },
                None => ExprKind::Opaque,
            };
        }
        self.bump();
        self.take_word("VALUES");
        let list = self.arguments();
        self.close_group();
        ExprKind::In { of, list, negated }
    }
}

fn symbol(text: &str) -> Option<Comparison> {
    Some(match text {
        "=" | "==" | "<=>" => Comparison::Equal,
        "<>" | "!=" => Comparison::NotEqual,
        "<" | "<=" => Comparison::Below,
        ">" | ">=" => Comparison::Above,
        "~" | "~*" | "!~" | "!~*" => Comparison::Like,
        "@>" | "<@" | "?|" | "?&" | "@@" => Comparison::Other,
        _ => return None,
    })
}
