//! SQL that others wrote → findings: which statements on a queue read more rows than they return, or take the wrong ones.
//!
//! Files become texts of SQL ([`crate::sql`]), texts become statements, and each block of a statement that reads a known
//! table is given to every rule. Nothing here touches the disk but [`files`].

pub mod baseline;
mod branches;
mod claim;
pub mod files;
pub mod finder;
mod judge;
mod mend;
mod predicate;
mod retention;
mod roles;
pub mod rule;
pub mod rules;
mod service;
mod shared;
mod suppress;
mod tables;
pub mod unit;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Level, Source, sort};
use crate::dialect::{self, Dialect};
use crate::schema::Catalog;

use rule::Usage;
use shared::Shared;
use tables::Tables;

/// What a run is asked for.
#[derive(Clone)]
pub struct Options {
    /// Tables without a definition that are queues: names, in which `*` stands for any text.
    pub queue_tables: Vec<String>,
    /// Columns that are the scope of tables without a definition, where they have them.
    pub scope: Vec<String>,
    /// The databases that statements may be for.
    pub dialects: Vec<&'static dyn Dialect>,
    /// Levels of rules that are not their own; `None`: off.
    pub levels: BTreeMap<String, Option<Level>>,
    /// Tables of other projects: known here, and judged there.
    pub foreign: Catalog,
    /// Statements that make tables, as a database tells them, and the database: what is known of tables where neither
    /// definitions nor the linted files say more.
    pub made: Option<(&'static dyn Dialect, Vec<String>)>,
    /// Folders, as reports show them, with the services that their files belong to; the longest that fits is meant.
    pub services: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        let queues =
            ["*outbox*", "*inbox*", "*_queue", "*_jobs", "*job_queue*", "*task_queue*", "jobs", "queue", "queues"];
        Options {
            queue_tables: queues.map(str::to_owned).into(),
            scope: vec!["app_code".to_owned()],
            dialects: dialect::ALL.to_vec(),
            levels: BTreeMap::new(),
            foreign: Catalog::default(),
            made: None,
            services: Vec::new(),
        }
    }
}

impl Options {
    /// The service that a file belongs to.
    pub fn service(&self, path: &str) -> Option<&str> {
        let inside = |folder: &str| {
            let folder = folder.trim_end_matches('/');
            folder == "." || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let fits = self.services.iter().filter(|(folder, _)| inside(folder));
        fits.max_by_key(|(folder, _)| folder.len()).map(|(_, service)| &**service)
    }
}

/// A file to be linted.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its path as reports show it, and its text.
    pub source: Arc<Source>,
    /// Its name's ending, in lower case.
    pub extension: String,
    /// It is not linted: others use names that it gives to texts.
    pub companion: bool,
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Report {
    /// Sorted by path, position and rule.
    pub findings: Vec<Diagnostic>,
    /// Files that were read.
    pub files: usize,
    /// Statements about queues that were judged.
    pub statements: usize,
    /// Statements about queues of which a part is known only when the program runs.
    pub dynamic: usize,
    /// Programs that were not read after all: they are so far from their languages that it would not have ended.
    pub tangled: Vec<String>,
}

/// Lints files against the tables of the definitions.
pub fn run(inputs: &[Input], catalog: &Catalog, options: &Options) -> Report {
    let mut tables = Tables::of(catalog, options);
    let finder = finder::Finder::new(&tables, options);
    if let Some((dialect, statements)) = &options.made {
        let read = statements.iter().flat_map(|statement| unit::ddl(statement, *dialect));
        read.for_each(|ddl| tables.learn(&ddl, options));
    }
    let shared = Shared::of(inputs);
    // Twice over the files, since what is parsed of all of them at once would not fit: few make tables.
    for ddl in parallel(inputs, |input| unit::ddl_of(input, &finder, &shared, options)).iter().flatten() {
        tables.learn(ddl, options);
    }
    let judged = parallel(inputs, |input| {
        let unit = unit::read(input, &finder, &shared, options);
        (judge::judge(&unit, &tables, options), unit.tangled)
    });
    let mut report = Report { files: inputs.iter().filter(|input| !input.companion).count(), ..Report::default() };
    let mut usage = Usage::default();
    for (input, (one, tangled)) in inputs.iter().zip(judged) {
        report.tangled.extend(tangled.then(|| input.source.path.clone()));
        report.findings.extend(one.findings);
        report.statements += one.statements;
        report.dynamic += one.dynamic;
        usage.extend(one.usage);
    }
    report.findings.extend(judge::definitions(catalog, &usage, options));
    sort(&mut report.findings);
    report
}

/// Maps on all cores, in order.
fn parallel<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, map(item)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        // Statements nest; the default stack of a thread is small.
        let spawn = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let spawned: Vec<_> = (0..threads).map(spawn).collect();
        let mut all = Vec::new();
        for thread in spawned {
            match thread.map(|thread| thread.join()) {
                Ok(Ok(done)) => all.extend(done),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // No more threads to be had: this one does the work.
                Err(_) => all.extend(work()),
            }
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Bytes of stack of each thread.
const STACK: usize = 16 * 1024 * 1024;
