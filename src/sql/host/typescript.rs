//! TypeScript and JavaScript.

use super::Grammar;

pub static GRAMMAR: Grammar = Grammar {
    extensions: &["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx"],
    language: |extension| match extension {
        // What a cast `<T>x` is to one of them is a tag to the other.
        "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        _ => tree_sitter_typescript::LANGUAGE_TSX.into(),
    },
    literals: &["string", "template_string"],
    adjacent: &[],
    bare: None,
    declarations: &["variable_declarator"],
    shared: &[],
};
