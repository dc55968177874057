//! A piece of SQL inside a file of any kind: its text, and the way back from each of its bytes to the file's.

use crate::diagnostic::Span;

use super::HOLE;

/// SQL text with the places of its bytes in the file.
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    /// The text as the database would get it, with [`HOLE`] for what is not known.
    pub text: String,
    /// For runs of bytes: where the run begins in the text, where in the file, and whether the bytes are the same in both.
    runs: Vec<Run>,
    /// More text may follow at the end.
    pub open: bool,
    /// The text is a file of SQL.
    pub whole_file: bool,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    text: u32,
    file: u32,
    /// Bytes of the file that all of the run stands for; 0: as many as the run has.
    covers: u32,
}

impl Fragment {
    /// A file that is SQL.
    pub fn file(text: &str) -> Fragment {
        let runs = vec![Run { text: 0, file: 0, covers: 0 }];
        Fragment { text: text.to_owned(), runs, open: false, whole_file: true }
    }

    /// Adds text that stands in the file as it is.
    pub fn verbatim(&mut self, text: &str, file: usize) {
        if !text.is_empty() {
            self.runs.push(Run { text: self.text.len() as u32, file: file as u32, covers: 0 });
            self.text.push_str(text);
        }
    }

    /// Adds text that is written in the file in another way, such as an escape.
    pub fn written(&mut self, text: &str, file: std::ops::Range<usize>) {
        if !text.is_empty() {
            let (start, covers) = (file.start as u32, (file.len() as u32).max(1));
            self.runs.push(Run { text: self.text.len() as u32, file: start, covers });
            self.text.push_str(text);
        }
    }

    /// Adds a hole.
    pub fn hole(&mut self, file: std::ops::Range<usize>) {
        let mut buffer = [0; 4];
        self.written(HOLE.encode_utf8(&mut buffer), file);
    }

    /// Adds all of another fragment.
    pub fn append(&mut self, other: &Fragment) {
        let shift = self.text.len() as u32;
        self.runs.extend(other.runs.iter().map(|run| Run { text: run.text + shift, ..*run }));
        self.text.push_str(&other.text);
        self.open |= other.open;
    }

    /// Replaces what `find` measures at each place: by the text that `with` gives for it, or by a hole.
    pub fn replace(&mut self, find: impl Fn(&str) -> Option<usize>, mut with: impl FnMut(&str) -> Option<String>) {
        let old = std::mem::take(self);
        self.open = old.open;
        let mut from = 0;
        let mut at = 0;
        while at < old.text.len() {
            let length = old.text.is_char_boundary(at).then(|| find(&old.text[at..])).flatten();
            let Some(end) = length.map(|length| at + length).filter(|end| old.text.is_char_boundary(*end)) else {
                at += 1;
                continue;
            };
            self.part(&old, from..at);
            let place = old.place(Span { start: at as u32, end: end as u32 });
            let place = place.start as usize..place.end as usize;
            match with(&old.text[at..end]) {
                Some(text) => self.written(&text, place),
                None => self.hole(place),
            }
            (from, at) = (end, end);
        }
        self.part(&old, from..old.text.len());
    }

    /// Adds a part of another fragment.
    pub(super) fn part(&mut self, other: &Fragment, range: std::ops::Range<usize>) {
        let mut from = range.start;
        while from < range.end {
            let next = other.runs.iter().map(|run| run.text as usize).find(|start| *start > from);
            let end = next.unwrap_or(range.end).min(range.end);
            let place = other.place(Span { start: from as u32, end: end as u32 });
            let verbatim = (place.end - place.start) as usize == end - from;
            match verbatim {
                true => self.verbatim(&other.text[from..end], place.start as usize),
                false => self.written(&other.text[from..end], place.start as usize..place.end as usize),
            }
            from = end;
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Where the bytes of the text stand in the file.
    pub fn place(&self, span: Span) -> Span {
        let start = self.byte(span.start, false);
        let end = if span.end > span.start { self.byte(span.end - 1, true) } else { start };
        Span { start, end: end.max(start) }
    }

    /// Where the bytes of the text stand in the file, if they stand there as they are; with an empty span, behind the byte
    /// before it.
    pub fn verbatim_place(&self, span: Span) -> Option<Span> {
        let (from, to) =
            if span.start < span.end { (span.start, span.end) } else { (span.start.checked_sub(1)?, span.end) };
        let run = self.runs.partition_point(|run| run.text <= from).checked_sub(1)?;
        let next = self.runs.get(run + 1).map_or(self.text.len() as u32, |next| next.text);
        let run = self.runs.get(run).filter(|run| run.covers == 0 && to <= next)?;
        let place = |at: u32| run.file + (at - run.text);
        Some(Span { start: place(span.start), end: place(span.end) })
    }

    /// The byte of the file at which the text's byte begins or, for `last`, ends.
    fn byte(&self, at: u32, last: bool) -> u32 {
        let run = self.runs.partition_point(|run| run.text <= at).checked_sub(1).and_then(|run| self.runs.get(run));
        let Some(run) = run else { return 0 };
        match run.covers {
            0 => run.file + (at - run.text) + u32::from(last),
            covers if last => run.file + covers,
            _ => run.file,
        }
    }
}
