//! Findings and faults as text: a headline, a code frame, and how to mend it.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level as FrameLevel, Renderer, Snippet};

use super::{Diagnostic, Level, Place, Source, Span};

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

/// Lines shown between two marks of one frame; marks further apart get frames of their own.
const GAP: usize = 12;

/// The report as text, ending in a newline. `colour` writes ANSI colours.
pub fn render(report: &Report<'_>, colour: bool) -> String {
    let level = match report.level {
        Level::Note => FrameLevel::NOTE,
        Level::Warning => FrameLevel::WARNING,
        Level::Error => FrameLevel::ERROR,
    };
    let title = level.primary_title(visible(report.message));
    let mut group = Group::with_title(match report.id {
        Some(id) => title.id(id),
        None => title,
    });
    let primary = report.place.map(|place| Mark { place, kind: AnnotationKind::Primary, label: visible(report.label) });
    let related = report.related.iter().map(|(place, text)| (place, visible(text)));
    let related = related.map(|(place, label)| Mark { place, kind: AnnotationKind::Context, label });
    for frame in frames(primary.into_iter().chain(related)) {
        group = match frame.iter().all(|mark| framable(mark.place)) {
            true => group.element(snippet(&frame)),
            false => {
                let (line, column) = frame[0].place.line_column();
                let at = format!("at {}:{line}:{column}", visible(&frame[0].place.source.path));
                group.element(FrameLevel::NOTE.no_name().message(at))
            }
        };
    }
    for text in report.help {
        group = group.element(FrameLevel::HELP.message(visible_lines(text)));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n", renderer.decor_style(DecorStyle::Ascii).render(&[group]))
}

/// A range to be marked.
struct Mark<'a> {
    place: &'a Place,
    kind: AnnotationKind,
    label: String,
}

impl Mark<'_> {
    /// First and last line, from 0.
    fn lines(&self) -> (usize, usize) {
        let Span { start, end } = self.place.span;
        (self.place.source.line(start), self.place.source.line(end.max(start + 1) - 1))
    }
}

/// Marks that are shown together: in one text, and close to the first.
fn frames<'a>(marks: impl Iterator<Item = Mark<'a>>) -> Vec<Vec<Mark<'a>>> {
    let mut frames: Vec<Vec<Mark<'a>>> = Vec::new();
    for mark in marks {
        let near = |frame: &&mut Vec<Mark<'_>>| {
            let ((first, last), (from, to)) = (frame[0].lines(), mark.lines());
            frame[0].place.source.path == mark.place.source.path && from <= last + GAP && first <= to + GAP
        };
        match frames.iter_mut().find(near) {
            Some(frame) => frame.push(mark),
            None => frames.push(vec![mark]),
        }
    }
    frames
}

/// The lines of the marks and nothing else: the renderer reads all the text that it is given, for every finding anew.
fn snippet<'a>(frame: &[Mark<'a>]) -> Snippet<'a, Annotation<'a>> {
    let source: &'a Source = &frame[0].place.source;
    let first = frame.iter().map(|mark| mark.lines().0).min().unwrap_or_default();
    let last = frame.iter().map(|mark| mark.lines().1).max().unwrap_or_default();
    let (start, end) = (source.line_start(first), source.line_start(last + 1));
    let mark = |mark: &Mark<'a>| {
        let from = (mark.place.span.start as usize).clamp(start, end);
        let to = (mark.place.span.end as usize).clamp(from, end);
        let span = mark.kind.span(from - start..to - start);
        if mark.label.is_empty() { span } else { span.label(mark.label.clone()) }
    };
    let snippet = Snippet::source(&source.text[start..end]).path(visible(&source.path)).line_start(first + 1);
    snippet.annotations(frame.iter().map(mark).collect::<Vec<_>>())
}

/// The report on one line: `path:line:column: level[id]: message`.
pub fn concise(report: &Report<'_>) -> String {
    let mut line = String::new();
    if let Some(place) = report.place {
        let (row, column) = place.line_column();
        line = format!("{}:{row}:{column}: ", visible(&place.source.path));
    }
    line.push_str(report.level.word());
    if let Some(id) = report.id {
        line.push_str(&format!("[{id}]"));
    }
    format!("{line}: {}", visible(report.message))
}

/// `text` on one line, with everything that could redraw, reorder or break it written as an escape.
pub fn visible(text: &str) -> String {
    escape(text, |c| c.is_control() || is_reordering(c) || is_line_break(c))
}

/// [`visible`], but for line feeds and tabs: for texts that have lines of their own.
pub fn visible_lines(text: &str) -> String {
    escape(text, |c| !matches!(c, '\n' | '\t') && (c.is_control() || is_reordering(c) || is_line_break(c)))
}

fn escape(text: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

/// Unicode's own line and paragraph separators, at which some viewers of logs begin a line.
fn is_line_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether `c` changes the order or the reach of the text around it on the screen (the characters behind "Trojan Source").
pub fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether the lines that the frame would quote are few and short enough to be read.
fn framable(place: &Place) -> bool {
    let source = &place.source;
    let (first, last) = (source.line(place.span.start), source.line(place.span.end));
    let long = |line| source.line_start(line + 1) - source.line_start(line) > LONGEST_LINE;
    !(first..=last.min(first + 2 * GAP)).any(long)
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_lines};

    #[test]
    fn what_moves_the_cursor_is_written_as_an_escape() {
        let text = "größe\u{1b}[2J\r\n\t\u{202e}\u{2028}\u{85}";
        assert_eq!(visible(text), r"größe\u{1b}[2J\r\n\t\u{202e}\u{2028}\u{85}");
        assert_eq!(visible_lines(text), "größe\\u{1b}[2J\\r\n\t\\u{202e}\\u{2028}\\u{85}");
    }
}
