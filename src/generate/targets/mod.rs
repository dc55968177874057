//! The kinds of generated files. To add one: a file here, templates, and one line in [`ALL`].

pub mod sql;
pub mod typescript;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::output::GeneratedFile;

use super::Context;

/// Every target.
pub static ALL: [&dyn Target; 2] = [&sql::Sql, &typescript::TypeScript];

/// A kind of generated files.
pub trait Target: Sync {
    /// Name on the command line and in the configuration.
    fn id(&self) -> &'static str;

    /// Its files.
    fn files(&self, context: &Context<'_>) -> Result<Vec<GeneratedFile>>;

    /// The folders that hold nothing but its files for these dialects, relative to the output folder.
    fn folders(&self, dialects: &[&'static dyn Dialect]) -> Vec<String>;
}

/// The target of this name.
pub fn find(id: &str) -> Option<&'static dyn Target> {
    ALL.into_iter().find(|target| target.id() == id)
}

/// The names of all targets.
pub fn ids() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|target| target.id())
}
