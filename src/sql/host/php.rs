//! PHP.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["php"],
    language: |_| tree_sitter_php::LANGUAGE_PHP.into(),
    literals: &["string", "encapsed_string", "heredoc", "nowdoc"],
    adjacent: &[],
    bare: None,
    declarations: &["const_element"],
    shared: &[],
};
