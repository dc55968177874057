//! Rows are chosen by a part of their key.

use super::super::claim::Reading;
use super::super::roles::is_row_number;
use super::super::rule::{Context, Found, Judge, check};
use crate::sql::Verb;

check! {
    Warning High "transition-without-scope" "rows are chosen by a part of their key"
    does "Reports UPDATEs, DELETEs and locking reads of a queue by a key that is unique only together with the scope, without the scope."
    why "Another tenant may have a row of the same id, and it is changed as well; and the primary key, which begins with the scope, cannot be used."
    bad "UPDATE order_outbox SET status = 'delivered'\nWHERE event_id = ? AND status = 'delivering' AND worker_id = ?;"
    good "UPDATE order_outbox SET status = 'delivered'\nWHERE app_code = ? AND event_id = ? AND status = 'delivering' AND worker_id = ?;"
    allow "Ids are unique among all tenants, and an index begins with the id."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (block, known) = (reading.block, reading.known);
    let acts = matches!(block.verb, Verb::Update | Verb::Delete) && reading.is_changed() || block.lock.is_some();
    if !known.queue || !acts || block.gaps.filter || block.gaps.from {
        return;
    }
    let name = |at: &usize| known.table.columns[*at].name.to_lowercase();
    let (scope, rest): (Vec<String>, Vec<String>) =
        known.table.primary_key.iter().map(name).partition(|column| known.scope.contains(column));
    let chosen = |column: &String| reading.pins(column, &|test| test.is_choice());
    let by_number = reading.all_tests().iter().any(|test| test.column.as_deref().is_some_and(is_row_number));
    let own = |column: usize| known.table.indexes.iter().any(|index| index.unique && index.columns == [column]);
    let unique = known.table.primary_key.iter().any(|at| own(*at));
    if rest.is_empty() || !rest.iter().all(chosen) || by_number || unique {
        return;
    }
    let Some(missing) = scope.iter().find(|column| !chosen(column)) else { return };
    let message = format!("rows of `{}` are chosen by their key without `{missing}`", reading.name());
    let finding = Found::new(&CHECK, reading.table.span, message)
        .label(format!("`{}` is unique within one `{missing}` only", rest.join("`, `")));
    found.push(finding.help(format!("add `{missing} = ?`")));
}
