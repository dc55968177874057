//! The functions of a table's workload on one database: a part of `rust/<dialect>/<table>.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::dialect::{Dialect, Take, Wire};
use crate::schema::format::Strategy;
use crate::schema::{ColumnType, Table};
use crate::statement::query::{Meaning, Query};
use crate::template::template_object;

use super::names::Idents;
use super::queue::{Columns, has_key};
use super::rows::Subject;
use super::text::{Constant, Items, literal, tuple, words};
use super::value;

/// The functions of a table's workload.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// The statements with their parameters, each called like its text in `query`.
    pub statements: Vec<Statement>,
    /// The type of the scope; empty where there is none.
    pub scope: String,
    /// The type of the lane.
    pub lane: String,
    /// The type of what who enqueues an event gives.
    pub event: String,
    /// The type of a message that a consumer has.
    pub message: String,
    /// The type of what a batch of finished rows pins; empty where that is nothing.
    pub retention_scope: String,
    /// Finished rows have states.
    pub has_states: bool,
    /// Some name is so long that rustfmt would break lines.
    pub skips: bool,
    /// How values of structs become parameters.
    pub sources: Vec<Source>,
    /// Their types are so long that rustfmt would break lines.
    pub found_is_wide: bool,
    /// How columns of the primary key pass from one statement to the next, where rows are changed by their keys.
    pub found: Vec<FoundField>,
    /// Rows are claimed.
    pub queue: Option<Queue>,
    /// The ways to claim: of the whole scope, and of one lane.
    pub claims: Vec<Claim>,
    /// The branch whose rows may have used up their attempts.
    pub exhausting: Option<String>,
    /// What the column holds that names the worker; 0 where there is none.
    pub token: usize,
    /// What extends a lease.
    pub extends: &'static str,
    /// The state of a row that is done, as a literal.
    pub done: String,
    /// There is a wait between attempts.
    pub backoff: bool,
    /// Some column of the scope has a length.
    pub scope_checks: bool,
    /// There is a column of errors.
    pub error: bool,
    /// Events that would go to where they come from are skipped.
    pub origin: bool,
    /// The functions have the names of the program that the table comes from, too.
    pub seed_names: bool,
    /// The statement that inserts a row, taken apart.
    pub rows: Option<Rows>,
    /// `cleanup` or `archive`.
    pub leavings: Vec<Leaving>,
    /// Finished rows that can be published once more.
    pub republishes: Vec<Republish>,
    /// Archived rows that can be published once more.
    pub restores: Vec<Republish>,
    /// The counts of the metrics.
    pub counts: Vec<Count>,
    /// Their statements.
    pub counted: Items,
    /// Since when the oldest row waits.
    pub oldest: Option<Oldest>,
}

template_object!(Work {
    statements,
    scope,
    lane,
    event,
    message,
    retention_scope,
    has_states,
    skips,
    sources,
    found_is_wide,
    found,
    queue,
    claims,
    exhausting,
    token,
    extends,
    done,
    backoff,
    scope_checks,
    error,
    origin,
    seed_names,
    rows,
    leavings,
    republishes,
    restores,
    counts,
    counted,
    oldest,
});

/// A statement with its parameters.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statement {
    /// The constant of its text in `query`, and its own.
    pub name: String,
    /// Its parameters but for a list of keys.
    pub parameters: Items,
    /// The byte at which the list of keys begins.
    pub keys_at: usize,
    /// The parameters of one key.
    pub keys: Items,
}

template_object!(Statement { name, parameters, keys_at, keys });

/// How values of a struct become parameters.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// The struct.
    pub ty: String,
    /// One for each of its fields.
    pub arms: Vec<Arm>,
}

template_object!(Source { ty, arms });

/// How a value of a column becomes a parameter.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arm {
    /// The column's position in the table.
    pub column: usize,
    /// The value as the driver takes it.
    pub value: String,
}

template_object!(Arm { column, value });

/// A column of the primary key as the driver reads it and takes it back.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundField {
    /// The column's position in the table.
    pub column: usize,
    /// The driver's type.
    pub ty: String,
}

template_object!(FoundField { column, ty });

/// How rows are claimed.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queue {
    /// The fields of the key.
    pub key: Vec<KeyField>,
    /// What reads the attempts so far.
    pub attempt: Option<String>,
    /// What reads the most attempts.
    pub most: Option<String>,
    /// The most attempts, where they are the same for all rows.
    pub most_attempts: Option<String>,
    /// What reads the number of the claim.
    pub seq: Option<String>,
    /// `token`, `seq`, `attempt` or `none`.
    pub fence: &'static str,
    /// The position of the fence's column.
    pub fence_column: usize,
    /// What reads the fence, where it is a number.
    pub fence_read: String,
    /// The position of the state's column.
    pub status: usize,
    /// The state of rows that are given up, as a literal.
    pub dead: Option<String>,
    /// The field by which rows are ordered.
    pub order: Option<String>,
    /// The function that compares it.
    pub compare: &'static str,
    /// What taking a row changes in it: statements.
    pub taken: Vec<String>,
}

template_object!(Queue {
    key,
    attempt,
    most,
    most_attempts,
    seq,
    fence,
    fence_column,
    fence_read,
    status,
    dead,
    order,
    compare,
    taken,
});

/// A field of a key.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyField {
    /// The identifier.
    pub name: String,
    /// The column's position in the table.
    pub column: usize,
    /// The function that reads it.
    pub read: String,
    /// Of a decimal number, the digits behind the point.
    pub scale: Option<u8>,
    /// It is a part of the scope.
    pub in_scope: bool,
    /// Its values are copied rather than cloned.
    pub copied: bool,
}

template_object!(KeyField { name, column, read, scale, in_scope, copied });

/// A way to claim.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// `CLAIM` or `CLAIM_LANE`.
    pub name: &'static str,
    /// The statements of the three branches.
    pub branches: Items,
}

template_object!(Claim { name, branches });

/// The statement that inserts a row, taken apart, all as literals.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rows {
    /// What stands before the first row.
    pub before: String,
    /// What stands between the values of a row.
    pub row: Items,
    /// What stands behind the last row.
    pub after: String,
}

template_object!(Rows { before, row, after });

/// How finished rows leave.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leaving {
    /// `cleanup` or `archive`.
    pub name: &'static str,
    /// The states, or one entry where there are none.
    pub states: Vec<Leave>,
}

template_object!(Leaving { name, states });

/// How finished rows of one state leave.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leave {
    /// The state's variant of `Status`; empty where there are no states.
    pub variant: String,
    /// The statement, or a pair with the one that deletes what it has copied, where that is one of its own for each state.
    pub statements: String,
}

template_object!(Leave { variant, statements });

/// Finished rows of one state that can be published once more.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Republish {
    /// The state's variant of `Status`.
    pub variant: String,
    /// The statement that counts them, and the one that finds them or publishes them.
    pub pair: String,
}

template_object!(Republish { variant, pair });

/// One of the metrics' counts.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Count {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The field.
    pub name: String,
    /// The statement.
    pub statement: String,
}

template_object!(Count { docs, name, statement });

/// Since when the oldest row waits.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Oldest {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// `oldest_pending` or `oldest_due`.
    pub name: String,
    /// The type of the time.
    pub ty: String,
    /// The statement.
    pub statement: String,
}

template_object!(Oldest { docs, name, ty, statement });

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
            skips: longest.is_some_and(|longest| longest > super::queue::PLAIN),
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
            backoff: claim.is_some_and(super::queue::has_retry_time),
            scope_checks: self.has_scope_checks(),
            error: retry.is_some_and(|retry| retry.error.is_some()),
            origin: super::queue::ends(table, &self.columns).is_some(),
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
        let has_length = |at: &usize| super::queue::length(&self.table.columns[*at]).is_some();
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
        if let Some((_, most)) =
            super::queue::default_attempts(self.table).filter(|(most, _)| of == "NewEvent" && *most == at)
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

    /// An expression that reads a number.
    fn number(&mut self, at: usize) -> String {
        let column = &self.table.columns[at];
        if self.dialect.wire(column) == Wire::Numeric {
            self.imports.insert("opt_numeric".to_owned());
            return format!("opt_numeric(row, table::COLUMNS[{at}])?");
        }
        self.imports.insert("get".to_owned());
        let ty = match (self.dialect.wire(column), &column.ty) {
            (Wire::Integer(bits), _) => format!("i{bits}"),
            (_, ColumnType::Int { bytes, unsigned }) => {
                let bits = if *bytes == 3 { 32 } else { u32::from(*bytes) * 8 };
                format!("{}{bits}", if *unsigned { "u" } else { "i" })
            }
            _ => "i64".to_owned(),
        };
        format!("get::<Option<{ty}>>(row, table::COLUMNS[{at}])?")
    }

    fn queue(&mut self) -> Queue {
        let table = self.table;
        let claim = table.claim.as_ref();
        let (retry, lease) =
            (claim.and_then(|claim| claim.retry.as_ref()), claim.and_then(|claim| claim.lease.as_ref()));
        let at = |name: Option<&String>| name.and_then(|name| table.position(name));
        let count = at(retry.and_then(|retry| retry.count.as_ref()));
        let most = retry.map(|retry| &retry.max);
        let most_column = match most {
            Some(crate::schema::format::MaxAttempts::Column(max)) => table.position(&max.column),
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
                Some(crate::schema::format::MaxAttempts::Number(number)) if has_dead => Some(number.to_string()),
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

    fn key(&mut self) -> Vec<KeyField> {
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
    fn taken(&self, count: Option<usize>, seq: Option<usize>, by: Option<usize>, status: usize) -> Vec<String> {
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

    /// The state's variant of `Status`.
    fn variant(&self, state: &str) -> Option<&str> {
        let states = &self.subject.names.states;
        states.iter().find(|(text, _)| text == state).map(|(_, variant)| &**variant)
    }

    fn claims(&self) -> Vec<Claim> {
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

    /// The constant of the statement that does this for this state.
    fn of_state(&self, base: &str, state: &str) -> Option<String> {
        let is = |query: &Query| query.base == base && query.state.as_deref() == Some(state);
        self.queries.iter().find(|(query, _)| is(query)).map(|(_, name)| (*name).to_owned())
    }

    /// Which branch, as `take_exhausted` is for.
    fn exhausting(&self) -> Option<String> {
        self.queries.iter().find(|(query, _)| query.base == "take_exhausted")?;
        let visible = self.table.claim.as_ref().is_some_and(|claim| claim.visibility.is_some());
        Some(if visible { "Pending" } else { "Expired" }.to_owned())
    }

    /// Whether the statement is the first of those by which finished rows leave.
    fn leaves(&self, query: &Query) -> bool {
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

    fn leavings(&self) -> Vec<Leaving> {
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

    fn republishes(&self, base: &str, count: &str) -> Vec<Republish> {
        let of = |(query, name): &(&Query, &str)| {
            let state = query.state.as_deref().filter(|_| query.base == base)?;
            Some(Republish {
                variant: self.variant(state)?.to_owned(),
                pair: pair(&self.of_state(count, state)?, name),
            })
        };
        self.queries.iter().filter_map(of).collect()
    }

    fn counts(&self) -> Vec<Count> {
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

    fn counted(&self) -> Items {
        let statement = |count: &Count| format!("&statement::{}", count.statement);
        Items::of_calls(&self.counts().iter().map(statement).collect::<Vec<_>>())
    }

    fn oldest(&self) -> Option<Oldest> {
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

/// Two statements behind the arrow of a match, as rustfmt lays them out.
fn pair(one: &str, other: &str) -> String {
    tuple(8, &[format!("&statement::{one}"), format!("&statement::{other}")])
}

/// The texts between the placeholders of the list in parentheses that the text begins with, and how long the list is.
fn apart(text: &str, placeholders: &[&str], escapes: bool) -> Option<(Vec<String>, usize)> {
    let (mut texts, mut current, mut quoted, mut depth) = (Vec::new(), String::new(), false, 0_usize);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let placeholder =
            placeholders.get(texts.len()).filter(|placeholder| !quoted && text[at..].starts_with(**placeholder));
        if let Some(placeholder) = placeholder {
            texts.push(std::mem::take(&mut current));
            at += placeholder.len();
            continue;
        }
        match c {
            '\'' => quoted = !quoted,
            '\\' if quoted && escapes => {
                current.push(c);
                at += 1;
                let next = text[at..].chars().next()?;
                current.push(next);
                at += next.len_utf8();
                continue;
            }
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        current.push(c);
        at += c.len_utf8();
        if depth == 0 {
            texts.push(current);
            return (texts.len() == placeholders.len() + 1).then_some((texts, at));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn a_row_is_taken_apart_at_its_own_placeholders() {
        let text = "($1, 'a)$2''(', $2, f(1) + $3) ON CONFLICT ($1)";
        let (texts, length) = apart(text, &["$1", "$2", "$3"], true).expect("a list");
        assert_eq!(texts, ["(", ", 'a)$2''(', ", ", f(1) + ", ")"]);
        assert_eq!(&text[length..], " ON CONFLICT ($1)");
        assert_eq!(apart("(?", &["?"], true), None);
        assert_eq!(apart("(?, f(?))", &["?", "?", "?"], true), None);
        for (text, escapes) in [("('\\', ?)", false), ("('\\'', ?)", true)] {
            assert_eq!(apart(text, &["?"], escapes).map(|(texts, _)| texts.len()), Some(2), "{text}");
        }
    }
}
