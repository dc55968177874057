//! A hint names an index that the table does not have.

use super::super::claim::Reading;
use super::super::mend;
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::suggest::closest;

check! {
    Error High "force-index-unknown" "a hint names an index that the table does not have"
    does "Compares the names in FORCE INDEX, USE INDEX and INDEXED BY with the indexes of the table."
    why "FORCE INDEX and INDEXED BY with an unknown name are errors when the statement runs (1176 on MySQL)."
    bad "-- `mysql`\nSELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_pendign)\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    good "-- `mysql`\nSELECT event_id FROM order_outbox FORCE INDEX (idx_order_outbox_pending)\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id LIMIT 100 FOR UPDATE SKIP LOCKED;"
    allow "The index is made by something that the linter does not see."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    let known = reading.known;
    if !known.indexes_known || !known.queue || reading.table.hints.is_empty() {
        return;
    }
    let names: Vec<String> =
        context.dialects.iter().flat_map(|dialect| mend::names(&known.table, dialect.engine())).collect();
    for (name, span) in reading.table.hints.iter().filter(|hint| !hint.ignore).flat_map(|hint| &hint.names) {
        if names.iter().any(|known| known.eq_ignore_ascii_case(name)) || name.eq_ignore_ascii_case("primary") {
            continue;
        }
        let finding = Found::new(&CHECK, *span, format!("`{}` has no index `{name}`", reading.name()));
        found.push(match closest(name, names.iter().map(|name| &**name)) {
            Some(closest) => finding.help(format!("did you mean `{closest}`?")),
            None => finding.help(format!("its indexes are `{}`", names.join("`, `"))),
        });
    }
}
