//! Ruby.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["rb"],
    language: |_| tree_sitter_ruby::LANGUAGE.into(),
    literals: &["string", "heredoc_body"],
    adjacent: &["chained_string"],
    bare: None,
    declarations: &["assignment"],
    shared: &[],
};
