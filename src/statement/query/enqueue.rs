//! Enqueue: one new row, once.

use sea_query::{Alias, Expr, ExprTrait, OnConflict, Query as Builder};

use crate::dialect::Take;
use crate::schema::{Literal, Table};

use super::roles::{Roles, Value, never};
use super::sql::{built, expression, parameter};
use super::{Context, Meaning, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let table = context.table;
    let pending = context.dialect.literal(&roles.claim.status.pending);
    let values = values(table, roles, pending);
    let mut insert = Builder::insert();
    insert.into_table(table_ref(table));
    insert.columns(values.iter().map(|(column, _)| Alias::new(&*table.columns[*column].name)));
    let row: Vec<Expr> = values.iter().map(|(column, value)| expression(context, *column, value)).collect();
    // As many values as columns, so that the builder cannot refuse.
    if insert.values(row).is_err() {
        return Vec::new();
    }
    let key: Vec<usize> = roles.claim.idempotency_key.iter().filter_map(|name| table.position(name)).collect();
    let mut about = "Adds an event, in the transaction of the business data.".to_owned();
    let skips = context.dialect.take() != Take::SelectThenUpdate;
    let mut queries = Vec::new();
    if collides(context, &key) {
        insert.on_conflict(OnConflict::new().do_nothing().to_owned());
        let first = format!("{about}\nNo row: one of its keys is taken, and `enqueue_again` says which.");
        queries.push(built(context, &insert, "enqueue", &first));
        about = "After `enqueue` found that a key of the event is taken.".to_owned();
    }
    if !key.is_empty() && skips {
        let columns = key.iter().map(|column| Alias::new(&*table.columns[*column].name));
        insert.on_conflict(OnConflict::columns(columns).do_nothing().to_owned());
        about.push_str("\nNo row: an event of the same idempotency key is there already.");
        if !queries.is_empty() {
            about.push_str(" An error: another key is taken.");
        }
    }
    if !key.is_empty() && !skips {
        about.push_str("\nError 1062 does not say which key it was: find_duplicate does.");
    }
    let name = if queries.is_empty() { "enqueue" } else { "enqueue_again" };
    queries.push(built(context, &insert, name, &about));
    if !key.is_empty() && !skips {
        let mut select = Builder::select();
        select.columns(table.primary_key.iter().map(|column| Alias::new(&*table.columns[*column].name)));
        select.from(table_ref(table)).lock_exclusive();
        for column in &key {
            let name = Alias::new(&*table.columns[*column].name);
            select.and_where(Expr::col(name).eq(parameter(Meaning::Column(*column))));
        }
        let about =
            "After error 1062: a row means that the event is there already, none that another key was violated.";
        queries.push(built(context, &select, "find_duplicate", about));
    }
    queries
}

/// The table for the query builder.
pub fn table_ref(table: &Table) -> sea_query::TableRef {
    use sea_query::IntoTableRef;
    match &table.name.database {
        Some(database) => (Alias::new(&**database), Alias::new(&*table.name.name)).into_table_ref(),
        None => Alias::new(&*table.name.name).into_table_ref(),
    }
}

/// Whether an event that is added twice at the same moment may be an error rather than nothing: PostgreSQL waits for the other
/// one only at the key that ON CONFLICT names, and another key comes first.
fn collides(context: &Context<'_>, key: &[usize]) -> bool {
    let primary = &context.table.primary_key;
    let is_given = primary.iter().all(|at| !context.table.columns[*at].auto_increment);
    let is_other = primary.iter().any(|at| !key.contains(at)) || key.iter().any(|at| !primary.contains(at));
    context.dialect.take() == Take::UpdateFromSelect && !key.is_empty() && is_given && is_other
}

/// The columns whose values who enqueues an event gives, in the order of the table.
pub fn given(table: &Table) -> Vec<usize> {
    let Some(roles) = Roles::of(table) else { return Vec::new() };
    let own = |(column, value): &(usize, Value)| (*value == Value::Own).then_some(*column);
    values(table, &roles, String::new()).iter().filter_map(own).collect()
}

/// What each column of a new row holds: roles by their own values, everything else by a parameter.
fn values(table: &Table, roles: &Roles<'_>, pending: String) -> Vec<(usize, Value)> {
    let mut fixed = vec![(roles.status, Value::Text(pending))];
    fixed.extend(roles.pending(table));
    fixed.extend(roles.changed());
    // Of columns with several roles, such as created and due in one, the first wins.
    fixed.extend(roles.order.filter(|order| is_clock(table, *order)).map(|order| (order, Value::Now)));
    fixed.extend(roles.count.into_iter().chain(roles.seq).map(|column| (column, Value::Text("0".to_owned()))));
    // A default that is the current time would go by the time zone of the session; the caller has no better one.
    let by_default = |at: &usize| {
        let default = table.columns[*at].default.as_ref().map(|default| &default.value);
        matches!(default, Some(Literal::Now(_))) && is_clock(table, *at)
    };
    fixed.extend((0..table.columns.len()).filter(by_default).map(|column| (column, Value::Now)));
    let nullable = |column: &usize| table.columns[*column].nullable;
    fixed.extend(roles.error.filter(nullable).map(|column| (column, Value::Text("NULL".to_owned()))));
    fixed.extend(roles.published.into_iter().chain(roles.finished).map(|column| (column, never(table, column))));
    let numbered = |column: &usize| !table.columns[*column].auto_increment;
    let value = |column: usize| {
        let fixed = fixed.iter().find(|(fixed, _)| *fixed == column);
        fixed.cloned().unwrap_or((column, Value::Own))
    };
    (0..table.columns.len()).filter(numbered).map(value).collect()
}

/// Whether enqueue writes the current time: only into what is known to be one, for a number may as well be a sequence or a
/// priority; and never into a key, by which the caller knows the row.
fn is_clock(table: &Table, at: usize) -> bool {
    table.holds_time(&table.columns[at]) && !table.is_in_key(at)
}
