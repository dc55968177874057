//! The main job on an embedded database: a governed outbox, the claim of the incident, and the generated ones.

mod backlog;

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::Source;
use crate::dialect::live::{Bind, Cost, Embedded};
use crate::dialect::{Dialect, EMBEDDED};
use crate::error::{Error, Result};
use crate::schema::{Catalog, load};
use crate::statement;
use crate::statement::query::{Query, queries};

/// Rows of the backlog.
pub const ROWS: u32 = 200_000;

/// Rows that each claim asks for.
pub const LIMIT: i64 = 100;

/// The table of the demo.
pub const TABLE: &str = "wallet_outbox";

/// The definitions that the demo uses, as they stand in `schemas/`.
const DEFINITIONS: &str = include_str!("../../schemas/governed_outboxes.json");

/// One statement and what it cost.
#[derive(Debug)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// It is one of the generated statements.
    pub generated: bool,
    /// What it cost.
    pub cost: Cost,
}

/// Makes the table in a database file below `folder`, loads it and runs the claims. `loaded` hears how many of [`ROWS`] are
/// there.
pub fn run(folder: &Path, loaded: &mut dyn FnMut(u32)) -> Result<Vec<Line>> {
    let catalog = catalog();
    let mut database = Embedded::open(&folder.join("demo.db"))?;
    for statement in schema(&catalog, EMBEDDED) {
        database.run(&statement)?;
    }
    backlog::load(&mut database, ROWS, loaded)?;
    let generated = claims(&catalog)?;
    let mut lines = Vec::new();
    for (name, scope) in [("the claim of the incident", ""), ("the same with app_code", "app_code = ? AND ")] {
        let binds = scope.is_empty().then(Vec::new).unwrap_or_else(|| vec![Bind::Text(backlog::TENANT.to_owned())]);
        let cost = database.measure(&incident(scope), &binds)?;
        lines.push(Line { name: name.to_owned(), generated: false, cost });
    }
    for query in generated {
        let (sql, binds) = finding(&query)?;
        let cost = database.measure(sql, &binds)?;
        lines.push(Line { name: query.name, generated: true, cost });
    }
    Ok(lines)
}

/// The part of a claim that finds its rows, so that finding is compared with finding: the incident's claim took its rows
/// by a second statement.
fn finding(query: &Query) -> Result<(&str, Vec<Bind>)> {
    let part = query.sql.split_once("IN (\n").and_then(|(_, rest)| rest.rsplit_once("\n)"));
    let (select, _) = part.ok_or_else(|| Error::new(format!("`{}` has no part that finds its rows", query.name)))?;
    let count = select.matches('?').count();
    let parameters = &query.parameters[query.parameters.len().saturating_sub(count)..];
    Ok((select, parameters.iter().map(|parameter| bind(&parameter.name)).collect()))
}

fn catalog() -> Catalog {
    let source = Source::new("governed_outboxes.json", DEFINITIONS);
    let mut catalog = load::load(&[Arc::new(source)]).0;
    catalog.tables.retain(|table| table.name.name == TABLE);
    catalog
}

fn schema(catalog: &Catalog, dialect: &dyn Dialect) -> Vec<String> {
    let script = statement::schema(catalog, dialect);
    script.tables.into_iter().flat_map(|table| table.statements).map(|statement| statement.sql).collect()
}

/// The generated claims, one for each branch.
fn claims(catalog: &Catalog) -> Result<Vec<Query>> {
    let all = queries(catalog, EMBEDDED).into_iter().flat_map(|table| table.queries);
    let claims: Vec<Query> = all.filter(|query| query.name.starts_with("claim_")).collect();
    match claims.is_empty() {
        true => Err(Error::new("the demo's definition has no claim")),
        false => Ok(claims),
    }
}

fn bind(parameter: &str) -> Bind {
    match parameter {
        "limit" => Bind::Integer(LIMIT),
        "app_code" => Bind::Text(backlog::TENANT.to_owned()),
        other => Bind::Text(other.to_owned()),
    }
}

/// The shape that brought the server down: three states by OR, with or without the tenant.
fn incident(scope: &str) -> String {
    let now = backlog::NOW;
    format!(
        "SELECT * FROM {TABLE}
         WHERE {scope}(status = 'pending'
            OR (status = 'retryable' AND next_retry_at_ms <= {now})
            OR (status = 'delivering' AND lock_until_ms <= {now}))
         ORDER BY created_at_ms
         LIMIT {LIMIT}"
    )
}
