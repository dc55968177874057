//! A claim that takes the rows of every tenant.

use super::super::claim::Reading;
use super::super::predicate::TestKind;
use super::super::rule::{Context, Found, Judge, check};

check! {
    Error High "claim-without-scope" "a claim does not pin the scope of its queue"
    does "Reports claims on a table with a scope, such as a tenant column, that no condition of the WHERE compares with one value. The scope is `claim.scope` of the table's definition or, for tables that only DDL describes, a column of `lint.scope`."
    why "The worker takes the rows of other tenants. And the indexes of the table begin with the scope: without it none of them can be used, so that the claim reads every row, and on MySQL and MariaDB locks what it reads: 1,000,003 of 1,000,000 rows read, measured."
    bad "SELECT event_id FROM order_outbox\nWHERE status = 'pending'\nORDER BY created_at_ms, event_id\nLIMIT 100\nFOR UPDATE SKIP LOCKED;"
    good "SELECT event_id FROM order_outbox\nWHERE app_code = ? AND status = 'pending'\nORDER BY created_at_ms, event_id\nLIMIT 100\nFOR UPDATE SKIP LOCKED;"
    allow "One pool of workers serves all tenants: then declare `\"global\": true` in the definition, and let the indexes begin with the state."
    judge Judge::Reading(judge)
}

fn judge(reading: &Reading<'_>, context: &Context<'_>, found: &mut Vec<Found>) {
    if reading.claim.is_none() || reading.block.gaps.filter || reading.block.gaps.from {
        return;
    }
    for scope in &reading.known.scope {
        if reading.pins(scope, &|test| test.is_choice()) {
            continue;
        }
        // What mentions the scope in another way is a finding of its own.
        let mentioned = reading.conditions.iter().flat_map(super::super::predicate::Condition::tests);
        if mentioned.into_iter().any(|test| test.mentions.contains(scope) || test.kind == TestKind::Hole) {
            continue;
        }
        let name = reading.name();
        let message = format!("this claim on `{name}` does not pin `{scope}`");
        let mut finding = Found::new(&CHECK, reading.table.span, message)
            .label(format!("takes the rows of every `{scope}`, and no index that begins with it can be used"));
        let written = reading.known.position(scope).map_or(&**scope, |at| &reading.known.table.columns[at].name);
        let qualifier = reading.table.alias.as_ref().filter(|_| reading.block.tables.len() > 1);
        let column = qualifier.map_or_else(|| written.to_owned(), |alias| format!("{alias}.{written}"));
        finding = match &reading.block.filter {
            Some(filter) => {
                let text = context.of(filter.span);
                let whole = matches!(filter.kind, crate::sql::ExprKind::Or(_)) && !filter.parenthesised;
                let rest = if whole { format!("({text})") } else { text.to_owned() };
                finding.help(format!("WHERE {column} = ? AND {rest}"))
            }
            None => finding.help(format!("add WHERE {column} = ?")),
        };
        found.push(finding);
    }
}
