//! Tokens → [`Ddl`].

use crate::diagnostic::Span;

use super::super::token::unquote;
use super::super::{Kind, Syntax, Token, parse};
use super::{Change, Column, Ddl, Index, Part};

/// Words behind a type, with which the rest of a column begins.
const STOPS: &str = "NOT NULL DEFAULT PRIMARY UNIQUE COMMENT COLLATE CHECK REFERENCES \
    CONSTRAINT GENERATED AUTO_INCREMENT AUTOINCREMENT ON CHARACTER CHARSET AS IDENTITY KEY INVISIBLE";

/// Reads one statement; `None` if it is about something else.
pub fn read(text: &str, tokens: &[Token], syntax: &Syntax) -> Option<Ddl> {
    let mut reader = Reader { text, tokens, at: 0, syntax };
    let verb = reader.upper();
    reader.at += 1;
    match &*verb {
        "CREATE" => reader.create(),
        "ALTER" => reader.alter(),
        "DROP" => reader.drop(),
        "RENAME" => reader.rename(),
        _ => None,
    }
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    syntax: &'a Syntax,
}

impl Reader<'_> {
    fn upper(&self) -> String {
        self.tokens.get(self.at).map(|token| token.text(self.text).to_ascii_uppercase()).unwrap_or_default()
    }

    fn is(&self, word: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.text(self.text).eq_ignore_ascii_case(word))
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.is(word);
        self.at += usize::from(is);
        is
    }

    fn take_any(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.take(word))
    }

    fn exists_clause(&mut self) {
        while self.take_any(&["IF", "NOT", "EXISTS", "ONLY"]) {}
    }

    fn name(&mut self) -> Option<(String, Span)> {
        let mut last = None;
        while let Some(token) = self.tokens.get(self.at).filter(|t| matches!(t.kind, Kind::Word | Kind::Quoted)) {
            let raw = token.text(self.text);
            let name = if token.kind == Kind::Quoted { unquote(raw) } else { raw.to_owned() };
            last = Some((name, token.span));
            self.at += 1;
            if !self.take(".") {
                break;
            }
        }
        last
    }

    /// The tokens of the group that opens here, without its parentheses.
    fn group(&mut self) -> std::ops::Range<usize> {
        let from = self.at + 1;
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text(self.text) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return from..(self.at - 1).max(from);
            }
        }
        from.min(self.at)..self.at
    }

    /// The range cut at its commas outside parentheses.
    fn items(&self, range: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
        let (mut items, mut from, mut depth) = (Vec::new(), range.start, 0_usize);
        for at in range.clone() {
            match self.tokens[at].text(self.text) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "," if depth == 0 => {
                    items.push(from..at);
                    from = at + 1;
                }
                _ => {}
            }
        }
        items.push(from..range.end);
        items.retain(|item| !item.is_empty());
        items
    }

    fn create(&mut self) -> Option<Ddl> {
        let mut unique = false;
        loop {
            match &*self.upper() {
                "TABLE" => return self.create_table(),
                "INDEX" => return self.create_index(unique),
                "" => return None,
                "UNIQUE" => unique = true,
                // Neither gives an order.
                "FULLTEXT" | "SPATIAL" => return None,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn create_table(&mut self) -> Option<Ddl> {
        self.at += 1;
        self.exists_clause();
        let (table, span) = self.name()?;
        let mut changes = vec![Change::Create];
        if self.take("LIKE")
            || self.is("(")
                && self.tokens.get(self.at + 1).is_some_and(|t| t.text(self.text).eq_ignore_ascii_case("like"))
        {
            self.take("(");
            self.take("LIKE");
            changes.push(Change::Like(self.name()?.0));
        } else if self.is("(") {
            let group = self.group();
            for item in self.items(group) {
                self.table_item(item, &mut changes);
            }
        } else {
            return None;
        }
        Some(Ddl { table, span, changes })
    }

    /// A column or a key inside CREATE TABLE, or behind ADD.
    fn table_item(&mut self, item: std::ops::Range<usize>, changes: &mut Vec<Change>) {
        let outer = self.at;
        self.at = item.start;
        let end = item.end;
        let mut name = None;
        if self.take("CONSTRAINT") && !matches!(&*self.upper(), "PRIMARY" | "UNIQUE" | "FOREIGN" | "CHECK") {
            name = self.name().map(|(name, _)| name);
        }
        match &*self.upper() {
            "PRIMARY" => {
                self.skip_to_group(end);
                let parts = self.parts();
                changes.push(Change::PrimaryKey(parts));
            }
            word @ ("UNIQUE" | "KEY" | "INDEX") if !self.is_column_named(word) => {
                let unique = word == "UNIQUE";
                self.at += 1;
                self.take_any(&["KEY", "INDEX"]);
                self.exists_clause();
                if !self.is("(") && !self.is("USING") {
                    name = self.name().map(|(name, _)| name).or(name);
                }
                self.skip_to_group(end);
                let parts = self.parts();
                // The optimizer does not look at such an index, and a hint that names it is an error.
                let hidden = (self.at..end).any(|at| {
                    let word = self.tokens[at].text(self.text);
                    ["INVISIBLE", "IGNORED"].iter().any(|hidden| word.eq_ignore_ascii_case(hidden))
                        && !self.tokens[at - 1].text(self.text).eq_ignore_ascii_case("not")
                });
                if !hidden || unique {
                    changes.push(Change::Index(Index { name, parts, unique, predicate: None }));
                }
            }
            "FOREIGN" | "CHECK" | "EXCLUDE" | "FULLTEXT" | "SPATIAL" | "LIKE" | "PERIOD" => {}
            _ => changes.extend(self.column(end).map(Change::Column)),
        }
        self.at = outer;
    }

    /// Whether a word that begins a key is the name of a column here: a type follows it.
    fn is_column_named(&self, word: &str) -> bool {
        let next = self.tokens.get(self.at + 1).map(|token| token.text(self.text).to_ascii_uppercase());
        let types = ["VARCHAR", "TEXT", "INT", "INTEGER", "BIGINT", "CHAR", "BOOLEAN", "TINYINT", "UUID"];
        word != "UNIQUE" && next.is_some_and(|next| types.contains(&&*next))
    }

    fn skip_to_group(&mut self, end: usize) {
        while self.at < end && !self.is("(") {
            self.at += 1;
        }
    }

    fn column(&mut self, end: usize) -> Option<Column> {
        let (name, _) = self.name()?;
        let from = self.at;
        while self.at < end && !(self.at > from && STOPS.split(' ').any(|stop| self.is(stop))) {
            match self.is("(") {
                true => _ = self.group(),
                false => self.at += 1,
            }
        }
        let span = |range: std::ops::Range<usize>| {
            let (first, last) = (self.tokens.get(range.start)?, self.tokens.get(range.end.checked_sub(1)?)?);
            self.text.get(first.span.start as usize..last.span.end as usize)
        };
        let type_text = span(from..self.at.min(end)).unwrap_or_default().to_owned();
        let rest: Vec<String> =
            self.tokens[self.at.min(end)..end].iter().map(|token| token.text(self.text).to_ascii_uppercase()).collect();
        let has = |words: &[&str]| rest.windows(words.len()).any(|window| window.iter().eq(words));
        let primary = has(&["PRIMARY", "KEY"]);
        let serial = type_text.to_ascii_uppercase().contains("SERIAL");
        Some(Column {
            nullable: !(has(&["NOT", "NULL"]) || primary || serial),
            numbered: serial || has(&["AUTO_INCREMENT"]) || has(&["AUTOINCREMENT"]) || has(&["IDENTITY"]),
            unique: has(&["UNIQUE"]),
            touched_by_updates: has(&["ON", "UPDATE", "CURRENT_TIMESTAMP"]) || has(&["ON", "UPDATE", "NOW"]),
            computed: has(&["AS", "("]),
            primary,
            type_text,
            name,
        })
    }

    /// The parts of a key in the group that opens here.
    fn parts(&mut self) -> Vec<Part> {
        if !self.is("(") {
            return Vec::new();
        }
        let group = self.group();
        let end = self.at;
        let items = self.items(group);
        let parts = items.into_iter().map(|item| self.part(item)).collect();
        self.at = end;
        parts
    }

    fn part(&mut self, item: std::ops::Range<usize>) -> Part {
        self.at = item.start;
        let column = self.name().map(|(name, _)| name);
        let called = self.is("(") && self.at < item.end;
        // `name(20)` is a prefix, `lower(name)` an expression.
        let number = self.tokens.get(self.at + 1).is_some_and(|token| token.kind == Kind::Number);
        let column = column.filter(|_| !called || number);
        let rest = &self.tokens[self.at.min(item.end)..item.end];
        let descending = rest.iter().any(|token| token.text(self.text).eq_ignore_ascii_case("desc"));
        Part { column, descending, prefix: called && number }
    }

    fn create_index(&mut self, unique: bool) -> Option<Ddl> {
        self.at += 1;
        self.take("CONCURRENTLY");
        self.exists_clause();
        let name = if self.is("ON") { None } else { self.name().map(|(name, _)| name) };
        while !self.is("ON") {
            if self.at >= self.tokens.len() {
                return None;
            }
            self.at += 1;
        }
        self.at += 1;
        self.exists_clause();
        let (table, span) = self.name()?;
        if self.take("USING") {
            let method = self.upper();
            self.at += 1;
            // Others give no order.
            if method != "BTREE" {
                return None;
            }
        }
        let parts = self.parts();
        while self.at < self.tokens.len() && !self.is("WHERE") {
            self.at += 1;
        }
        let predicate = match self.take("WHERE") {
            true => parse::expression(self.text, &self.tokens[self.at..], self.syntax),
            false => None,
        };
        Some(Ddl { table, span, changes: vec![Change::Index(Index { name, parts, unique, predicate })] })
    }

    fn alter(&mut self) -> Option<Ddl> {
        while !self.take("TABLE") {
            if self.at >= self.tokens.len() || self.is("INDEX") {
                return None;
            }
            self.at += 1;
        }
        self.exists_clause();
        let (table, span) = self.name()?;
        let mut changes = Vec::new();
        for item in self.items(self.at..self.tokens.len()) {
            self.action(item, &mut changes);
        }
        Some(Ddl { table, span, changes })
    }

    fn action(&mut self, item: std::ops::Range<usize>, changes: &mut Vec<Change>) {
        self.at = item.start;
        let end = item.end;
        match &*self.upper() {
            "ADD" => {
                self.at += 1;
                self.take("COLUMN");
                self.exists_clause();
                if self.is("(") {
                    let group = self.group();
                    self.items(group).into_iter().for_each(|item| self.table_item(item, changes));
                } else {
                    self.table_item(self.at..end, changes);
                }
            }
            "MODIFY" => {
                self.at += 1;
                self.take("COLUMN");
                self.exists_clause();
                changes.extend(self.column(end).map(Change::Column));
            }
            "CHANGE" => {
                self.at += 1;
                self.take("COLUMN");
                let before = self.name();
                let column = self.column(end);
                if let (Some((before, _)), Some(column)) = (before, column) {
                    changes.push(Change::RenameColumn(before, column.name.clone()));
                    changes.push(Change::Column(column));
                }
            }
            "DROP" => {
                self.at += 1;
                let kind = self.upper();
                let named = matches!(&*kind, "INDEX" | "KEY" | "CONSTRAINT" | "COLUMN");
                self.at += usize::from(named);
                self.exists_clause();
                let name = self.name().map(|(name, _)| name);
                let change: fn(String) -> Change = match &*kind {
                    "INDEX" | "KEY" | "CONSTRAINT" => Change::DropIndex,
                    "PRIMARY" | "FOREIGN" | "CHECK" | "PARTITION" => return,
                    _ => Change::DropColumn,
                };
                changes.extend(name.map(change));
            }
            "RENAME" => {
                self.at += 1;
                let column = self.take("COLUMN");
                if self.take_any(&["INDEX", "KEY", "CONSTRAINT"]) {
                    return;
                }
                if self.take_any(&["TO", "AS"]) {
                    changes.extend(self.name().map(|(name, _)| Change::Rename(name)));
                } else if let Some((before, _)) = self.name() {
                    if self.take("TO") {
                        changes.extend(self.name().map(|(name, _)| Change::RenameColumn(before, name)));
                    } else if !column {
                        changes.push(Change::Rename(before));
                    }
                }
            }
            _ => {}
        }
    }

    fn drop(&mut self) -> Option<Ddl> {
        if self.take("TABLE") {
            self.exists_clause();
            let (table, span) = self.name()?;
            return Some(Ddl { table, span, changes: vec![Change::Drop] });
        }
        if !self.take("INDEX") {
            return None;
        }
        self.take("CONCURRENTLY");
        self.exists_clause();
        let (index, span) = self.name()?;
        let table = if self.take("ON") { self.name()?.0 } else { String::new() };
        Some(Ddl { table, span, changes: vec![Change::DropIndex(index)] })
    }

    fn rename(&mut self) -> Option<Ddl> {
        self.take("TABLE");
        let (table, span) = self.name()?;
        let to = if self.take("TO") { self.name()?.0 } else { return None };
        Some(Ddl { table, span, changes: vec![Change::Rename(to)] })
    }
}
