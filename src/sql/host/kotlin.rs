//! Kotlin.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["kt", "kts"],
    language: |_| tree_sitter_kotlin_ng::LANGUAGE.into(),
    literals: &["string_literal", "multiline_string_literal"],
    adjacent: &[],
    bare: Some('$'),
    declarations: &["property_declaration"],
    shared: &[],
};
