//! UPDATE, DELETE, INSERT and MERGE.

use crate::diagnostic::Span;

use super::super::Kind;
use super::super::ast::{Assignment, Bound, Gaps, Name, Role, TableRef, Verb};
use super::Parser;

/// Words between the verb and the tables of an UPDATE, DELETE or INSERT.
const MODIFIERS: [&str; 6] = ["LOW_PRIORITY", "QUICK", "IGNORE", "DELAYED", "HIGH_PRIORITY", "ONLY"];

impl Parser<'_> {
    pub(super) fn update(&mut self, at: usize) {
        self.bump();
        self.blocks[at].verb = Verb::Update;
        if self.take_word("OR") {
            self.bump();
        }
        self.modifiers(at);
        self.tables(at);
        let changes = self.blocks[at].tables.len().min(1);
        self.blocks[at].changes = changes;
        if self.is_kind(Kind::Hole) {
            self.bump();
            self.blocks[at].gaps = Gaps { from: true, filter: true, tail: true };
        }
        if self.take_word("SET") {
            self.assignments(at);
        }
        self.output(at);
        if self.take_word("FROM") {
            self.tables(at);
        }
    }

    fn modifiers(&mut self, at: usize) {
        loop {
            if self.is_word("TOP") && self.is_symbol_at(1, "(") {
                self.top(at);
            } else if self.is_word("IGNORE") {
                self.blocks[at].lossy = self.token().map(|token| token.span);
                self.bump();
            } else if !MODIFIERS.iter().any(|word| self.take_word(word)) {
                break;
            }
        }
    }

    /// `TOP (n)`, `TOP n`.
    pub(super) fn top(&mut self, at: usize) {
        let start = self.start();
        self.bump();
        let number = if self.is_symbol("(") {
            let number = self.ahead(1).and_then(|token| token.text(self.text).parse().ok());
            self.skip_group();
            number
        } else {
            self.bump().and_then(|token| token.text(self.text).parse().ok())
        };
        let span = self.span_from(start);
        self.blocks[at].limit = Some(Bound { span, number });
        self.take_word("PERCENT");
    }

    fn assignments(&mut self, at: usize) {
        loop {
            let start = self.start();
            if self.is_symbol("(") {
                // `SET (a, b) = (SELECT …)`.
                self.bump();
                while self.is_kind(Kind::Word) || self.is_kind(Kind::Quoted) {
                    let Some(token) = self.bump() else { break };
                    let (column, span) = (self.name_of(token), token.span);
                    self.blocks[at].set.push(Assignment { column, span, value: None });
                    self.take_symbol(",");
                }
                self.close_group();
                self.take_symbol("=");
                self.expr_of(at, 0);
            } else if self.is_kind(Kind::Hole) {
                self.bump();
                if self.take_symbol("=") {
                    self.expr_of(at, 0);
                }
            } else {
                let name = self.primary_name();
                let Some((column, span)) = name else {
                    self.doubt();
                    break;
                };
                let assigned = self.take_symbol("=") || self.take_symbol(":=");
                // `a += 1` of T-SQL.
                let assigned = assigned || self.is_symbol_at(1, "=") && self.bump().is_some() && self.bump().is_some();
                let value = assigned.then(|| self.expr_of(at, 0));
                self.blocks[at].set.push(Assignment { column, span, value });
            }
            if !self.take_symbol(",") || self.start() == start {
                break;
            }
        }
        if self.is_kind(Kind::Hole) {
            self.bump();
            // Assignments may go on, and a WHERE may begin.
            self.blocks[at].gaps.filter = true;
            self.blocks[at].gaps.tail = true;
        }
    }

    /// The last part of a possibly qualified name.
    pub(super) fn primary_name(&mut self) -> Option<(String, Span)> {
        let mut last = None;
        while let Some(token) = self.token().filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted)) {
            last = Some((self.name_of(token), token.span));
            self.bump();
            if !self.take_symbol(".") {
                break;
            }
        }
        last
    }

    pub(super) fn delete(&mut self, at: usize) {
        self.bump();
        self.blocks[at].verb = Verb::Delete;
        self.modifiers(at);
        if self.take_word("FROM") {
            self.modifiers(at);
            self.tables(at);
            let count = self.blocks[at].tables.len();
            self.blocks[at].changes = count.min(1);
            self.output(at);
            // `DELETE FROM a USING b`, `DELETE FROM a FROM a JOIN b`.
            if self.take_word("USING") || self.take_word("FROM") {
                self.tables(at);
            }
        } else {
            // `DELETE t FROM t JOIN …`: what stands before FROM are names or aliases of what follows.
            let mut named = Vec::new();
            while !self.is_word("FROM") {
                match self.primary_name() {
                    Some((name, _)) => named.push(name),
                    None if self.is_symbol(".") || self.is_symbol("*") => _ = self.bump(),
                    None => break,
                }
                self.take_symbol(".");
                self.take_symbol("*");
                self.take_symbol(",");
            }
            self.output(at);
            if self.take_word("FROM") {
                self.tables(at);
            } else if let [name] = &named[..] {
                // `DELETE t WHERE …` of T-SQL and Oracle.
                let span = self.span_from(self.blocks[at].head.end);
                let name = Name { name: name.clone(), span, ..Default::default() };
                let table = TableRef { name: Some(name), span, ..Default::default() };
                self.blocks[at].tables.push(table);
            }
            let block = &mut self.blocks[at];
            let is_named = |table: &TableRef| {
                let own = table.alias.as_ref().or(table.name.as_ref().map(|name| &name.name));
                own.is_some_and(|own| named.iter().any(|name| name.eq_ignore_ascii_case(own)))
            };
            block.tables.sort_by_key(|table| !is_named(table));
            block.changes = block.tables.iter().filter(|table| is_named(table)).count();
        }
    }

    /// `OUTPUT inserted.*` of T-SQL.
    fn output(&mut self, at: usize) {
        if self.take_word("OUTPUT") {
            self.blocks[at].returning = true;
            while self.token().is_some() && !self.is_any(&["FROM", "WHERE", "VALUES", "SELECT"]) && !self.at_clause() {
                self.bump();
            }
        }
    }

    pub(super) fn insert(&mut self, at: usize) {
        let head = self.token().map(|token| token.span);
        let replaces = self.is_word("REPLACE");
        self.bump();
        self.blocks[at].verb = Verb::Insert;
        if replaces {
            self.blocks[at].lossy = head;
        }
        if self.take_word("OR") {
            if self.is_any(&["IGNORE", "REPLACE"]) {
                self.blocks[at].lossy = self.token().map(|token| token.span);
            }
            self.bump();
        }
        self.modifiers(at);
        self.take_word("INTO");
        self.take_word("OVERWRITE");
        if let Some(table) = self.table_name() {
            self.blocks[at].tables.push(table);
            self.blocks[at].changes = 1;
        }
        if self.take_word("AS") {
            self.bump();
        }
        if self.is_symbol("(") && !self.is_word_at(1, "SELECT") && !self.is_word_at(1, "WITH") {
            self.bump();
            while let Some((column, span)) = self.primary_name() {
                self.blocks[at].set.push(Assignment { column, span, value: None });
                if !self.take_symbol(",") {
                    break;
                }
            }
            if !self.is_symbol(")") {
                self.blocks[at].gaps.from = true;
            }
            self.close_group();
        }
        self.output(at);
        if self.take_word("SET") {
            self.assignments(at);
        } else if self.is_any(&["SELECT", "WITH"]) || self.is_symbol("(") {
            self.statement(Role::Source, Some(at));
        } else {
            while self.token().is_some() && !self.at_insert_end() {
                match self.is_symbol("(") {
                    true => self.skip_group(),
                    false => _ = self.bump(),
                }
            }
        }
        self.conflict(at);
    }

    fn at_insert_end(&self) -> bool {
        self.is_any(&["ON", "RETURNING", "UPDATE", "DELETE", "INSERT", "GO"])
            || self.is_word("SELECT")
            || self.is_symbol(")")
    }

    /// `ON CONFLICT …`, `ON DUPLICATE KEY UPDATE …`: their bodies are no claims.
    fn conflict(&mut self, at: usize) {
        while self.is_word("ON") || self.is_word("AS") {
            self.bump();
            while self.token().is_some() && !self.is_any(&["RETURNING", "INSERT", "DELETE", "SELECT"]) {
                if self.is_symbol(")") {
                    return;
                }
                match self.is_symbol("(") {
                    true => self.skip_group(),
                    false => _ = self.bump(),
                }
            }
        }
        if self.take_word("RETURNING") {
            self.blocks[at].returning = true;
            self.blocks[at].items = self.items(at);
        }
    }

    /// MERGE is stepped over, except for its tables.
    pub(super) fn merge(&mut self, at: usize) {
        self.bump();
        self.blocks[at].verb = Verb::Insert;
        while self.token().is_some() && !self.is_symbol(")") {
            match self.is_symbol("(") {
                true => self.skip_group(),
                false => _ = self.bump(),
            }
        }
    }
}
