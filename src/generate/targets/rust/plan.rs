//! What is decided before any file is rendered: about the tables, and about one database.

use std::collections::BTreeSet;

use crate::dialect::{Dialect, Driver, HeldTime, Take, Wire};
use crate::error::Result;
use crate::generate::{Context, model};
use crate::schema::names::assign;
use crate::schema::{Catalog, Table};
use crate::statement::query::queries;
use crate::workload;

use super::names::Idents;
use super::needs::{self, Need, Needs, Parts};
use super::rows::{self, RowsFile};
use super::table::{self, Names, TableFile};
use super::{
    BACKLOG, BACKLOG_DOCS, BROKER, BROKER_DOCS, BUS, BUS_DOCS, Clock, DIALECT, DialectFile, DriverErrors, Held, KAFKA,
    KAFKA_DOCS, Module, NATS, NATS_DOCS, QUEUE, QueueFile, RELAY, RELAY_DOCS, ROOT, ROWS, RelayFile, RootFile, TABLE,
    TABLES, TYPES, TablesFile, TypesFile,
};
use super::{text, value};

/// Everything about the tables that does not depend on a database.
pub struct Plan {
    /// The identifiers of the tables' modules, in the order of the catalog.
    pub modules: Vec<String>,
    names: Vec<Names>,
    files: Vec<TableFile>,
    needs: Needs,
}

impl Plan {
    pub fn new(context: &Context<'_>) -> Result<Plan> {
        context.rust.check(context.catalog)?;
        let mut idents = Idents::default();
        let mut plan = Plan { modules: Vec::new(), names: Vec::new(), files: Vec::new(), needs: Needs::new() };
        for table in &context.catalog.tables {
            let origin = model::origin(context.catalog, table);
            let (file, names) = table::file(
                &context.header,
                (table, origin),
                context.rust,
                !context.dialects.is_empty(),
                &mut plan.needs,
            );
            plan.modules.push(idents.module(table));
            plan.names.push(names);
            plan.files.push(file);
        }
        Ok(plan)
    }

    /// The modules of all tables; `contents` are what stands in them, if they have no files of their own.
    pub fn table_modules(&self, catalog: &Catalog, contents: Option<Vec<String>>) -> Vec<Module> {
        let mut contents = contents.into_iter().flatten();
        let of = |(name, table): (&String, &Table)| {
            let about = text::prose(table.description.as_deref().unwrap_or_default());
            let name_of = text::code(&table.name.to_string());
            let docs = match about.is_empty() {
                true => vec![format!("{name_of}.")],
                false => vec![about, String::new(), format!("{name_of}.")],
            };
            Module { name: name.clone(), docs, content: contents.next() }
        };
        self.modules.iter().zip(&catalog.tables).map(of).collect()
    }

    /// `types`, `tables` and one module for each database.
    pub fn root(&self, context: &Context<'_>, modules: Vec<Module>) -> Result<String> {
        let mut drivers: Vec<&Driver> = context.dialects.iter().map(|dialect| dialect.driver()).collect();
        drivers.dedup();
        let dependencies = needs::dependencies(&self.needs, &drivers, context.rust);
        context.templates.render(ROOT, &RootFile { header: context.header.clone(), dependencies, modules })
    }

    pub fn types(&self, context: &Context<'_>) -> Result<String> {
        let file = TypesFile { header: context.header.clone(), parts: Parts::of(&self.needs) };
        context.templates.render(TYPES, &file)
    }

    /// What the workloads of all databases share, if there are any.
    pub fn queue(&self, context: &Context<'_>) -> Result<Option<String>> {
        if !self.needs.contains(&Need::Queue) {
            return Ok(None);
        }
        let mut drivers: Vec<&Driver> = context.dialects.iter().map(|dialect| dialect.driver()).collect();
        drivers.dedup();
        let errors = drivers.into_iter().map(|driver| DriverErrors {
            error: driver.error,
            is_retryable: driver.is_retryable,
            violated: driver.violated,
        });
        let file = QueueFile { header: context.header.clone(), drivers: errors.collect() };
        context.templates.render(QUEUE, &file).map(Some)
    }

    /// What relays of all databases share, by module; nothing where nothing is published.
    pub fn shared(&self, context: &Context<'_>) -> Result<Vec<(&'static str, &'static str, String)>> {
        let modules = [
            (Need::Bus, "backlog", BACKLOG_DOCS, BACKLOG),
            (Need::Relay, "broker", BROKER_DOCS, BROKER),
            (Need::Bus, "bus", BUS_DOCS, BUS),
            (Need::Kafka, "kafka", KAFKA_DOCS, KAFKA),
            (Need::Nats, "nats", NATS_DOCS, NATS),
            (Need::Relay, "relay", RELAY_DOCS, RELAY),
        ];
        let file =
            RelayFile { header: context.header.clone(), metrics: context.rust.metrics, tracing: context.rust.tracing };
        let needed = modules.into_iter().filter(|(need, ..)| self.needs.contains(need));
        needed.map(|(_, name, docs, template)| Ok((name, docs, context.templates.render(template, &file)?))).collect()
    }

    pub fn tables(&self, context: &Context<'_>, modules: Vec<Module>) -> Result<String> {
        context.templates.render(TABLES, &TablesFile { header: context.header.clone(), modules })
    }

    pub fn table_contents(&self, context: &Context<'_>) -> Result<Vec<String>> {
        self.files.iter().map(|file| context.templates.render(TABLE, file)).collect()
    }
}

/// What one database adds.
pub struct DialectPlan {
    files: Vec<RowsFile>,
    file: DialectFile,
}

impl DialectPlan {
    pub fn new(context: &Context<'_>, plan: &Plan, dialect: &dyn Dialect, decodes: bool) -> DialectPlan {
        let catalog = workload::indexed(context.catalog, dialect.engine());
        let objects = assign(&catalog, dialect.engine());
        let queries = queries(context.catalog, dialect);
        let of_table = |at: usize| queries.iter().find(|queries| queries.table == at).map(|queries| &*queries.queries);
        let files: Vec<RowsFile> = (0..catalog.tables.len())
            .map(|at| {
                let subject = rows::Subject {
                    table: &catalog.tables[at],
                    module: &plan.modules[at],
                    names: &plan.names[at],
                    objects: &objects[at],
                    queries: of_table(at).unwrap_or_default(),
                };
                rows::file(&context.header, &subject, dialect, decodes)
            })
            .collect();
        let functions: BTreeSet<&String> = files.iter().flat_map(|file| &file.functions).collect();
        let columns = || catalog.tables.iter().flat_map(|table| &table.columns);
        let decimal_is_text = columns().any(|column| value::is_decimal(column) && dialect.wire(column) == Wire::Text);
        let driver = dialect.driver();
        let plain = |name: &String| name == "get" || name.contains("to_") || name.ends_with("_padded");
        let undecodable = |name: &String| !plain(name) && (decimal_is_text || !name.ends_with("decimal"));
        let file = DialectFile {
            header: context.header.clone(),
            undecodable: functions.iter().any(|name| undecodable(name)),
            database: driver.database.to_owned(),
            row: driver.row.to_owned(),
            functions: functions.into_iter().cloned().collect(),
            decimal_is_text,
            work: files.iter().any(|file| file.work.is_some()),
            take: take(dialect),
            begin: text::literal(dialect.begin()),
            pause: dialect.pause().map(text::literal),
            numbered: dialect.placeholder(1) != dialect.placeholder(2),
            sizes: dialect.key_counts().to_vec(),
            clocks: clocks(&catalog, dialect),
            held: if decodes { held(&plan.needs, driver) } else { Vec::new() },
            modules: Vec::new(),
        };
        DialectPlan { files, file }
    }

    pub fn contents(&self, context: &Context<'_>) -> Result<Vec<String>> {
        self.files.iter().map(|file| context.templates.render(ROWS, file)).collect()
    }

    pub fn render(self, context: &Context<'_>, modules: Vec<Module>) -> Result<String> {
        context.templates.render(DIALECT, &DialectFile { modules, ..self.file })
    }
}

/// How rows are taken, as templates ask for it.
pub fn take(dialect: &dyn Dialect) -> &'static str {
    match dialect.take() {
        Take::SelectThenUpdate => "select_then_update",
        Take::UpdateFromSelect => "update_from_select",
        Take::UpdateByRowId => "update_by_row_id",
    }
}

/// The current times that statements of these tables say, the longest first, since one may be a part of another.
fn clocks(catalog: &Catalog, dialect: &dyn Dialect) -> Vec<Clock> {
    let times = catalog.tables.iter().flat_map(|table| table.columns.iter().filter(|column| table.holds_time(column)));
    let moments: BTreeSet<(String, String)> = times.map(|column| dialect.moment(&column.ty)).collect();
    let mut moments: Vec<(String, String)> = moments.into_iter().collect();
    moments.sort_by_key(|(now, _)| std::cmp::Reverse(now.len()));
    moments.iter().map(|(now, then)| clock(now, then)).collect()
}

fn clock(now: &str, then: &str) -> Clock {
    let then = text::literal(then);
    Clock { now: text::literal(now), breaks: text::breaks(4, "let then =", &format!("{then};")), then }
}

/// The types of `types` that sqlx reads and writes with the driver.
fn held(needs: &Needs, driver: &Driver) -> Vec<Held> {
    let mut held = Vec::new();
    if needs.contains(&Need::EpochMs) {
        held.push(Held {
            generics: String::new(),
            ty: "types::EpochMs".to_owned(),
            wire: "i64".to_owned(),
            encode: "self.0".to_owned(),
            decode: "types::EpochMs(value)".to_owned(),
        });
    }
    if needs.contains(&Need::Utc) {
        held.extend(driver.times.iter().map(held_time));
    }
    held
}

fn held_time(time: &HeldTime) -> Held {
    let (generics, zoned) = match time.zoned {
        None => ("<const ZONED: bool, const DIGITS: u16>", "ZONED".to_owned()),
        Some(zoned) => ("<const DIGITS: u16>", zoned.to_string()),
    };
    Held {
        generics: generics.to_owned(),
        ty: format!("types::Utc<{zoned}, DIGITS>"),
        wire: time.ty.to_owned(),
        encode: time.encode.to_owned(),
        decode: format!("types::Utc::new({})", time.decode),
    }
}
