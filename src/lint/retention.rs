//! Statements that look for old rows, to remove or to copy them: how they find these, and which index serves them.

use crate::sql::ast::{Role, Verb};
use crate::workload::{Path, Pin};

use super::claim::Reading;
use super::mend;
use super::predicate::{Any, Condition, Test, TestKind};

/// A search for old rows.
#[derive(Clone, Copy)]
pub struct Sweep<'r, 'a> {
    /// The comparison of the age.
    pub age: &'r Test<'a>,
}

/// The search for old rows that a block of a statement is, if it is one.
pub fn of<'r, 'a>(reading: &'r Reading<'a>) -> Option<Sweep<'r, 'a>> {
    let block = reading.block;
    if !reading.known.queue || block.gaps.filter || block.gaps.from || reading.is_keyed() {
        return None;
    }
    let chooses = match block.verb {
        Verb::Delete => reading.is_changed(),
        Verb::Select if block.role == Role::Source => true,
        // Keys are picked to be removed; a list for people is read from its end, or page by page.
        Verb::Select => {
            let oldest = block.order.first().is_none_or(|first| !first.descending);
            let picks = block.limit.is_some() && block.offset.is_none() && !block.grouped;
            picks && oldest && reading.is_of_closed_rows()
        }
        Verb::Update | Verb::Insert => false,
    };
    let column = |test: &Test<'_>| test.column.as_deref().is_some_and(|column| is_age(reading, column));
    let age = reading.tests().find(|test| test.kind == TestKind::Below && column(test))?;
    chooses.then_some(Sweep { age })
}

/// Whether the column says how old a row is.
pub fn is_age(reading: &Reading<'_>, column: &str) -> bool {
    if let Some(retention) = &reading.known.table.retention
        && retention.age.eq_ignore_ascii_case(column)
    {
        return true;
    }
    column.ends_with("_at") || column.contains("_at_") || column.contains("date") || reading.known.roles.is_time(column)
}

/// What asks for several states at once.
pub fn state_list<'r, 'a>(reading: &'r Reading<'a>) -> Option<crate::diagnostic::Span> {
    let roles = &reading.known.roles;
    let state = |test: &Test<'_>| test.column.as_deref().is_some_and(|column| roles.is_state(column));
    let list = |test: &Test<'_>| {
        matches!(test.kind, TestKind::In(count) if count != 1)
            || matches!(test.kind, TestKind::NotEqual | TestKind::NotIn)
    };
    let several = |any: &Any<'_>| any.branches.iter().flat_map(Condition::tests).any(state);
    reading.conjuncts().into_iter().find_map(|condition| match condition {
        Condition::Test(test) if state(test) && list(test) => Some(test.expr.span),
        Condition::Any(any) if several(any) => Some(any.expr.span),
        _ => None,
    })
}

/// The access path of a search for old rows, in the order that it asks for; `None` where not all of it is known.
pub fn path(reading: &Reading<'_>, sweep: &Sweep<'_, '_>) -> Option<Path> {
    let (block, known) = (reading.block, reading.known);
    let all_known = known.columns_known && known.indexes_known && !reading.has_index_of_unknown_use();
    if !all_known || block.tables.len() > 1 || block.set_operation || block.gaps.tail {
        return None;
    }
    let mut pins: Vec<Pin> = Vec::new();
    for test in reading.tests().filter(|test| test.is_pin()) {
        let Some(column) = test.column.as_deref().and_then(|column| known.position(column)) else { continue };
        if mend::is_found_by(reading, column) && pins.iter().all(|pin| pin.column != column) {
            pins.push(Pin { column, value: mend::value(reading, test) });
        }
    }
    pins.sort_by_key(|pin| mend::rank(reading, pin.column));
    let age = known.position(sweep.age.column.as_deref()?)?;
    let open = |column: &usize| pins.iter().all(|pin| pin.column != *column);
    let order: Vec<usize> = match block.order.is_empty() {
        true => vec![age],
        false => mend::ordered(reading)?.into_iter().filter(open).collect(),
    };
    let purpose = crate::workload::Purpose::Retention(String::new());
    Some(Path { purpose, lane: None, range: open(&age).then_some(age), pins, order })
}
