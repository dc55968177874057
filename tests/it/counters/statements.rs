//! The parameters of generated statements: from rows that the backlog has.

use claimsmith::schema::{Column, ColumnType};
use claimsmith::statement::query::Query;

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
        "enqueue" | "cutoff" => Kind::Free,
        "archive_compare" => Kind::Catalog,
        "oldest_pending" | "oldest_due" => Kind::Oldest,
        name if name.starts_with("claim_") => Kind::Claim,
        name if name.starts_with("count_") => Kind::Count,
        _ if has("keys") => Kind::ByKeys,
        _ if has("limit") && query.sql.starts_with("SELECT") => Kind::Find,
        _ if has("limit") => Kind::Move,
        _ => Kind::Keyed,
    }
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
            if parameter.name == "keys" {
                let (list, values) = self.keys(&query.sql, keys.expect("keys"));
                sql = sql.replacen("IN (?)", &format!("IN ({list})"), 1);
                binds.extend(values);
            } else {
                binds.push(self.value(probe, query, &parameter.name, row));
            }
        }
        (sql, binds)
    }

    fn value(&self, probe: &mut Probe, query: &Query, name: &str, row: Option<&Answer>) -> Bind {
        let claim = self.queue.table.claim.as_ref();
        let held = |column: Option<&String>| {
            let column = column.expect("a column of the fence");
            bind(self.queue.table.column(column).unwrap(), row.expect("a row").column(column).remove(0))
        };
        match name {
            "limit" => Bind::Int(self.limit as i64),
            "cap" => Bind::Int(self.cap as i64),
            "error" => Bind::Text("refused".to_owned()),
            "token" if query.name.starts_with("claim_") || query.name == "take" => {
                Bind::Text("a-new-token/worker".to_owned())
            }
            "token" => Bind::Text(WORKER.to_owned()),
            "attempt" => held(claim.and_then(|claim| claim.retry.as_ref()?.count.as_ref())),
            "claim_seq" => held(claim.and_then(|claim| claim.lease.as_ref()?.seq.as_ref())),
            "cutoff" => self.cutoff(probe, query),
            name => match self.queue.table.column(name) {
                None => Bind::Int(30_000),
                Some(column) => match row {
                    Some(row) => bind(column, row.column(name).remove(0)),
                    None => self.column(query, column),
                },
            },
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
            ColumnType::Int { .. } => Bind::Int(7),
            ColumnType::DateTime(_) | ColumnType::Timestamp(_) => Bind::Text("2026-01-01 00:00:00".to_owned()),
            ColumnType::Json => Bind::Text("{}".to_owned()),
            _ if query.name == "enqueue" && (is_key || in_unique) && !self.is_scope(column) => {
                Bind::Text(format!("new-{}", self.fresh))
            }
            _ => Bind::Text("x".to_owned()),
        }
    }

    fn is_scope(&self, column: &Column) -> bool {
        self.queue.table.claim.as_ref().is_some_and(|claim| claim.scope.contains(&column.name))
    }

    fn cutoff(&self, probe: &mut Probe, query: &Query) -> Bind {
        // The sweep's bound is of another column than retention's.
        let published = self.queue.table.claim.as_ref().and_then(|claim| claim.times.as_ref()?.published.as_ref());
        let age = self.queue.table.retention.as_ref().map(|retention| &retention.age);
        let column = if query.name.starts_with("sweep") { published } else { age };
        let column = self.queue.table.column(column.unwrap()).unwrap();
        // Rows that stay published are the youngest.
        let seconds = if query.name.starts_with("sweep") { START_S + 1_000_000 } else { START_S + self.old as i64 };
        let time = backlog::time(self.server, column, &format!("({seconds})"));
        let answer = probe.rows(&format!("SELECT {time} AS cutoff"), &[]);
        bind(column, answer.column("cutoff").remove(0))
    }

    /// The list behind IN, and its values.
    fn keys(&self, sql: &str, rows: &Answer) -> (String, Vec<Bind>) {
        let before = sql.split(" IN (?)").next().unwrap().lines().last().unwrap();
        let names = before.trim().trim_start_matches("WHERE ").trim_start_matches("AND ");
        let clean =
            |name: &str| name.trim().trim_matches(['(', ')']).trim_start_matches("t.").trim_matches('`').to_owned();
        let names: Vec<String> = names.split(',').map(clean).collect();
        let columns: Vec<(&Column, Vec<String>)> =
            names.iter().map(|name| (self.queue.table.column(name).unwrap(), rows.column(name))).collect();
        let one = if names.len() == 1 { "?".to_owned() } else { format!("({})", vec!["?"; names.len()].join(", ")) };
        let list = vec![one; rows.rows.len()].join(", ");
        let binds = (0..rows.rows.len())
            .flat_map(|at| columns.iter().map(move |(column, values)| bind(column, values[at].clone())));
        (list, binds.collect())
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
    let claim = queue.table.claim.as_ref()?;
    let status = &claim.status;
    let held = status.running.as_ref().unwrap_or(&status.pending);
    let state = match &*query.name {
        "mark_published" => &status.pending,
        "retry_published" | "dead_published" | "consume" => status.published.as_ref()?,
        "replay" => status.dead.as_ref()?,
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
    let scope =
        claim.scope.first().map(|scope| format!(" AND {} = '{}'", quoted(scope), SCOPES[0])).unwrap_or_default();
    let sql = format!(
        "SELECT {} FROM {} WHERE {} = '{state}'{scope} LIMIT 1",
        columns.join(", "),
        quoted(queue.name()),
        quoted(&status.column)
    );
    let answer = probe.rows(&sql, &[]);
    (!answer.rows.is_empty()).then_some(answer)
}
