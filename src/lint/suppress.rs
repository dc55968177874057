//! `claimsmith: allow(rule, rule) reason` in any comment: it is for the statement that it stands in, or for the next one.

use crate::diagnostic::Span;

/// What such a comment begins with.
const MARK: &str = "claimsmith: allow(";

/// One comment.
#[derive(Debug)]
pub struct Suppression {
    /// From its mark to the end of its line.
    pub span: Span,
    /// The rules, each with its place.
    pub rules: Vec<(String, Span)>,
    /// A reason stands behind them.
    pub reasoned: bool,
}

/// The suppressions of a file.
pub fn find(text: &str) -> Vec<Suppression> {
    text.match_indices(MARK).filter_map(|(at, _)| read(text, at)).collect()
}

fn read(text: &str, at: usize) -> Option<Suppression> {
    let line = text[at..].split(['\n', '\r']).next().unwrap_or_default();
    let inside = at + MARK.len();
    let close = line.find(')')? + at;
    let mut rules = Vec::new();
    let mut from = inside;
    for part in text.get(inside..close)?.split(',') {
        let start = from + part.len() - part.trim_start().len();
        let id = part.trim();
        rules.push((id.to_owned(), Span { start: start as u32, end: (start + id.len()) as u32 }));
        from += part.len() + 1;
    }
    let reason = text.get(close + 1..at + line.len()).unwrap_or_default();
    // The end of a block comment is no reason.
    let reason = reason.split("*/").next().unwrap_or_default().split("-->").next().unwrap_or_default().trim();
    let span = Span { start: at as u32, end: (at + line.trim_end().len()) as u32 };
    Some(Suppression { span, rules, reasoned: !reason.is_empty() })
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn rules_and_reasons_are_told_apart() {
        let text = "-- claimsmith: allow(a-b, c) one worker\n/* claimsmith: allow(d) */ claimsmith: allow(";
        let found = find(text);
        let ids: Vec<Vec<&str>> = found.iter().map(|found| found.rules.iter().map(|(id, _)| &**id).collect()).collect();
        assert_eq!(ids, [vec!["a-b", "c"], vec!["d"]]);
        assert!(found[0].reasoned && !found[1].reasoned);
        let (id, span) = &found[0].rules[1];
        assert_eq!(&text[span.start as usize..span.end as usize], id);
    }
}
