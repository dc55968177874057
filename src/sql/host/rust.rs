//! Rust.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["rs"],
    language: |_| tree_sitter_rust::LANGUAGE.into(),
    literals: &["string_literal", "raw_string_literal"],
    adjacent: &[],
    bare: Some('{'),
    declarations: &["const_item", "static_item"],
    shared: &[],
};
