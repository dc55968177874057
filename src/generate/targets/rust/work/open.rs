//! How the open rows of an event bus are walked.

use std::collections::BTreeSet;

use crate::statement::query::{Meaning, Query, open_states};

use super::super::text::{Items, literal};
use super::super::value;
use super::Maker;
use super::model::{Open, Place};

/// What statements do that show the rows behind another one.
const AFTER: &str = "list_after_";

impl Maker<'_> {
    /// Empty unless every open state can be walked: who looks at some of the rows would take the others for good.
    pub(super) fn opens(&self) -> Vec<Open> {
        let is_bus = self.subject.names.published.as_ref().is_some_and(|published| published.bus.is_some());
        let states = if is_bus { open_states(self.table) } else { Vec::new() };
        let opens: Vec<Open> = states.iter().filter_map(|state| self.open(state)).collect();
        if opens.len() == states.len() { opens } else { Vec::new() }
    }

    fn open(&self, state: &str) -> Option<Open> {
        let is_after = |query: &Query| query.base.starts_with(AFTER) && query.state.as_deref() == Some(state);
        let after = self.queries.iter().filter(|(query, _)| is_after(query));
        let stranded = format!("count_stranded_{state}");
        Some(Open {
            state: literal(state),
            first: self.of_state("list", state)?,
            after: Items::of_calls(&after.map(|(_, name)| format!("&statement::{name}")).collect::<Vec<_>>()),
            stranded: self.queries.iter().find(|(query, _)| query.base == stranded).map(|(_, name)| (*name).to_owned()),
        })
    }

    /// All but the scope, which is given.
    pub(super) fn places(&mut self) -> Vec<Place> {
        let after = self.queries.iter().filter(|(query, _)| query.base.starts_with(AFTER));
        let columns: BTreeSet<usize> = after
            .flat_map(|(query, _)| &query.parameters)
            .filter_map(|parameter| match parameter.meaning {
                Meaning::Column(at) if !self.columns.scope.contains(&at) => Some(at),
                _ => None,
            })
            .collect();
        if self.opens().is_empty() {
            return Vec::new();
        }
        columns.into_iter().map(|at| self.place(at)).collect()
    }

    fn place(&mut self, at: usize) -> Place {
        let column = &self.table.columns[at];
        let wire = self.dialect.wire(column);
        let ty = value::rust_type(self.table, column, None).replace("types::", "super::super::types::");
        let (read, scale) = value::read(column, wire);
        let (value, function) = value::bind_value("value", column, wire, false);
        self.imports.insert(read.clone());
        self.imports.extend(function);
        Place { column: at, ty: if column.nullable { format!("Option<{ty}>") } else { ty }, read, scale, value }
    }
}
