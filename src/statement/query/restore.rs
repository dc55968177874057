//! Rows of the archive are worked on once more: they go back into the table, a batch at a time.

use crate::dialect::Take;
use crate::workload::Path;

use super::claim::{self, Bound, KEYS, by_keys};
use super::republish::{done, state};
use super::roles::{Roles, Value};
use super::sql::{Condition, Sql};
use super::{Context, Query, dead, metrics};

/// The statements for each state whose rows the archive's own index finds.
pub fn queries(context: &Context<'_>, roles: &Roles<'_>, archive: &Context<'_>) -> Vec<Query> {
    let paths = context.paths();
    let (values, how) = dead::new_life(context, roles);
    let mut queries = Vec::new();
    for path in paths.iter().filter(done(roles)).filter(|path| archive.serving(path).is_some()) {
        queries.push(count(archive, path));
        queries.push(match context.dialect.take() {
            Take::UpdateFromSelect => at_once(context, archive, path, &values, &how),
            Take::SelectThenUpdate | Take::UpdateByRowId => find(context, archive, path),
        });
    }
    if !queries.is_empty() && context.dialect.take() != Take::UpdateFromSelect {
        queries.push(copy(context, archive, &values, &how));
        queries.push(delete(archive));
    }
    queries
}

fn count(archive: &Context<'_>, path: &Path) -> Query {
    let conditions = claim::conditions(archive, path, Bound::Window);
    let name = format!("count_republish_archived_{}", state(path));
    let what = format!("Archived rows of the state {} from `since` on and before `until`", state(path));
    metrics::count(archive, path, &conditions, &name, &what).of("count_republish_archived", state(path))
}

/// What keeps a row in the archive: one with its key is in the table again. Counted, because EXISTS may become a join that
/// reads the whole table; and compared with what it is not, because PostgreSQL takes any equality for rare: it would read the
/// whole window and sort it.
fn is_free(context: &Context<'_>, archive: &Context<'_>) -> Vec<Condition> {
    let table = context.table;
    let uniques = table.indexes.iter().filter(|index| index.unique).map(|index| &index.columns);
    let free = |columns: &Vec<usize>| {
        let same = |at: &usize| format!("t.{} = {}.{}", context.column(*at), archive.table_name(), archive.column(*at));
        let same = columns.iter().map(same).collect::<Vec<_>>().join(" AND ");
        Condition::Text(format!("(SELECT COUNT(*) FROM {} AS t WHERE {same}) <> 1", context.table_name()))
    };
    [&table.primary_key].into_iter().chain(uniques).map(free).collect()
}

const WHICH: &str =
    "Those from `since` on and before `until`, the oldest first, but for rows whose key is in the table again.";

fn find(context: &Context<'_>, archive: &Context<'_>, path: &Path) -> Query {
    let mut sql = Sql::new(archive);
    sql.push(&format!("SELECT {}", archive.columns(&archive.table.primary_key)));
    claim::selection_where(&mut sql, archive, "", path, Bound::Window, is_free(context, archive));
    let how = match context.dialect.take() {
        Take::SelectThenUpdate => {
            sql.push("\nFOR UPDATE SKIP LOCKED");
            "at READ COMMITTED"
        }
        _ => "begun with BEGIN IMMEDIATE",
    };
    let about = format!(
        "The keys of one batch of archived rows.\n{WHICH}\nThen `republish_archived_copy` and `republish_archived_delete` in the same transaction, {how}."
    );
    let name = format!("republish_archived_find_{}", state(path));
    sql.query(name, &about, archive.index_for(path)).of("republish_archived_find", state(path))
}

/// Every column of the new row: of its new life, or as it is in the archive.
fn new_row(sql: &mut Sql<'_>, context: &Context<'_>, values: &[(usize, Value)]) {
    for at in 0..context.table.columns.len() {
        let own = Value::Text(context.column(at));
        let value = values.iter().find(|(column, _)| *column == at).map_or(&own, |(_, value)| value);
        let text = sql.value(at, value);
        sql.push(if at == 0 { "" } else { ", " }).push(&text);
    }
}

fn at_once(context: &Context<'_>, archive: &Context<'_>, path: &Path, values: &[(usize, Value)], how: &str) -> Query {
    let mut sql = Sql::new(archive);
    claim::begin_found_where(&mut sql, archive, path, Bound::Window, is_free(context, archive));
    sql.push(&format!(", moved AS (\n  DELETE FROM {} AS t", archive.table_name()));
    sql.conditions("  ", &claim::is_found(archive));
    sql.push(&format!("\n  RETURNING {}\n)\n", claim::qualified(archive, "t")));
    sql.push(&format!("INSERT INTO {} ({})\nSELECT ", context.table_name(), context.all_columns()));
    new_row(&mut sql, context, values);
    sql.push("\nFROM moved");
    let about = format!("Gives one batch of archived rows a new life in the table{how}\n{WHICH}");
    let name = format!("republish_archived_{}", state(path));
    sql.query(name, &about, archive.index_for(path)).of("republish_archived", state(path))
}

fn copy(context: &Context<'_>, archive: &Context<'_>, values: &[(usize, Value)], how: &str) -> Query {
    let mut sql = Sql::new(archive);
    sql.push(&format!("INSERT INTO {} ({})\nSELECT ", context.table_name(), context.all_columns()));
    new_row(&mut sql, context, values);
    let hint = match context.dialect.take() {
        Take::SelectThenUpdate => context.dialect.index_hint("PRIMARY"),
        _ => String::new(),
    };
    sql.push(&format!("\nFROM {}{hint}", archive.table_name()));
    sql.conditions("", &by_keys(&[], &archive.table.primary_key));
    let about = format!("Gives a batch of archived rows a new life in the table{how}{KEYS}");
    sql.query("republish_archived_copy", &about, None)
}

fn delete(archive: &Context<'_>) -> Query {
    let mut sql = Sql::new(archive);
    let hint = archive.dialect.delete_hint();
    let alias = if hint.is_empty() { "" } else { " AS t" };
    sql.push(&format!("DELETE{hint} FROM {}{alias}", archive.table_name()));
    sql.conditions("", &by_keys(&[], &archive.table.primary_key));
    let about = format!("Deletes from the archive what is in the table again.{KEYS}");
    sql.query("republish_archived_delete", &about, None)
}
