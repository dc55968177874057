//! Python.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["py"],
    language: |_| tree_sitter_python::LANGUAGE.into(),
    literals: &["string"],
    adjacent: &["concatenated_string"],
    bare: None,
    declarations: &["assignment"],
    shared: &[],
};
