//! Java.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["java"],
    language: |_| tree_sitter_java::LANGUAGE.into(),
    literals: &["string_literal"],
    adjacent: &["element_value_array_initializer"],
    bare: None,
    declarations: &["variable_declarator"],
    shared: &[],
};
