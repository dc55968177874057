//! What follows the tables: WHERE, GROUP BY, ORDER BY, LIMIT, locks, RETURNING, UNION.

use super::super::Kind;
use super::super::ast::{Bound, Expr, ExprKind, Lock, OrderItem, Role, Wait};
use super::Parser;
use super::block::VERBS;

/// Words that begin a clause behind the tables, or end the statement.
const CLAUSES: [&str; 19] = [
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
    "MINUS",
    "RETURNING",
    "WINDOW",
    "LOCK",
    "WITH",
    "OPTION",
    "QUALIFY",
    "GO",
];

/// Whether a hole stands where a condition can stand, and not where a value does.
fn hides_conditions(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Hole => true,
        ExprKind::And(list) | ExprKind::Or(list) => list.iter().any(hides_conditions),
        ExprKind::Not(of) => hides_conditions(of),
        _ => false,
    }
}

impl Parser<'_> {
    /// Whether a clause, or another statement, begins here.
    pub(super) fn at_clause(&self) -> bool {
        let conflict = || self.is_word("ON") && (self.is_word_at(1, "CONFLICT") || self.is_word_at(1, "DUPLICATE"));
        let begins = self.is_any(&CLAUSES) || self.is_any(&["SELECT", "UPDATE", "DELETE", "INSERT"]);
        self.is_kind(Kind::Word) && (begins || conflict())
    }

    pub(super) fn tail(&mut self, at: usize, flat: bool) {
        while let Some(token) = self.token() {
            if token.kind == Kind::Hole {
                self.bump();
                let unfiltered = self.blocks[at].filter.is_none();
                let gaps = &mut self.blocks[at].gaps;
                gaps.tail = true;
                gaps.filter |= unfiltered;
                continue;
            }
            let before = self.at;
            let word = token.text(self.text).to_ascii_uppercase();
            match &*word {
                "WHERE" => self.filter(at),
                "GROUP" | "HAVING" | "QUALIFY" => {
                    self.blocks[at].grouped = true;
                    self.skip_to_clause(at);
                }
                "WINDOW" | "OPTION" => self.skip_to_clause(at),
                "ORDER" => self.order(at),
                "LIMIT" => self.limit(at),
                "OFFSET" => self.offset(at),
                "FETCH" => self.fetch(at),
                "FOR" => self.lock(at),
                "LOCK" => self.lock_in_share_mode(at),
                "UNION" | "INTERSECT" | "EXCEPT" | "MINUS" if !flat => self.branch(at),
                "RETURNING" => {
                    self.bump();
                    self.blocks[at].returning = true;
                    self.blocks[at].items = self.items(at);
                }
                _ => return,
            }
            if self.at == before {
                return;
            }
        }
    }

    fn filter(&mut self, at: usize) {
        self.bump();
        if self.token().is_none() || self.at_clause() || self.is_symbol(")") {
            // `WHERE` and nothing: what follows is added by the program.
            let gaps = &mut self.blocks[at].gaps;
            (gaps.filter, gaps.tail) = (true, true);
            return;
        }
        let filter = self.expr_of(at, 0);
        if hides_conditions(&filter) {
            self.blocks[at].gaps.filter = true;
        }
        if self.is_dangling() {
            let gaps = &mut self.blocks[at].gaps;
            (gaps.filter, gaps.tail) = (true, true);
        }
        self.blocks[at].filter = Some(filter);
        if !(self.token().is_none() || self.at_clause() || self.is_symbol(")") || self.is_kind(Kind::Hole)) {
            self.skip_unknown(at);
        }
    }

    /// Whether the last token leaves something to be said: `… AND`, `… IN (`.
    fn is_dangling(&self) -> bool {
        let last = self.at.checked_sub(1).and_then(|last| self.tokens.get(last));
        self.token().is_none()
            && last.is_some_and(|last| {
                let text = last.text(self.text);
                let word = ["AND", "OR", "WHERE", "BY", "IN", "LIKE", "NOT", "IS", "BETWEEN"];
                match last.kind {
                    Kind::Word => word.iter().any(|word| text.eq_ignore_ascii_case(word)),
                    Kind::Symbol => matches!(text, "=" | "<" | ">" | "<=" | ">=" | "<>" | "(" | "," | "+" | "-"),
                    _ => false,
                }
            })
    }

    /// Steps over what is not understood, up to the next clause.
    fn skip_unknown(&mut self, _at: usize) {
        let verb = self.is_any(&VERBS);
        if verb {
            return;
        }
        self.doubt();
        while self.token().is_some() && !self.at_clause() && !self.is_symbol(")") {
            match self.is_symbol("(") {
                true => self.skip_group(),
                false => _ = self.bump(),
            }
        }
    }

    /// Steps over a clause that decides nothing here; its queries are read.
    fn skip_to_clause(&mut self, at: usize) {
        self.bump();
        self.take_word("BY");
        while self.token().is_some() && !self.at_clause() && !self.is_symbol(")") && !self.is_kind(Kind::Hole) {
            if self.is_symbol("(") && self.is_query_at(1) {
                self.expr_of(at, 0);
            } else if self.is_symbol("(") {
                self.skip_group();
            } else {
                self.bump();
            }
        }
    }

    fn order(&mut self, at: usize) {
        self.bump();
        if !(self.take_word("BY") || self.take_words(&["SIBLINGS", "BY"])) {
            return;
        }
        loop {
            if self.token().is_none() || self.at_clause() || self.is_symbol(")") {
                self.blocks[at].gaps.tail = true;
                return;
            }
            let expr = self.expr_of(at, 0);
            let descending = self.take_word("DESC");
            self.take_word("ASC");
            if self.take_word("NULLS") {
                self.bump();
            }
            self.blocks[at].gaps.tail |= expr.has_hole();
            self.blocks[at].order.push(OrderItem { expr, descending });
            if !self.take_symbol(",") {
                return;
            }
        }
    }

    fn number(&mut self, at: usize) -> Option<u64> {
        let expr = self.expr_of(at, 0);
        match expr.kind {
            ExprKind::Number(number) => number.parse().ok(),
            _ => None,
        }
    }

    fn limit(&mut self, at: usize) {
        let start = self.start();
        self.bump();
        let first = self.number(at);
        let span = self.span_from(start);
        self.blocks[at].limit = Some(Bound { span, number: first });
        if self.take_symbol(",") {
            self.blocks[at].offset = Some(Bound { span, number: first });
            let number = self.number(at);
            let span = self.span_from(start);
            self.blocks[at].limit = Some(Bound { span, number });
        }
    }

    fn offset(&mut self, at: usize) {
        let start = self.start();
        self.bump();
        let number = self.number(at);
        _ = self.take_word("ROWS") || self.take_word("ROW");
        let span = self.span_from(start);
        self.blocks[at].offset = Some(Bound { span, number });
    }

    fn fetch(&mut self, at: usize) {
        let start = self.start();
        self.bump();
        _ = self.take_word("FIRST") || self.take_word("NEXT");
        let number = if self.is_any(&["ROW", "ROWS"]) { Some(1) } else { self.number(at) };
        _ = self.take_word("ROWS") || self.take_word("ROW");
        _ = self.take_word("ONLY") || self.take_words(&["WITH", "TIES"]);
        let span = self.span_from(start);
        self.blocks[at].limit = Some(Bound { span, number });
    }

    fn lock(&mut self, at: usize) {
        let start = self.start();
        let strengths: [&[&str]; 6] =
            [&["UPDATE"], &["SHARE"], &["NO", "KEY", "UPDATE"], &["KEY", "SHARE"], &["READ", "ONLY"], &["XML"]];
        self.bump();
        let Some(strength) = strengths.iter().find(|words| self.take_words(words)) else {
            // `FOR JSON PATH` and others.
            self.skip_to_clause(at);
            return;
        };
        let mut lock = Lock { span: self.span_from(start), of: false, wait: Wait::Block };
        if self.take_word("OF") {
            lock.of = true;
            while self.primary_name().is_some() && self.take_symbol(",") {}
        }
        if self.take_word("NOWAIT") {
            lock.wait = Wait::Fail;
        } else if self.take_words(&["SKIP", "LOCKED"]) {
            lock.wait = Wait::Skip;
        } else if self.take_word("WAIT") {
            self.bump();
            lock.wait = Wait::Fail;
        }
        lock.span = self.span_from(start);
        if !matches!(strength[0], "READ" | "XML") {
            self.blocks[at].lock.get_or_insert(lock);
        }
    }

    fn lock_in_share_mode(&mut self, at: usize) {
        let start = self.start();
        if self.take_words(&["LOCK", "IN", "SHARE", "MODE"]) {
            let wait = match (self.take_word("NOWAIT"), self.take_words(&["SKIP", "LOCKED"])) {
                (true, _) => Wait::Fail,
                (_, true) => Wait::Skip,
                _ => Wait::Block,
            };
            let lock = Lock { span: self.span_from(start), of: false, wait };
            self.blocks[at].lock = Some(lock);
        }
    }

    fn branch(&mut self, at: usize) {
        self.bump();
        _ = self.take_word("ALL") || self.take_word("DISTINCT");
        self.blocks[at].set_operation = true;
        let group = self.is_symbol("(");
        self.flat = !group;
        let branch = self.statement(Role::Branch, Some(at));
        // Without parentheses what follows the last branch belongs to the whole.
        if let Some(branch) = branch.filter(|_| !group) {
            self.blocks[branch].set_operation = true;
        }
    }
}
