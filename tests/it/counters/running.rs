//! The generated statements, run one by one on one backlog, and the check of all of them.

use claimsmith::statement::query::Query;

use super::Queue;
use super::backlog::{Mix, SCOPES};
use super::contracts::breaches;
use super::measure::{Counted, measure};
use super::probe::{Answer, Probe};
use super::statements::{Kind, Values, goes_on, kind, row_for, rows_for};

/// Runs all statements on a backlog of so many rows, each in a transaction of its own, and says which break their contracts.
/// `name` is the backlog's.
pub fn check_all(probe: &mut Probe, queue: &Queue, rows: u64, mix: Mix, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    // What only reads comes first: undone changes leave entries in PostgreSQL's indexes.
    let (reading, changing): (Vec<_>, Vec<_>) =
        queue.queries.iter().enumerate().partition(|(_, query)| is_reading(kind(query)));
    for (fresh, query) in reading.into_iter().chain(changing) {
        // One row is found by its key in every backlog.
        let same = mix != Mix::Usual && matches!(kind(query), Kind::Keyed | Kind::Free);
        if same || kind(query) == Kind::Catalog {
            continue;
        }
        // Between the other two backlogs, the busiest scope is enough.
        let some = if mix == Mix::Due(50) { 1 } else { 2 };
        for scope in scopes(queue, query).into_iter().take(some) {
            // Of keys, as many as are allowed.
            let limit = if kind(query) == Kind::Claim { 100 } else { 1_000 };
            // Finished rows of the last scope are the youngest.
            let old = if scope == SCOPES[0] { rows / 2 } else { rows };
            let fresh = fresh as u64;
            let values = Values { scope, old, fresh, ..Values::new(queue, probe.server, limit) };
            let breaches = check(probe, &values, query, mix);
            let label = format!("{:?}, {}, {name}, {}, {scope}", probe.server, queue.name(), query.name);
            found.extend(breaches.iter().map(|breach| format!("{label}: {breach}")));
        }
    }
    found
}

/// Whether such statements change and lock nothing, at least on PostgreSQL.
pub fn is_reading(kind: Kind) -> bool {
    matches!(kind, Kind::Find | Kind::Count | Kind::Oldest)
}

/// The busiest scope; and where the statement reads through an index that begins with the scope, the one whose rows come last
/// in every order as well.
pub fn scopes(queue: &Queue, query: &Query) -> Vec<&'static str> {
    let scope = queue.table.claim.as_ref().and_then(|claim| claim.scope.first());
    let asks = query.parameters.iter().any(|parameter| Some(&parameter.name) == scope);
    let last = query.index.is_some() && asks;
    if last { vec![SCOPES[0], SCOPES[2]] } else { vec![SCOPES[0]] }
}

/// How the statement breaks its contract in a transaction of its own.
fn check(probe: &mut Probe, values: &Values<'_>, query: &Query, mix: Mix) -> Vec<String> {
    probe.begin();
    let counted = run(probe, values, query);
    probe.rollback();
    let (counted, about) = match counted {
        Err(error) => return vec![error.to_string()],
        Ok(counted) => counted,
    };
    let expected = about.unwrap_or(counted.returned);
    if expected == 0 && kind(query) != Kind::Free {
        return vec!["no row, so nothing is proven".to_owned()];
    }
    let mut found = breaches(probe.server, values.queue.name(), query, &counted, expected);
    // Where so many are due, there is a full batch.
    if mix != Mix::Usual && kind(query) == Kind::Claim && expected != values.limit {
        found.push(format!("{expected} rows instead of {}", values.limit));
    }
    if kind(query) == Kind::Count && expected > values.cap {
        found.push(format!("counts {expected} rows instead of at most {}", values.cap));
    }
    found.iter().map(|breach| format!("{breach} ({expected} rows)")).collect()
}

/// Runs the statement after those that come before it in its transaction. With how many rows it is about, where that is
/// not how many it returns.
pub fn run(probe: &mut Probe, values: &Values<'_>, query: &Query) -> Result<(Counted, Option<u64>), sqlx::Error> {
    let queue = values.queue;
    // Those of a worker are what it knows of its rows.
    let mut keys = match query.name.starts_with("complete_many") {
        true => rows_for(probe, queue, query, values.scope, values.limit),
        false => None,
    };
    for before in before(queue, query) {
        if kind(before) == Kind::ByKeys && keys.as_ref().is_some_and(|keys: &Answer| keys.rows.is_empty()) {
            break;
        }
        let (sql, binds) = values.of(probe, before, None, keys.as_ref());
        let answer = probe.ask(&sql, &binds)?;
        if !answer.rows.is_empty() || keys.is_none() {
            keys = Some(answer);
        }
    }
    let mut row = if kind(query) == Kind::Keyed || goes_on(query) { row_for(probe, queue, query) } else { None };
    if kind(query) == Kind::Keyed && row.is_none()
        || keys.as_ref().is_some_and(|keys| keys.rows.is_empty() && kind(query) == Kind::ByKeys)
    {
        return Ok((Counted::default(), Some(0)));
    }
    if let Some(row) = row.as_mut().filter(|_| goes_on(query)) {
        // A place right before the row, so that something comes behind it whoever shares its second.
        for (column, value) in row.columns.iter().zip(&mut row.rows[0]) {
            let is_key = queue.table.primary_key.iter().any(|at| queue.table.columns[*at].name == *column);
            *value = if is_key { Some("0".to_owned()) } else { value.take() };
        }
    }
    let (sql, binds) = values.of(probe, query, row.as_ref(), keys.as_ref());
    if kind(query) == Kind::First || kind(query) == Kind::Move && query.name == "recover" {
        // PostgreSQL: nobody has read its indexes before, and so nobody has marked what rolled-back statements left in them.
        probe.run("SAVEPOINT unmarked");
        probe.ask(&sql, &binds)?;
        probe.run("ROLLBACK TO SAVEPOINT unmarked");
    }
    let mut counted = measure(probe, queue.name(), &sql, &binds)?;
    let about = match kind(query) {
        Kind::ByKeys => keys.map(|keys| keys.rows.len() as u64),
        Kind::Count => {
            // PostgreSQL gives its plan instead of the answer.
            if counted.answer.rows.is_empty() {
                counted.answer = probe.ask(&sql, &binds)?;
            }
            let number = counted.answer.rows[0][0].as_ref().unwrap_or_else(|| panic!("no number: {sql}"));
            Some(number.parse().unwrap())
        }
        Kind::Keyed => Some(1),
        _ => None,
    };
    Ok((counted, about))
}

/// The statements that come before this one in its transaction.
fn before<'a>(queue: &'a Queue, query: &Query) -> Vec<&'a Query> {
    let starting =
        |start: &str| queue.queries.iter().chain(&queue.restoring).find(|query| query.name.starts_with(start));
    let found: Vec<Option<&Query>> = match &*query.name {
        "take" => vec![starting("claim_pending")],
        "take_exhausted" => vec![starting("claim_expired").or_else(|| starting("claim_pending"))],
        "recover_exhausted" => vec![starting("recover_find")],
        "republish_archived_copy" => vec![starting("republish_archived_find_")],
        "republish_archived_delete" => {
            vec![starting("republish_archived_find_"), starting("republish_archived_copy")]
        }
        "archive_copy" => vec![starting("archive_find_")],
        "archive_delete" => vec![starting("archive_find_"), starting("archive_copy")],
        name if name.starts_with("archive_delete_") => vec![starting(&name.replace("delete", "copy"))],
        name if kind(query) == Kind::ByKeys => vec![starting(&format!("{name}_find"))],
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}
