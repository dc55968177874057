//! One string literal → its text, with the way back from each byte; interpolations are holes.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

use crate::sql::Fragment;

/// Names of the file that stand for literals.
pub type Constants = BTreeMap<String, Fragment>;

/// Adds what a literal holds.
pub fn add<'c>(fragment: &mut Fragment, node: Node<'_>, text: &str, constants: &dyn Fn(&str) -> Option<&'c Fragment>) {
    let Some((content, holder)) = content(node, text) else { return };
    let raw = &text[node.byte_range()];
    // `"…"` with escapes, unless it says that there are none.
    let mut from = content.start;
    let mut cursor = holder.walk();
    for part in holder.children(&mut cursor).flat_map(flattened) {
        let range = part.byte_range();
        if range.start < from || range.end > content.end || range.is_empty() {
            continue;
        }
        let kind = part.kind();
        let escape = kind.contains("escape") && !raw.starts_with(['@', 'r', 'R']);
        let hole = kind.contains("interpol") || kind.contains("substitution") || kind == "variable_name";
        if !escape && !hole {
            continue;
        }
        fragment.verbatim(&text[from..range.start], from);
        if escape {
            fragment.written(&unescaped(&text[range.clone()]), range.clone());
        } else {
            interpolated(fragment, &text[range.clone()], range.clone(), constants);
        }
        from = range.end;
    }
    fragment.verbatim(&text[from..content.end], from);
}

/// The node, or what is inside it where it only groups.
fn flattened(node: Node<'_>) -> Vec<Node<'_>> {
    let groups = ["string_content", "interpreted_string_literal_content", "heredoc_body", "nowdoc_body"];
    match groups.contains(&node.kind()) && node.child_count() > 0 {
        true => node.children(&mut node.walk()).collect(),
        false => vec![node],
    }
}

/// The bytes between the quotes, and the node whose children they are.
fn content<'a>(node: Node<'a>, text: &str) -> Option<(Range<usize>, Node<'a>)> {
    let range = node.byte_range();
    let mut cursor = node.walk();
    match node.kind() {
        "heredoc" | "nowdoc" => {
            let body =
                node.children(&mut cursor).find(|child| matches!(child.kind(), "heredoc_body" | "nowdoc_body"))?;
            return Some((body.byte_range(), body));
        }
        "heredoc_body" => {
            let end = node.children(&mut cursor).find(|child| child.kind() == "heredoc_end");
            return Some((range.start..end.map_or(range.end, |end| end.start_byte()), node));
        }
        _ => {}
    }
    let raw = text.get(range.clone())?;
    let quote_at = raw.find(['"', '\'', '`'])?;
    let quote = raw.as_bytes()[quote_at];
    let quotes = raw[quote_at..].bytes().take_while(|byte| *byte == quote).count();
    // `""` is empty; `"""` opens a text of several lines.
    let width = if quotes >= 3 { quotes.min(raw.len() / 2) } else { 1 };
    let hashes = raw[..quote_at].bytes().filter(|byte| *byte == b'#').count();
    let (start, end) = (range.start + quote_at + width, range.end.checked_sub(width + hashes)?);
    (start <= end && text.is_char_boundary(end)).then_some((start..end, node))
}

/// `{name}`, `${name}`, `#{name}`: what the name stands for, or a hole.
fn interpolated<'c>(
    fragment: &mut Fragment,
    raw: &str,
    range: Range<usize>,
    constants: &dyn Fn(&str) -> Option<&'c Fragment>,
) {
    let name = raw.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
    match constants(name) {
        Some(constant) => fragment.written(&constant.text, range),
        None => fragment.hole(range),
    }
}

/// What an escape stands for. White space may become other white space: SQL does not mind.
fn unescaped(raw: &str) -> String {
    let mut chars = raw.chars().skip(1);
    match chars.next() {
        None => String::new(),
        Some('n' | 'r' | '\n') => "\n".to_owned(),
        Some('t') => "\t".to_owned(),
        Some('u' | 'x' | 'U') => {
            let digits: String = chars.filter(char::is_ascii_hexdigit).collect();
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('?').to_string()
        }
        Some('\r') => "\n".to_owned(),
        Some(other) => other.to_string(),
    }
}
