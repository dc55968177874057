//! Texts of definitions in TypeScript: the only ways into string literals, property names and comments.

use std::fmt::Write;

use unicode_ident::{is_xid_continue, is_xid_start};

use crate::diagnostic::render::is_reordering;
use crate::statement;

/// The text as a string literal, in the quotes that need the fewest backslashes, as Prettier has it.
pub fn literal(text: &str) -> String {
    let count = |quote: char| text.chars().filter(|c| *c == quote).count();
    let quote = if count('"') > count('\'') { '\'' } else { '"' };
    let mut literal = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c if c == quote => literal.extend(['\\', c]),
            // None of these is beyond the first 65,536 characters, which four digits hold.
            c if is_hidden(c) => _ = write!(literal, "\\u{:04x}", u32::from(c)),
            c => literal.push(c),
        }
    }
    literal.push(quote);
    literal
}

/// The name as it stands before the colon of a property: in quotes only where it has to.
pub fn key(name: &str) -> String {
    // Prettier knows identifiers of the first 65,536 characters only.
    let continues = |c: char| is_xid_continue(c) && c <= '\u{ffff}' || c == '$';
    let starts = name.starts_with(|c| is_xid_start(c) || matches!(c, '_' | '$'));
    let plain = starts && name.chars().all(continues);
    match name {
        // Without the brackets it would set the prototype of an object literal.
        "__proto__" => "[\"__proto__\"]".to_owned(),
        name if plain => name.to_owned(),
        name => literal(name),
    }
}

/// The text as lines of a TSDoc comment, which it can neither end nor give a tag.
pub fn comment(text: &str) -> Vec<String> {
    statement::comment_lines(text).iter().map(|line| escape(line)).collect()
}

/// A name as it stands in a sentence of a comment.
pub fn code(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    if !name.is_empty() && name.chars().all(plain) { format!("`{name}`") } else { comment(name).join(" ") }
}

/// A backslash before what TSDoc would read as a tag, as markup or as code, and before the end of the comment.
fn escape(line: &str) -> String {
    let mut escaped = String::new();
    for c in line.chars() {
        match c {
            '@' | '{' | '}' | '<' | '>' | '`' | '\\' => escaped.extend(['\\', c]),
            '/' if escaped.ends_with('*') => escaped.push_str("\\/"),
            c if is_hidden(c) => _ = write!(escaped, "U+{:04X}", u32::from(c)),
            c => escaped.push(c),
        }
    }
    escaped
}

/// What ends a line, moves the cursor or reorders text, and what shows nothing at all.
fn is_hidden(c: char) -> bool {
    c.is_control() || is_reordering(c) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{code, comment, key, literal};

    #[test]
    fn literals_hold_anything() {
        for (text, expected) in [
            ("", "\"\""),
            ("it's", "\"it's\""),
            ("a \"b\"", "'a \"b\"'"),
            ("'\"", "\"'\\\"\""),
            ("\\\n\u{0}\u{7f}\u{2028}\u{202e}\u{feff}", "\"\\\\\\n\\u0000\\u007f\\u2028\\u202e\\ufeff\""),
            ("größe 名 😀 ${x} `", "\"größe 名 😀 ${x} `\""),
        ] {
            assert_eq!(literal(text), expected);
        }
    }

    #[test]
    fn keys_are_quoted_where_they_must_be() {
        for (name, expected) in [
            ("app_code", "app_code"),
            ("constructor", "constructor"),
            ("__proto__", "[\"__proto__\"]"),
            ("1", "\"1\""),
            ("", "\"\""),
            ("größe", "größe"),
            ("𠮷", "\"𠮷\""),
            ("a-b", "\"a-b\""),
        ] {
            assert_eq!(key(name), expected);
        }
    }

    #[test]
    fn comments_neither_end_nor_get_tags() {
        assert_eq!(
            comment("a */ b\n\n@deprecated {x} <b>\u{202e}"),
            ["a *\\/ b", "\\@deprecated \\{x\\} \\<b\\>U+202E"]
        );
        assert_eq!(code("wallet_outbox"), "`wallet_outbox`");
        assert_eq!(code("a`*/\nb"), "a\\`*\\/ b");
    }
}
