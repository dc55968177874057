//! The columns of a queue by their roles, and the values that they take in each state.

use crate::schema::format::{Claim, MaxAttempts};
use crate::schema::{ColumnType, Table};

use super::Meaning;

/// A queue's columns, as positions in the table.
pub struct Roles<'a> {
    pub claim: &'a Claim,
    pub scope: Vec<usize>,
    /// The primary key's columns that are not in the scope.
    pub tail: Vec<usize>,
    pub status: usize,
    pub order: Option<usize>,
    /// When a pending or retryable row is due, where one column says it for both.
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

/// A new value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL text.
    Text(String),
    /// A parameter.
    Parameter(Meaning),
    /// The parameter that enqueue takes for the column, named like it.
    Own,
    /// The current time.
    Now,
    /// The current time plus a parameter in milliseconds.
    Later(Meaning),
    /// The first where the condition holds, else the second.
    Case(String, Box<Value>, Box<Value>),
}

impl<'a> Roles<'a> {
    pub fn of(table: &'a Table) -> Option<Roles<'a>> {
        let claim = table.claim.as_ref()?;
        let at = |name: Option<&String>| name.and_then(|name| table.position(name));
        let (retry, lease, times) = (claim.retry.as_ref(), claim.lease.as_ref(), claim.times.as_ref());
        let scope: Vec<usize> = claim.scope.iter().filter_map(|name| table.position(name)).collect();
        let max = retry.and_then(|retry| match &retry.max {
            MaxAttempts::Column(max) => table.position(&max.column),
            MaxAttempts::Number(_) => None,
        });
        Some(Roles {
            claim,
            tail: table.primary_key.iter().filter(|column| !scope.contains(column)).copied().collect(),
            scope,
            status: table.position(&claim.status.column)?,
            order: at(claim.order.as_ref()),
            due: at(claim.due.as_ref()),
            retry_at: at(retry.and_then(|retry| retry.at.as_ref())),
            count: at(retry.and_then(|retry| retry.count.as_ref())),
            max,
            error: at(retry.and_then(|retry| retry.error.as_ref())),
            until: at(lease.map(|lease| &lease.until)),
            by: at(lease.and_then(|lease| lease.by.as_ref())),
            seq: at(lease.and_then(|lease| lease.seq.as_ref())),
            updated: at(times.and_then(|times| times.updated.as_ref())),
            published: at(times.and_then(|times| times.published.as_ref())),
            finished: at(times.and_then(|times| times.finished.as_ref())),
        })
    }

    /// Taking a row leaves it pending and pushes its time forward.
    pub fn by_visibility(&self) -> bool {
        self.claim.visibility.is_some()
    }

    /// The column that says when a row that waits is due.
    pub fn time(&self) -> Option<usize> {
        self.due.or(self.retry_at)
    }

    /// Where a failed row waits for its next attempt.
    pub fn waiting(&self) -> &'a str {
        self.claim.status.retryable.as_ref().unwrap_or(&self.claim.status.pending)
    }

    /// The most attempts, as SQL.
    pub fn most_attempts(&self, column: impl Fn(usize) -> String) -> Option<String> {
        self.count?;
        match (&self.claim.retry.as_ref()?.max, self.max) {
            (_, Some(max)) => Some(column(max)),
            (MaxAttempts::Number(number), _) => Some(number.to_string()),
            _ => None,
        }
    }

    /// How many attempts a new row has, by the definition.
    pub fn default_attempts(&self) -> u32 {
        match self.claim.retry.as_ref().map(|retry| &retry.max) {
            Some(MaxAttempts::Number(number)) => *number,
            Some(MaxAttempts::Column(max)) => max.default,
            None => 1,
        }
    }

    /// The condition of rows that have used up their attempts, where they are counted and can be given up.
    pub fn exhausted(&self, column: impl Fn(usize) -> String) -> Option<String> {
        self.claim.status.dead.as_ref()?;
        let most = self.most_attempts(&column)?;
        Some(format!("{} >= {most}", column(self.count?)))
    }

    /// The columns of a row that is given up, but for its state.
    pub fn given_up(&self, table: &Table) -> Vec<(usize, Value)> {
        let mut values = self.released(table);
        values.extend(self.finished.map(|finished| (finished, Value::Now)));
        values
    }

    /// The columns of a row that nobody holds.
    pub fn released(&self, table: &Table) -> Vec<(usize, Value)> {
        let mut values: Vec<(usize, Value)> = self.until.iter().map(|until| (*until, never(table, *until))).collect();
        values.extend(self.by.map(|by| (by, nobody(table, by))));
        values
    }

    /// The columns of a row that waits from now on for its first attempt.
    pub fn pending(&self, table: &Table) -> Vec<(usize, Value)> {
        let mut values: Vec<(usize, Value)> = self.due.iter().map(|due| (*due, Value::Now)).collect();
        values.extend(self.retry_at.map(|at| {
            // Where pending rows are found by this column, a NULL would never be due, and one value for all new rows would
            // leave them without an order.
            let by_time = self.due.is_none() && self.claim.status.retryable.is_none();
            (at, if by_time { Value::Now } else { never(table, at) })
        }));
        values.extend(self.released(table));
        values
    }

    /// The last change of the row.
    pub fn changed(&self) -> Vec<(usize, Value)> {
        self.updated.iter().map(|updated| (*updated, Value::Now)).collect()
    }
}

/// The value of a time before it means anything: NULL where that is possible, else the beginning of time.
pub fn never(table: &Table, at: usize) -> Value {
    let column = &table.columns[at];
    Value::Text(match &column.ty {
        _ if column.nullable => "NULL".to_owned(),
        ColumnType::DateTime(_) => "'1970-01-01 00:00:00'".to_owned(),
        // The first second is the least that MySQL takes, in any time zone the second day.
        ColumnType::Timestamp(_) => "'1970-01-02 00:00:00'".to_owned(),
        _ => "0".to_owned(),
    })
}

fn nobody(table: &Table, at: usize) -> Value {
    Value::Text(if table.columns[at].nullable { "NULL" } else { "''" }.to_owned())
}
