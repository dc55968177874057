//! FROM, with joins, aliases, index hints and queries in place of tables.

use super::super::Kind;
use super::super::ast::{Hint, Lock, Name, Role, TableRef, Wait};
use super::Parser;

/// Words behind a table that are no alias.
const NO_ALIAS: [&str; 42] = [
    "WHERE",
    "SET",
    "ON",
    "USING",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "FULL",
    "CROSS",
    "NATURAL",
    "STRAIGHT_JOIN",
    "ORDER",
    "GROUP",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "FOR",
    "LOCK",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "MINUS",
    "RETURNING",
    "FORCE",
    "USE",
    "IGNORE",
    "INDEXED",
    "NOT",
    "WITH",
    "WINDOW",
    "OUTPUT",
    "FROM",
    "PARTITION",
    "TABLESAMPLE",
    "VALUES",
    "OPTION",
    "SELECT",
    "GO",
    "OUTER",
    "APPLY",
];

impl Parser<'_> {
    /// A list of tables and joins.
    pub(super) fn tables(&mut self, at: usize) {
        let mut outer = false;
        loop {
            if self.is_symbol("(") && !self.is_query_at(1) {
                // `FROM (a JOIN b ON …)`.
                self.bump();
                if self.deeper(|parser| parser.tables(at)).is_none() {
                    return;
                }
                self.close_group();
                self.alias();
            } else if let Some(table) = self.table(at, outer) {
                self.blocks[at].tables.push(table);
            } else if self.is_kind(Kind::Hole) {
                self.bump();
                self.blocks[at].gaps.from = true;
                self.alias();
            }
            self.condition(at, outer);
            if self.is_kind(Kind::Hole) {
                // Joins, conditions, everything.
                self.bump();
                let gaps = &mut self.blocks[at].gaps;
                (gaps.from, gaps.filter, gaps.tail) = (true, true, true);
            }
            outer = self.is_any(&["LEFT", "FULL"]);
            if !(self.take_symbol(",") || self.join()) {
                return;
            }
        }
    }

    fn join(&mut self) -> bool {
        let before = self.at;
        let words = ["NATURAL", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER"];
        while words.iter().any(|word| self.take_word(word)) {}
        if self.take_word("JOIN") || self.take_word("STRAIGHT_JOIN") || self.take_word("APPLY") {
            return true;
        }
        self.at = before;
        false
    }

    /// `ON …`, `USING (…)`, one for each join that is open.
    fn condition(&mut self, at: usize, outer: bool) {
        loop {
            if self.take_word("ON") {
                let condition = self.expr_of(at, 0);
                // An outer join keeps the rows for which its condition is false.
                if !outer {
                    self.blocks[at].joins.push(condition);
                }
            } else if self.is_word("USING") && self.is_symbol_at(1, "(") && !self.is_query_at(2) {
                self.bump();
                self.bump();
                while let Some((column, _)) = self.primary_name() {
                    if !outer {
                        self.blocks[at].using.push(column);
                    }
                    self.take_symbol(",");
                }
                self.close_group();
            } else {
                return;
            }
        }
    }

    pub(super) fn is_query_at(&self, by: usize) -> bool {
        let mut by = by;
        while self.is_symbol_at(by, "(") {
            by += 1;
        }
        ["SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE"].iter().any(|word| self.is_word_at(by, word))
    }

    fn table(&mut self, at: usize, outer: bool) -> Option<TableRef> {
        let start = self.start();
        self.take_word("LATERAL");
        self.take_word("ONLY");
        let mut table = if self.is_symbol("(") {
            self.bump();
            let query = self.statement(Role::Derived, Some(at));
            self.close_group();
            TableRef { query, ..TableRef::default() }
        } else {
            self.table_name()?
        };
        self.take_symbol("*");
        if self.is_symbol("(") {
            // A function that returns rows.
            table.name = None;
            self.skip_group();
        }
        if self.is_word("PARTITION") && self.is_symbol_at(1, "(") {
            self.bump();
            self.skip_group();
        }
        self.hints(&mut table);
        table.alias = self.alias();
        self.hints(&mut table);
        table.outer = outer;
        table.span = self.span_from(start);
        Some(table)
    }

    /// A possibly qualified name of a table.
    pub(super) fn table_name(&mut self) -> Option<TableRef> {
        let start = self.start();
        let reserved = self.is_kind(Kind::Word) && self.is_any(&NO_ALIAS);
        if reserved || !matches!(self.token(), Some(token) if matches!(token.kind, Kind::Word | Kind::Quoted)) {
            return None;
        }
        let mut parts = Vec::new();
        let mut span = crate::diagnostic::Span::default();
        let mut partial = false;
        while let Some(token) = self.token() {
            match token.kind {
                Kind::Word | Kind::Quoted => {
                    parts.push(self.name_of(token));
                    span = token.span;
                }
                Kind::Hole | Kind::Param => partial = true,
                _ => break,
            }
            self.bump();
            if !self.take_symbol(".") {
                break;
            }
            // `[db]..[table]` leaves the schema out.
            self.take_symbol(".");
        }
        let name = parts.pop()?;
        partial |= name.contains(|c| matches!(c, super::super::HOLE | '{' | '}'));
        let name = Name { name, database: parts.pop(), partial, span };
        Some(TableRef { name: Some(name), span: self.span_from(start), ..TableRef::default() })
    }

    fn alias(&mut self) -> Option<String> {
        let token = match self.take_word("AS") {
            true => self.token()?,
            false => self
                .token()
                .filter(|token| token.kind == Kind::Quoted || token.kind == Kind::Word && !self.is_any(&NO_ALIAS))?,
        };
        if !matches!(token.kind, Kind::Word | Kind::Quoted) {
            return None;
        }
        let alias = self.name_of(token);
        self.bump();
        if self.is_symbol("(") {
            // Names of the columns.
            self.skip_group();
        }
        Some(alias)
    }

    fn hints(&mut self, table: &mut TableRef) {
        loop {
            let start = self.start();
            if self.is_any(&["FORCE", "USE", "IGNORE"]) && (self.is_word_at(1, "INDEX") || self.is_word_at(1, "KEY")) {
                let (force, ignore) = (self.is_word("FORCE"), self.is_word("IGNORE"));
                self.bump();
                self.bump();
                while self.is_any(&["FOR", "ORDER", "GROUP", "BY", "JOIN"]) {
                    self.bump();
                }
                let mut names = Vec::new();
                if self.take_symbol("(") {
                    while let Some((name, span)) = self.primary_name() {
                        names.push((name, span));
                        self.take_symbol(",");
                    }
                    self.close_group();
                }
                table.hints.push(Hint { force, ignore, names });
            } else if self.take_words(&["INDEXED", "BY"]) {
                let names = self.primary_name().into_iter().collect();
                table.hints.push(Hint { force: true, ignore: false, names });
            } else if self.take_words(&["NOT", "INDEXED"]) {
            } else if self.is_word("WITH") && self.is_symbol_at(1, "(") {
                self.bump();
                let words = self.group_words();
                let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&&**word));
                let wait = match (has(&["READPAST"]), has(&["NOWAIT"])) {
                    (true, _) => Wait::Skip,
                    (_, true) => Wait::Fail,
                    _ => Wait::Block,
                };
                if wait != Wait::Block || has(&["UPDLOCK", "XLOCK", "TABLOCKX"]) {
                    table.lock_hint = Some(Lock { span: self.span_from(start), of: true, wait });
                }
            } else {
                return;
            }
        }
    }

    /// The words of a group in parentheses, in upper case.
    fn group_words(&mut self) -> Vec<String> {
        let from = self.at;
        self.skip_group();
        let words = self.tokens[from..self.at].iter().filter(|token| token.kind == Kind::Word);
        words.map(|token| token.text(self.text).to_ascii_uppercase()).collect()
    }
}
