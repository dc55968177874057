//! Dead rows: shown, given a new life, or deleted for good.

use sea_query::{Alias, Expr, ExprTrait, Query as Builder};

use crate::workload::Purpose;

use super::claim::{self, Bound};
use super::enqueue::table_ref;
use super::roles::{Roles, Value, never};
use super::sql::{Sql, built, parameter};
use super::transition::{attempts_are_the_fence, fence, keyed, state};
use super::{Context, Meaning, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let Some(dead) = &roles.claim.status.dead else { return Vec::new() };
    [list(context), Some(replay(context, roles, dead)), Some(purge(context, roles, dead))]
        .into_iter()
        .flatten()
        .collect()
}

fn list(context: &Context<'_>) -> Option<Query> {
    let paths = context.paths();
    let path = paths.iter().find(|path| path.purpose == Purpose::Dead)?;
    let index = context.index_for(path);
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}", context.all_columns()));
    claim::selection(&mut sql, context, "", path, Bound::Now);
    let about = format!("Lists dead rows, {}.", context.in_order(path));
    Some(sql.query("list_dead", &about, index))
}

fn replay(context: &Context<'_>, roles: &Roles<'_>, dead: &str) -> Query {
    let (values, how) = new_life(context, roles);
    keyed(context, roles, "replay", &format!("Gives a dead row a new life{how}"), &values, &[dead], false)
}

/// The values of a finished row that is to be worked on once more, and what they mean for its attempts and its fence.
pub fn new_life(context: &Context<'_>, roles: &Roles<'_>) -> (Vec<(usize, Value)>, String) {
    let mut values = vec![state(context, roles, &roles.claim.status.pending)];
    values.extend(roles.pending(context.table));
    let attempts = match (attempts_are_the_fence(roles), roles.count, roles.max) {
        (true, Some(count), Some(max)) => {
            // MySQL and MariaDB assign from left to right, so that the column that the other reads comes last.
            let (count_text, most) = (context.column(count), roles.default_attempts() + 1);
            values.push((max, Value::Text(format!("{count_text} + {most}"))));
            values.push((count, Value::Text(format!("{count_text} + 1"))));
            ": further attempts, counted on from the old ones, which are the fence."
        }
        (_, Some(count), _) => {
            values.push((count, Value::Text("0".to_owned())));
            ": attempts from 0."
        }
        (_, None, _) => ".",
    };
    let fence = match (fence(roles), roles.max) {
        (Some((_, Meaning::Attempt)), None) => {
            "\nThey are the fence: no worker of its former life may still be at work."
        }
        (Some((_, Meaning::Attempt)), Some(_)) | (None, _) => "",
        (Some(_), _) => "\nNo worker of its former life can change it: the fence does not start anew.",
    };
    values.extend(roles.finished.map(|finished| (finished, never(context.table, finished))));
    values.extend(roles.changed());
    (values, format!("{attempts}{fence}"))
}

/// One row only, and only a dead one.
fn purge(context: &Context<'_>, roles: &Roles<'_>, dead: &str) -> Query {
    let table = context.table;
    let column = |at: usize| Expr::col(Alias::new(&*table.columns[at].name));
    let mut delete = Builder::delete();
    delete.from_table(table_ref(table));
    for at in roles.scope.iter().chain(&roles.tail) {
        delete.and_where(column(*at).eq(parameter(Meaning::Column(*at))));
    }
    delete.and_where(column(roles.status).eq(Expr::cust(context.dialect.literal(dead))));
    built(context, &delete, "purge", "Deletes a dead row for good.\nNo row: it is not there, or not dead.")
}
