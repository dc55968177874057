//! How rows of a table are claimed.

use crate::dialect::{Take, Wire};
use crate::schema::ColumnType;
use crate::schema::format::MaxAttempts;

use super::super::text::{Items, literal};
use super::super::value;
use super::Maker;
use super::model::{Claim, KeyField, Queue};

impl Maker<'_> {
    /// An expression that reads a number.
    pub(super) fn number(&mut self, at: usize) -> String {
        let column = &self.table.columns[at];
        if self.dialect.wire(column) == Wire::Numeric {
            self.imports.insert("opt_numeric".to_owned());
            return format!("opt_numeric(row, table::COLUMNS[{at}])?");
        }
        self.imports.insert("get".to_owned());
        let ty = match (self.dialect.wire(column), &column.ty) {
            (Wire::Integer(bits), _) => format!("i{bits}"),
            (_, ColumnType::Int { .. }) => value::driver_type(column),
            _ => "i64".to_owned(),
        };
        format!("get::<Option<{ty}>>(row, table::COLUMNS[{at}])?")
    }

    pub(super) fn queue(&mut self) -> Queue {
        let table = self.table;
        let claim = table.claim.as_ref();
        let (retry, lease) =
            (claim.and_then(|claim| claim.retry.as_ref()), claim.and_then(|claim| claim.lease.as_ref()));
        let at = |name: Option<&String>| name.and_then(|name| table.position(name));
        let count = at(retry.and_then(|retry| retry.count.as_ref()));
        let most = retry.map(|retry| &retry.max);
        let most_column = match most {
            Some(MaxAttempts::Column(max)) => table.position(&max.column),
            _ => None,
        };
        let has_dead = claim.is_some_and(|claim| claim.status.dead.is_some());
        let seq = at(lease.and_then(|lease| lease.seq.as_ref()));
        let by = at(lease.and_then(|lease| lease.by.as_ref()));
        let visible = claim.is_some_and(|claim| claim.visibility.is_some());
        let (fence, fence_column) = match (seq, by, count) {
            (Some(seq), _, _) => ("seq", Some(seq)),
            (None, Some(by), _) => ("token", Some(by)),
            (None, None, Some(count)) if visible => ("attempt", Some(count)),
            _ => ("none", None),
        };
        let order = at(claim.and_then(|claim| claim.order.as_ref().or(claim.due.as_ref())));
        let order = order.filter(|order| !matches!(table.columns[*order].ty, ColumnType::Json));
        let is_float = |at: usize| matches!(table.columns[at].ty, ColumnType::Float | ColumnType::Double);
        let order = order.filter(|order| !(is_float(*order) && table.columns[*order].nullable));
        let status = at(claim.map(|claim| &claim.status.column)).unwrap_or_default();
        if self.take() != Take::SelectThenUpdate && has_dead || fence == "token" {
            self.imports.insert("get".to_owned());
        }
        Queue {
            key: self.key(),
            attempt: count.map(|count| self.number(count)),
            most: most_column.filter(|_| has_dead).map(|most| self.number(most)),
            most_attempts: match most {
                Some(MaxAttempts::Number(number)) if has_dead => Some(number.to_string()),
                _ => None,
            },
            seq: seq.map(|seq| self.number(seq)),
            fence,
            fence_column: fence_column.unwrap_or_default(),
            fence_read: match fence {
                "seq" | "attempt" => self.number(fence_column.unwrap_or_default()),
                _ => String::new(),
            },
            status,
            dead: claim.and_then(|claim| claim.status.dead.as_ref()).map(|dead| literal(dead)),
            order: order.map(|order| self.subject.names.fields[order].clone()),
            compare: if order.is_some_and(is_float) { "total_cmp" } else { "cmp" },
            taken: self.taken(count, seq, by, status),
        }
    }

    pub(super) fn key(&mut self) -> Vec<KeyField> {
        let columns = self.columns.key.clone();
        let mut fields = Vec::new();
        for at in columns {
            let column = &self.table.columns[at];
            let (read, scale) = value::read(column, self.dialect.wire(column));
            self.imports.insert(read.clone());
            fields.push(KeyField {
                name: self.subject.names.fields[at].clone(),
                column: at,
                read,
                scale,
                in_scope: self.columns.scope.contains(&at),
                copied: value::is_copy(&column.ty) || self.is_choice(at),
            });
        }
        fields
    }

    /// What an UPDATE has changed in a row that was read before it.
    pub(super) fn taken(
        &self,
        count: Option<usize>,
        seq: Option<usize>,
        by: Option<usize>,
        status: usize,
    ) -> Vec<String> {
        let field = |at: usize| &self.subject.names.fields[at];
        let nullable = |at: usize| self.table.columns[at].nullable;
        let mut lines = Vec::new();
        let running = self.table.claim.as_ref().and_then(|claim| claim.status.running.as_ref());
        if let Some(variant) = running.and_then(|running| self.variant(running)) {
            lines.push(format!("self.{} = table::Status::{variant};", field(status)));
        }
        for at in count.into_iter().chain(seq) {
            let field = field(at);
            lines.push(match nullable(at) {
                true => format!("self.{field} = Some(self.{field}.unwrap_or(0).saturating_add(1));"),
                false => format!("self.{field} = self.{field}.saturating_add(1);"),
            });
        }
        if let Some(by) = by {
            let token = if nullable(by) { "Some(token.to_owned())" } else { "token.to_owned()" };
            lines.push(format!("self.{} = {token};", field(by)));
        }
        lines
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        let branches = |base: &str| -> Vec<Option<String>> {
            let of = |branch: &str| self.of_state(base, branch);
            ["pending", "retryable", "expired"].into_iter().map(of).collect()
        };
        let status = self.table.claim.as_ref().map(|claim| (&claim.status.running, claim.visibility));
        // Where nothing marks a row, it is the caller's only as long as a transaction of the caller's own lasts.
        let marks = matches!(status, Some((Some(_), _) | (None, Some(_))));
        let all = [("CLAIM", branches("claim")), ("CLAIM_LANE", branches("claim_lane"))];
        let given = all.into_iter().filter(|(_, branches)| marks && branches.iter().any(Option::is_some));
        let item = |branch: &Option<String>| match branch {
            Some(statement) => format!("Some(&statement::{statement})"),
            None => "None".to_owned(),
        };
        let items = |branches: Vec<Option<String>>| Items::of_calls(&branches.iter().map(item).collect::<Vec<_>>());
        given.map(|(name, branches)| Claim { name, branches: items(branches) }).collect()
    }

    /// Which branch, as `take_exhausted` is for.
    pub(super) fn exhausting(&self) -> Option<String> {
        self.queries.iter().find(|(query, _)| query.base == "take_exhausted")?;
        let visible = self.table.claim.as_ref().is_some_and(|claim| claim.visibility.is_some());
        Some(if visible { "Pending" } else { "Expired" }.to_owned())
    }
}
