//! A relay remembers the last number that it saw.

use super::super::claim::{Claim, Reading};
use super::super::predicate::TestKind;
use super::super::rule::{Context, Found, Judge, check};
use crate::schema::ColumnType;
use crate::sql::ExprKind;
use crate::sql::ast::{Role, Verb};

check! {
    Warning Medium "cursor-by-id" "rows of a queue are read from the last number on"
    does "Reports reads of a queue that find their rows by a number greater than the last one seen, in the order of that number, and by no state."
    why "Numbers are given before transactions commit, and not in the order in which they do: a row that commits late has a number below the last one seen, and is never read."
    bad "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY AUTO_INCREMENT, status VARCHAR(20) NOT NULL, payload TEXT);\nSELECT id, payload FROM mail_outbox WHERE id > ? ORDER BY id LIMIT 100;"
    good "CREATE TABLE mail_outbox (id BIGINT PRIMARY KEY AUTO_INCREMENT, status VARCHAR(20) NOT NULL, payload TEXT, KEY (status));\nSELECT id, payload FROM mail_outbox WHERE status = 'new' ORDER BY id LIMIT 100;"
    allow "One writer only; or all rows are read again and again, as a copy into another table does."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (block, known) = (reading.block, reading.known);
    let reads = block.verb == Verb::Select && matches!(block.role, Role::Top | Role::Derived | Role::Cte(_));
    let plain = !block.grouped && !block.distinct && !block.set_operation && block.offset.is_none();
    if !known.queue || !reads || !plain || reading.claim.is_some_and(|claim| claim != Claim::Lock) {
        return;
    }
    let Some(first) = block.order.first().filter(|first| !first.descending && block.limit.is_some()) else { return };
    let ExprKind::Column { name, .. } = &first.expr.kind else { return };
    let column = name.to_lowercase();
    if !is_number(reading, &column) || block.gaps.filter {
        return;
    }
    let tests = reading.all_tests();
    let own = |kind: TestKind| {
        let mut own = tests.iter().filter(|test| test.column.as_deref() == Some(&*column));
        own.find(|test| test.kind == kind)
    };
    let (Some(above), None) = (own(TestKind::Above), own(TestKind::Below)) else { return };
    let roles = &known.roles;
    let decides = |column: &String| roles.is_state(column) || roles.is_finish(column) || roles.is_time(column);
    // Pages of a claim begin again at 0; a bound beside the number makes it a part of something else.
    if tests.iter().any(|test| test.mentions.iter().any(decides)) {
        return;
    }
    let message = format!("rows of `{}` that commit late are never read", reading.name());
    let finding = Found::new(&CHECK, above.expr.span, message).label("numbers do not commit in their order");
    found.push(finding.help("find rows by their state, and mark those that were handled"));
}

/// Whether the column numbers the rows.
fn is_number(reading: &Reading<'_>, column: &str) -> bool {
    let known = reading.known;
    match known.position(column) {
        Some(at) => {
            let named =
                known.table.primary_key == [at] || known.table.columns[at].auto_increment || is_sequence(column);
            named && matches!(known.table.columns[at].ty, ColumnType::Int { .. })
        }
        None => !known.columns_known && (column == "id" || is_sequence(column)),
    }
}

fn is_sequence(column: &str) -> bool {
    ["seq", "sequence", "seq_no", "position"]
        .iter()
        .any(|name| column == *name || column.strip_suffix(name).is_some_and(|start| start.ends_with('_')))
}
