//! Go.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["go"],
    language: |_| tree_sitter_go::LANGUAGE.into(),
    literals: &["interpreted_string_literal", "raw_string_literal"],
    adjacent: &[],
    bare: None,
    declarations: &["const_spec", "var_spec"],
};
