//! The kinds of generated files. To add one: a file here, templates, and one line in [`ALL`].

pub mod events;
pub mod go;
pub mod rust;
pub mod sql;
pub mod typescript;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::output::GeneratedFile;

use super::Context;

/// Every target.
pub static ALL: [&dyn Target; 5] = [&sql::Sql, &rust::Rust, &typescript::TypeScript, &go::Go, &events::Events];

/// A kind of generated files.
pub trait Target: Sync {
    /// Name on the command line and in the configuration.
    fn id(&self) -> &'static str;

    /// Its files.
    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>>;

    /// The folders that hold nothing but its files for these dialects, relative to the output folder.
    fn folders(&self, dialects: &[&'static dyn Dialect]) -> Vec<String>;

    /// What each of its templates gets.
    #[cfg(feature = "schema")]
    fn contexts(&self) -> Vec<TemplateContext>;
}

/// What a template gets, described by the types and their doc comments: `templates/README.md` is made of it.
#[cfg(feature = "schema")]
#[derive(Debug)]
pub struct TemplateContext {
    /// The template's name.
    pub template: &'static str,
    /// The JSON Schema of what is serialized. `required` lists the fields in their order.
    pub schema: schemars::Schema,
}

#[cfg(feature = "schema")]
impl TemplateContext {
    /// The template gets a `T`.
    pub fn of<T: schemars::JsonSchema>(template: &'static str) -> TemplateContext {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        TemplateContext { template, schema: settings.into_generator().into_root_schema_for::<T>() }
    }
}

/// The target of this name.
pub fn find(id: &str) -> Option<&'static dyn Target> {
    ALL.into_iter().find(|target| target.id() == id)
}

/// The names of all targets.
pub fn ids() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|target| target.id())
}
