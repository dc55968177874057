//! Go.

use super::Grammar;

pub(super) static GRAMMAR: Grammar = Grammar {
    extensions: &["go"],
    language: |_| tree_sitter_go::LANGUAGE.into(),
    literals: &["interpreted_string_literal", "raw_string_literal"],
    adjacent: &[],
    bare: None,
    declarations: &["const_spec", "var_spec"],
    shared: &["const_declaration"],
};

/// What a file says of packages, before its first declaration.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The name of its own.
    pub package: String,
    /// The paths that it imports, each with the name by which it calls them, if it gives one.
    pub imports: Vec<(Option<String>, String)>,
}

/// Reads the head of a file.
pub fn header(text: &str) -> Header {
    let mut header = Header::default();
    let mut group = false;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("package ") {
            name.split_whitespace().next().unwrap_or_default().clone_into(&mut header.package);
        } else if group && line.starts_with(')') {
            group = false;
        } else if group {
            header.imports.extend(import(line));
        } else if let Some(rest) = line.strip_prefix("import") {
            group = rest.trim_start().starts_with('(');
            header.imports.extend(import(rest.trim_start().trim_start_matches('(')));
        } else if ["func ", "type ", "var ", "const "].iter().any(|word| line.starts_with(word)) {
            break;
        }
    }
    header
}

/// Whether a file may give names to texts that other files see.
pub fn may_declare(text: &str) -> bool {
    text.match_indices("const").any(|(at, word)| text[at + word.len()..].starts_with([' ', '\t', '\n', '\r', '(']))
}

/// `name "path"`.
fn import(line: &str) -> Option<(Option<String>, String)> {
    let (before, rest) = line.split_once('"')?;
    let name = before.trim();
    if name.starts_with("//") {
        return None;
    }
    Some(((!name.is_empty()).then(|| name.to_owned()), rest.split('"').next()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn imports_are_read() {
        let text = "// Package a.\npackage a // a\n\nimport \"fmt\"\nimport (\n\t\"x/y\"\n\t// \"no\"\n\tq \"x/z\" // why\n)\nvar s = \"no\"\n";
        let header = header(text);
        let imports: Vec<(Option<&str>, &str)> =
            header.imports.iter().map(|(name, path)| (name.as_deref(), &**path)).collect();
        assert_eq!(header.package, "a");
        assert_eq!(imports, [(None, "fmt"), (None, "x/y"), (Some("q"), "x/z")]);
    }
}
