//! `rust/`: constants, rows and enums of every table, and rows out of and into each database; as a tree of modules, or as
//! one file for `include!`.

pub mod events;
pub mod names;
pub mod needs;
pub mod publish;
pub mod queue;
pub mod rows;
pub mod table;
pub mod text;
pub mod value;
pub mod work;

mod plan;
mod settings;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::output::GeneratedFile;
use crate::template::template_object;

use super::super::{Context, Header};
use super::Target;
#[cfg(feature = "schema")]
use super::TemplateContext;

use needs::Parts;
use plan::{DialectPlan, Plan};
#[cfg(feature = "schema")]
use rows::RowsFile;
pub use settings::{BROKERS, Settings, broker};
#[cfg(feature = "schema")]
use table::TableFile;

const ROOT: &str = "rust/mod.rs.jinja";
const TYPES: &str = "rust/types.rs.jinja";
const QUEUE: &str = "rust/queue.rs.jinja";
const TABLES: &str = "rust/tables.rs.jinja";
const TABLE: &str = "rust/table.rs.jinja";
const DIALECT: &str = "rust/dialect.rs.jinja";
const ROWS: &str = "rust/rows.rs.jinja";
const BROKER: &str = "rust/broker.rs.jinja";
const KAFKA: &str = "rust/kafka.rs.jinja";
const NATS: &str = "rust/nats.rs.jinja";
const RELAY: &str = "rust/relay.rs.jinja";
const BUS: &str = "rust/bus.rs.jinja";
const BACKLOG: &str = "rust/backlog.rs.jinja";
/// Parts of those above, which include them.
#[cfg(feature = "schema")]
const PARTS: [&str; 6] = [
    "rust/events.rs.jinja",
    "rust/given.rs.jinja",
    "rust/published.rs.jinja",
    "rust/work.rs.jinja",
    "rust/functions.rs.jinja",
    "rust/outbox.rs.jinja",
];

/// Rust code.
pub struct Rust;

/// The root of the modules: `rust/mod.rs`, or the one file for `include!`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RootFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// The lines of `[dependencies]` that the code needs.
    pub dependencies: Vec<String>,
    /// `types`, `tables`, and one module for each database.
    pub modules: Vec<Module>,
}

template_object!(RootFile { header, dependencies, modules });

/// A module.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Module {
    /// The identifier.
    pub name: String,
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// What stands in it, where it has no file of its own.
    pub content: Option<String>,
}

template_object!(Module { name, docs, content });

/// What tables share: `rust/types.rs`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypesFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// What of it is needed.
    pub parts: Parts,
}

template_object!(TypesFile { header, parts });

/// What the workloads of all databases share: `rust/queue.rs`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// The errors of sqlx's drivers.
    pub drivers: Vec<DriverErrors>,
}

template_object!(QueueFile { header, drivers });

/// What relays and consumers of all databases share: `rust/broker.rs`, `rust/relay.rs`, `rust/bus.rs` and one
/// for each kind of broker.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelayFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// What happens is counted by the crate metrics.
    pub metrics: bool,
    /// What happens is shown by the crate tracing.
    pub tracing: bool,
}

template_object!(RelayFile { header, metrics, tracing });

/// The errors of one of sqlx's drivers.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriverErrors {
    /// Their type.
    pub error: &'static str,
    /// Whether `error` says that the same may succeed in a new transaction: an expression.
    pub is_retryable: &'static str,
    /// The name of the constraint that `error` is about, if it tells one: an expression.
    pub violated: &'static str,
}

template_object!(DriverErrors { error, is_retryable, violated });

/// The modules of all tables: `rust/tables/mod.rs`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TablesFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// One module for each table.
    pub modules: Vec<Module>,
}

template_object!(TablesFile { header, modules });

/// What the tables of one database share: `rust/<dialect>/mod.rs`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DialectFile {
    /// To be printed within the first five lines.
    pub header: Header,
    /// The path of sqlx's `Database`.
    pub database: String,
    /// The path of sqlx's row.
    pub row: String,
    /// The functions that its tables use: `get`, `from_i16`, `opt_decimal` …
    pub functions: Vec<String>,
    /// One of them has an error to report.
    pub undecodable: bool,
    /// Decimal numbers are text in the database.
    pub decimal_is_text: bool,
    /// The types of `types` that sqlx reads and writes.
    pub held: Vec<Held>,
    /// Some table has a workload.
    pub work: bool,
    /// How rows are taken: `select_then_update`, `update_from_select` or `update_by_row_id`.
    pub take: &'static str,
    /// What begins a transaction, as a literal.
    pub begin: String,
    /// What waits for some seconds, as a literal.
    pub pause: Option<String>,
    /// Placeholders are numbered.
    pub numbered: bool,
    /// Numbers of keys that a statement is written for.
    pub sizes: Vec<usize>,
    /// How statements say the time.
    pub clocks: Vec<Clock>,
    /// One module for each table.
    pub modules: Vec<Module>,
}

template_object!(DialectFile {
    header,
    database,
    row,
    functions,
    undecodable,
    decimal_is_text,
    held,
    work,
    take,
    begin,
    pause,
    numbered,
    sizes,
    clocks,
    modules,
});

/// How statements say the current time, and how they could say another, with `{}` for its milliseconds: literals.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// The current time.
    pub now: String,
    /// Another.
    pub then: String,
    /// That stands on a line of its own.
    pub breaks: bool,
}

template_object!(Clock { now, then, breaks });

/// A type of `types` that sqlx reads and writes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Held {
    /// Behind `impl`, its parameters as they are declared; may be empty.
    pub generics: String,
    /// The type.
    pub ty: String,
    /// The type of the driver's that it is.
    pub wire: String,
    /// `self` as a value that the driver writes.
    pub encode: String,
    /// `value`, which the driver has read, as the type.
    pub decode: String,
}

template_object!(Held { generics, ty, wire, encode, decode });

/// The dialects, each with whether rows are decoded in its files: where two share a driver, it is the first one.
fn decoding<'a>(dialects: &'a [&'static dyn Dialect]) -> impl Iterator<Item = (&'static dyn Dialect, bool)> + 'a {
    let first = |at: usize| dialects[..at].iter().all(|before| before.driver() != dialects[at].driver());
    (0..dialects.len()).map(move |at| (dialects[at], first(at)))
}

fn dialect_docs(dialect: &dyn Dialect) -> Vec<String> {
    vec![format!("Rows, names of indexes and names of constraints on {}.", dialect.engine().title)]
}

fn module(name: &str, docs: Vec<String>, content: Option<String>) -> Module {
    Module { name: name.to_owned(), docs, content }
}

const TYPES_DOCS: &str = "What tables share.";
const QUEUE_DOCS: &str = "What the functions of workloads take and give.";
const BROKER_DOCS: &str = "What goes through brokers, and who hands it to them.";
const KAFKA_DOCS: &str = "Brokers that speak the Kafka protocol.";
const NATS_DOCS: &str = "NATS JetStream.";
const RELAY_DOCS: &str = "From tables to brokers.";
const BUS_DOCS: &str = "Events, and who handles them.";
const BACKLOG_DOCS: &str = "What waits in an event bus, as its consumer would see it.";
const TABLES_DOCS: &str = "The tables: the same on every database.";

impl Target for Rust {
    fn id(&self) -> &'static str {
        "rust"
    }

    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>> {
        let plan = Plan::new(context)?;
        let mut files = Vec::new();
        let mut add = |path: String, content: String| files.push(GeneratedFile { path, content });
        let mut modules = vec![
            module("types", vec![TYPES_DOCS.to_owned()], None),
            module("tables", vec![TABLES_DOCS.to_owned()], None),
        ];
        for (dialect, files) in context.dialects.iter().zip(of_dialects(context, &plan)?) {
            files.into_iter().for_each(|(path, content)| add(path, content));
            modules.push(module(dialect.engine().id, dialect_docs(*dialect), None));
        }
        for (name, content) in plan.modules.iter().zip(plan.table_contents(context)?) {
            add(format!("rust/tables/{name}.rs"), content);
        }
        add("rust/tables/mod.rs".to_owned(), plan.tables(context, plan.table_modules(context.catalog, None))?);
        add("rust/types.rs".to_owned(), plan.types(context)?);
        if let Some(queue) = plan.queue(context)? {
            add("rust/queue.rs".to_owned(), queue);
            modules.insert(1, module("queue", vec![QUEUE_DOCS.to_owned()], None));
        }
        for (name, docs, content) in plan.shared(context)? {
            add(format!("rust/{name}.rs"), content);
            modules.insert(modules.len() - context.dialects.len() - 1, module(name, vec![docs.to_owned()], None));
        }
        add("rust/mod.rs".to_owned(), plan.root(context, modules)?);
        Ok(files)
    }

    fn folders(&self, dialects: &[&'static dyn Dialect]) -> Vec<String> {
        let of_dialects = dialects.iter().map(|dialect| format!("rust/{}", dialect.engine().id));
        of_dialects.chain(["rust/tables".to_owned()]).collect()
    }

    #[cfg(feature = "schema")]
    fn contexts(&self) -> Vec<TemplateContext> {
        vec![
            TemplateContext::of::<RootFile>(ROOT),
            TemplateContext::of::<TypesFile>(TYPES),
            TemplateContext::of::<QueueFile>(QUEUE),
            TemplateContext::of::<TablesFile>(TABLES),
            TemplateContext::of::<TableFile>(TABLE),
            TemplateContext::of::<DialectFile>(DIALECT),
            TemplateContext::of::<RowsFile>(ROWS),
            TemplateContext::of::<RelayFile>(BROKER),
            TemplateContext::of::<RelayFile>(KAFKA),
            TemplateContext::of::<RelayFile>(NATS),
            TemplateContext::of::<RelayFile>(RELAY),
            TemplateContext::of::<RelayFile>(BUS),
            TemplateContext::of::<RelayFile>(BACKLOG),
            TemplateContext::of::<TableFile>(PARTS[0]),
            TemplateContext::of::<TableFile>(PARTS[1]),
            TemplateContext::of::<DialectFile>(PARTS[2]),
            TemplateContext::of::<RowsFile>(PARTS[3]),
            TemplateContext::of::<RowsFile>(PARTS[4]),
            TemplateContext::of::<RowsFile>(PARTS[5]),
        ]
    }
}

/// The files of each database, by path and content: one thread for each, since these are most of all files.
fn of_dialects(context: &Context<'_>, plan: &Plan) -> Result<Vec<Vec<(String, String)>>> {
    std::thread::scope(|scope| {
        let of = |(dialect, decodes): (&'static dyn Dialect, bool)| {
            scope.spawn(move || {
                let id = dialect.engine().id;
                let rows = DialectPlan::new(context, plan, dialect, decodes);
                let tables = plan.modules.iter().map(|name| format!("rust/{id}/{name}.rs"));
                let mut files: Vec<_> = tables.zip(rows.contents(context)?).collect();
                let modules = plan.table_modules(context.catalog, None);
                files.push((format!("rust/{id}/mod.rs"), rows.render(context, modules)?));
                Ok(files)
            })
        };
        let threads: Vec<_> = decoding(context.dialects).map(of).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The same items as one file for `include!`, without inner attributes: `<dialect>.rs`, or `tables.rs` without a
/// database.
pub fn bundle(context: &Context<'_>) -> Result<GeneratedFile> {
    let plan = Plan::new(context)?;
    let bodies = |contents: Vec<String>| contents.iter().map(|content| body(content)).collect::<Vec<_>>();
    let tables = plan.table_modules(context.catalog, Some(bodies(plan.table_contents(context)?)));
    let mut modules = vec![
        module("types", vec![TYPES_DOCS.to_owned()], Some(body(&plan.types(context)?))),
        module("tables", vec![TABLES_DOCS.to_owned()], Some(body(&plan.tables(context, tables)?))),
    ];
    if let Some(queue) = plan.queue(context)? {
        modules.insert(1, module("queue", vec![QUEUE_DOCS.to_owned()], Some(body(&queue))));
    }
    for (name, docs, content) in plan.shared(context)? {
        modules.insert(modules.len() - 1, module(name, vec![docs.to_owned()], Some(body(&content))));
    }
    for (dialect, decodes) in decoding(context.dialects) {
        let rows = DialectPlan::new(context, &plan, dialect, decodes);
        let contents = bodies(rows.contents(context)?);
        let content = rows.render(context, plan.table_modules(context.catalog, Some(contents)))?;
        modules.push(module(dialect.engine().id, dialect_docs(dialect), Some(body(&content))));
    }
    let name = context.dialects.first().map_or("tables", |dialect| dialect.engine().id);
    Ok(GeneratedFile { path: format!("{name}.rs"), content: plan.root(context, modules)? })
}

/// A file's text without the comment at its head.
fn body(content: &str) -> String {
    let is_head = |line: &&str| line.is_empty() || line.starts_with("//") && !line.starts_with("///");
    let lines: Vec<&str> = content.lines().skip_while(is_head).collect();
    lines.join("\n")
}
