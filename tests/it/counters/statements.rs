//! The parameters of generated statements: from rows that the backlog has.

use claimsmith::schema::{Column, ColumnType};
use claimsmith::statement::query::{Meaning, Parameter, Query};

use crate::servers::Server;

use super::Queue;
use super::backlog::{self, SCOPES, START_S, WORKER};
use super::probe::{Answer, Bind, Probe};

/// What kind of statement it is, and so what it may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Claims a batch.
    Claim,
    /// Finds a batch, or lists one.
    Find,
    /// Changes rows by the keys that another statement has locked.
    ByKeys,
    /// Finds a batch and moves it.
    Move,
    /// Finds a batch in each of several states, and of these the first.
    First,
    /// Counts rows up to a cap.
    Count,
    /// Asks for one row.
    Oldest,
    /// Changes or finds one row by its key.
    Keyed,
    /// Reads no row.
    Free,
    /// Reads the catalogue and no row.
    Catalog,
}

/// The kind of a statement.
pub fn kind(query: &Query) -> Kind {
    let has = |name: &str| query.parameters.iter().any(|parameter| parameter.name == name);
    match &*query.name {
        "enqueue" | "enqueue_again" | "begin_consume" | "cutoff" => Kind::Free,
        "archive_compare" => Kind::Catalog,
        "oldest_pending" | "oldest_due" => Kind::Oldest,
        name if name.starts_with("claim_") => Kind::Claim,
        name if name.starts_with("count_") => Kind::Count,
        "find_first" | "find_unconsumed" if query.sql.contains("UNION ALL") => Kind::First,
        _ if has("keys") => Kind::ByKeys,
        _ if has("limit") && query.sql.starts_with("SELECT") => Kind::Find,
        _ if has("limit") => Kind::Move,
        _ => Kind::Keyed,
    }
}

/// Whether the statement shows what comes behind a row.
pub fn goes_on(query: &Query) -> bool {
    query.base.starts_with("list_after_")
}

/// Values for the parameters.
pub struct Values<'a> {
    pub queue: &'a Queue,
    pub server: Server,
    pub limit: u64,
    /// As many rows are counted at most.
    pub cap: u64,
    /// One of [`SCOPES`].
    pub scope: &'static str,
    /// Finished rows up to this one are old enough to leave.
    pub old: u64,
    /// Makes the keys of new rows.
    pub fresh: u64,
}

impl<'a> Values<'a> {
    /// Of the busiest scope, of which nothing is old.
    pub fn new(queue: &'a Queue, server: Server, limit: u64) -> Values<'a> {
        Values { queue, server, limit, cap: 100, scope: SCOPES[0], old: 0, fresh: 0 }
    }

    /// The statement's text and its values; `row` is the row that it is about, `keys` are those that it changes.
    pub fn of(
        &self,
        probe: &mut Probe,
        query: &Query,
        row: Option<&Answer>,
        keys: Option<&Answer>,
    ) -> (String, Vec<Bind>) {
        let mut sql = query.sql.clone();
        let mut binds = Vec::new();
        for parameter in &query.parameters {
            if let Some(at) = query.keys_at.filter(|_| parameter.meaning == Meaning::Keys) {
                let (list, values) = self.keys(query, binds.len(), keys.expect("keys"));
                sql = format!("{}{list}{}", &query.sql[..at], &query.sql[at + parameter.placeholder.len()..]);
                binds.extend(values);
            } else {
                binds.push(self.value(probe, query, parameter, row));
            }
        }
        (sql, binds)
    }

    fn value(&self, probe: &mut Probe, query: &Query, parameter: &Parameter, row: Option<&Answer>) -> Bind {
        let claim = self.queue.table.claim.as_ref();
        let held = |column: Option<&String>| {
            let column = column.expect("a column of the fence");
            bind(self.queue.table.column(column).unwrap(), row.expect("a row").column(column).remove(0))
        };
        match parameter.meaning {
            Meaning::Limit => Bind::Int(self.limit as i64),
            Meaning::Cap => Bind::Int(self.cap as i64),
            Meaning::Error => Bind::Text("refused".to_owned()),
            Meaning::Token if query.name.starts_with("claim_") || query.name == "take" => {
                Bind::Text("a-new-token/worker".to_owned())
            }
            Meaning::Token => Bind::Text(WORKER.to_owned()),
            Meaning::Attempt => held(claim.and_then(|claim| claim.retry.as_ref()?.count.as_ref())),
            Meaning::ClaimSeq => held(claim.and_then(|claim| claim.lease.as_ref()?.seq.as_ref())),
            Meaning::Cutoff | Meaning::Until => self.age(probe, self.old),
            // Behind more rows than a statement may read beyond its own.
            Meaning::Since => self.age(probe, 8),
            Meaning::Column(at) => {
                let column = &self.queue.table.columns[at];
                match row {
                    Some(row) => bind(column, row.column(&column.name).remove(0)),
                    None => self.column(query, column),
                }
            }
            _ => Bind::Int(30_000),
        }
    }

    /// A column's value where no row is meant: the scope; in a new row something new.
    fn column(&self, query: &Query, column: &Column) -> Bind {
        let claim = self.queue.table.claim.as_ref();
        if claim.is_some_and(|claim| claim.scope.first() == Some(&column.name)) {
            return Bind::Text(self.scope.to_owned());
        }
        let is_key = self.queue.table.primary_key.iter().any(|at| self.queue.table.columns[*at].name == column.name);
        let in_unique = self.queue.table.indexes.iter().any(|index| {
            index.unique && index.columns.last().is_some_and(|at| self.queue.table.columns[*at].name == column.name)
        });
        match &column.ty {
            // All rows of a backlog have one message key.
            ColumnType::Int { .. } if matches!(&*query.name, "find_first" | "find_unconsumed") => Bind::Int(20),
            ColumnType::Int { .. } => Bind::Int(7),
            ColumnType::DateTime(_) | ColumnType::Timestamp(_) => Bind::Text("2026-01-01 00:00:00".to_owned()),
            ColumnType::Json => Bind::Text("{}".to_owned()),
            _ if kind(query) == Kind::Free && (is_key || in_unique) && !self.is_scope(column) => {
                Bind::Text(format!("new-{}", self.fresh))
            }
            _ => Bind::Text("x".to_owned()),
        }
    }

    fn is_scope(&self, column: &Column) -> bool {
        self.queue.table.claim.as_ref().is_some_and(|claim| claim.scope.contains(&column.name))
    }

    /// When a row of this number was finished.
    fn age(&self, probe: &mut Probe, row: u64) -> Bind {
        let age = self.queue.table.retention.as_ref().map(|retention| &retention.age);
        let column = self.queue.table.column(age.unwrap()).unwrap();
        let time = backlog::time(self.server, column, &format!("({})", START_S + row as i64));
        let answer = probe.rows(&format!("SELECT {time} AS cutoff"), &[]);
        bind(column, answer.column("cutoff").remove(0))
    }

    /// The list of keys, of which the first placeholder has the number behind `before`, and its values.
    fn keys(&self, query: &Query, before: usize, rows: &Answer) -> (String, Vec<Bind>) {
        let columns: Vec<&Column> = query.key_columns.iter().map(|at| &self.queue.table.columns[*at]).collect();
        let values: Vec<Vec<String>> = columns.iter().map(|column| rows.column(&column.name)).collect();
        let placeholder = |number: usize| self.server.dialect().placeholder(number);
        let one = |row: usize| {
            let numbers = before + row * columns.len() + 1..=before + (row + 1) * columns.len();
            let one = numbers.map(placeholder).collect::<Vec<_>>().join(", ");
            if columns.len() == 1 { one } else { format!("({one})") }
        };
        let list = (0..rows.rows.len()).map(one).collect::<Vec<_>>().join(", ");
        let value =
            |row: usize| columns.iter().zip(&values).map(move |(column, values)| bind(column, values[row].clone()));
        (list, (0..rows.rows.len()).flat_map(value).collect())
    }
}

/// A text as the value of a column.
pub fn bind(column: &Column, text: String) -> Bind {
    match &column.ty {
        ColumnType::Int { .. } | ColumnType::Bool => Bind::Int(text.parse().unwrap()),
        _ => Bind::Text(text),
    }
}

/// A row that the keyed statement may change.
pub fn row_for(probe: &mut Probe, queue: &Queue, query: &Query) -> Option<Answer> {
    rows_for(probe, queue, query, SCOPES[0], 1)
}

/// Rows that the statement may change: in the order of their keys, which is another than that of any index.
pub fn rows_for(probe: &mut Probe, queue: &Queue, query: &Query, scope: &str, limit: u64) -> Option<Answer> {
    let claim = queue.table.claim.as_ref()?;
    let status = &claim.status;
    let held = status.running.as_ref().unwrap_or(&status.pending);
    let state = match &*query.name {
        "mark_published" | "coalesce" | "coalesce_find" => &status.pending,
        "retry_published" | "postpone_published" | "postpone_early" | "dead_published" | "consume" => {
            status.published.as_ref()?
        }
        "replay" | "purge" => status.dead.as_ref()?,
        _ if goes_on(query) => query.state.as_ref()?,
        _ => held,
    };
    let dialect = probe.server.dialect();
    // Text keeps what a driver would have to decode by its type.
    let quoted = |name: &str| dialect.ident(name);
    let cast = |column: &Column| {
        let name = quoted(&column.name);
        match probe.server {
            Server::MySql | Server::MariaDb => format!("CAST({name} AS CHAR) AS {name}"),
            _ => format!("CAST({name} AS TEXT) AS {name}"),
        }
    };
    let columns: Vec<String> = queue.table.columns.iter().map(cast).collect();
    // Of each further column of a scope, most rows have this value.
    let scopes = claim.scope.iter().zip(std::iter::once(scope).chain(std::iter::repeat("x")));
    let scope: String = scopes.map(|(column, value)| format!(" AND {} = '{value}'", quoted(column))).collect();
    let key =
        queue.table.primary_key.iter().map(|at| quoted(&queue.table.columns[*at].name)).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT {} FROM {} WHERE {} = '{state}'{scope} ORDER BY {key} LIMIT {limit}",
        columns.join(", "),
        quoted(queue.name()),
        quoted(&status.column)
    );
    let answer = probe.rows(&sql, &[]);
    (!answer.rows.is_empty()).then_some(answer)
}
