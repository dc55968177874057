//! What an OR in a claim is: alternatives that need different index ranges, or one of the harmless shapes.

use crate::sql::ast::{Expr, ExprKind};

use super::predicate::{Any, Condition, Test, TestKind};
use super::roles::Roles;

/// What an OR is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Several states, or a state and a time: each branch needs a range of its own.
    StateMix,
    /// One state column with several values.
    StateList,
    /// `due IS NULL OR due <= now`.
    NullableDue,
    /// `a > x OR (a = x AND b > y)`.
    Keyset,
    /// `? IS NULL OR col = ?`.
    OptionalFilter,
    /// It has nothing to do with how rows are found.
    Residual,
}

/// The class of an OR.
pub fn classify(any: &Any<'_>, roles: &Roles) -> Class {
    let tests: Vec<&Test<'_>> = any.branches.iter().flat_map(Condition::tests).collect();
    let constant = |branch: &Condition<'_>| match branch {
        Condition::Test(test) => test.mentions.is_empty() && test.kind != TestKind::Hole && is_constant(test.expr),
        _ => false,
    };
    if any.branches.iter().any(constant) {
        return Class::OptionalFilter;
    }
    let columns: Vec<&str> = tests.iter().flat_map(|test| test.mentions.iter().map(|column| &**column)).collect();
    if !columns.iter().any(|column| roles.is_search(column)) {
        return Class::Residual;
    }
    if let Some(column) = one_column(any) {
        let kinds: Vec<TestKind> = tests.iter().map(|test| test.kind).collect();
        if kinds.iter().all(|kind| matches!(kind, TestKind::Equal | TestKind::In(_) | TestKind::Null)) {
            return if roles.is_state(column) { Class::StateList } else { Class::Residual };
        }
        let guarded = kinds.contains(&TestKind::Null);
        if guarded && !kinds.iter().any(|kind| matches!(kind, TestKind::Hole | TestKind::Like)) {
            return Class::NullableDue;
        }
        // `due = 0 OR due <= now`: a value that means never, tested as NULL is.
        if roles.is_time(column) && kinds.contains(&TestKind::Equal) && kinds.contains(&TestKind::Below) {
            return Class::NullableDue;
        }
    }
    if !columns.iter().any(|column| roles.is_state(column)) && is_keyset(any) {
        return Class::Keyset;
    }
    Class::StateMix
}

/// Whether the value is the same for every row: no column and no query in it.
fn is_constant(expr: &Expr) -> bool {
    !expr.any(&mut |part| {
        matches!(
            part.kind,
            ExprKind::Column { .. }
                | ExprKind::Query(_)
                | ExprKind::Exists(_)
                | ExprKind::InQuery { .. }
                | ExprKind::Opaque
                | ExprKind::Hole
        )
    })
}

/// The column that all branches test, if each is a single test of it.
fn one_column<'a>(any: &'a Any<'_>) -> Option<&'a str> {
    let column = |branch: &'a Condition<'_>| match branch {
        Condition::Test(test) => test.column.as_deref(),
        // `status = 'a' OR (status = 'b' OR status = 'c')`.
        Condition::Any(inner) => one_column(inner),
        Condition::All(_) => None,
    };
    let first = column(any.branches.first()?)?;
    any.branches.iter().all(|branch| column(branch) == Some(first)).then_some(first)
}

/// `a > x OR (a = x AND (b > y OR …))`: what comes after a row in an order.
fn is_keyset(any: &Any<'_>) -> bool {
    let [first, second] = &any.branches[..] else { return false };
    let (Condition::Test(bound), Condition::All(rest)) = (first, second) else { return false };
    let is_bound = |kind: TestKind| matches!(kind, TestKind::Above | TestKind::Below);
    let column = bound.column.as_deref();
    let same = rest.iter().any(|condition| match condition {
        Condition::Test(test) => test.column.as_deref() == column && test.kind == TestKind::Equal,
        _ => false,
    });
    let goes_on = rest.iter().any(|condition| match condition {
        Condition::Test(test) => test.column.as_deref() != column && is_bound(test.kind),
        Condition::Any(inner) => is_keyset(inner),
        Condition::All(_) => false,
    });
    column.is_some() && is_bound(bound.kind) && same && goes_on
}
