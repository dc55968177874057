//! Many rows that their worker is done with, in one go: each under its own fence, and each with its own answer.

use crate::dialect::Take;

use super::claim::{self, KEYS, by_keys};
use super::roles::{Roles, Value};
use super::sql::{Condition, Sql};
use super::transition::fence;
use super::{Context, Meaning, Query};

/// `complete` of many rows.
pub fn complete(context: &Context<'_>, roles: &Roles<'_>, held: &str, values: &[(usize, Value)]) -> Vec<Query> {
    match context.dialect.take() {
        Take::SelectThenUpdate => vec![find(context, roles, held), by_key(context, roles, values)],
        Take::UpdateFromSelect | Take::UpdateByRowId => vec![under_fences(context, roles, held, values)],
    }
}

/// The rows that are still held, locked: which of them by the caller, the caller sees by their fences.
fn find(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Query {
    let mut sql = Sql::new(context);
    let shown: Vec<usize> = roles.tail.iter().copied().chain(fence(roles).map(|(column, _)| column)).collect();
    let hint = context.dialect.index_hint("PRIMARY");
    sql.push(&format!("SELECT {}\nFROM {}{hint}", context.columns(&shown), context.table_name()));
    let mut conditions: Vec<Condition> = roles.scope.iter().map(|column| Condition::Equal(*column)).collect();
    conditions.push(is_held(context, roles, held));
    conditions.extend(by_keys(&[], &roles.tail));
    sql.conditions("", &conditions).push("\nFOR UPDATE");
    let lost = match fence(roles) {
        Some(_) => "A key that is not among them, or that has another fence, is lost: another worker may hold its row.",
        None => "A key that is not among them is that of a row which nobody holds any more.",
    };
    let about = format!(
        "Locks the rows of these keys that are still held.\n{lost}\nThen `complete_many` with the others in the same transaction, at READ COMMITTED.{KEYS}"
    );
    sql.query("complete_many_find", &about, None)
}

fn by_key(context: &Context<'_>, roles: &Roles<'_>, values: &[(usize, Value)]) -> Query {
    let about = format!("Finishes rows that `complete_many_find` has locked, all but those that are lost.{KEYS}");
    claim::update_by_keys(context, roles, "complete_many", &about, values)
}

/// The fence is a part of the key: a row that another worker holds by now has another one.
fn under_fences(context: &Context<'_>, roles: &Roles<'_>, held: &str, values: &[(usize, Value)]) -> Query {
    let mut sql = Sql::new(context);
    let key = &context.table.primary_key;
    let fence_column = fence(roles).map(|(column, _)| column);
    let mut conditions = vec![is_held(context, roles, held)];
    // Without a hint an index that begins with the scope may look cheaper than as many keys. So a scope that is no part of
    // the primary key is beside indexes, and one that is may have to be a part of each key.
    let beside = |at: usize, sql: &mut Sql<'_>| {
        let parameter = sql.placeholder(Meaning::Column(at));
        Condition::Text(context.dialect.equals_beside_indexes(&context.column(at), &parameter))
    };
    let update = format!("UPDATE {}", context.table_name());
    match (context.dialect.take(), &key[..]) {
        (Take::UpdateFromSelect, [one]) => {
            conditions.extend(roles.scope.iter().map(|at| beside(*at, &mut sql)));
            let in_keys: Vec<usize> = [*one].into_iter().chain(fence_column).collect();
            given(&mut sql, context, &mut conditions, *one, &in_keys);
        }
        (Take::UpdateFromSelect, _) => {
            let rest = roles.scope.iter().filter(|at| !key.contains(at));
            conditions.extend(rest.map(|at| beside(*at, &mut sql)));
            conditions.extend(by_keys(&[], &key.iter().copied().chain(fence_column).collect::<Vec<_>>()));
        }
        _ => {
            conditions.extend(roles.scope.iter().map(|at| match key.contains(at) {
                true => Condition::Equal(*at),
                false => beside(*at, &mut sql),
            }));
            conditions.extend(by_keys(&[], &roles.tail.iter().copied().chain(fence_column).collect::<Vec<_>>()));
        }
    }
    sql.push(&update).assignments("", values).conditions("", &conditions);
    sql.push(&format!("\nRETURNING {}", context.columns(&roles.tail)));
    let lost = match fence_column {
        Some(_) => "A key that does not come back is lost: another worker may hold its row.",
        None => "A key that does not come back is that of a row which nobody holds any more.",
    };
    let about = format!("Finishes rows.\n{lost}{KEYS}");
    sql.query("complete_many", &about, None)
}

/// Keys of one column, as an array whose length the planner does not know: by statistics that are old, as many as there are
/// would look dearer than the table. The NULL, which is no key, says of what type they are.
fn given(sql: &mut Sql<'_>, context: &Context<'_>, conditions: &mut Vec<Condition>, one: usize, in_keys: &[usize]) {
    let null = |at: &usize| format!("NULL::{}", context.dialect.column_type(&context.table.columns[*at]));
    let (column, columns) = (context.column(one), context.columns(in_keys));
    if in_keys.len() == 1 {
        let before = format!("{column} = ANY (ARRAY(SELECT unnest(ARRAY[{}, ", null(&one));
        conditions.push(Condition::Keys(before, in_keys.to_vec(), "])))"));
        return;
    }
    let nulls = in_keys.iter().map(null).collect::<Vec<_>>().join(", ");
    sql.push(&format!("WITH given ({columns}) AS MATERIALIZED (\n  VALUES ({nulls}), ")).keys(in_keys);
    sql.push("\n)\n");
    conditions.push(Condition::Text(format!("{column} = ANY (ARRAY(SELECT {column} FROM given))")));
    conditions.push(Condition::Text(format!("({columns}) IN (SELECT {columns} FROM given)")));
}

/// Where nothing holds the plan, an index of the rows that are held would look cheaper than their keys.
fn is_held(context: &Context<'_>, roles: &Roles<'_>, held: &str) -> Condition {
    let (status, held) = (context.column(roles.status), context.dialect.literal(held));
    Condition::Text(context.dialect.equals_beside_indexes(&status, &held))
}
