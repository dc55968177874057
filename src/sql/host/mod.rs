//! SQL inside programs: string literals by syntax tree, joined where the program joins them, as [`Fragment`]s.
//!
//! One file says what a language's tree calls things ([`Grammar`]); everything else is the same for all of them.

#[cfg(feature = "lang-csharp")]
mod csharp;
#[cfg(feature = "lang-go")]
pub mod go;
#[cfg(feature = "lang-java")]
mod java;
#[cfg(feature = "lang-kotlin")]
mod kotlin;
mod literal;
#[cfg(feature = "lang-php")]
mod php;
#[cfg(feature = "lang-python")]
mod python;
#[cfg(feature = "lang-ruby")]
mod ruby;
#[cfg(feature = "lang-rust")]
mod rust;
#[cfg(feature = "lang-typescript")]
mod typescript;
mod walk;

use std::ops::ControlFlow;

use super::Fragment;
pub use literal::Constants;

/// What the syntax tree of a language calls things.
pub(super) struct Grammar {
    /// Endings of file names.
    extensions: &'static [&'static str],
    /// The grammar for files of an ending.
    language: fn(&str) -> tree_sitter::Language,
    /// String literals.
    literals: &'static [&'static str],
    /// Literals side by side that are one.
    adjacent: &'static [&'static str],
    /// What stands before a name in a literal that is replaced although the tree does not say so.
    bare: Option<char>,
    /// Declarations that give a literal a name.
    declarations: &'static [&'static str],
    /// What such a declaration must stand in, right in the file, to be seen by other files.
    shared: &'static [&'static str],
}

/// Every language that was compiled in.
static ALL: &[&Grammar] = &[
    #[cfg(feature = "lang-csharp")]
    &csharp::GRAMMAR,
    #[cfg(feature = "lang-go")]
    &go::GRAMMAR,
    #[cfg(feature = "lang-java")]
    &java::GRAMMAR,
    #[cfg(feature = "lang-kotlin")]
    &kotlin::GRAMMAR,
    #[cfg(feature = "lang-php")]
    &php::GRAMMAR,
    #[cfg(feature = "lang-python")]
    &python::GRAMMAR,
    #[cfg(feature = "lang-ruby")]
    &ruby::GRAMMAR,
    #[cfg(feature = "lang-rust")]
    &rust::GRAMMAR,
    #[cfg(feature = "lang-typescript")]
    &typescript::GRAMMAR,
];

fn find(extension: &str) -> Option<&'static Grammar> {
    ALL.iter().find(|grammar| grammar.extensions.contains(&extension)).copied()
}

/// Whether files with this ending can be read.
pub fn is_known(extension: &str) -> bool {
    find(extension).is_some()
}

/// The texts of a program that begin as statements do; `shared` are names of other files that stand for texts. `None`: the
/// program is so far from its language that reading it would not end.
pub fn fragments(text: &str, extension: &str, shared: Constants) -> Option<Vec<Fragment>> {
    let Some(grammar) = find(extension) else { return Some(Vec::new()) };
    parse(text, extension, grammar).map(|tree| walk::fragments(text, &tree, grammar, shared))
}

/// The names that a program gives to texts where other files see them.
pub fn constants(text: &str, extension: &str, shared: Constants) -> Constants {
    let Some(grammar) = find(extension).filter(|grammar| !grammar.shared.is_empty()) else { return Constants::new() };
    parse(text, extension, grammar).map(|tree| walk::constants(text, &tree, grammar, shared)).unwrap_or_default()
}

/// Steps of a parser between two looks at how many it took.
const STEPS: usize = 100;

/// Steps that a parser may take beyond those for the bytes that it has come to, and for each of these. A right program needs
/// at most two for a byte, and one with accidents in it hardly more; but what a parser tries in order to make sense of some
/// short texts grows without end, in time and in memory.
const MOST_STEPS: [usize; 2] = [40_000, 8];

fn parse(text: &str, extension: &str, grammar: &Grammar) -> Option<tree_sitter::Tree> {
    let mut parser = tree_sitter::Parser::new();
    // A grammar of another version than the library's cannot be loaded; the versions are tested together.
    parser.set_language(&(grammar.language)(extension)).ok()?;
    let (mut steps, mut furthest) = (0, 0);
    let mut progress = |state: &tree_sitter::ParseState| {
        steps += STEPS;
        furthest = state.current_byte_offset().max(furthest);
        let [beyond, for_each] = MOST_STEPS;
        if steps > beyond + for_each * furthest { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut rest = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut rest, None, Some(options))
}
