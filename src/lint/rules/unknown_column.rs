//! A statement names a column that the table does not have.

use super::super::claim::Reading;
use super::super::roles::is_row_number;
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::suggest::closest;
use crate::sql::ExprKind;

check! {
    Error High "unknown-column" "a statement names a column that the table does not have"
    does "Compares the columns of WHERE and SET with the table's definition, where the statement is about this table only."
    why "The statement fails when it runs; where it runs once a night, it fails once a night."
    bad "UPDATE order_outbox SET state = 'delivered' WHERE app_code = ? AND event_id = ? AND status = 'delivering';"
    good "UPDATE order_outbox SET status = 'delivered' WHERE app_code = ? AND event_id = ? AND status = 'delivering';"
    allow "The definition is older than the table: renew it."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, _: &Context<'_>, found: &mut Vec<Found>) {
    let (block, known) = (reading.block, reading.known);
    if !known.defined || block.tables.len() != 1 || block.parent.is_some() || known.table.columns.is_empty() {
        return;
    }
    let mut unknown = Vec::new();
    let is_unknown = |name: &str| known.position(name).is_none() && !is_row_number(&name.to_lowercase());
    for set in block.set.iter().filter(|set| is_unknown(&set.column)) {
        unknown.push((set.column.clone(), set.span));
    }
    if let Some(filter) = &block.filter {
        filter.any(&mut |part| {
            // A bare word next to a hole, a call or an interval may be a keyword: only what is compared counts.
            let compared = match &part.kind {
                ExprKind::Compare(_, left, right) => vec![&**left, &**right],
                ExprKind::In { of, .. } | ExprKind::InQuery { of, .. } | ExprKind::IsNull { of, .. } => vec![&**of],
                _ => Vec::new(),
            };
            for side in compared {
                if let ExprKind::Column { table: None, name, quoted: false } = &side.kind
                    && is_unknown(name)
                {
                    unknown.push((name.clone(), side.span));
                }
            }
            false
        });
    }
    for (name, span) in unknown {
        let mut finding = Found::new(&CHECK, span, format!("`{}` has no column `{name}`", reading.name()));
        if let Some(closest) = closest(&name, known.table.columns.iter().map(|column| &*column.name)) {
            finding = finding.help(format!("did you mean `{closest}`?"));
        }
        found.push(finding);
    }
}
