//! SELECT, and WITH before any statement.

use super::super::Kind;
use super::super::ast::{Block, Expr, Role};
use super::Parser;

/// Words that begin a statement.
pub(super) const VERBS: [&str; 7] = ["SELECT", "WITH", "UPDATE", "DELETE", "INSERT", "REPLACE", "MERGE"];

impl Parser<'_> {
    /// A statement or query at this place; the position of its block.
    pub(super) fn statement(&mut self, role: Role, parent: Option<usize>) -> Option<usize> {
        if !(self.is_any(&VERBS) || self.is_symbol("(") || self.is_word("VALUES") || self.is_word("TABLE")) {
            return None;
        }
        self.deeper(|parser| parser.statement_here(role, parent)).flatten()
    }

    fn statement_here(&mut self, role: Role, parent: Option<usize>) -> Option<usize> {
        let start = self.start();
        let flat = std::mem::take(&mut self.flat);
        let head = self.token()?.span;
        let at = self.open(Block { role, parent, head, ..Block::default() });
        if self.is_word("WITH") {
            self.common_tables(at);
        }
        self.blocks[at].head = self.token().map_or(head, |token| token.span);
        match self.token().map(|token| token.text(self.text).to_ascii_uppercase()).as_deref() {
            Some("SELECT") => self.select(at),
            Some("UPDATE") => self.update(at),
            Some("DELETE") => self.delete(at),
            Some("INSERT" | "REPLACE") => self.insert(at),
            Some("MERGE") => self.merge(at),
            Some("(") => self.parenthesised(at),
            _ => self.skip_clause(at),
        }
        self.tail(at, flat);
        let span = self.span_from(start);
        self.blocks[at].span = span;
        Some(at)
    }

    /// `(SELECT …) UNION …`: the query inside is a branch.
    fn parenthesised(&mut self, at: usize) {
        self.bump();
        let role = if matches!(self.blocks[at].role, Role::Top) { Role::Branch } else { self.blocks[at].role.clone() };
        self.statement(role, Some(at));
        self.take_symbol(")");
        self.blocks[at].set_operation = true;
    }

    fn common_tables(&mut self, at: usize) {
        self.bump();
        self.take_word("RECURSIVE");
        loop {
            let Some(name) = self.token().filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted)) else {
                return;
            };
            let name = self.name_of(name);
            self.bump();
            if self.is_symbol("(") {
                self.skip_group();
            }
            if !self.take_word("AS") {
                return self.doubt();
            }
            self.take_word("NOT");
            self.take_word("MATERIALIZED");
            if !self.take_symbol("(") {
                return self.doubt();
            }
            if let Some(query) = self.statement(Role::Cte(name.clone()), Some(at)) {
                self.blocks[at].ctes.push((name, query));
            }
            self.close_group();
            while self.is_any(&["SEARCH", "CYCLE"]) {
                while self.token().is_some() && !self.is_symbol(",") && !self.is_any(&VERBS) {
                    self.bump();
                }
            }
            if !self.take_symbol(",") {
                return;
            }
        }
    }

    /// Steps to the end of the group that is open, noting that it did.
    pub(super) fn close_group(&mut self) {
        if self.take_symbol(")") || self.token().is_none() {
            return;
        }
        self.doubt();
        let mut depth = 1_usize;
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

    fn select(&mut self, at: usize) {
        self.bump();
        loop {
            if self.take_word("DISTINCT") {
                self.blocks[at].distinct = true;
                if self.take_word("ON") && self.is_symbol("(") {
                    self.skip_group();
                }
            } else if self.is_word("TOP")
                && self.ahead(1).is_some_and(|next| {
                    matches!(next.kind, Kind::Number | Kind::Param | Kind::Hole) || next.text(self.text) == "("
                })
            {
                self.top(at);
            } else if !["ALL", "HIGH_PRIORITY", "SQL_NO_CACHE", "SQL_CALC_FOUND_ROWS", "STRAIGHT_JOIN"]
                .iter()
                .any(|word| self.take_word(word))
            {
                break;
            }
        }
        self.blocks[at].items = self.items(at);
        if self.take_word("INTO") {
            // `SELECT … INTO v FROM t` of procedures.
            while self.token().is_some() && !self.is_any(&["FROM", "WHERE", "LIMIT"]) && !self.at_clause() {
                self.bump();
            }
        }
        if self.take_word("FROM") {
            self.tables(at);
        }
    }

    pub(super) fn items(&mut self, at: usize) -> Vec<Expr> {
        let mut items = Vec::new();
        while self.token().is_some() && !self.at_end_of_items() {
            items.push(self.expr_of(at, 0));
            let bare = self.is_kind(Kind::Word) && !self.at_end_of_items();
            if self.take_word("AS") || self.is_kind(Kind::Quoted) || bare {
                self.bump();
            }
            if !self.take_symbol(",") {
                break;
            }
        }
        items
    }

    fn at_end_of_items(&self) -> bool {
        self.is_any(&["FROM", "INTO"]) || self.at_clause() || self.is_symbol(")")
    }

    /// VALUES, TABLE.
    fn skip_clause(&mut self, _at: usize) {
        while self.token().is_some() && !self.at_clause() && !self.is_symbol(")") {
            match self.is_symbol("(") {
                true => self.skip_group(),
                false => _ = self.bump(),
            }
        }
    }

    /// An expression inside a block: its queries get the block as their parent.
    pub(super) fn expr_of(&mut self, at: usize, level: u8) -> Expr {
        let first = self.blocks.len();
        let expr = self.expr(level);
        for block in &mut self.blocks[first..] {
            block.parent.get_or_insert(at);
        }
        expr
    }
}
