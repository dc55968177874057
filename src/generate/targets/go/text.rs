//! Texts of definitions in Go: the only ways into comments and struct tags. String literals are those of JSON.

use std::fmt::Write;

use crate::diagnostic::render::is_reordering;
use crate::statement;

/// The text as one line of a comment behind other words. gofmt formats comments of several lines (lists, headings, code),
/// and quotes of two characters; of one line it leaves the rest alone.
pub fn comment(text: &str) -> String {
    let lines = statement::comment_lines(text).join(" ");
    let line = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut safe = String::new();
    for c in line.chars() {
        match c {
            '`' | '\'' if safe.ends_with(c) => safe.extend([' ', c]),
            c if c.is_control() || is_reordering(c) || is_hidden(c) => _ = write!(safe, "U+{:04X}", u32::from(c)),
            c => safe.push(c),
        }
    }
    safe
}

/// The struct tag by which `encoding/json` takes the field for the key; none where it cannot hold the key.
pub fn tag(key: &str, options: &str) -> Option<String> {
    // What `encoding/json` allows. Other letters than those of ASCII are left out where Go and Rust may disagree on them.
    let holds = |c: char| c.is_ascii_alphanumeric() || "!#$%&()*+-./:;<=>?@[]^_{|}~ ".contains(c) || is_letter(c);
    let named = !key.is_empty() && key.chars().all(holds);
    // Without the comma a `-` would leave the field out.
    let comma = if key == "-" && options.is_empty() { "," } else { "" };
    named.then(|| format!("`json:\"{key}{options}{comma}\"`"))
}

/// Whether Go takes the character for a letter, as far as that is certain: not those of its numbers, its symbols and its
/// marks that Unicode lets begin a name, nor those that are younger than old releases of Go.
pub fn is_letter(c: char) -> bool {
    let others = matches!(c, '\u{1885}' | '\u{1886}' | '\u{2118}' | '\u{212e}' | '\u{309b}' | '\u{309c}');
    unicode_ident::is_xid_start(c) && !c.is_numeric() && !others && c <= '\u{ffff}' && c != '_'
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{comment, tag};

    #[test]
    fn comments_stay_one_line_that_gofmt_leaves_alone() {
        for (text, expected) in [
            ("  a\n\n  - b\n# c ", "a - b # c"),
            ("``a'' ``` it's", "` `a' ' ` ` ` it's"),
            ("a\u{202e}\u{feff}\u{7f}", "aU+202EU+FEFFU+007F"),
        ] {
            assert_eq!(comment(text), expected);
        }
    }

    #[test]
    fn tags_hold_what_go_reads() {
        for (key, options, expected) in [
            ("app_code", "", Some("`json:\"app_code\"`")),
            ("id", ",string", Some("`json:\"id,string\"`")),
            ("größe 名", "", Some("`json:\"größe 名\"`")),
            ("-", "", Some("`json:\"-,\"`")),
            ("-", ",omitempty", Some("`json:\"-,omitempty\"`")),
            ("a,b", "", None),
            ("a\"b", "", None),
            ("a`b", "", None),
            ("a\\b", "", None),
            ("😀", "", None),
            ("", "", None),
        ] {
            assert_eq!(tag(key, options).as_deref(), expected, "{key}");
        }
    }
}
