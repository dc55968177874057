//! A queue table by the roles of its columns, read off its definition once more and apart from the generator.

use claimsmith::schema::format::{Claim, IndexSet, MaxAttempts};
use claimsmith::schema::{ColumnType, Table};

use crate::servers::{Row, Server};

use super::driver::{Bind, Driver};
use super::time::{self, held, read};

/// A table with a claim.
pub struct Queue<'a> {
    pub table: &'a Table,
    pub claim: &'a Claim,
    pub scope: Vec<usize>,
    pub status: usize,
    pub lane: Option<usize>,
    pub order: Option<usize>,
    pub due: Option<usize>,
    pub retry_at: Option<usize>,
    pub count: Option<usize>,
    pub max: Option<usize>,
    pub error: Option<usize>,
    pub until: Option<usize>,
    pub by: Option<usize>,
    pub seq: Option<usize>,
    pub updated: Option<usize>,
    pub published: Option<usize>,
    pub finished: Option<usize>,
}

impl<'a> Queue<'a> {
    pub fn of(table: &'a Table) -> Option<Queue<'a>> {
        let claim = table.claim.as_ref()?;
        let at = |name: Option<&String>| name.map(|name| table.position(name).unwrap());
        let (retry, lease, times) = (claim.retry.as_ref(), claim.lease.as_ref(), claim.times.as_ref());
        Some(Queue {
            table,
            claim,
            scope: claim.scope.iter().map(|name| table.position(name).unwrap()).collect(),
            status: table.position(&claim.status.column).unwrap(),
            lane: at(claim.lane.as_ref()),
            order: at(claim.order.as_ref()),
            due: at(claim.due.as_ref()),
            retry_at: at(retry.and_then(|retry| retry.at.as_ref())),
            count: at(retry.and_then(|retry| retry.count.as_ref())),
            max: retry.and_then(|retry| match &retry.max {
                MaxAttempts::Column(max) => table.position(&max.column),
                MaxAttempts::Number(_) => None,
            }),
            error: at(retry.and_then(|retry| retry.error.as_ref())),
            until: at(lease.map(|lease| &lease.until)),
            by: at(lease.and_then(|lease| lease.by.as_ref())),
            seq: at(lease.and_then(|lease| lease.seq.as_ref())),
            updated: at(times.and_then(|times| times.updated.as_ref())),
            published: at(times.and_then(|times| times.published.as_ref())),
            finished: at(times.and_then(|times| times.finished.as_ref())),
        })
    }

    /// When a row that waits is due, if a column says so.
    pub fn time(&self) -> Option<usize> {
        self.due.or(self.retry_at)
    }

    /// Pending rows are found by the retry time: then a new row has one.
    pub fn pending_is_timed(&self) -> bool {
        self.due.is_none() && self.claim.status.retryable.is_none() && self.retry_at.is_some()
    }

    /// The column of the order where it is a time that enqueue writes: not a number of the caller's, and no part of a key.
    pub fn clock(&self) -> Option<usize> {
        let is_time = |at: &usize| {
            let column = &self.table.columns[*at];
            column.ty.is_time() || column.name.ends_with("_ms")
        };
        self.order.filter(is_time).filter(|at| !self.table.primary_key.contains(at))
    }

    pub fn by_visibility(&self) -> bool {
        self.claim.visibility.is_some()
    }

    pub fn is_seed(&self) -> bool {
        self.claim.indexes == IndexSet::Seed
    }

    /// Rows are marked as taken at all.
    pub fn can_take(&self) -> bool {
        self.claim.status.running.is_some() || self.by_visibility()
    }

    /// The state of a row that a worker holds.
    pub fn held_state(&self) -> Option<&str> {
        let status = &self.claim.status;
        status.running.as_deref().or_else(|| self.by_visibility().then_some(&*status.pending))
    }

    /// A row waits to be taken.
    pub fn is_waiting(&self, row: &Row) -> bool {
        self.is(row, Some(&self.claim.status.pending)) || self.is(row, self.claim.status.retryable.as_ref())
    }

    /// The state in which a failed row waits.
    pub fn waiting(&self) -> &str {
        self.claim.status.retryable.as_ref().unwrap_or(&self.claim.status.pending)
    }

    /// Every state of the definition.
    pub fn states(&self) -> Vec<&str> {
        let status = &self.claim.status;
        let optional = [&status.retryable, &status.running, &status.published, &status.dead];
        let mut states = vec![&*status.pending];
        states.extend(optional.into_iter().filter_map(|state| state.as_deref()));
        states.extend(status.done.0.iter().map(|state| &**state));
        states
    }

    /// States in which a row still has to be worked on.
    pub fn unfinished(&self) -> Vec<&str> {
        let status = &self.claim.status;
        let finished =
            |state: &&str| status.done.0.iter().any(|done| done == state) || status.dead.as_deref() == Some(*state);
        self.states().into_iter().filter(|state| !finished(state)).collect()
    }

    /// Most attempts of a row.
    pub fn most(&self, row: &Row) -> i64 {
        match (&self.claim.retry.as_ref().unwrap().max, self.max) {
            (_, Some(max)) => row[max].as_ref().unwrap().parse().unwrap(),
            (MaxAttempts::Number(most), None) => i64::from(*most),
            (MaxAttempts::Column(_), None) => unreachable!(),
        }
    }

    /// What fences a worker off from a row that another one has taken: the column, and its parameter.
    pub fn fence(&self) -> Option<(usize, &'static str)> {
        let attempt = self.count.filter(|_| self.by_visibility()).map(|count| (count, "attempt"));
        self.seq.map(|seq| (seq, "claim_seq")).or(self.by.map(|by| (by, "token"))).or(attempt)
    }

    /// Whether the attempts fence a worker off, so that they may never go back.
    pub fn attempts_are_the_fence(&self) -> bool {
        self.fence().is_some_and(|(_, parameter)| parameter == "attempt")
    }

    /// Attempts that the definition gives a row.
    pub fn default_attempts(&self) -> u32 {
        match self.claim.retry.as_ref().map(|retry| &retry.max) {
            Some(MaxAttempts::Number(most)) => *most,
            Some(MaxAttempts::Column(max)) => max.default,
            None => 1,
        }
    }

    /// A time as the column holds it.
    pub fn at(&self, column: usize, ms: i64) -> Option<String> {
        Some(held(&self.table.columns[column].ty, ms))
    }

    /// The time that the column holds.
    pub fn read(&self, column: usize, row: &Row) -> Option<i64> {
        row[column].as_ref().map(|text| read(&self.table.columns[column].ty, text))
    }

    /// A time before it means anything.
    pub fn never(&self, column: usize) -> Option<String> {
        if self.table.columns[column].nullable { None } else { self.at(column, 0) }
    }

    pub fn number(&self, column: usize, row: &Row) -> i64 {
        row[column].as_ref().unwrap().parse().unwrap()
    }

    pub fn is(&self, row: &Row, state: Option<&String>) -> bool {
        state.is_some() && row[self.status].as_ref() == state
    }

    pub fn key(&self, row: &Row) -> Row {
        self.table.primary_key.iter().map(|at| row[*at].clone()).collect()
    }
}

/// A value of a column as a parameter.
pub fn bind(ty: &ColumnType, value: Option<String>) -> Bind {
    match ty {
        ColumnType::Int { bytes: 8, .. } => Bind::Int(value.unwrap().parse().unwrap()),
        ColumnType::Int { .. } => Bind::Int4(value.unwrap().parse().unwrap()),
        ColumnType::Json => Bind::Json(value),
        // SQLite compares times as texts, so that they must be written as its clock writes them.
        ColumnType::DateTime(1..) => Bind::Time(value.map(with_fraction)),
        _ if ty.is_time() => Bind::Time(value),
        _ => Bind::Text(value),
    }
}

fn with_fraction(time: String) -> String {
    if time.contains('.') { time } else { format!("{time}.000") }
}

/// The table's name, quoted.
pub fn name(table: &Table, server: Server) -> String {
    server.dialect().ident(&table.name.name)
}

/// All rows of a table in the order of its key, with times as [`time::text`] writes them.
pub fn rows(driver: &mut Driver, table: &Table) -> Vec<Row> {
    let dialect = driver.server.dialect();
    let columns: Vec<String> = table.columns.iter().map(|column| dialect.ident(&column.name)).collect();
    let mut rows = driver.rows(&format!("SELECT {} FROM {}", columns.join(", "), name(table, driver.server)));
    for row in &mut rows {
        canonical(table, row);
    }
    // Not ORDER BY: engines differ in how they compare texts.
    rows.sort_by_key(|row| table.primary_key.iter().map(|at| row[*at].clone()).collect::<Row>());
    rows
}

/// Writes times as [`time::text`] does.
pub fn canonical(table: &Table, row: &mut Row) {
    for (column, value) in table.columns.iter().zip(row) {
        if column.ty.is_time() {
            *value = value.as_ref().map(|value| time::text(time::parse(value)));
        }
    }
}

/// Adds rows to a table as they are.
pub fn insert(driver: &mut Driver, table: &Table, rows: &[Row]) {
    let server = driver.server;
    let dialect = server.dialect();
    let columns: Vec<String> = table.columns.iter().map(|column| dialect.ident(&column.name)).collect();
    let literal = |(column, value): (&claimsmith::schema::Column, &Option<String>)| match value {
        None => "NULL".to_owned(),
        Some(value) if matches!(column.ty, ColumnType::Int { .. }) => value.clone(),
        Some(value) if matches!(column.ty, ColumnType::DateTime(1..)) => dialect.literal(&with_fraction(value.clone())),
        Some(value) => dialect.literal(value),
    };
    for rows in rows.chunks(200) {
        let values = rows.iter().map(|row| {
            let row: Vec<String> = table.columns.iter().zip(row).map(literal).collect();
            format!("({})", row.join(", "))
        });
        let values = values.collect::<Vec<_>>().join(",\n");
        driver.run(&format!("INSERT INTO {} ({}) VALUES {values}", name(table, server), columns.join(", ")));
    }
}
