//! The order of a claim does not end with the key.

use super::super::claim::{Claim, Reading};
use super::super::mend;
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::Span;

check! {
    Note Medium "claim-nondeterministic-order" "the order of a claim does not end with the key"
    does "Reports claims whose ORDER BY leaves rows of the same time in any order, on databases whose indexes do not end with the primary key by themselves."
    why "Rows of the same time are met in another order by every plan; pages overlap, and an index that ends with the key is not used to its end."
    bad "-- for postgres: $1::text\nSELECT event_id FROM order_outbox\nWHERE app_code = $1 AND status = 'pending'\nORDER BY created_at_ms LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = $1 AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "Times never repeat, or the order among equals does not matter."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let appends = context.dialects.iter().any(|dialect| dialect.engine().appends_primary_key);
    let (Some(Claim::Lock), Some(last), false) = (reading.claim, reading.block.order.last(), appends) else { return };
    let known = reading.known;
    let Some(ordered) =
        mend::ordered(reading).filter(|_| known.columns_known && !reading.block.gaps.tail && !reading.takes_back())
    else {
        return;
    };
    let pinned = |column: &str| reading.pins(column, &|test| test.is_pin());
    let open = known.table.primary_key.iter().find(|at| {
        !ordered.contains(at)
            && !known.scope.contains(&known.table.columns[**at].name.to_lowercase())
            && !pinned(&known.table.columns[**at].name.to_lowercase())
    });
    let Some(open) = open else { return };
    let key = &known.table.columns[*open].name;
    let message = format!("the order of this claim on `{}` does not end with its key", reading.name());
    let finding = Found::new(&CHECK, last.expr.span, message).help(format!("add `{key}` to ORDER BY"));
    // Behind the last word of the clause, which may be ASC; a name that needs quotes is left to people.
    let alone = reading.block.tables.len() == 1 && key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let ends = context.of(Span { start: last.expr.span.end, end: reading.statement.span.end });
    let plain = ends.trim_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case("limit"));
    found.push(if alone && plain { finding.insert(last.expr.span.end, format!(", {key}")) } else { finding });
}
