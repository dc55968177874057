//! Text from templates: the built-in ones, shadowed file by file by a custom folder.
//!
//! A template gets one struct as an object, whose version it may state. Undefined names are errors, nothing is escaped
//! (texts arrive quoted for their language), and what is printed is never read as a template again.

mod value;
mod version;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use unicode_width::UnicodeWidthStr;

use crate::diagnostic::{Place, Source, Span, suggest};
use crate::error::{Error, Result};

pub use value::ToValue;
pub(crate) use value::{object, template_object};

/// A template that is embedded in the binary.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its name, `<target>/<file>.jinja`.
    pub name: &'static str,
    /// The version of what it gets. It rises when a name goes, means something else or may be none from now on; a name
    /// more is no new version. Templates that state another version are refused.
    pub version: u32,
    /// The template.
    pub text: &'static str,
}

macro_rules! built_in {
    ($name:literal, version $version:literal) => {
        BuiltIn { name: $name, version: $version, text: include_str!(concat!("../../templates/", $name)) }
    };
}

/// The built-in templates.
pub static BUILT_IN: &[BuiltIn] = &[
    built_in!("sql/schema.sql.jinja", version 1),
    built_in!("sql/queries.sql.jinja", version 1),
    built_in!("sql/grants.sql.jinja", version 1),
    built_in!("rust/mod.rs.jinja", version 1),
    built_in!("rust/types.rs.jinja", version 1),
    built_in!("rust/queue.rs.jinja", version 1),
    built_in!("rust/tables.rs.jinja", version 1),
    built_in!("rust/table.rs.jinja", version 1),
    built_in!("rust/dialect.rs.jinja", version 1),
    built_in!("rust/rows.rs.jinja", version 1),
    built_in!("rust/work.rs.jinja", version 1),
    built_in!("rust/functions.rs.jinja", version 1),
    built_in!("rust/backlog.rs.jinja", version 1),
    built_in!("rust/broker.rs.jinja", version 1),
    built_in!("rust/bus.rs.jinja", version 1),
    built_in!("rust/events.rs.jinja", version 1),
    built_in!("rust/given.rs.jinja", version 1),
    built_in!("rust/kafka.rs.jinja", version 1),
    built_in!("rust/nats.rs.jinja", version 1),
    built_in!("rust/outbox.rs.jinja", version 1),
    built_in!("rust/published.rs.jinja", version 1),
    built_in!("rust/relay.rs.jinja", version 1),
    built_in!("typescript/schema.ts.jinja", version 1),
    built_in!("typescript/events.ts.jinja", version 1),
    built_in!("go/tables.go.jinja", version 1),
    built_in!("go/events.go.jinja", version 1),
    built_in!("events/schema.json.jinja", version 1),
];

/// All templates of a run.
pub struct Templates {
    environment: Environment<'static>,
    sources: BTreeMap<String, Arc<Source>>,
}

impl Templates {
    /// The built-in templates, with those of the folder `custom` in the place of the ones that they are named like. Messages
    /// call the folder as it is given.
    pub fn new(custom: Option<&Path>) -> Result<Templates> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.add_filter("width", |text: &str| text.width());
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
        environment.set_syntax(syntax.map_err(|error| Error::new(format!("the template syntax is wrong: {error}")))?);
        let mut templates = Templates { environment, sources: BTreeMap::new() };
        for built_in in BUILT_IN {
            templates.add(built_in, format!("templates/{}", built_in.name), built_in.text.to_owned())?;
        }
        if let Some(folder) = custom {
            for (name, path) in files(folder, "", 0)? {
                let built_in = shadowed(&name, &path)?;
                let text =
                    std::fs::read_to_string(&path).map_err(|source| Error::io("read the template", &path, source))?;
                templates.add(built_in, format!("{}/{name}", folder.display()), text)?;
            }
        }
        Ok(templates)
    }

    fn add(&mut self, built_in: &BuiltIn, path: String, text: String) -> Result<()> {
        let name = built_in.name;
        let source = Arc::new(Source::new(path, text.clone()));
        check_version(built_in, &source)?;
        self.sources.insert(name.to_owned(), source);
        self.environment.add_template_owned(name, text).map_err(|error| self.fault(name, &error))
    }

    /// The text that the template makes of `context`.
    pub fn render<T: ToValue>(&self, name: &str, context: &T) -> Result<String> {
        let template = self.environment.get_template(name).map_err(|error| self.fault(name, &error))?;
        let context = context.to_value();
        template.render(&context).map_err(|error| match top_level_names(&context) {
            names if names.is_empty() => self.fault(name, &error),
            names => self.fault(name, &error).help(format!("the template gets `{}`", names.join("`, `"))),
        })
    }

    fn fault(&self, name: &str, error: &minijinja::Error) -> Error {
        // Of a template in a template, the inner one says what is wrong.
        let mut error = error;
        while let Some(inner) = std::error::Error::source(error).and_then(|inner| inner.downcast_ref()) {
            error = inner;
        }
        let name = error.name().unwrap_or(name);
        let what =
            error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
        let fault = Error::new(format!("the template `{name}` is wrong: {what}"));
        let Some(source) = error.name().or(Some(name)).and_then(|name| self.sources.get(name)) else { return fault };
        let line = error.line().map(|line| line_range(&source.text, line));
        match error.range().or(line) {
            Some(range) => fault.at(place(source, range)),
            None => fault,
        }
    }
}

/// The built-in template that the file `path` is named like.
fn shadowed(name: &str, path: &Path) -> Result<&'static BuiltIn> {
    let names = || BUILT_IN.iter().map(|built_in| built_in.name);
    BUILT_IN.iter().find(|built_in| built_in.name == name).ok_or_else(|| {
        let error = Error::new(format!("`{}` shadows no built-in template", path.display()));
        match suggest::closest(name, names()) {
            Some(closest) => error.help(format!("did you mean `{closest}`?")),
            None => error.help(format!("the templates are {}", names().collect::<Vec<_>>().join(", "))),
        }
    })
}

/// Refuses a template that was written for another version of what it gets, if it says so.
fn check_version(built_in: &BuiltIn, source: &Arc<Source>) -> Result<()> {
    let BuiltIn { name, version, .. } = built_in;
    let Some(range) = version::stated(&source.text) else { return Ok(()) };
    let stated = &source.text[range.clone()];
    if stated.parse() == Ok(*version) {
        return Ok(());
    }
    let fault =
        format!("the template `{name}` is written for version {stated}, but what it gets has version {version}");
    let help = format!(
        "`templates/README.md` of claimsmith says what version {version} has: adapt the template, then begin it with \
         `{{# version {version} #}}`"
    );
    Err(Error::new(fault).at(place(source, range)).help(help))
}

fn place(source: &Arc<Source>, range: Range<usize>) -> Place {
    Place { source: source.clone(), span: Span { start: range.start as u32, end: range.end as u32 } }
}

/// What a template can begin an expression with.
fn top_level_names(context: &Value) -> Vec<String> {
    let mut names: Vec<String> = context.try_iter().into_iter().flatten().map(|name| name.to_string()).collect();
    names.sort_unstable();
    names
}

fn line_range(text: &str, line: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    start..text[start..].find('\n').map_or(text.len(), |end| start + end)
}

/// The templates of a custom folder.
pub fn custom_files(folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(files(folder, "", 0)?.into_iter().map(|(_, path)| path).collect())
}

/// Deepest folder of custom templates: the built-in ones lie two deep.
const MAX_DEPTH: usize = 4;

/// The files below `folder`, by their names with `/`.
fn files(folder: &Path, prefix: &str, depth: usize) -> Result<Vec<(String, PathBuf)>> {
    let fault = |source| Error::io("read the template folder", folder, source);
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>).map_err(fault)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut found = Vec::new();
    for path in entries.into_iter().map(|entry| entry.path()) {
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() && depth < MAX_DEPTH {
            found.extend(files(&path, &format!("{name}/"), depth + 1)?);
        } else if path.extension().is_some_and(|extension| extension == "jinja") {
            found.push((name, path));
        }
    }
    Ok(found)
}
