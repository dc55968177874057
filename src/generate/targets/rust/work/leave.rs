//! How finished rows leave, or begin anew, and how rows are counted.

use crate::dialect::Take;
use crate::schema::format::Strategy;
use crate::statement::query::{Meaning, Query};

use super::super::names::Idents;
use super::super::text::{Items, words};
use super::super::value;
use super::Maker;
use super::apart::pair;
use super::model::{Count, Leave, Leaving, Oldest, Republish};

impl Maker<'_> {
    /// Whether the statement is the first of those by which finished rows leave.
    pub(super) fn leaves(&self, query: &Query) -> bool {
        let archives =
            matches!(self.table.retention.as_ref().map(|retention| retention.strategy), Some(Strategy::Archive));
        let base = match (archives, self.take()) {
            (false, Take::SelectThenUpdate) => "cleanup_find",
            (false, _) => "cleanup",
            (true, Take::SelectThenUpdate) => "archive_find",
            (true, Take::UpdateFromSelect) => "archive",
            (true, Take::UpdateByRowId) => "archive_copy",
        };
        query.base == base
    }

    pub(super) fn leavings(&self) -> Vec<Leaving> {
        let leave = |(query, name): &(&Query, &str)| {
            let state = query.state.as_deref();
            Some(Leave {
                variant: match state {
                    Some(state) => self.variant(state)?.to_owned(),
                    None => String::new(),
                },
                statements: match state.and_then(|state| self.of_state("archive_delete", state)) {
                    Some(delete) => pair(name, &delete),
                    None => format!("&statement::{name}"),
                },
            })
        };
        let states: Vec<Leave> =
            self.queries.iter().filter(|(query, _)| self.leaves(query)).filter_map(leave).collect();
        let archives =
            matches!(self.table.retention.as_ref().map(|retention| retention.strategy), Some(Strategy::Archive));
        let name = if archives { "archive" } else { "cleanup" };
        if states.is_empty() { Vec::new() } else { vec![Leaving { name, states }] }
    }

    pub(super) fn republishes(&self, base: &str, count: &str) -> Vec<Republish> {
        let of = |(query, name): &(&Query, &str)| {
            let state = query.state.as_deref().filter(|_| query.base == base)?;
            Some(Republish {
                variant: self.variant(state)?.to_owned(),
                pair: pair(&self.of_state(count, state)?, name),
            })
        };
        self.queries.iter().filter_map(of).collect()
    }

    pub(super) fn counts(&self) -> Vec<Count> {
        let mut idents = Idents::without(&["oldest_pending", "oldest_due"]);
        let is_count = |query: &Query| {
            !query.base.starts_with("count_republish")
                && query.parameters.iter().any(|parameter| parameter.meaning == Meaning::Cap)
        };
        let count = |(at, (query, name)): (usize, &(&Query, &str))| Count {
            docs: query.about.iter().map(|line| words(&line.replace(", at most `cap`", ""))).collect(),
            name: idents.field(query.name.strip_prefix("count_").unwrap_or(&query.name), &format!("count_{}", at + 1)),
            statement: (*name).to_owned(),
        };
        self.queries.iter().filter(|(query, _)| is_count(query)).enumerate().map(count).collect()
    }

    pub(super) fn counted(&self) -> Items {
        let statement = |count: &Count| format!("&statement::{}", count.statement);
        Items::of_calls(&self.counts().iter().map(statement).collect::<Vec<_>>())
    }

    pub(super) fn oldest(&self) -> Option<Oldest> {
        let is = |query: &Query| query.base == "oldest_pending" || query.base == "oldest_due";
        let (query, name) = self.queries.iter().find(|(query, _)| is(query))?;
        let claim = self.table.claim.as_ref()?;
        let named = match query.base == "oldest_due" {
            true => claim.due.as_ref().or(claim.retry.as_ref().and_then(|retry| retry.at.as_ref())),
            false => claim.order.as_ref(),
        };
        let column = self.table.column(named?)?;
        Some(Oldest {
            docs: query.about.iter().map(|line| words(line)).collect(),
            name: query.base.clone(),
            ty: value::rust_type(self.table, column, None).replace("types::", "super::super::types::"),
            statement: (*name).to_owned(),
        })
    }
}
