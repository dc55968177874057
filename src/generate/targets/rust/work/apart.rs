//! Statements taken apart and put side by side.

use super::super::text::tuple;

/// Two statements behind the arrow of a match, as rustfmt lays them out.
pub fn pair(one: &str, other: &str) -> String {
    tuple(8, &[format!("&statement::{one}"), format!("&statement::{other}")])
}

/// The texts between the placeholders of the list in parentheses that the text begins with, and how long the list is.
pub fn apart(text: &str, placeholders: &[&str], escapes: bool) -> Option<(Vec<String>, usize)> {
    let (mut texts, mut current, mut quoted, mut depth) = (Vec::new(), String::new(), false, 0_usize);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let placeholder =
            placeholders.get(texts.len()).filter(|placeholder| !quoted && text[at..].starts_with(**placeholder));
        if let Some(placeholder) = placeholder {
            texts.push(std::mem::take(&mut current));
            at += placeholder.len();
            continue;
        }
        match c {
            '\'' => quoted = !quoted,
            '\\' if quoted && escapes => {
                current.push(c);
                at += 1;
                let next = text[at..].chars().next()?;
                current.push(next);
                at += next.len_utf8();
                continue;
            }
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        current.push(c);
        at += c.len_utf8();
        if depth == 0 {
            texts.push(current);
            return (texts.len() == placeholders.len() + 1).then_some((texts, at));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn a_row_is_taken_apart_at_its_own_placeholders() {
        let text = "($1, 'a)$2''(', $2, f(1) + $3) ON CONFLICT ($1)";
        let (texts, length) = apart(text, &["$1", "$2", "$3"], true).expect("a list");
        assert_eq!(texts, ["(", ", 'a)$2''(', ", ", f(1) + ", ")"]);
        assert_eq!(&text[length..], " ON CONFLICT ($1)");
        assert_eq!(apart("(?", &["?"], true), None);
        assert_eq!(apart("(?, f(?))", &["?", "?", "?"], true), None);
        for (text, escapes) in [("('\\', ?)", false), ("('\\'', ?)", true)] {
            assert_eq!(apart(text, &["?"], escapes).map(|(texts, _)| texts.len()), Some(2), "{text}");
        }
    }
}
