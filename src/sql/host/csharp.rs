//! C#.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["cs"],
    language: |_| tree_sitter_c_sharp::LANGUAGE.into(),
    literals: &["string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"],
    adjacent: &[],
    bare: None,
    declarations: &["variable_declarator"],
    shared: &[],
};
