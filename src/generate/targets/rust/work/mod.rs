//! The functions of a table's workload on one database: a part of `rust/<dialect>/<table>.rs`.

mod apart;
mod claim;
mod leave;
mod model;
mod open;

use std::collections::{BTreeMap, BTreeSet};

use crate::dialect::{Dialect, Take};
use crate::schema::{ColumnType, Table};
use crate::statement::query::{Meaning, Query};

use super::queue::{self, Columns, has_key};
use super::rows::Subject;
use super::text::{Constant, Items, literal};
use super::value;

use apart::apart;
pub use model::Work;
use model::{Arm, FoundField, Rows, Source, Statement};

/// The functions of the table's workload, and what of its parent module their file uses.
pub struct Built {
    /// The functions.
    pub work: Work,
    /// The constants of statements that are alone in what they do, by what that is.
    pub names: BTreeMap<String, String>,
    /// What their file uses of its parent module.
    pub imports: BTreeSet<String>,
}

/// What the parts of [`Work`] are made of.
struct Maker<'a> {
    subject: &'a Subject<'a>,
    table: &'a Table,
    dialect: &'a dyn Dialect,
    columns: Columns,
    /// The statements and their constants.
    queries: Vec<(&'a Query, &'a str)>,
    imports: BTreeSet<String>,
}

/// The functions of the table's workload; `constants` are those of its statements.
pub fn work(subject: &Subject<'_>, constants: &[Constant], dialect: &dyn Dialect) -> Option<Built> {
    let table = subject.table;
    if subject.queries.is_empty() || table.claim.is_some() && !has_key(table) {
        return None;
    }
    let queries = subject.queries.iter().zip(constants.iter().map(|constant| &*constant.name)).collect();
    let columns = Columns::of(table);
    let mut maker = Maker { subject, table, dialect, columns, queries, imports: BTreeSet::new() };
    let names: BTreeMap<String, String> = maker
        .queries
        .iter()
        .filter(|(query, _)| query.state.is_none())
        .map(|(query, name)| (query.base.clone(), (*name).to_owned()))
        .collect();
    let work = maker.work();
    Some(Built { work, names, imports: maker.imports })
}

impl Maker<'_> {
    fn work(&mut self) -> Work {
        let table = self.table;
        let claim = table.claim.as_ref();
        let retry = claim.and_then(|claim| claim.retry.as_ref());
        let lease = claim.and_then(|claim| claim.lease.as_ref());
        let retention = table.retention.as_ref();
        let scope = self.struct_type("Scope", &self.columns.scope);
        let pinned = retention.and_then(|retention| retention.scope.as_ref());
        let retention_scope = match (retention, pinned) {
            (None, _) => String::new(),
            (Some(_), Some(pinned)) if pinned.is_empty() => String::new(),
            _ if !self.columns.retention.is_empty() => self.struct_type("RetentionScope", &self.columns.retention),
            _ => scope.clone(),
        };
        let by = lease.and_then(|lease| table.column(lease.by.as_ref()?));
        let token = by.map_or(0, |by| match by.ty {
            ColumnType::Char(most) | ColumnType::Varchar(most) => most as usize,
            _ => 255,
        });
        let all = [
            &self.columns.scope,
            &self.columns.lane,
            &self.columns.event,
            &self.columns.key,
            &self.columns.message,
            &self.columns.retention,
        ];
        let longest = all.into_iter().flatten().map(|at| self.subject.names.fields[*at].chars().count());
        let longest = longest.chain(self.queries.iter().map(|(_, name)| name.chars().count().saturating_sub(16))).max();
        let queue = claim.is_some().then(|| self.queue());
        let claims = self.claims();
        Work {
            statements: self.queries.iter().map(|(query, name)| self.statement(query, name)).collect(),
            lane: self.struct_type("Lane", &self.columns.lane),
            event: self.struct_type("NewEvent", &self.columns.event),
            message: self.struct_type("Message", &self.columns.message),
            scope,
            retention_scope,
            has_states: self.queries.iter().any(|(query, _)| self.leaves(query) && query.state.is_some()),
            skips: longest.is_some_and(|longest| longest > queue::PLAIN),
            sources: self.sources(),
            found_is_wide: self
                .table
                .primary_key
                .iter()
                .any(|at| value::driver_type(&self.table.columns[*at]).len() > 16),
            found: self.found(),
            exhausting: self.exhausting(),
            queue,
            claims,
            token,
            extends: if lease.is_some() { "LeaseMs" } else { "VisibilityMs" },
            done: literal(claim.and_then(|claim| claim.status.done.0.first()).map_or("", String::as_str)),
            backoff: claim.is_some_and(queue::has_retry_time),
            scope_checks: self.has_scope_checks(),
            error: retry.is_some_and(|retry| retry.error.is_some()),
            origin: queue::ends(table, &self.columns).is_some(),
            seed_names: claim.is_some_and(|claim| claim.lease.is_none() && claim.visibility.is_none()),
            rows: self.rows(),
            leavings: self.leavings(),
            republishes: {
                let base = if self.take() == Take::SelectThenUpdate { "republish_find" } else { "republish" };
                self.republishes(base, "count_republish")
            },
            restores: {
                let at_once = self.take() == Take::UpdateFromSelect;
                let base = if at_once { "republish_archived" } else { "republish_archived_find" };
                self.republishes(base, "count_republish_archived")
            },
            counted: self.counted(),
            counts: self.counts(),
            oldest: self.oldest(),
            opens: self.opens(),
            places: self.places(),
            published: self.subject.names.published.clone(),
            partition: self.partition(),
        }
    }

    fn take(&self) -> Take {
        self.dialect.take()
    }

    /// The path of a struct of the table's module, with a lifetime if it has one; empty where it has no fields.
    fn struct_type(&self, name: &str, columns: &[usize]) -> String {
        let is_borrowed = |at: &usize| !value::is_copy(&self.table.columns[*at].ty) && !self.is_choice(*at);
        match columns.iter().any(is_borrowed) {
            _ if columns.is_empty() => String::new(),
            true if name != "Key" => format!("table::{name}<'_>"),
            _ => format!("table::{name}"),
        }
    }

    fn has_scope_checks(&self) -> bool {
        let has_length = |at: &usize| queue::length(&self.table.columns[*at]).is_some();
        self.columns.scope.iter().any(|at| has_length(at) && !self.is_choice(*at))
    }

    fn is_choice(&self, at: usize) -> bool {
        self.subject.names.choices.iter().any(|(column, _)| *column == at)
    }

    fn parameter(&self, meaning: Meaning) -> String {
        match meaning {
            Meaning::Column(at) => format!("Column({at})"),
            Meaning::Limit => "Limit".to_owned(),
            Meaning::Cap => "Cap".to_owned(),
            Meaning::LeaseMs => "LeaseMs".to_owned(),
            Meaning::VisibilityMs => "VisibilityMs".to_owned(),
            Meaning::DelayMs => "DelayMs".to_owned(),
            Meaning::SweepMs => "SweepMs".to_owned(),
            Meaning::AgeMs => "AgeMs".to_owned(),
            Meaning::Cutoff => "Cutoff".to_owned(),
            Meaning::Since => "Since".to_owned(),
            Meaning::Until => "Until".to_owned(),
            Meaning::Token => "Token".to_owned(),
            Meaning::ClaimSeq => "ClaimSeq".to_owned(),
            Meaning::Attempt => "Attempt".to_owned(),
            Meaning::Error => "Error".to_owned(),
            Meaning::Keys => String::new(),
        }
    }

    fn statement(&self, query: &Query, name: &str) -> Statement {
        let given = query.parameters.iter().filter(|parameter| parameter.meaning != Meaning::Keys);
        let parameters: Vec<String> = given.map(|parameter| self.parameter(parameter.meaning)).collect();
        let keys: Vec<String> = query.key_columns.iter().map(|at| self.parameter(self.in_key(*at))).collect();
        Statement {
            name: name.to_owned(),
            parameters: Items::of_calls(&parameters),
            keys_at: query.keys_at.unwrap_or_default(),
            keys: Items::of_calls(&keys),
        }
    }

    /// What of a key is no part of the primary key is the fence.
    fn in_key(&self, at: usize) -> Meaning {
        let claim = self.table.claim.as_ref();
        let lease = claim.and_then(|claim| claim.lease.as_ref());
        let is = |name: Option<&String>| name.is_some_and(|name| *name == self.table.columns[at].name);
        match self.table.primary_key.contains(&at) || self.columns.scope.contains(&at) {
            false if is(lease.and_then(|lease| lease.seq.as_ref())) => Meaning::ClaimSeq,
            false if is(lease.and_then(|lease| lease.by.as_ref())) => Meaning::Token,
            false => Meaning::Attempt,
            true => Meaning::Column(at),
        }
    }

    fn sources(&mut self) -> Vec<Source> {
        let columns = Columns::of(self.table);
        let mut all = vec![("Message", columns.message), ("RetentionScope", columns.retention)];
        if self.table.claim.is_some() {
            let of_claims =
                [("Scope", columns.scope), ("Lane", columns.lane), ("NewEvent", columns.event), ("Key", columns.key)];
            all = of_claims.into_iter().chain(all).collect();
        }
        let given = all.into_iter().filter(|(_, columns)| !columns.is_empty());
        let source = |(name, columns): (&str, Vec<usize>)| Source {
            ty: self.struct_type(name, &columns),
            arms: columns.iter().map(|at| self.arm(*at, name)).collect(),
        };
        given.map(source).collect()
    }

    fn arm(&mut self, at: usize, of: &str) -> Arm {
        let column = &self.table.columns[at];
        let mut field = self.subject.names.fields[at].clone();
        if let Some((_, most)) = queue::default_attempts(self.table).filter(|(most, _)| of == "NewEvent" && *most == at)
        {
            field = format!("{field}.unwrap_or({most})");
        }
        let field = &field;
        let wire = self.dialect.wire(column);
        let is_choice = self.is_choice(at);
        let (value, function) = match of != "Key" {
            true => value::bind_borrowed(column, field, wire, is_choice),
            false => value::bind("self", column, field, wire, is_choice),
        };
        self.imports.extend(function);
        Arm { column: at, value }
    }

    /// The column by which messages are in order, of `row`.
    fn partition(&mut self) -> Option<Arm> {
        if !self.subject.names.published.as_ref()?.in_order {
            return None;
        }
        let at = self.table.position(self.table.publish.as_ref()?.key.as_ref()?)?;
        let (column, field) = (&self.table.columns[at], &self.subject.names.fields[at]);
        let (value, function) = value::bind("row", column, field, self.dialect.wire(column), self.is_choice(at));
        self.imports.extend(function);
        Some(Arm { column: at, value })
    }

    /// Only where a statement goes by keys that another has found.
    fn found(&mut self) -> Vec<FoundField> {
        // On its way from one statement to the next nothing is converted, so that the driver's own types do.
        let passes = self.queries.iter().any(|(query, _)| query.base.contains("_find"));
        if self.take() == Take::UpdateFromSelect || !passes {
            return Vec::new();
        }
        self.imports.insert("get".to_owned());
        let field = |at: &usize| FoundField { column: *at, ty: value::driver_type(&self.table.columns[*at]) };
        self.table.primary_key.iter().map(field).collect()
    }

    /// The state's variant of `Status`.
    fn variant(&self, state: &str) -> Option<&str> {
        let states = &self.subject.names.states;
        states.iter().find(|(text, _)| text == state).map(|(_, variant)| &**variant)
    }

    /// The constant of the statement that does this for this state.
    fn of_state(&self, base: &str, state: &str) -> Option<String> {
        let is = |query: &Query| query.base == base && query.state.as_deref() == Some(state);
        self.queries.iter().find(|(query, _)| is(query)).map(|(_, name)| (*name).to_owned())
    }

    /// The statement that inserts a row, taken apart at its first list of values.
    fn rows(&self) -> Option<Rows> {
        let (query, _) = self.queries.iter().find(|(query, _)| query.base == "enqueue")?;
        let start = query.sql.find("\nVALUES ")? + "\nVALUES ".len();
        let placeholders: Vec<&str> = query.parameters.iter().map(|parameter| &*parameter.placeholder).collect();
        // Where a backslash needs one before it, it stands before what would end a literal.
        let escapes = self.dialect.literal("\\").chars().count() > 3;
        let (row, length) = apart(&query.sql[start..], &placeholders, escapes)?;
        Some(Rows {
            before: literal(&query.sql[..start]),
            row: Items::new(4, &row.iter().map(|text| literal(text)).collect::<Vec<_>>()),
            after: literal(&query.sql[start + length..]),
        })
    }
}
