//! WHERE as a tree of ALL, ANY and tests of single columns, with every NOT pushed down to a test.

use crate::diagnostic::Span;
use crate::sql::ast::{Comparison, Expr, ExprKind};

/// A condition.
#[derive(Debug)]
pub enum Condition<'a> {
    /// All of them hold.
    All(Vec<Condition<'a>>),
    /// Any of them holds.
    Any(Any<'a>),
    /// A test that cannot be taken apart.
    Test(Test<'a>),
}

/// An OR.
#[derive(Debug)]
pub struct Any<'a> {
    /// What stands between the ORs.
    pub branches: Vec<Condition<'a>>,
    /// The expression.
    pub expr: &'a Expr,
}

/// One test.
#[derive(Debug)]
pub struct Test<'a> {
    /// The column that is tested, in lower case; `None` if it is no bare column of the table.
    pub column: Option<String>,
    /// How.
    pub kind: TestKind,
    /// With what.
    pub value: Option<&'a Expr>,
    /// The columns of the table that occur anywhere in it.
    pub mentions: Vec<String>,
    /// The expression.
    pub expr: &'a Expr,
}

/// How a column is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestKind {
    /// It is one value.
    Equal,
    /// It is none.
    NotEqual,
    /// It is at most a bound.
    Below,
    /// It is at least a bound.
    Above,
    /// LIKE and its like.
    Like,
    /// It is one of so many values; 0: of an unknown number.
    In(usize),
    /// It is one of what a query returns.
    InQuery,
    /// It is none of them.
    NotIn,
    /// It is NULL.
    Null,
    /// It is not NULL.
    NotNull,
    /// A hole, in which any condition may hide.
    Hole,
    /// Anything else.
    Other,
}

/// Says which column of the table an expression is, in lower case.
pub trait Columns {
    /// The column, if it is one of the table.
    fn column(&self, expr: &Expr) -> Option<String>;
}

impl<'a> Condition<'a> {
    /// The condition that an expression states.
    pub fn of(expr: &'a Expr, columns: &impl Columns) -> Condition<'a> {
        build(expr, false, columns)
    }

    /// The conditions that all hold.
    pub fn conjuncts(&self) -> Vec<&Condition<'a>> {
        let mut found = Vec::new();
        self.add_conjuncts(&mut found);
        found
    }

    /// Adds the conditions that all hold to a list: they are asked for often, and lists of lists would cost most of that.
    pub fn add_conjuncts<'c>(&'c self, found: &mut Vec<&'c Condition<'a>>) {
        match self {
            Condition::All(list) => list.iter().for_each(|condition| condition.add_conjuncts(found)),
            other => found.push(other),
        }
    }

    /// All tests in it, wherever they stand.
    pub fn tests(&self) -> Vec<&Test<'a>> {
        let mut found = Vec::new();
        self.add_tests(&mut found);
        found
    }

    /// Adds all tests in it to a list.
    pub fn add_tests<'c>(&'c self, found: &mut Vec<&'c Test<'a>>) {
        match self {
            Condition::All(list) => list.iter().for_each(|condition| condition.add_tests(found)),
            Condition::Any(any) => any.branches.iter().for_each(|branch| branch.add_tests(found)),
            Condition::Test(test) => found.push(test),
        }
    }

    /// All ORs in it, outer ones first.
    pub fn ors(&self) -> Vec<&Any<'a>> {
        match self {
            Condition::All(list) => list.iter().flat_map(Condition::ors).collect(),
            Condition::Any(any) => [any].into_iter().chain(any.branches.iter().flat_map(Condition::ors)).collect(),
            Condition::Test(_) => Vec::new(),
        }
    }

    /// Whether the column has one value, or one of a list, in every row for which the condition holds.
    pub fn pins(&self, column: &str, wanted: &dyn Fn(&Test<'a>) -> bool) -> bool {
        match self {
            Condition::All(list) => list.iter().any(|condition| condition.pins(column, wanted)),
            Condition::Any(any) => any.branches.iter().all(|branch| branch.pins(column, wanted)),
            Condition::Test(test) => test.column.as_deref() == Some(column) && wanted(test),
        }
    }

    /// Its bytes.
    pub fn span(&self) -> Span {
        match self {
            Condition::Any(any) => any.expr.span,
            Condition::Test(test) => test.expr.span,
            Condition::All(list) => {
                let start = list.first().map_or(0, |first| first.span().start);
                Span { start, end: list.last().map_or(start, |last| last.span().end) }
            }
        }
    }
}

impl Test<'_> {
    /// Whether it leaves one value of its column, which does not depend on the row.
    pub fn is_pin(&self) -> bool {
        matches!(self.kind, TestKind::Equal | TestKind::In(1)) && !self.is_optional()
    }

    /// Whether it names the values that the column may have.
    pub fn is_choice(&self) -> bool {
        self.is_pin() || matches!(self.kind, TestKind::In(_) | TestKind::InQuery)
    }

    /// `app_code = COALESCE(?, app_code)`: true for every row when the parameter is NULL.
    pub fn is_optional(&self) -> bool {
        let column = self.column.as_deref();
        self.kind == TestKind::Equal
            && self.value.is_some_and(|value| {
                value.any(&mut |expr| match &expr.kind {
                    ExprKind::Column { name, table: None, .. } => {
                        column.is_some_and(|column| name.eq_ignore_ascii_case(column))
                    }
                    _ => false,
                })
            })
    }

    /// The values that it names, if all of them are written into the statement.
    pub fn texts(&self) -> Vec<&str> {
        fn text(expr: &Expr) -> Option<&str> {
            match &expr.kind {
                ExprKind::Text(text) | ExprKind::Number(text) | ExprKind::Constant(text) => Some(text),
                _ => None,
            }
        }
        match &self.expr.kind {
            ExprKind::In { list, .. } => list.iter().map(text).collect::<Option<Vec<&str>>>().unwrap_or_default(),
            _ => self.text().into_iter().collect(),
        }
    }

    /// The state that it pins, where it is written into the statement.
    pub fn text(&self) -> Option<&str> {
        match &self.value?.kind {
            ExprKind::Text(text) | ExprKind::Number(text) | ExprKind::Constant(text) => Some(text),
            // `"pending"` where no column is called so.
            ExprKind::Column { name, quoted: true, .. } => Some(name),
            _ => None,
        }
    }
}

fn build<'a>(expr: &'a Expr, negated: bool, columns: &impl Columns) -> Condition<'a> {
    match (&expr.kind, negated) {
        (ExprKind::Not(of), _) => build(of, !negated, columns),
        (ExprKind::And(list), false) | (ExprKind::Or(list), true) => {
            Condition::All(list.iter().map(|term| build(term, negated, columns)).collect())
        }
        (ExprKind::Or(list), false) | (ExprKind::And(list), true) => {
            let branches = list.iter().map(|term| build(term, negated, columns)).collect();
            Condition::Any(Any { branches, expr })
        }
        _ => leaf(expr, negated, columns),
    }
}

fn leaf<'a>(expr: &'a Expr, negated: bool, columns: &impl Columns) -> Condition<'a> {
    let mentions = || mentions(expr, columns);
    let test = |column: Option<String>, kind: TestKind, value: Option<&'a Expr>| {
        Condition::Test(Test {
            column,
            kind: if negated { opposite(kind) } else { kind },
            value,
            mentions: mentions(),
            expr,
        })
    };
    match &expr.kind {
        ExprKind::Hole => test(None, TestKind::Hole, None),
        ExprKind::Compare(comparison, left, right) => {
            if let (Comparison::Equal, false, ExprKind::Row(left), ExprKind::Row(right)) =
                (comparison, negated, &left.kind, &right.kind)
            {
                let pairs = left.iter().zip(right);
                let tests = pairs.map(|(left, right)| {
                    let (kind, value) = (TestKind::Equal, Some(right));
                    Condition::Test(Test { column: columns.column(left), kind, value, mentions: Vec::new(), expr })
                });
                return Condition::All(tests.collect());
            }
            let kind = match comparison {
                Comparison::Equal => TestKind::Equal,
                Comparison::NotEqual => TestKind::NotEqual,
                Comparison::Below => TestKind::Below,
                Comparison::Above => TestKind::Above,
                Comparison::Like => TestKind::Like,
                Comparison::Other => TestKind::Other,
            };
            match (columns.column(left), columns.column(right)) {
                (Some(column), _) => test(Some(column), kind, Some(right)),
                (None, Some(column)) => test(Some(column), mirrored(kind), Some(left)),
                // The hole may be a column.
                _ if matches!(left.kind, ExprKind::Hole) => test(None, TestKind::Hole, None),
                _ => test(None, TestKind::Other, None),
            }
        }
        ExprKind::In { of, list, negated: not } => {
            let count = match list.as_slice() {
                [one] if matches!(one.kind, ExprKind::Hole) => 0,
                list => list.len(),
            };
            let kind = if *not { TestKind::NotIn } else { TestKind::In(count) };
            row(expr, of, kind, list.first(), negated, columns)
        }
        ExprKind::InQuery { of, negated: not, .. } => {
            row(expr, of, if *not { TestKind::NotIn } else { TestKind::InQuery }, None, negated, columns)
        }
        ExprKind::Any { of, value } => row(expr, of, TestKind::In(0), Some(value), negated, columns),
        ExprKind::IsNull { of, negated: not } => {
            test(columns.column(of), if *not { TestKind::NotNull } else { TestKind::Null }, None)
        }
        ExprKind::Between { of, bounds, negated: not } => {
            test(columns.column(of), if *not { TestKind::Other } else { TestKind::Below }, bounds.last())
        }
        // A bare boolean: `WHERE processed`.
        ExprKind::Column { .. } => test(columns.column(expr), TestKind::Equal, None),
        _ => test(None, TestKind::Other, None),
    }
}

/// A test of one column or, by a row, of several.
fn row<'a>(
    expr: &'a Expr,
    of: &Expr,
    kind: TestKind,
    value: Option<&'a Expr>,
    negated: bool,
    columns: &impl Columns,
) -> Condition<'a> {
    let kind = if negated { opposite(kind) } else { kind };
    let test = |of: &Expr, value| {
        let column = columns.column(of);
        let mentions = mentions(expr, columns);
        Condition::Test(Test { column, kind, value, mentions, expr })
    };
    match &of.kind {
        ExprKind::Row(list) if kind != TestKind::NotIn => {
            let of_row = |at: usize| match value.map(|value| &value.kind) {
                Some(ExprKind::Row(values)) => values.get(at),
                _ => None,
            };
            Condition::All(list.iter().enumerate().map(|(at, of)| test(of, of_row(at))).collect())
        }
        _ => test(of, value),
    }
}

fn opposite(kind: TestKind) -> TestKind {
    match kind {
        TestKind::Equal => TestKind::NotEqual,
        TestKind::NotEqual => TestKind::Equal,
        TestKind::Below => TestKind::Above,
        TestKind::Above => TestKind::Below,
        TestKind::Null => TestKind::NotNull,
        TestKind::NotNull => TestKind::Null,
        TestKind::In(_) | TestKind::InQuery => TestKind::NotIn,
        TestKind::NotIn => TestKind::In(0),
        TestKind::Hole => TestKind::Hole,
        TestKind::Like | TestKind::Other => TestKind::Other,
    }
}

/// The test with its sides swapped.
fn mirrored(kind: TestKind) -> TestKind {
    match kind {
        TestKind::Below => TestKind::Above,
        TestKind::Above => TestKind::Below,
        TestKind::Like => TestKind::Other,
        other => other,
    }
}

fn mentions(expr: &Expr, columns: &impl Columns) -> Vec<String> {
    let mut mentions = Vec::new();
    expr.any(&mut |part| {
        if let Some(column) = columns.column(part).filter(|column| !mentions.contains(column)) {
            mentions.push(column);
        }
        false
    });
    mentions
}
