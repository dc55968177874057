//! A service goes to the queue of another.

use super::super::claim::is_common_table;
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::Level;
use crate::sql::Statement;
use crate::sql::ast::Verb;

check! {
    Warning High "foreign-scan" "a service reads or changes the queue of another"
    does "Reports statements about a queue in files of a service that is not its owner. The owner stands in the definition (`owner`), the services in `claimsmith.toml` (`lint.services`, or `lint.service` of the nearest file). A change is an error, and files of no service are left out."
    why "What the owner may change without asking (columns, indexes, states, the number of its workers) is then what another service breaks on; and a second reader takes rows, or holds locks, that the owner's workers wait for."
    bad "-- file: services/shop/report.sql\nSELECT event_id, payload FROM order_outbox WHERE app_code = ? AND event_id = ?;"
    good "-- file: services/order/report.sql\nSELECT event_id, payload FROM order_outbox WHERE app_code = ? AND event_id = ?;"
    allow "A migration, a repair by hand, or a tool that watches all queues."
    judge Judge::Statement(judge)
}

fn judge(statement: &Statement, context: &Context<'_>, found: &mut Vec<Found>) {
    let Some(service) = context.service else { return };
    for (at, block) in statement.blocks.iter().enumerate() {
        for (nth, table) in block.tables.iter().enumerate() {
            let name = table.name.as_ref().filter(|name| !name.partial && !is_common_table(statement, at, &name.name));
            let Some(name) = name else { continue };
            let known = context.tables.get(&name.name).filter(|known| known.queue);
            let owner = known.and_then(|known| known.table.owner.as_deref()).filter(|owner| *owner != service);
            let Some(owner) = owner else { continue };
            let changes = block.verb != Verb::Select && nth < block.changes;
            let verb = if changes { "changes" } else { "reads" };
            let message = format!("`{service}` {verb} `{}`, which belongs to `{owner}`", name.name);
            let mut finding = Found::new(&CHECK, name.span, message);
            if changes {
                finding.level = Level::Error;
            }
            found.push(
                finding.help(format!("ask `{owner}` for it: by its interface, or by the events that it publishes")),
            );
        }
    }
}
