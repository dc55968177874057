//! Finished rows leave: one state a statement, a batch at a time, the same keys for copy and delete.

use crate::dialect::Take;
use crate::schema::Table;
use crate::schema::format::Strategy;
use crate::workload::{Path, Purpose};

use super::claim::{Bound, KEYS, begin_found, by_keys, is_found, qualified, selection};
use super::sql::{Condition, Sql};
use super::{Context, Meaning, Query};

pub fn queries(context: &Context<'_>) -> Vec<Query> {
    let Some(retention) = &context.table.retention else { return Vec::new() };
    let archive = context.catalog.tables.iter().find(|table| table.archive_of.as_ref() == Some(&context.table.name));
    let paths = context.paths();
    let paths = paths.iter().filter(|path| path.purpose.is_retention());
    let mut queries = match retention.strategy {
        Strategy::Partition => return Vec::new(),
        _ => vec![cutoff(context)],
    };
    queries.extend(archive.map(|archive| compare(context, archive)));
    for path in paths {
        match (retention.strategy, archive) {
            (Strategy::Archive, Some(archive)) => queries.extend(self::archive(context, path, archive)),
            (Strategy::Archive, None) => {}
            _ => queries.extend(cleanup(context, path)),
        }
    }
    if context.dialect.take() == Take::SelectThenUpdate {
        queries.extend(by_key(context, retention.strategy, archive));
    }
    queries
}

fn age(context: &Context<'_>) -> usize {
    let age = context.table.retention.as_ref().map(|retention| &retention.age);
    age.and_then(|age| context.table.position(age)).unwrap_or_default()
}

/// The bound is asked for once a run, so that all statements of the run mean the same rows.
fn cutoff(context: &Context<'_>) -> Query {
    let mut sql = Sql::new(context);
    let ty = &context.table.columns[age(context)].ty;
    let millis = sql.placeholder(Meaning::AgeMs);
    let text = format!("SELECT {}", context.dialect.earlier(ty, &millis));
    sql.push(&text);
    sql.query("cutoff", "The time before which finished rows leave: now, less `keep` in milliseconds.", None)
}

/// A batch is copied column by column: what the archive lacks would be lost, what it holds otherwise would be cut.
fn compare(context: &Context<'_>, archive: &Table) -> Query {
    let mut sql = Sql::new(context);
    sql.push(&context.dialect.differing_columns(&context.table.name, &archive.name));
    let about = "The columns in which the table and its archive differ, asked for before each run.\nA row: do not archive, bring the two together first.";
    sql.query("archive_compare", about, None)
}

/// A statement for the rows of the path's state, or for all where there are no states.
fn query(sql: &mut Sql<'_>, path: &Path, name: &str, about: &str, index: Option<&str>) -> Query {
    match &path.purpose {
        Purpose::Retention(state) if !state.is_empty() => {
            sql.query(format!("{name}_{state}"), about, index).of(name, state)
        }
        _ => sql.query(name, about, index),
    }
}

/// The keys of one batch, locked.
fn find(context: &Context<'_>, path: &Path, name: &str, then: &str) -> Query {
    let index = context.index_for(path);
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}", context.columns(&context.table.primary_key)));
    selection(&mut sql, context, "", path, Bound::Cutoff);
    sql.push("\nFOR UPDATE SKIP LOCKED");
    let about = format!("The keys of one batch of finished rows, the oldest first.\n{then}");
    query(&mut sql, path, &format!("{name}_find"), &about, index)
}

fn cleanup(context: &Context<'_>, path: &Path) -> Vec<Query> {
    let index = context.index_for(path);
    let mut sql = Sql::new(context);
    let table = context.table_name();
    match context.dialect.take() {
        Take::SelectThenUpdate => {
            return vec![find(context, path, "cleanup", "Then `cleanup` in the same transaction, at READ COMMITTED.")];
        }
        Take::UpdateFromSelect => {
            begin_found(&mut sql, context, path, Bound::Cutoff);
            sql.push(&format!("\nDELETE FROM {table} AS t")).conditions("", &is_found(context));
        }
        Take::UpdateByRowId => {
            sql.push(&format!("DELETE FROM {table}\nWHERE rowid IN (\n  SELECT rowid"));
            selection(&mut sql, context, "  ", path, Bound::Cutoff);
            sql.push("\n)");
        }
    }
    vec![query(&mut sql, path, "cleanup", "Deletes one batch of finished rows, the oldest first.", index)]
}

fn archive(context: &Context<'_>, path: &Path, archive: &Table) -> Vec<Query> {
    let index = context.index_for(path);
    let mut sql = Sql::new(context);
    let (table, into) = (context.table_name(), super::super::quoted(context.dialect, &archive.name));
    let columns = context.all_columns();
    match context.dialect.take() {
        Take::SelectThenUpdate => {
            let then = "Then `archive_copy` and `archive_delete` in the same transaction, at READ COMMITTED.\nAll is well if `archive_delete` counts as many rows as there are keys: `archive_copy` counts a replaced row twice or not at all.";
            vec![find(context, path, "archive", then)]
        }
        Take::UpdateFromSelect => {
            begin_found(&mut sql, context, path, Bound::Cutoff);
            sql.push(&format!(", moved AS (\n  DELETE FROM {table} AS t")).conditions("  ", &is_found(context));
            sql.push(&format!("\n  RETURNING {}\n)\n", qualified(context, "t")));
            sql.push(&format!("INSERT INTO {into} ({columns})\nSELECT {columns}\nFROM moved\n{}", upsert(context)));
            let about = "Moves one batch of finished rows into the archive, the oldest first.\nA row that was archived before, replayed and finished again replaces its old version.";
            vec![query(&mut sql, path, "archive", about, index)]
        }
        Take::UpdateByRowId => {
            sql.push(&format!(
                "INSERT INTO {into} ({columns})\nSELECT {columns}\nFROM {table}\nWHERE rowid IN (\n  SELECT rowid"
            ));
            selection(&mut sql, context, "  ", path, Bound::Cutoff);
            sql.push(&format!("\n)\n{}", upsert(context)));
            let about = "Copies one batch of finished rows into the archive, the oldest first; a newer version replaces an older one.\nThen `archive_delete` of this state with the same parameters, in the same transaction, begun with BEGIN IMMEDIATE.";
            let copy = query(&mut sql, path, "archive_copy", about, index);
            sql.push(&format!("DELETE FROM {table}\nWHERE rowid IN (\n  SELECT rowid"));
            selection(&mut sql, context, "  ", path, Bound::Cutoff);
            let copied: Vec<String> = context
                .table
                .primary_key
                .iter()
                .map(|at| format!("a.{0} = {table}.{0}", context.column(*at)))
                .collect();
            sql.push(&format!("\n)\n  AND EXISTS (SELECT 1 FROM {into} AS a WHERE {})", copied.join(" AND ")));
            let about = "Deletes the batch that was just copied.";
            let delete = query(&mut sql, path, "archive_delete", about, index);
            vec![copy, delete]
        }
    }
}

/// An upsert of every column, the row that comes being the newer one.
fn upsert(context: &Context<'_>) -> String {
    let key = context.columns(&context.table.primary_key);
    let set = |at: usize| format!("{0} = EXCLUDED.{0}", context.column(at));
    let others: Vec<String> =
        (0..context.table.columns.len()).filter(|at| !context.table.primary_key.contains(at)).map(set).collect();
    match others.is_empty() {
        true => format!("ON CONFLICT ({key}) DO NOTHING"),
        false => format!("ON CONFLICT ({key}) DO UPDATE\nSET {}", others.join(",\n    ")),
    }
}

/// Copy and delete by the keys that a SELECT of the same transaction has locked.
fn by_key(context: &Context<'_>, strategy: Strategy, archive: Option<&Table>) -> Vec<Query> {
    let key = &context.table.primary_key;
    let table = context.table_name();
    let mut sql = Sql::new(context);
    let mut queries = Vec::new();
    match (strategy, archive) {
        (Strategy::Archive, Some(archive)) => {
            let into = super::super::quoted(context.dialect, &archive.name);
            let columns = context.all_columns();
            // MariaDB would read the whole table for so many keys of several columns.
            let hint = context.dialect.index_hint("PRIMARY");
            sql.push(&format!("INSERT INTO {into} ({columns})\nSELECT {columns}\nFROM {table} AS t{hint}"));
            sql.conditions("", &by_keys(&[], key)).push("\nON DUPLICATE KEY UPDATE");
            // Not VALUES(…), of which MySQL warns each time.
            let set = |at: usize| format!("\n  {0} = t.{0}", context.column(at));
            let others: Vec<String> =
                (0..context.table.columns.len()).filter(|at| !key.contains(at)).map(set).collect();
            let others = if others.is_empty() { key.iter().copied().map(set).collect() } else { others };
            sql.push(&others.join(","));
            let about = format!(
                "Copies a batch into the archive; a row that was archived before is replaced by its newer version.{KEYS}"
            );
            queries.push(sql.query("archive_copy", &about, None));
            delete_archived(&mut sql, context, &into);
            let about = format!("Deletes a batch that the archive has.{KEYS}");
            queries.push(sql.query("archive_delete", &about, None));
        }
        (Strategy::Delete, _) => {
            let (hint, table) = (context.dialect.delete_hint(), context.table_name());
            let alias = if hint.is_empty() { "" } else { " AS t" };
            sql.push(&format!("DELETE{hint} FROM {table}{alias}")).conditions("", &by_keys(&[], key));
            queries.push(sql.query("cleanup", &format!("Deletes a batch of finished rows.{KEYS}"), None));
        }
        _ => {}
    }
    queries
}

/// `DELETE` of the rows with these keys that the archive has, each found by its key in both tables, whatever the statistics
/// say: EXISTS or a plain join may become one that reads the archive first.
fn delete_archived(sql: &mut Sql<'_>, context: &Context<'_>, into: &str) {
    let (hint, table) = (context.dialect.delete_hint(), context.table_name());
    let key = &context.table.primary_key;
    let same: Vec<String> = key.iter().map(|at| format!("a.{0} = t.{0}", context.column(*at))).collect();
    let same = same.join(" AND ");
    let in_keys = Condition::InKeys("t.", key.clone());
    let force = context.dialect.index_hint("PRIMARY");
    if hint.is_empty() {
        sql.push(&format!("DELETE t\nFROM {table} AS t{force}\nSTRAIGHT_JOIN {into} AS a{force} ON {same}"));
        sql.conditions("", &[in_keys]);
    } else {
        sql.push(&format!("DELETE{hint} FROM {table} AS t")).conditions("", &[in_keys]);
        sql.push(&format!("\n  AND (SELECT COUNT(*) FROM {into} AS a WHERE {same}) = 1"));
    }
}
