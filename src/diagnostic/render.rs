//! Findings and faults as text: a headline, a code frame, and how to mend it.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level as FrameLevel, Renderer, Snippet};

use super::{Diagnostic, Level, Place};

/// What a report shows, whether it is a finding or a fault that stopped the run.
#[derive(Debug)]
pub struct Report<'a> {
    /// Weight of the headline.
    pub level: Level,
    /// Rule id, printed in brackets.
    pub id: Option<&'a str>,
    /// The headline.
    pub message: &'a str,
    /// Where.
    pub place: Option<&'a Place>,
    /// Text beside the marks.
    pub label: &'a str,
    /// Further places.
    pub related: &'a [(Place, String)],
    /// How to mend it.
    pub help: &'a [String],
}

impl<'a> From<&'a Diagnostic> for Report<'a> {
    fn from(finding: &'a Diagnostic) -> Self {
        Report {
            level: finding.level,
            id: Some(finding.rule.id),
            message: &finding.message,
            place: finding.place.as_ref(),
            label: &finding.label,
            related: &finding.related,
            help: &finding.help,
        }
    }
}

/// Longest line that a code frame quotes, in bytes; of longer (minified) texts only the position is printed.
const LONGEST_LINE: usize = 400;

/// The report as text, ending in a newline. `colour` writes ANSI colours.
pub fn render(report: &Report<'_>, colour: bool) -> String {
    let level = match report.level {
        Level::Note => FrameLevel::NOTE,
        Level::Warning => FrameLevel::WARNING,
        Level::Error => FrameLevel::ERROR,
    };
    let message = visible(report.message);
    let help: Vec<String> = report.help.iter().map(|text| visible(text)).collect();
    let labels: Vec<String> = report.related.iter().map(|(_, text)| visible(text)).collect();
    let label = visible(report.label);
    let title = match report.id {
        Some(id) => level.primary_title(message).id(id),
        None => level.primary_title(message),
    };
    let mut group = match report.place {
        Some(place) if !framable(place) => {
            let (line, column) = place.line_column();
            let at = format!("at {}:{line}:{column}", place.source.path);
            Group::with_title(title).element(FrameLevel::NOTE.no_name().message(at))
        }
        Some(place) => {
            let primary = AnnotationKind::Primary.span(range(place));
            let primary = if label.is_empty() { primary } else { primary.label(label) };
            let mut snippet = Snippet::source(&*place.source.text).path(&place.source.path).annotation(primary);
            for ((other, _), text) in report.related.iter().zip(&labels).filter(|((o, _), _)| same(o, place)) {
                snippet = snippet.annotation(AnnotationKind::Context.span(range(other)).label(text));
            }
            Group::with_title(title).element(snippet)
        }
        None => Group::with_title(title),
    };
    for ((other, _), text) in report.related.iter().zip(&labels) {
        if framable(other) && report.place.is_none_or(|place| !same(other, place)) {
            let mark = AnnotationKind::Context.span(range(other)).label(text);
            group = group.element(Snippet::source(&*other.source.text).path(&other.source.path).annotation(mark));
        }
    }
    for text in help {
        group = group.element(FrameLevel::HELP.message(text));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n", renderer.decor_style(DecorStyle::Ascii).render(&[group]))
}

/// The report on one line: `path:line:column: level[id]: message`.
pub fn concise(report: &Report<'_>) -> String {
    let mut line = String::new();
    if let Some(place) = report.place {
        let (row, column) = place.line_column();
        line = format!("{}:{row}:{column}: ", place.source.path);
    }
    line.push_str(report.level.word());
    if let Some(id) = report.id {
        line.push_str(&format!("[{id}]"));
    }
    format!("{line}: {}", visible(report.message))
}

/// `text` with everything that could redraw or reorder a terminal line written as an escape.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' || is_reordering(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether `c` changes the order or the reach of the text around it on the screen (the characters behind "Trojan Source").
pub fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn same(a: &Place, b: &Place) -> bool {
    a.source.path == b.source.path
}

fn range(place: &Place) -> std::ops::Range<usize> {
    let end = place.source.text.len();
    let start = (place.span.start as usize).min(end);
    start..(place.span.end as usize).clamp(start, end)
}

/// Whether the lines that the frame would quote are short enough to be read.
fn framable(place: &Place) -> bool {
    let range = range(place);
    let text = &place.source.text;
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    text[start..end].lines().all(|line| line.len() <= LONGEST_LINE)
}
