//! What the functions of a table take and give, the same for every database: a part of `rust/tables/<table>.rs`.

use crate::schema::format::{Backoff, Claim, MaxAttempts};
use crate::schema::{Column, ColumnType, Table};
use crate::statement::query;
use crate::template::template_object;

use super::table::ColumnItem;
use super::text::{literal, structure};

/// Longest name of a field with which rustfmt leaves our lines as they are.
pub const PLAIN: usize = 20;

/// What the functions of a table take and give.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// Structs of values that callers give.
    pub structs: Vec<Struct>,
    /// Rows are claimed: there are a key, a lease and what claims give.
    pub claims: bool,
    /// The key of a row: `Key { … }` out of `self`.
    pub key_of_row: Vec<String>,
    /// The scope of a key: `Scope { … }` out of `self`; empty where there is no scope.
    pub scope_of_key: Vec<String>,
    /// Some name is so long that rustfmt would break lines.
    pub skips: bool,
    /// What of an event must fit: column, field, `Chars(64)` or `Bytes(255)`.
    pub checks: Vec<Check>,
    /// The imports of the checks: `Bytes`, `Chars`.
    pub lengths: String,
    /// What of a scope must fit.
    pub scope_checks: Vec<Check>,
    /// The imports of these.
    pub scope_lengths: String,
    /// Where an event comes from.
    pub origin: Option<Origin>,
    /// How long a lease lasts, in milliseconds; `None` where there is none.
    pub lease_ms: Option<String>,
    /// How long finished rows are kept, in milliseconds.
    pub keep_ms: Option<String>,
    /// The wait between attempts.
    pub backoff: Option<BackoffItem>,
    /// What the column of errors holds, as an expression.
    pub error: Option<String>,
    /// The most attempts of a new row, where the definition says so.
    pub most_attempts: Option<String>,
    /// Of time: the type of the column that says how old a finished row is.
    pub age: Option<String>,
}

template_object!(Work {
    structs,
    claims,
    key_of_row,
    scope_of_key,
    skips,
    checks,
    lengths,
    scope_checks,
    scope_lengths,
    origin,
    lease_ms,
    keep_ms,
    backoff,
    error,
    most_attempts,
    age,
});

/// A struct of values that callers give.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Struct {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// What it derives.
    pub derives: String,
    /// The identifier.
    pub name: String,
    /// `<'a>`, or nothing.
    pub lifetime: String,
    /// The fields.
    pub fields: Vec<StructField>,
}

template_object!(Struct { docs, derives, name, lifetime, fields });

/// A field of such a struct.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StructField {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The identifier.
    pub name: String,
    /// The type.
    pub ty: String,
    /// Its column's position in the table.
    pub column: usize,
}

template_object!(StructField { docs, name, ty, column });

/// What of an event must fit into its column.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The column's position in the table.
    pub column: usize,
    /// The field.
    pub field: String,
    /// What the column holds.
    pub length: String,
}

template_object!(Check { column, field, length });

/// Where an event comes from, by a field or by a path into its payload.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The field.
    pub field: String,
    /// The field may be NULL.
    pub nullable: bool,
    /// The path into it as a JSON pointer, as a literal.
    pub pointer: Option<String>,
    /// The field holds JSON as text.
    pub is_text: bool,
    /// The field of the scope that says where it goes.
    pub destination: String,
    /// That field may be NULL.
    pub destination_nullable: bool,
}

template_object!(Origin { field, nullable, pointer, is_text, destination, destination_nullable });

/// The wait between attempts.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackoffItem {
    /// In milliseconds.
    pub base_ms: String,
    /// At least 1.
    pub factor: String,
    /// In milliseconds.
    pub cap_ms: String,
    /// From 0 to 1.
    pub jitter: String,
}

template_object!(BackoffItem { base_ms, factor, cap_ms, jitter });

/// Which columns each struct has, as positions in the table.
pub struct Columns {
    /// What every claim pins.
    pub scope: Vec<usize>,
    /// The further column that a claim may pin.
    pub lane: Vec<usize>,
    /// What who enqueues an event gives, without the scope.
    pub event: Vec<usize>,
    /// The scope and the primary key.
    pub key: Vec<usize>,
    /// What an inbox takes.
    pub message: Vec<usize>,
    /// What retention pins, where that is not a part of the scope.
    pub retention: Vec<usize>,
}

impl Columns {
    /// Those of the table.
    pub fn of(table: &Table) -> Columns {
        let at = |names: &[String]| -> Vec<usize> { names.iter().filter_map(|name| table.position(name)).collect() };
        let claim = table.claim.as_ref();
        let scope = claim.map(|claim| at(&claim.scope)).unwrap_or_default();
        let not_in_scope = |columns: Vec<usize>| -> Vec<usize> {
            columns.into_iter().filter(|column| !scope.contains(column)).collect()
        };
        let key = match claim {
            Some(_) => scope.iter().copied().chain(not_in_scope(table.primary_key.clone())).collect(),
            None => Vec::new(),
        };
        let lane = claim.and_then(|claim| claim.lane.clone()).map(|lane| at(&[lane])).unwrap_or_default();
        let pinned = table.retention.as_ref().and_then(|retention| retention.scope.as_ref()).map(|names| at(names));
        let retention = pinned.filter(|pinned| pinned.iter().any(|column| !scope.contains(column)));
        Columns {
            lane,
            event: not_in_scope(query::given(table)),
            key,
            message: query::message(table),
            retention: retention.unwrap_or_default(),
            scope,
        }
    }
}

/// Whether the functions of a claim can be written: rows must be found again by their keys.
pub fn has_key(table: &Table) -> bool {
    let columns = Columns::of(table);
    !columns.key.is_empty() && columns.key.iter().all(|at| table.columns[*at].ty.is_exact())
}

/// What the functions of the table take and give; `None` where it has no work.
pub fn work(table: &Table, items: &[ColumnItem]) -> Option<Work> {
    let columns = Columns::of(table);
    let claims = table.claim.is_some() && has_key(table);
    if !claims && table.inbox.is_none() && table.retention.is_none() {
        return None;
    }
    let all = [&columns.scope, &columns.lane, &columns.event, &columns.key, &columns.message, &columns.retention];
    let longest = all.into_iter().flatten().map(|at| items[*at].field.chars().count()).max();
    let claim = table.claim.as_ref().filter(|_| claims);
    let retry = claim.and_then(|claim| claim.retry.as_ref());
    let error = retry.and_then(|retry| table.column(retry.error.as_ref()?));
    let lease = claim.and_then(|claim| claim.lease.as_ref().map(|lease| lease.lasts).or(claim.visibility));
    let retention = table.retention.as_ref();
    let age = retention.and_then(|retention| table.position(&retention.age));
    let (checks, scope_checks) = match claims {
        true => (checks(table, &columns.event, items), checks(table, &columns.scope, items)),
        false => Default::default(),
    };
    let mut structs = structs(&columns, claims, items);
    if let Some(event) = structs.iter_mut().find(|item| item.name == "NewEvent") {
        for field in &mut event.fields {
            *field = event_field(table, field.column, items);
        }
    }
    Some(Work {
        structs,
        claims,
        key_of_row: key_of_row(&columns, items),
        scope_of_key: scope_of_key(&columns, items),
        skips: longest.is_some_and(|longest| longest > PLAIN),
        lengths: lengths(&checks),
        checks,
        scope_lengths: lengths(&scope_checks),
        scope_checks,
        origin: claim.and_then(|_| origin(table, &columns, items)),
        lease_ms: lease.map(|lease| lease.0.to_string()),
        keep_ms: retention.map(|retention| retention.keep.0.to_string()),
        backoff: retry.filter(|_| claim.is_some_and(has_retry_time)).map(|retry| backoff(&retry.backoff)),
        error: error.map(|column| {
            format!("queue::Length::{}", length(column).unwrap_or_else(|| "Bytes(usize::MAX)".to_owned()))
        }),
        most_attempts: retry.map(|retry| match &retry.max {
            MaxAttempts::Number(number) => number.to_string(),
            MaxAttempts::Column(column) => column.default.to_string(),
        }),
        age: age.map(|age| items[age].ty.clone()),
    })
}

/// Whether a row waits after a failure: a column says how long.
pub fn has_retry_time(claim: &Claim) -> bool {
    claim.due.is_some() || claim.retry.as_ref().is_some_and(|retry| retry.at.is_some())
}

fn structs(columns: &Columns, claims: bool, items: &[ColumnItem]) -> Vec<Struct> {
    let borrowed = |name: &str, docs: &str, of: &[usize], derives: &str| borrowed(name, docs, of, derives, items);
    let all = [
        borrowed(
            "Scope",
            "What every statement of the workload pins.",
            &columns.scope,
            "Clone, Copy, Debug, PartialEq",
        ),
        borrowed(
            "Lane",
            "A part of the scope that can be claimed by itself.",
            &columns.lane,
            "Clone, Copy, Debug, PartialEq",
        ),
        borrowed(
            "NewEvent",
            "What who enqueues an event gives, beside its scope.",
            &columns.event,
            "Clone, Debug, PartialEq",
        ),
        claims.then(|| owned("Key", "Which row it is.", &columns.key, items)),
    ];
    let rest = [
        borrowed("Message", "A message that a consumer has.", &columns.message, "Clone, Copy, Debug, PartialEq"),
        borrowed(
            "RetentionScope",
            "What a batch of finished rows pins.",
            &columns.retention,
            "Clone, Copy, Debug, PartialEq",
        ),
    ];
    let of_claims = all.into_iter().filter(|_| claims).flatten();
    of_claims.chain(rest.into_iter().flatten()).collect()
}

fn fields(columns: &[usize], items: &[ColumnItem], ty: impl Fn(&ColumnItem) -> String) -> Vec<StructField> {
    let field = |at: &usize| {
        let item = &items[*at];
        StructField { docs: item.docs.clone(), name: item.field.clone(), ty: ty(item), column: *at }
    };
    columns.iter().map(field).collect()
}

/// The field of an event that a column is.
pub fn event_field(table: &Table, at: usize, items: &[ColumnItem]) -> StructField {
    let item = &items[at];
    let mut field = StructField { docs: item.docs.clone(), name: item.field.clone(), ty: borrow(&item.ty), column: at };
    if let Some((_, most)) = default_attempts(table).filter(|(column, _)| *column == at) {
        field.docs.extend([String::new(), format!("`None`: {most}.")]);
        field.ty = format!("Option<{}>", field.ty);
    }
    field
}

fn borrowed(name: &str, docs: &str, columns: &[usize], derives: &str, items: &[ColumnItem]) -> Option<Struct> {
    let fields = fields(columns, items, |item| borrow(&item.ty));
    let lifetime = if fields.iter().any(|field| field.ty.contains("'a")) { "<'a>" } else { "" };
    (!fields.is_empty()).then(|| Struct {
        docs: vec![docs.to_owned()],
        derives: derives.to_owned(),
        name: name.to_owned(),
        lifetime: lifetime.to_owned(),
        fields,
    })
}

fn owned(name: &str, docs: &str, columns: &[usize], items: &[ColumnItem]) -> Struct {
    Struct {
        docs: vec![docs.to_owned()],
        derives: "Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash".to_owned(),
        name: name.to_owned(),
        lifetime: String::new(),
        fields: fields(columns, items, |item| item.ty.clone()),
    }
}

/// The type of a value that is only looked at.
fn borrow(ty: &str) -> String {
    if let Some(inner) = ty.strip_prefix("Option<").and_then(|inner| inner.strip_suffix('>')) {
        return format!("Option<{}>", borrow(inner));
    }
    match ty {
        "String" => "&'a str".to_owned(),
        "Vec<u8>" => "&'a [u8]".to_owned(),
        "serde_json::Value" | "bigdecimal::BigDecimal" => format!("&'a {ty}"),
        copied => copied.to_owned(),
    }
}

/// Whether a value of the type is copied rather than borrowed.
fn is_copied(ty: &str) -> bool {
    !borrow(ty).contains("&'a")
}

fn key_of_row(columns: &Columns, items: &[ColumnItem]) -> Vec<String> {
    let field = |at: &usize| {
        let item = &items[*at];
        let clone = if is_copied(&item.ty) { "" } else { ".clone()" };
        format!("{0}: self.{0}{clone}", item.field)
    };
    structure("Key", &columns.key.iter().map(field).collect::<Vec<_>>())
}

fn scope_of_key(columns: &Columns, items: &[ColumnItem]) -> Vec<String> {
    let field = |at: &usize| {
        let item = &items[*at];
        match (is_copied(&item.ty), item.ty.as_str()) {
            (true, _) => format!("{0}: self.{0}", item.field),
            (false, "Option<String>" | "Option<Vec<u8>>") => format!("{0}: self.{0}.as_deref()", item.field),
            (false, ty) if ty.starts_with("Option<") => format!("{0}: self.{0}.as_ref()", item.field),
            (false, _) => format!("{0}: &self.{0}", item.field),
        }
    };
    match columns.scope.is_empty() {
        true => Vec::new(),
        false => structure("Scope", &columns.scope.iter().map(field).collect::<Vec<_>>()),
    }
}

/// What a column of text or bytes holds.
pub fn length(column: &Column) -> Option<String> {
    Some(match &column.ty {
        ColumnType::Char(most) | ColumnType::Varchar(most) => format!("Chars({most})"),
        ColumnType::Binary(most) | ColumnType::Varbinary(most) => format!("Bytes({most})"),
        ColumnType::Text(size) | ColumnType::Blob(size) => format!("Bytes({})", size.bytes()),
        _ => return None,
    })
}

/// What of these columns must fit.
fn checks(table: &Table, columns: &[usize], items: &[ColumnItem]) -> Vec<Check> {
    columns.iter().filter_map(|at| check(table, *at, items)).collect()
}

fn check(table: &Table, at: usize, items: &[ColumnItem]) -> Option<Check> {
    let is_text = borrow(&items[at].ty).contains("&'a str") || borrow(&items[at].ty).contains("&'a [u8]");
    let length = length(&table.columns[at]).filter(|_| is_text)?;
    Some(Check { column: at, field: items[at].field.clone(), length })
}

fn lengths(checks: &[Check]) -> String {
    let has = |name: &str| checks.iter().any(|check| check.length.starts_with(name));
    match (has("Bytes"), has("Chars")) {
        (true, true) => "{Bytes, Chars}".to_owned(),
        (true, false) => "Bytes".to_owned(),
        _ => "Chars".to_owned(),
    }
}

/// The columns that say where an event comes from and where it goes, the second being the last one of the scope. A column
/// of the scope is both, and says nothing.
pub fn ends(table: &Table, columns: &Columns) -> Option<(usize, usize)> {
    let claim = table.claim.as_ref()?;
    let origin = claim.origin.as_ref()?;
    let is_path = origin.starts_with("$.");
    let is_text = |at: &usize| {
        matches!(table.columns[*at].ty, ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_))
    };
    let destination = *columns.scope.last().filter(|at| is_text(at))?;
    let name = if is_path { claim.event.as_ref()?.payload.as_ref()? } else { origin };
    let readable = |at: &usize| is_text(at) || is_path && table.columns[*at].ty == ColumnType::Json;
    let at = table.position(name).filter(|at| columns.event.contains(at) && readable(at))?;
    Some((at, destination))
}

fn origin(table: &Table, columns: &Columns, items: &[ColumnItem]) -> Option<Origin> {
    let (at, destination) = ends(table, columns)?;
    let path = table.claim.as_ref()?.origin.as_ref()?.strip_prefix("$.");
    let escaped = |part: &str| part.replace('~', "~0").replace('/', "~1");
    let pointer = |path: &str| literal(&path.split('.').map(|part| format!("/{}", escaped(part))).collect::<String>());
    Some(Origin {
        field: items[at].field.clone(),
        nullable: table.columns[at].nullable,
        pointer: path.map(pointer),
        is_text: !matches!(table.columns[at].ty, ColumnType::Json),
        destination: items[destination].field.clone(),
        destination_nullable: table.columns[destination].nullable,
    })
}

fn backoff(backoff: &Backoff) -> BackoffItem {
    BackoffItem {
        base_ms: backoff.base.0.to_string(),
        factor: format!("{:?}", backoff.factor),
        cap_ms: backoff.cap.0.to_string(),
        jitter: format!("{:?}", backoff.jitter),
    }
}

/// The column of an event that says its most attempts, and what it holds where the caller says nothing.
pub fn default_attempts(table: &Table) -> Option<(usize, u32)> {
    let MaxAttempts::Column(max) = &table.claim.as_ref()?.retry.as_ref()?.max else { return None };
    let at = table.position(&max.column)?;
    (!table.columns[at].nullable).then_some((at, max.default))
}
