//! The memory of idempotent consumers: a message is written down once, in the transaction of its handler.

use sea_query::{Alias, Expr, OnConflict, Query as Builder};

use crate::dialect::Take;

use super::enqueue::table_ref;
use super::roles::Value;
use super::sql::{built, expression};
use crate::schema::Table;

use super::{Context, Query};

/// The column that says when a message was handled, which the database writes.
fn handled_at(table: &Table) -> Option<usize> {
    let at = table.inbox.as_ref()?.at.as_ref();
    at.and_then(|at| table.position(at)).filter(|at| !table.is_in_key(*at))
}

fn columns(table: &Table) -> Vec<usize> {
    (0..table.columns.len()).filter(|column| !table.columns[*column].auto_increment).collect()
}

/// The columns whose values the consumer gives, in the order of the table.
pub fn message(table: &Table) -> Vec<usize> {
    let at = handled_at(table);
    let given = columns(table).into_iter().filter(|column| at != Some(*column));
    if table.inbox.is_some() { given.collect() } else { Vec::new() }
}

/// The row of a message, unless it is there already.
pub fn begin(context: &Context<'_>) -> Option<Query> {
    let table = context.table;
    let inbox = table.inbox.as_ref()?;
    let (at, columns) = (handled_at(table), columns(table));
    let value = |column: &usize| if at == Some(*column) { Value::Now } else { Value::Own };
    let row: Vec<Expr> = columns.iter().map(|column| expression(context, *column, &value(column))).collect();
    let mut insert = Builder::insert();
    insert.into_table(table_ref(table));
    insert.columns(columns.iter().map(|column| Alias::new(&*table.columns[*column].name)));
    insert.values(row).ok()?;
    let what = "Writes down that a consumer has a message, in the transaction that handles it; who comes second waits for the\nfirst one's end.";
    let about = match context.dialect.take() {
        // An error would end the caller's transaction on PostgreSQL.
        Take::UpdateFromSelect | Take::UpdateByRowId => {
            let key = [&inbox.consumer, &inbox.message].map(|column| Alias::new(&**column));
            insert.on_conflict(OnConflict::columns(key).do_nothing().to_owned());
            format!("{what}\nNo row: the message was handled before.")
        }
        Take::SelectThenUpdate => {
            format!("{what}\nError 1062: the message was handled before; the transaction stays usable.")
        }
    };
    Some(built(context, &insert, "begin_consume", &about))
}
