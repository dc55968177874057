//! Claims: one statement for each branch, never joined, each reading one index in its own order.

use crate::dialect::Take;
use crate::workload::{Path, PinValue, Purpose};

use super::roles::{Roles, Value, never};
use super::sql::{Condition, Sql};
use super::{Context, Meaning, Query};

pub fn queries(context: &Context<'_>, roles: &Roles<'_>) -> Vec<Query> {
    let mut queries: Vec<Query> = get_pending(context, roles).into_iter().collect();
    if !marks(roles) && context.dialect.take() == Take::UpdateByRowId {
        // Nothing keeps a second worker from the same rows: neither a mark nor a lock.
        return queries;
    }
    for path in context.paths().iter().filter(|path| is_branch(path)) {
        queries.push(branch(context, roles, path));
    }
    if context.dialect.take() == Take::SelectThenUpdate {
        queries.extend(take(context, roles));
        queries.extend(take_exhausted(context, roles));
    }
    queries
}

/// Whether taking a row leaves a mark on it.
fn marks(roles: &Roles<'_>) -> bool {
    roles.claim.status.running.is_some() || roles.by_visibility()
}

fn is_branch(path: &Path) -> bool {
    matches!(path.purpose, Purpose::Pending | Purpose::Retryable | Purpose::Expired)
}

/// The pending branch for those who only look.
fn get_pending(context: &Context<'_>, roles: &Roles<'_>) -> Option<Query> {
    let paths = context.paths();
    let path = paths.iter().find(|path| path.purpose == Purpose::Pending && path.lane.is_none())?;
    let mut sql = Sql::new(context);
    sql.push(&format!("SELECT {}", context.all_columns()));
    selection(&mut sql, context, "", path, Bound::Now);
    let about = format!(
        "Shows {}, without locking or marking them: others may take them at the same time.",
        pending_rows(context, roles, path)
    );
    Some(sql.query("get_pending", &about, context.index_for(path)))
}

/// Which pending rows a claim finds, and in what order.
fn pending_rows(context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> String {
    match roles.time().is_some() && path.range.is_some() {
        true => "pending rows that are due, the longest due first".to_owned(),
        false => format!("pending rows, {}", context.in_order(path)),
    }
}

fn branch(context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> Query {
    let mut sql = Sql::new(context);
    let index = context.index_for(path);
    let exhaustible = is_exhaustible(roles, path);
    let mut about = about(context, roles, path);
    let takes = taken(context, roles, exhaustible);
    match context.dialect.take() {
        Take::SelectThenUpdate => {
            if takes.is_some() {
                about.push_str("\nThen `take` in the same transaction, at READ COMMITTED: at REPEATABLE READ the gap before the queue is locked.");
            }
            sql.push(&format!("SELECT {}", context.all_columns()));
            selection(&mut sql, context, "", path, Bound::Now);
            sql.push("\nFOR UPDATE SKIP LOCKED");
        }
        Take::UpdateFromSelect => match &takes {
            None => {
                sql.push(&format!("SELECT {}", context.all_columns()));
                selection(&mut sql, context, "", path, Bound::Now);
                sql.push("\nFOR UPDATE SKIP LOCKED");
            }
            Some(values) => {
                begin_found(&mut sql, context, path, Bound::Now);
                sql.push(&format!("\nUPDATE {} AS t", context.table_name())).assignments("", values);
                sql.conditions("", &is_found(context));
                sql.push(&format!("\nRETURNING {}", qualified(context, "t")));
            }
        },
        Take::UpdateByRowId => match &takes {
            None => {
                sql.push(&format!("SELECT {}", context.all_columns()));
                selection(&mut sql, context, "", path, Bound::Now);
            }
            Some(values) => {
                sql.push(&format!("UPDATE {}", context.table_name())).assignments("", values);
                sql.push("\nWHERE rowid IN (\n  SELECT rowid");
                selection(&mut sql, context, "  ", path, Bound::Now);
                sql.push(&format!("\n)\nRETURNING {}", context.all_columns()));
            }
        },
    }
    let base = if path.lane.is_some() { "claim_lane" } else { "claim" };
    sql.query(format!("claim_{}", path.suffix(context.table)), &about, index).of(base, &path.purpose.suffix())
}

fn about(context: &Context<'_>, roles: &Roles<'_>, path: &Path) -> String {
    let what = match path.purpose {
        Purpose::Pending => format!("Takes {}.", pending_rows(context, roles, path)),
        Purpose::Retryable if path.range.is_none() => format!("Takes rows that failed, {}.", context.in_order(path)),
        Purpose::Retryable => "Takes rows whose next attempt is due, the longest due first.".to_owned(),
        _ => "Takes rows of workers that let their lease run out, the longest first.".to_owned(),
    };
    let mut about = what;
    if !marks(roles) {
        about.push_str("\nIt marks nothing: the rows are locked until the transaction ends, and free again after it unless it changed them.");
    }
    let exhausted = roles.exhausted(|column| context.column(column)).filter(|_| is_exhaustible(roles, path));
    match (exhausted, context.dialect.take()) {
        (Some(exhausted), Take::SelectThenUpdate) => {
            about.push_str(&format!("\nRows with {exhausted} go by `take_exhausted`, so that a crash loop ends."));
        }
        (Some(_), _) => {
            about.push_str("\nRows that have used up their attempts come back dead, so that a crash loop ends.")
        }
        (None, _) => {}
    }
    if context.dialect.take() == Take::UpdateFromSelect {
        about.push_str("\nA row that changes at the very moment is left for the next claim: fewer rows than `limit` do not mean that no more wait.");
    }
    about
}

/// Whether rows of this branch can have used up their attempts: those that came back because their worker was silent.
fn is_exhaustible(roles: &Roles<'_>, path: &Path) -> bool {
    let silent = path.purpose == Purpose::Expired || path.purpose == Purpose::Pending && roles.by_visibility();
    silent && roles.count.is_some() && roles.claim.status.dead.is_some()
}

/// What a path's range column is compared with.
#[derive(Clone, Copy)]
pub enum Bound {
    /// The current time.
    Now,
    /// A parameter of the column's own type.
    Cutoff,
    /// Two parameters of the column's own type.
    Window,
    /// The current time less a parameter in milliseconds.
    Age(Meaning),
}

/// How a statement locks the rows that it finds: those that another one works on are its own. But where all held rows go back, a
/// transaction that a dead worker has left behind ends soon, and its row is waited for.
pub fn locking(path: &Path) -> &'static str {
    if path.purpose == Purpose::Recover { "FOR UPDATE" } else { "FOR UPDATE SKIP LOCKED" }
}

/// `FROM … WHERE … ORDER BY … LIMIT`.
pub fn selection(sql: &mut Sql<'_>, context: &Context<'_>, indent: &str, path: &Path, bound: Bound) {
    selection_where(sql, context, indent, path, bound, Vec::new());
}

/// The same with further conditions.
pub fn selection_where(
    sql: &mut Sql<'_>,
    context: &Context<'_>,
    indent: &str,
    path: &Path,
    bound: Bound,
    further: Vec<Condition>,
) {
    let hint = context.index_for(path).map(|index| context.dialect.index_hint(index)).unwrap_or_default();
    sql.push(&format!("\n{indent}FROM {}{hint}", context.table_name()));
    let mut conditions = conditions(context, path, bound);
    conditions.extend(further);
    sql.conditions(indent, &conditions);
    // Where any order will do, that of the index holds the plan.
    let order = if path.order.is_empty() { context.order_of_index(path) } else { path.order.clone() };
    if !order.is_empty() {
        sql.push(&format!("\n{indent}ORDER BY {}", context.columns(&order)));
    }
    sql.push(&format!("\n{indent}LIMIT ")).parameter(Meaning::Limit);
}

/// The path's pins, and its bound.
pub fn conditions(context: &Context<'_>, path: &Path, bound: Bound) -> Vec<Condition> {
    let mut conditions = pins(context, path);
    if let (Some(range), Bound::Window) = (path.range, bound) {
        let column = context.column(range);
        conditions.push(Condition::Parameter(format!("{column} >= "), Meaning::Since));
        conditions.push(Condition::Parameter(format!("{column} < "), Meaning::Until));
        return conditions;
    }
    conditions.extend(path.range.map(|range| {
        let (column, ty) = (context.column(range), &context.table.columns[range].ty);
        match bound {
            Bound::Now => Condition::Text(format!("{column} <= {}", context.dialect.now(ty))),
            Bound::Cutoff | Bound::Window => Condition::Parameter(format!("{column} <= "), Meaning::Cutoff),
            Bound::Age(meaning) => Condition::Age(range, meaning),
        }
    }));
    conditions
}

/// The path's equalities.
pub fn pins(context: &Context<'_>, path: &Path) -> Vec<Condition> {
    let condition = |pin: &crate::workload::Pin| {
        let column = context.column(pin.column);
        match &pin.value {
            PinValue::Parameter => Condition::Equal(pin.column),
            PinValue::State(state) => Condition::Text(format!("{column} = {}", context.dialect.literal(state))),
            PinValue::Never => Condition::Text(match never(context.table, pin.column) {
                Value::Text(text) if text != "NULL" => format!("{column} = {text}"),
                _ => format!("{column} IS NULL"),
            }),
        }
    };
    path.pins.iter().map(condition).collect()
}

/// What taking a row changes; `None` where a claim has no way to mark its rows.
fn taken(context: &Context<'_>, roles: &Roles<'_>, exhaustible: bool) -> Option<Vec<(usize, Value)>> {
    let status = &roles.claim.status;
    let literal = |state: &str| context.dialect.literal(state);
    let state = match (&status.running, roles.by_visibility()) {
        (Some(running), _) => running,
        (None, true) => &status.pending,
        (None, false) => return None,
    };
    let mut values = Vec::new();
    if status.running.is_some() || exhaustible {
        values.push((roles.status, Value::Text(literal(state))));
    }
    values
        .extend(roles.time().filter(|_| roles.by_visibility()).map(|time| (time, Value::Later(Meaning::VisibilityMs))));
    values.extend(roles.until.map(|until| (until, Value::Later(Meaning::LeaseMs))));
    values.extend(roles.by.map(|by| (by, Value::Parameter(Meaning::Token))));
    let raised = |column: usize| (column, Value::Text(format!("{} + 1", context.column(column))));
    values.extend(roles.seq.map(raised));
    values.extend(roles.count.map(raised));
    let dead = status.dead.as_ref().filter(|_| exhaustible);
    if let (Some(exhausted), Some(dead)) = (roles.exhausted(|column| context.column(column)), dead) {
        let mut given_up = vec![(roles.status, Value::Text(literal(dead)))];
        given_up.extend(roles.given_up(context.table));
        values = either(context, &exhausted, given_up, values);
    }
    values.extend(roles.changed());
    Some(values)
}

/// For each column the one value where the condition holds and the other where it does not; what only one side has stays
/// as it is on the other.
pub fn either(
    context: &Context<'_>,
    condition: &str,
    then: Vec<(usize, Value)>,
    otherwise: Vec<(usize, Value)>,
) -> Vec<(usize, Value)> {
    let mut columns: Vec<usize> = otherwise.iter().map(|(column, _)| *column).collect();
    columns
        .extend(then.iter().map(|(column, _)| *column).filter(|column| !columns.contains(column)).collect::<Vec<_>>());
    let of = |values: &[(usize, Value)], column: usize| {
        let value = values.iter().find(|(at, _)| *at == column).map(|(_, value)| value.clone());
        Box::new(value.unwrap_or_else(|| Value::Text(context.column(column))))
    };
    // Where both are the same literal, PostgreSQL would take a CASE of them for text.
    let both = |column: usize| match (of(&then, column), of(&otherwise, column)) {
        (then, otherwise) if then == otherwise => *then,
        (then, otherwise) => Value::Case(condition.to_owned(), then, otherwise),
    };
    columns.into_iter().map(|column| (column, both(column))).collect()
}

/// `WITH found AS MATERIALIZED (…)`: the rows of one batch, locked, by their places and their keys.
pub fn begin_found(sql: &mut Sql<'_>, context: &Context<'_>, path: &Path, bound: Bound) {
    begin_found_where(sql, context, path, bound, Vec::new());
}

/// The same with further conditions.
pub fn begin_found_where(sql: &mut Sql<'_>, context: &Context<'_>, path: &Path, bound: Bound, further: Vec<Condition>) {
    let key = context.columns(&context.table.primary_key);
    sql.push(&format!("WITH found AS MATERIALIZED (\n  SELECT ctid, {key}"));
    selection_where(sql, context, "  ", path, bound, further);
    sql.push(&format!("\n  {}\n)", locking(path)));
}

/// The rows that were found. By their places, because the planner takes a parameter of LIMIT for a tenth of all rows and
/// would read the whole table to join so many; and by their keys, because places repeat in the parts of a partitioned
/// table.
pub fn is_found(context: &Context<'_>) -> Vec<Condition> {
    let key = &context.table.primary_key;
    let ours: Vec<String> = key.iter().map(|at| format!("t.{}", context.column(*at))).collect();
    let ours = if ours.len() == 1 { ours.concat() } else { format!("({})", ours.join(", ")) };
    let keys = context.columns(key);
    vec![
        Condition::Text("t.ctid = ANY (ARRAY(SELECT ctid FROM found))".to_owned()),
        Condition::Text(format!("{ours} IN (SELECT {keys} FROM found)")),
    ]
}

/// All columns with the alias of their table.
pub fn qualified(context: &Context<'_>, alias: &str) -> String {
    let columns = (0..context.table.columns.len()).map(|at| format!("{alias}.{}", context.column(at)));
    columns.collect::<Vec<_>>().join(", ")
}

/// The rows that a SELECT of the same transaction has locked, by their keys.
pub fn by_keys(scope: &[usize], tail: &[usize]) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = scope.iter().map(|column| Condition::Equal(*column)).collect();
    conditions.push(Condition::InKeys("", tail.to_vec()));
    conditions
}

/// What `by_keys` means, for the statement's comment.
pub const KEYS: &str = "\n`keys` stands for at most 1,000 keys, each of the columns that stand before it; more go into further statements of the same\ntransaction.";

fn take(context: &Context<'_>, roles: &Roles<'_>) -> Option<Query> {
    let values = taken(context, roles, false)?;
    let about = format!("Marks the rows that a claim has locked, in its transaction.{KEYS}");
    Some(update_by_keys(context, roles, "take", &about, &values))
}

/// Rows of a claim that have used up their attempts.
fn take_exhausted(context: &Context<'_>, roles: &Roles<'_>) -> Option<Query> {
    context.paths().iter().find(|path| is_exhaustible(roles, path))?;
    let about = "Gives up the rows of a claim that have used up their attempts, instead of `take`.";
    give_up_by_keys(context, roles, "take_exhausted", about)
}

/// Makes rows dead that have used up their attempts.
pub fn give_up_by_keys(context: &Context<'_>, roles: &Roles<'_>, name: &str, about: &str) -> Option<Query> {
    let dead = roles.claim.status.dead.as_ref()?;
    let mut values = vec![(roles.status, Value::Text(context.dialect.literal(dead)))];
    values.extend(roles.given_up(context.table));
    values.extend(roles.changed());
    Some(update_by_keys(context, roles, name, &format!("{about}{KEYS}"), &values))
}

pub fn update_by_keys(
    context: &Context<'_>,
    roles: &Roles<'_>,
    name: &str,
    about: &str,
    values: &[(usize, Value)],
) -> Query {
    let mut sql = Sql::new(context);
    // Without the hint a list of keys may be looked up through the claim's index, whose entries are being changed.
    let hint = context.dialect.index_hint("PRIMARY");
    sql.push(&format!("UPDATE {}{hint}", context.table_name())).assignments("", values);
    sql.conditions("", &by_keys(&roles.scope, &roles.tail));
    sql.query(name, about, None)
}
