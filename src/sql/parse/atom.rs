//! The smallest expressions: literals, parameters, columns, calls, groups, CASE.

use super::super::Kind;
use super::super::ast::{Expr, ExprKind, Role};
use super::Parser;
use super::expr::{is_constant, is_end, string};

impl Parser<'_> {
    pub(super) fn atom(&mut self) -> Expr {
        let start = self.start();
        let Some(token) = self.token() else { return Expr::opaque(self.span_from(start)) };
        let text = token.text(self.text);
        let kind = match token.kind {
            Kind::Text => {
                self.bump();
                // `'a' 'b'` is one string, of which only the beginning is kept.
                while self.is_kind(Kind::Text) {
                    self.bump();
                }
                ExprKind::Text(string(text))
            }
            Kind::Number => {
                self.bump();
                ExprKind::Number(text.to_owned())
            }
            Kind::Param => {
                self.bump();
                match self.is_symbol(":=") {
                    true => self.set_variable(),
                    false => ExprKind::Param,
                }
            }
            Kind::Hole => {
                self.bump();
                match self.is_symbol("(") {
                    true => self.call(String::new()),
                    false => self.after_hole(),
                }
            }
            Kind::Symbol => match text {
                "(" => return self.group(),
                "*" => {
                    self.bump();
                    ExprKind::Star
                }
                _ => {
                    self.doubt();
                    if !matches!(text, ")" | "," | ";" | "]") {
                        self.bump();
                    }
                    ExprKind::Opaque
                }
            },
            Kind::Word | Kind::Quoted => self.word(),
        };
        Expr { kind, span: self.span_from(start), parenthesised: false }
    }

    /// A hole may be the table of a column.
    fn after_hole(&mut self) -> ExprKind {
        if !self.is_symbol(".") {
            return ExprKind::Hole;
        }
        self.bump();
        match self.token().filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted)) {
            Some(token) => {
                self.bump();
                ExprKind::Column { table: None, name: self.name_of(token), quoted: false }
            }
            None => ExprKind::Hole,
        }
    }

    fn set_variable(&mut self) -> ExprKind {
        self.bump();
        ExprKind::SetVariable(Box::new(self.primary()))
    }

    /// `(…)`: an expression, a list of them, or a query.
    fn group(&mut self) -> Expr {
        let start = self.start();
        if self.is_query_at(1) {
            self.bump();
            let query = self.statement(Role::Value, None);
            self.close_group();
            let kind = query.map_or(ExprKind::Opaque, ExprKind::Query);
            return Expr { kind, span: self.span_from(start), parenthesised: true };
        }
        let Some(mut list) = self.deeper(|parser| {
            parser.bump();
            let list = parser.arguments();
            parser.close_group();
            list
        }) else {
            self.skip_group();
            return Expr::opaque(self.span_from(start));
        };
        let span = self.span_from(start);
        if list.len() == 1 {
            let inner = list.swap_remove(0);
            return Expr { kind: inner.kind, span, parenthesised: true };
        }
        Expr { kind: ExprKind::Row(list), span, parenthesised: true }
    }

    /// A word: a literal, a call, CASE, or a column.
    fn word(&mut self) -> ExprKind {
        let Some(token) = self.token() else { return ExprKind::Opaque };
        let bare = token.kind == Kind::Word;
        let word = self.name_of(token);
        if bare && is_end(&word) && !self.is_symbol_at(1, "(") {
            // Something is missing before it.
            self.doubt();
            return ExprKind::Opaque;
        }
        match word.to_ascii_uppercase().as_str() {
            "CASE" if bare => return self.case(),
            "NULL" if bare => {
                self.bump();
                return ExprKind::Null;
            }
            "EXISTS" if bare && self.is_symbol_at(1, "(") => {
                self.bump();
                self.bump();
                let query = self.statement(Role::Exists, None);
                self.close_group();
                return query.map_or(ExprKind::Opaque, ExprKind::Exists);
            }
            "INTERVAL" if bare => return self.interval(),
            "NOT" if bare => {
                self.bump();
                return ExprKind::Not(Box::new(self.primary()));
            }
            "BINARY" | "DISTINCT" | "PRIOR" if bare && !self.is_symbol_at(1, ".") && !self.is_symbol_at(1, ",") => {
                self.bump();
                return self.primary().kind;
            }
            "DATE" | "TIMESTAMP" | "TIME" | "TIMESTAMPTZ"
                if bare && self.ahead(1).is_some_and(|next| next.kind == Kind::Text) =>
            {
                self.bump();
                return self.atom().kind;
            }
            "ARRAY" if bare && self.is_symbol_at(1, "[") => {
                self.bump();
                self.bump();
                let arguments = self.arguments();
                self.take_symbol("]");
                return ExprKind::Call { name: word, arguments };
            }
            _ => {}
        }
        self.bump();
        if self.is_symbol("(") {
            return self.call(word);
        }
        if bare && is_constant(&word) {
            return ExprKind::Constant(word);
        }
        let mut parts = vec![word];
        let mut quoted = !bare && token.text(self.text).starts_with('"');
        while self.is_symbol(".") {
            self.bump();
            if self.take_symbol("*") {
                return ExprKind::Star;
            }
            quoted = false;
            match self.token().filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted)) {
                Some(part) => parts.push(self.name_of(part)),
                None if self.is_kind(Kind::Hole) => {
                    self.bump();
                    return ExprKind::Hole;
                }
                None => return ExprKind::Opaque,
            }
            self.bump();
            if self.is_symbol("(") {
                return self.call(parts.pop().unwrap_or_default());
            }
        }
        let name = parts.pop().unwrap_or_default();
        match name.contains(super::super::HOLE) {
            true => ExprKind::Hole,
            false => ExprKind::Column { table: parts.pop(), name, quoted },
        }
    }

    fn call(&mut self, name: String) -> ExprKind {
        let arguments = self.deeper(|parser| {
            parser.bump();
            parser.take_word("DISTINCT");
            let arguments = parser.call_arguments();
            parser.close_call();
            arguments
        });
        match arguments {
            Some(arguments) => ExprKind::Call { name, arguments },
            None => {
                self.skip_group();
                ExprKind::Opaque
            }
        }
    }

    fn call_arguments(&mut self) -> Vec<Expr> {
        if self.is_query_at(0) {
            let start = self.start();
            let query = self.statement(Role::Value, None);
            let kind = query.map_or(ExprKind::Opaque, ExprKind::Query);
            return vec![Expr { kind, span: self.span_from(start), parenthesised: false }];
        }
        self.arguments()
    }

    /// Calls have words of their own inside (`CAST(a AS b)`, `EXTRACT(a FROM b)`, `GROUP_CONCAT(a ORDER BY b)`): they
    /// are stepped over without doubt.
    fn close_call(&mut self) {
        let doubt = self.doubt;
        self.close_group();
        self.doubt = doubt;
    }

    fn interval(&mut self) -> ExprKind {
        self.bump();
        let value = (!self.is_symbol(")") && !self.is_symbol(",")).then(|| self.operands());
        let unit = ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"];
        if self.token().is_some_and(|token| {
            let word = token.text(self.text).to_ascii_uppercase();
            unit.iter().any(|unit| word.starts_with(unit))
        }) {
            self.bump();
        }
        ExprKind::Calc(value.into_iter().collect())
    }

    fn case(&mut self) -> ExprKind {
        self.bump();
        let mut inside = Vec::new();
        while self.token().is_some() && !self.is_word("END") && !self.is_symbol(")") {
            if !["WHEN", "THEN", "ELSE"].iter().any(|word| self.take_word(word)) {
                let before = self.at;
                inside.push(self.expr(0));
                if self.at == before {
                    break;
                }
            }
        }
        self.take_word("END");
        ExprKind::Case(inside)
    }
}
