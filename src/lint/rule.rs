//! What a rule is: an identity, a documentation whose examples are tests, and a function.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Edit, Level, Rule, Span};
use crate::dialect::{Dialect, Take};
use crate::schema::Table;
use crate::sql::{Block, Statement};

use super::Options;
use super::claim::Reading;
use super::tables::Tables;

/// One rule about SQL.
#[derive(Debug)]
pub struct Check {
    /// Identity and documentation.
    pub rule: Rule,
    /// How sure a finding is.
    pub confidence: Confidence,
    /// Something that it finds, about the table `order_outbox` of the tests.
    pub bad: &'static str,
    /// The same as it should be: no rule finds anything.
    pub good: &'static str,
    /// What it judges.
    pub judge: Judge,
}

/// How sure a rule is that what it finds is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// It is wrong whatever else is true.
    High,
    /// It is wrong unless something that the text does not say makes it right.
    Medium,
}

impl Confidence {
    /// The word printed in lists.
    pub fn word(self) -> &'static str {
        match self {
            Confidence::High => "high",
            Confidence::Medium => "medium",
        }
    }
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub enum Judge {
    /// A block as it reads or changes one known table.
    Reading(fn(&Reading<'_>, &Context<'_>, &mut Vec<Found>)),
    /// A whole statement.
    Statement(fn(&Statement, &Context<'_>, &mut Vec<Found>)),
    /// All blocks of a text that read or change known tables, in their order: what one statement does after another.
    Text(fn(&[Reading<'_>], &Context<'_>, &mut Vec<Found>)),
    /// A definition, with what the linted statements use of it.
    Table(fn(&Table, &Usage, &[&'static dyn Dialect], &mut Vec<Diagnostic>)),
    /// Nothing by itself: the linter reports it on its way.
    Driver,
}

/// What the linted statements use of tables.
#[derive(Debug, Default)]
pub struct Usage {
    /// By the table's name in lower case: columns in conditions and orders, and names of indexes in hints, in lower case.
    pub by_table: BTreeMap<String, BTreeSet<String>>,
}

impl Usage {
    /// Adds what was used elsewhere.
    pub fn extend(&mut self, other: Usage) {
        for (table, names) in other.by_table {
            self.by_table.entry(table).or_default().extend(names);
        }
    }
}

/// What rules may ask beside the statement.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The text that the statement stands in.
    pub text: &'a str,
    /// What is known of tables.
    pub tables: &'a Tables,
    /// The databases that the statement may be for; never empty.
    pub dialects: &'a [&'static dyn Dialect],
    /// The service that the file belongs to, if that is known.
    pub service: Option<&'a str>,
    /// The text is the body of a function, which runs in one transaction.
    pub body: bool,
    /// What the run was asked for.
    pub options: &'a Options,
}

impl Context<'_> {
    /// The text of a range.
    pub fn of(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The databases that a block may be for: one that has no locks on rows is not meant by a block that locks some.
    pub fn meant(&self, block: &Block) -> Vec<&'static dyn Dialect> {
        let locks = block.lock.is_some();
        self.dialects.iter().copied().filter(|dialect| !locks || dialect.take() != Take::UpdateByRowId).collect()
    }
}

/// A finding, at a place of the SQL text.
#[derive(Debug)]
pub struct Found {
    /// What was looked for.
    pub check: &'static Check,
    /// How much it weighs.
    pub level: Level,
    /// Where.
    pub span: Span,
    /// One sentence without a full stop.
    pub message: String,
    /// Text beside the marks.
    pub label: String,
    /// Further places with their texts.
    pub related: Vec<(Span, String)>,
    /// How to mend it.
    pub help: Vec<String>,
    /// Changes of the SQL that certainly mend it and change nothing else.
    pub fix: Vec<Edit>,
}

impl Found {
    /// A finding of a rule at its own level.
    pub fn new(check: &'static Check, span: Span, message: impl Into<String>) -> Found {
        Found {
            check,
            level: check.rule.level,
            span,
            message: message.into(),
            label: String::new(),
            related: Vec::new(),
            help: Vec::new(),
            fix: Vec::new(),
        }
    }

    /// Sets the text beside the marks.
    pub fn label(mut self, label: impl Into<String>) -> Found {
        self.label = label.into();
        self
    }

    /// Adds a further place.
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Found {
        self.related.push((span, text.into()));
        self
    }

    /// Adds a change that certainly mends it: text that is put in behind a place.
    pub fn insert(mut self, at: u32, text: impl Into<String>) -> Found {
        self.fix.push(Edit { span: Span { start: at, end: at }, text: text.into() });
        self
    }

    /// Adds a way to mend it.
    pub fn help(mut self, help: impl Into<String>) -> Found {
        self.help.push(help.into());
        self
    }
}

/// Declares a rule: the same five headings for all, with examples in SQL or, for rules about definitions, in JSON.
macro_rules! check {
    ($level:ident $confidence:ident $id:literal $summary:literal does $does:literal why $why:literal
     bad $bad:literal good $good:literal allow $allow:literal judge $judge:expr) => {
        $crate::lint::rule::check! {
            "sql" $level $confidence $id $summary does $does why $why bad $bad good $good allow $allow judge $judge
        }
    };
    ($language:literal $level:ident $confidence:ident $id:literal $summary:literal does $does:literal why $why:literal
     bad $bad:literal good $good:literal allow $allow:literal judge $judge:expr) => {
        /// The rule.
        pub static CHECK: $crate::lint::rule::Check = $crate::lint::rule::Check {
            rule: $crate::diagnostic::Rule {
                id: $id,
                level: $crate::diagnostic::Level::$level,
                summary: $summary,
                docs: concat!(
                    "## What it does\n\n",
                    $does,
                    "\n\n## Why is this bad?\n\n",
                    $why,
                    "\n\n## Example\n\n```",
                    $language,
                    "\n",
                    $bad,
                    "\n```\n\n## Use instead\n\n```",
                    $language,
                    "\n",
                    $good,
                    "\n```\n\n## When it is right to allow it\n\n",
                    $allow,
                    "\n"
                ),
            },
            confidence: $crate::lint::rule::Confidence::$confidence,
            bad: $bad,
            good: $good,
            judge: $judge,
        };
    };
}
pub(crate) use check;
