//! A change joins the one of its thing that waits already, so that the thing is sent once: the waiting row gets the newer
//! content and keeps the rest, such as its place in the queue and what the thing was before.

use crate::dialect::Take;
use crate::schema::{Coalescing, coalescing};
use crate::workload::{Path, Purpose};

use super::claim::pins;
use super::roles::{Roles, Value};
use super::sql::{Condition, Sql};
use super::{Context, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let Some(Ok(coalescing)) = coalescing(context.table, roles.claim) else { return Vec::new() };
    let paths = context.paths();
    let Some(path) = paths.iter().find(|path| path.purpose == Purpose::Coalesce) else { return Vec::new() };
    let mut values: Vec<(usize, Value)> = coalescing.newer.iter().map(|column| (*column, Value::Own)).collect();
    values.extend(roles.changed());
    let of_type = if coalescing.kind.is_some() { ", if that is of the same type" } else { "" };
    let about = format!(
        "Lets a change join the newest pending row of its thing{of_type}.\nThe row then has the newer content, and is otherwise as it was.\nNo row: none waits, or a worker has it; then `enqueue`, in the same transaction."
    );
    match context.dialect.take() {
        Take::SelectThenUpdate => vec![find(context, path), by_key(context, roles, &coalescing, &values, &about)],
        _ => vec![at_once(context, roles, path, &coalescing, &values, &about)],
    }
}

/// The newest one, whatever its type: behind another change of its thing, none may join an earlier one.
fn newest(sql: &mut Sql<'_>, context: &Context<'_>, indent: &str, path: &Path) {
    let hint = context.index_for(path).map(|index| context.dialect.index_hint(index)).unwrap_or_default();
    sql.push(&format!("\n{indent}FROM {}{hint}", context.table_name()));
    sql.conditions(indent, &pins(context, path));
    let order: Vec<String> = path.order.iter().map(|at| format!("{} DESC", context.column(*at))).collect();
    sql.push(&format!("\n{indent}ORDER BY {}\n{indent}LIMIT 1", order.join(", ")));
}

/// What must still be so once the row is found: that nobody has it, and that it is of the same type.
fn guards(context: &Context<'_>, roles: &Roles<'_>, coalescing: &Coalescing) -> Vec<Condition> {
    let pending = context.dialect.literal(&roles.claim.status.pending);
    let mut guards = vec![Condition::Text(format!("{} = {pending}", context.column(roles.status)))];
    guards.extend(coalescing.untaken.map(|count| Condition::Text(format!("{} = 0", context.column(count)))));
    guards.extend(coalescing.kind.map(Condition::Equal));
    guards
}

fn find(context: &Context<'_>, path: &Path) -> Query {
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}", context.columns(&context.table.primary_key)));
    newest(&mut sql, context, "", path);
    sql.push("\nFOR UPDATE");
    let about = "The newest pending row of a thing; while a claim takes it, this waits for the claim.\nThen `coalesce` with its key in the same transaction, at READ COMMITTED. No row: `enqueue`.";
    sql.query("coalesce_find", about, context.index_for(path))
}

fn by_key(
    context: &Context<'_>,
    roles: &Roles<'_>,
    coalescing: &Coalescing,
    values: &[(usize, Value)],
    about: &str,
) -> Query {
    let mut sql = Sql::new(context);
    let mut conditions: Vec<Condition> =
        roles.scope.iter().chain(&roles.tail).map(|at| Condition::Equal(*at)).collect();
    conditions.extend(guards(context, roles, coalescing));
    sql.push(&format!("UPDATE {}", context.table_name())).assignments("", values).conditions("", &conditions);
    sql.query("coalesce", about, None)
}

fn at_once(
    context: &Context<'_>,
    roles: &Roles<'_>,
    path: &Path,
    coalescing: &Coalescing,
    values: &[(usize, Value)],
    about: &str,
) -> Query {
    let mut sql = Sql::new(context);
    sql.push(&format!("UPDATE {}", context.table_name())).assignments("", values);
    let key = match (context.dialect.take(), &context.table.primary_key[..]) {
        (Take::UpdateByRowId, _) => "rowid".to_owned(),
        (_, key) => context.columns(key),
    };
    let one = if key.contains(", ") { format!("({key})") } else { key.clone() };
    sql.push(&format!("\nWHERE {one} = (\n  SELECT {key}"));
    newest(&mut sql, context, "  ", path);
    sql.push("\n)");
    sql.further("", &guards(context, roles, coalescing));
    sql.query("coalesce", about, context.index_for(path))
}
