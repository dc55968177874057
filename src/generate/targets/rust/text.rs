//! Texts in Rust code, and where rustfmt breaks the lines that hold them.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use crate::template::template_object;

/// Widest line, rustfmt's `max_width`.
const LINE: usize = 100;

/// Widest list that stays on its line, rustfmt's `array_width`.
const LIST: usize = 60;

/// Widest item of a list that shares its line with others, rustfmt's `short_array_element_width_threshold`.
const SHORT: usize = 10;

/// A constant of a text.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Constant {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The identifier.
    pub name: String,
    /// The text.
    pub text: String,
    /// The text as a literal.
    pub literal: String,
    /// The literal stands on a line of its own.
    pub breaks: bool,
}

template_object!(Constant { docs, name, text, literal, breaks });

impl Constant {
    /// A constant `indent` columns from the left.
    pub fn new(indent: usize, docs: &str, name: impl Into<String>, text: &str) -> Constant {
        let (name, literal) = (name.into(), literal(text));
        let breaks = breaks(indent, &format!("pub const {name}: &str ="), &format!("{literal};"));
        Constant { docs: vec![docs.to_owned()], name, text: text.to_owned(), literal, breaks }
    }

    /// A constant of a text of several lines, which stand as they are where nothing in them is invisible.
    pub fn lines(indent: usize, docs: Vec<String>, name: String, text: &str) -> Constant {
        let literal = raw(text).unwrap_or_else(|| literal(text));
        let left = format!("pub const {name}: &str =");
        // A literal of several lines begins where it may, however long its first line is.
        let breaks = !literal.contains('\n') && breaks(indent, &left, &format!("{literal};"));
        Constant { docs, name, text: text.to_owned(), literal, breaks }
    }
}

/// A constant list of texts or values.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct List {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The identifier.
    pub name: String,
    /// How many items.
    pub count: usize,
    /// The type of an item.
    pub ty: &'static str,
    /// What stands between the brackets.
    pub items: Items,
    /// The list stands on a line of its own.
    pub breaks: bool,
}

template_object!(List { docs, name, count, ty, items, breaks });

impl List {
    /// A list of items of Rust, each of the type `ty`, `indent` columns from the left.
    pub fn new(indent: usize, docs: &str, name: &str, ty: &'static str, items: &[String]) -> List {
        let (count, items) = (items.len(), Items::new(indent, items));
        let left = format!("pub const {name}: [{ty}; {count}] =");
        let breaks = items.lines.is_empty() && breaks(indent, &left, &format!("[{}];", items.line));
        List { docs: vec![docs.to_owned()], name: name.to_owned(), count, ty, items, breaks }
    }
}

/// The items of a list, broken into lines as rustfmt does.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Items {
    /// All items, where they stay on the line of the brackets.
    pub line: String,
    /// Else the lines between them, without their indentation.
    pub lines: Vec<String>,
}

template_object!(Items { line, lines });

impl Items {
    /// The items of a list that stands `indent` columns from the left.
    pub fn new(indent: usize, items: &[String]) -> Items {
        let line = items.join(", ");
        if line.width() <= LIST {
            return Items { line, lines: Vec::new() };
        }
        let items = items.iter().map(|item| format!("{item},"));
        // The comma is not part of the item.
        let lines = match items.clone().all(|item| item.width() <= SHORT + 1) {
            true => fill(items, LINE - indent - 4),
            false => items.collect(),
        };
        Items { line: String::new(), lines }
    }
}

impl Items {
    /// The same of items that share no line with others, because they are calls.
    pub fn of_calls(items: &[String]) -> Items {
        let line = items.join(", ");
        match line.width() <= LIST {
            true => Items { line, lines: Vec::new() },
            false => Items { line: String::new(), lines: items.iter().map(|item| format!("{item},")).collect() },
        }
    }

    /// The names behind `use super::`, with braces where they are several and stay on the line.
    pub fn imports(names: &BTreeSet<String>) -> Items {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let line = match names.as_slice() {
            [one] => (*one).to_owned(),
            [] => String::new(),
            several => format!("{{{}}}", several.join(", ")),
        };
        match "use super::;".len() + line.width() <= LINE {
            true => Items { line, lines: Vec::new() },
            false => Items { line: String::new(), lines: fill(names.iter().map(|name| format!("{name},")), LINE - 4) },
        }
    }
}

fn fill(items: impl Iterator<Item = String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + item.width() <= width => *line = format!("{line} {item}"),
            _ => lines.push(item),
        }
    }
    lines
}

/// Widest body of a struct literal that stays on its line, rustfmt's `struct_lit_width`.
const STRUCTURE: usize = 18;

/// A struct literal with these fields, in lines that begin where it does.
pub fn structure(name: &str, fields: &[String]) -> Vec<String> {
    let line = fields.join(", ");
    if line.width() <= STRUCTURE {
        return vec![format!("{name} {{ {line} }}")];
    }
    let fields = fields.iter().map(|field| format!("    {field},"));
    [format!("{name} {{")].into_iter().chain(fields).chain(["}".to_owned()]).collect()
}

/// A tuple whose line is indented so far, and short before it.
pub fn tuple(indent: usize, items: &[String]) -> String {
    let line = items.join(", ");
    if line.width() <= LIST {
        return format!("({line})");
    }
    let (inner, outer) = (" ".repeat(indent + 4), " ".repeat(indent));
    format!("({}\n{outer})", items.iter().map(|item| format!("\n{inner}{item},")).collect::<String>())
}

/// Whether rustfmt puts `right` on a line of its own behind `left`: it does where that helps.
pub fn breaks(indent: usize, left: &str, right: &str) -> bool {
    indent + left.width() + 1 + right.width() > LINE && indent + 4 + right.width() <= LINE
}

/// The text as a literal: it cannot end early, and nothing in it is invisible.
pub fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// A line of our own words as a line of a doc comment: what stands between backticks is code.
pub fn words(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return prose(line);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        1 => code(part),
        _ => {
            let blank = |blank: bool| if blank { " " } else { "" };
            let (before, after) = (part.starts_with(' '), part.ends_with(' ') && !part.trim().is_empty());
            format!("{}{}{}", blank(before), prose(part), blank(after))
        }
    };
    let line: String = parts.iter().enumerate().map(part).collect();
    line.trim().to_owned()
}

/// The text as a raw literal, if nothing in it is invisible.
fn raw(text: &str) -> Option<String> {
    let visible = text.chars().all(|c| c == '\n' || is_shown(c));
    let most = text.split('"').skip(1).map(|part| part.len() - part.trim_start_matches('#').len()).max();
    let hashes = "#".repeat(most.map_or(0, |most| most + 1));
    visible.then(|| format!("r{hashes}\"{text}\"{hashes}"))
}

/// The text as one line of a doc comment: nothing in it ends the line, is invisible or means something in Markdown.
pub fn prose(text: &str) -> String {
    let words: Vec<String> = text.split(|c: char| c.is_whitespace() || !is_shown(c)).map(escape).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    // At its beginning, more characters mean something.
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.starts_with(['.', ')']) && digits.len() < line.len() {
        true => format!("{}\\{digits}", &line[..line.len() - digits.len()]),
        false if line.starts_with(['#', '+', '-', '=', '~', '|']) => format!("\\{line}"),
        false => line,
    }
}

fn escape(word: &str) -> String {
    let characters: Vec<char> = word.chars().collect();
    let is_word = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(|c| c.is_alphanumeric());
    let mut escaped = String::new();
    for (at, c) in characters.iter().enumerate() {
        let inside = is_word(at.checked_sub(1)) && is_word(Some(at + 1));
        if matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '$') || *c == '_' && !inside {
            escaped.push('\\');
        }
        escaped.push(*c);
    }
    escaped
}

/// The text as code in a doc comment.
pub fn code(text: &str) -> String {
    let shown: String =
        text.chars().map(|c| if c == '`' || !is_shown(c) || c.is_whitespace() { ' ' } else { c }).collect();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    if shown.is_empty() { "(nothing to show)".to_owned() } else { format!("`{shown}`") }
}

/// Whether the character can be seen: `Debug` leaves it as it is.
fn is_shown(c: char) -> bool {
    c.is_ascii_graphic() || c == ' ' || !c.is_ascii() && c.escape_debug().count() == 1
}

#[cfg(test)]
mod tests {
    use super::{code, prose, raw, words};

    #[test]
    fn raw_literals_end_where_their_texts_do() {
        let cases = [
            ("SELECT 1\nFROM t", Some("r\"SELECT 1\nFROM t\"")),
            ("a \"b\"", Some("r#\"a \"b\"\"#")),
            ("a\"##b\"#", Some("r###\"a\"##b\"#\"###")),
            ("a\rb", None),
            ("a\u{202E}b", None),
        ];
        for (text, expected) in cases {
            assert_eq!(raw(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn texts_mean_nothing_in_markdown() {
        let cases = [
            ("Plain text, with app_code.", "Plain text, with app_code."),
            ("a\r\nb\u{2028}c \u{202E}d", "a b c d"),
            ("- [x](y) <b> `c` *d* _e_", r"\- \[x\](y) \<b\> \`c\` \*d\* \_e\_"),
            ("1. first", r"1\. first"),
            ("    indented", "indented"),
            ("# title", r"\# title"),
        ];
        for (text, expected) in cases {
            assert_eq!(prose(text), expected);
        }
        assert_eq!(words("Then `take` *now*, `a_b`."), r"Then `take` \*now\*, `a_b`.");
        assert_eq!(words("Odd ` one"), r"Odd \` one");
        assert_eq!(code("a`b\n*/"), "`a b */`");
        assert_eq!(code("\u{0}"), "(nothing to show)");
    }
}
