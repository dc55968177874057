//! A text is compared with a number.

use super::super::claim::Reading;
use super::super::predicate::{Test, TestKind};
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::Span;
use crate::schema::ColumnType;
use crate::sql::{Expr, ExprKind};

check! {
    Warning High "implicit-cast" "a column of texts is compared with a number"
    does "Reports comparisons of a column whose type is a text with a number that is written into the statement."
    why "MySQL and MariaDB turn the text of every row into a number, since many texts are the same number, and find nothing through an index; PostgreSQL refuses the statement."
    bad "SELECT event_id FROM order_outbox\nWHERE app_code = 7 AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = '7' AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The column is a number, and its definition is wrong."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let known = reading.known;
    let meant = context.meant(reading.block);
    let suits = meant.iter().any(|dialect| dialect.engine().text_meets_number);
    if !known.queue || meant.is_empty() || suits {
        return;
    }
    for test in reading.all_tests() {
        let Some(column) = test.column.as_deref().filter(|column| is_text(reading, column)) else { continue };
        let Some((number, span)) = number(test) else { continue };
        let message = format!("`{column}` holds texts and is compared with the number {number}");
        let finding = Found::new(&CHECK, span, message).label("a number");
        found.push(finding.help(format!("write '{number}'")));
    }
}

fn is_text(reading: &Reading<'_>, column: &str) -> bool {
    let known = reading.known;
    let Some(at) = known.position(column).filter(|_| !known.traits.untyped.contains(column)) else { return false };
    matches!(known.table.columns[at].ty, ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_))
}

/// The number that a test compares its column with.
fn number<'a>(test: &Test<'a>) -> Option<(&'a str, Span)> {
    let number = |expr: &'a Expr| match &expr.kind {
        ExprKind::Number(number) => Some((&**number, expr.span)),
        _ => None,
    };
    match (&test.expr.kind, test.kind) {
        (ExprKind::In { list, .. }, _) => list.iter().find_map(number),
        (_, TestKind::Equal | TestKind::NotEqual | TestKind::Below | TestKind::Above) => test.value.and_then(number),
        _ => None,
    }
}
