//! Cases with accidents in them: each is read to its end, and what is found stands in the text. The accidents are the same
//! in every run; `fuzz/` looks for others.

use std::fs;
use std::sync::Arc;

use claimsmith::diagnostic::Diagnostic;
use claimsmith::diagnostic::Source;
use claimsmith::diagnostic::render::{Report, render};
use claimsmith::dialect;
use claimsmith::schema::{check, load};
use claimsmith::workload;

use super::{cases, corpus, lint_text};

/// Numbers that look as if by chance, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// What is put into a text: ends and beginnings of everything that nests, characters of several bytes, words of SQL.
const PIECES: [&str; 24] = [
    "'",
    "\"",
    "`",
    "(",
    ")",
    "{",
    "}",
    "/*",
    "*/",
    "--",
    ";",
    "\u{0}",
    "\u{1}",
    "ä",
    "\u{1f980}",
    "\r",
    "$$",
    "${",
    " OR ",
    " NOT ",
    " SELECT ",
    " FOR UPDATE ",
    "<if>",
    "]]>",
];

fn changed(text: &str, chance: &mut Chance) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + chance.below(4) {
        let at = chance.below(chars.len() + 1);
        let length = chance.below(40).min(chars.len() - at);
        match chance.below(5) {
            0 => _ = chars.drain(at..at + length),
            1 => {
                let again: Vec<char> = chars[at..at + length].to_vec();
                chars.splice(at..at, again);
            }
            2 => chars.truncate(at.max(1)),
            3 if at < chars.len() => {
                let other = chance.below(chars.len());
                chars.swap(at, other);
            }
            _ => _ = chars.splice(at..at, PIECES[chance.below(PIECES.len())].chars()),
        }
    }
    chars.into_iter().collect()
}

fn assert_stands(finding: &Diagnostic, text: &str) {
    let Some(place) = &finding.place else { return };
    let inside = |start: u32, end: u32| place.source.text.get(start as usize..end as usize).is_some();
    assert!(inside(place.span.start, place.span.end), "{} at {:?} of {text}", finding.rule.id, place.span);
    assert!(finding.extent.is_none_or(|extent| inside(extent.start, extent.end)), "{} in {text}", finding.rule.id);
    assert!(finding.fix.iter().all(|edit| inside(edit.span.start, edit.span.end)), "{} in {text}", finding.rule.id);
    assert!(finding.related.iter().all(|(place, _)| inside(place.span.start, place.span.end)));
    assert!(!render(&Report::from(finding), false).is_empty());
}

#[test]
fn cases_with_accidents_are_read_to_their_ends() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut found = 0;
    for path in corpus::all() {
        let text = fs::read_to_string(&path).unwrap();
        let extension = path.extension().unwrap().to_str().unwrap();
        for _ in 0..8 {
            let text = changed(&text, &mut chance);
            let report = lint_text(&text, extension);
            report.findings.iter().for_each(|finding| assert_stands(finding, &text));
            found += report.findings.len();
        }
    }
    // Accidents leave most of a text as it was.
    assert!(found > 1_000, "only {found} findings");
}

#[test]
fn definitions_with_accidents_are_judged_to_their_ends() {
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let text = fs::read_to_string(cases().join("schemas/order_outbox.json")).unwrap();
    let engines: Vec<_> = dialect::ALL.iter().map(|dialect| dialect.engine()).collect();
    for _ in 0..300 {
        let text = changed(&text, &mut chance);
        let (catalog, mut findings) = load::load(&[Arc::new(Source::new("case.json", &*text))]);
        findings.extend(check::check(&catalog, &engines));
        findings.extend(workload::check(&catalog, &engines));
        findings.iter().for_each(|finding| assert_stands(finding, &text));
    }
}
