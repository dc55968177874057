//! MyBatis mappers: what each statement can become, for `<if>` with and without its text and for each arm of `<choose>`.

use std::cell::Cell;
use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};

use super::Fragment;

/// So many texts of one statement are looked at; what more `<if>` make of it is left out.
const MOST_TEXTS: usize = 32;
/// So many includes of a mapper are followed.
const MOST_INCLUDES: usize = 10_000;
/// Deepest nesting of elements and includes.
const MOST_NESTED: usize = 12;

/// `<sql id="…">` of other files, by `namespace.id`: what each can become.
pub type Parts = BTreeMap<String, Vec<String>>;

/// The named parts of a mapper that others may include.
pub fn parts(text: &str, shared: &Parts) -> Parts {
    let Some(document) = parse(text) else { return Parts::new() };
    let mapper = Mapper::of(text, &document, shared);
    let full = |id: &str| format!("{}.{id}", mapper.namespace);
    let ways = |node| mapper.inside(node, 0).into_iter().map(|way| way.text).collect();
    mapper.parts.iter().map(|(id, node)| (full(id), ways(*node))).collect()
}

/// The texts of all statements of a mapper; none of a file that is no XML, or no mapper.
pub fn fragments(text: &str, shared: &Parts) -> Vec<Fragment> {
    let Some(document) = parse(text) else { return Vec::new() };
    let mapper = Mapper::of(text, &document, shared);
    let statements = ["select", "update", "delete", "insert"];
    let is_statement = |node: &Node<'_, '_>| statements.iter().any(|name| node.has_tag_name(*name));
    document.descendants().filter(is_statement).flat_map(|node| mapper.inside(node, 0)).collect()
}

fn parse(text: &str) -> Option<Document<'_>> {
    if !text.contains("<mapper") && !text.contains("<sqlMap") {
        return None;
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).ok()
}

struct Mapper<'a, 'input> {
    text: &'a str,
    namespace: &'a str,
    /// `<sql id="…">` of the file.
    parts: BTreeMap<&'a str, Node<'a, 'input>>,
    /// Those of other files.
    shared: &'a Parts,
    /// What includes may still cost.
    left: Cell<usize>,
}

impl<'a, 'input> Mapper<'a, 'input> {
    fn of(text: &'a str, document: &'a Document<'input>, shared: &'a Parts) -> Mapper<'a, 'input> {
        let named = document.descendants().filter(|node| node.has_tag_name("sql"));
        let parts = named.filter_map(|node| Some((node.attribute("id")?, node))).collect();
        let namespace = document.root_element().attribute("namespace").unwrap_or_default();
        Mapper { text, namespace, parts, shared, left: Cell::new(MOST_INCLUDES) }
    }

    /// Whether a part of so many bytes may be included once more; longer ones cost more.
    fn may_include(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(1 + bytes / 1_000);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    /// What the children of a node can become.
    fn inside(&self, node: Node<'a, 'input>, depth: usize) -> Vec<Fragment> {
        let mut texts = vec![Fragment::default()];
        for (nth, child) in node.children().enumerate() {
            let ways = self.ways(child, depth + 1);
            if ways.len() == 1 || texts.len() * ways.len() > MOST_TEXTS {
                // No more texts: those that there are take the ways in turn.
                for (at, text) in texts.iter_mut().enumerate() {
                    let way = ways.get((at + nth) % ways.len().max(1));
                    way.into_iter().for_each(|way| text.append(way));
                }
                continue;
            }
            let mut all = Vec::new();
            for text in &texts {
                for way in &ways {
                    let mut text = text.clone();
                    text.append(way);
                    all.push(text);
                }
            }
            texts = all;
        }
        texts
    }

    fn ways(&self, node: Node<'a, 'input>, depth: usize) -> Vec<Fragment> {
        let mut fragment = Fragment::default();
        if node.is_text() {
            self.text(self.range_of_text(node), &mut fragment);
            return vec![fragment];
        }
        if !node.is_element() {
            return vec![fragment];
        }
        if depth > MOST_NESTED {
            fragment.hole(node.range());
            return vec![fragment];
        }
        match node.tag_name().name() {
            "if" | "isNotNull" | "isNotEmpty" => {
                let mut ways = self.inside(node, depth);
                ways.push(fragment);
                ways
            }
            "choose" => {
                let arms = node.children().filter(Node::is_element);
                let mut ways: Vec<Fragment> = arms.flat_map(|arm| self.inside(arm, depth)).collect();
                if !node.children().any(|arm| arm.has_tag_name("otherwise")) {
                    ways.push(fragment);
                }
                ways
            }
            "where" => self.trimmed(node, depth, "WHERE ", &["AND", "OR"], &[]),
            "set" => self.trimmed(node, depth, "SET ", &[","], &[","]),
            "trim" => {
                let list =
                    |name: &str| node.attribute(name).unwrap_or_default().split('|').map(str::trim).collect::<Vec<_>>();
                let prefix = format!("{} ", node.attribute("prefix").unwrap_or_default());
                self.trimmed(node, depth, &prefix, &list("prefixOverrides"), &list("suffixOverrides"))
            }
            "foreach" => {
                // As many values as the list has: not known.
                let around = |name: &str| node.attribute(name).unwrap_or_default().to_owned();
                let at = node.range().start..node.range().start + 1;
                fragment.written(&format!(" {}", around("open")), at.clone());
                fragment.hole(at.clone());
                fragment.written(&format!("{} ", around("close")), at);
                vec![fragment]
            }
            "include" => {
                let id = node.attribute("refid").unwrap_or_default();
                let own = id.strip_prefix(self.namespace).and_then(|id| id.strip_prefix('.')).unwrap_or(id);
                // Parts may include themselves, many times.
                let part = self.parts.get(own).filter(|part| self.may_include(part.range().len()));
                let shared = self.shared.get(id).filter(|ways| self.may_include(ways.iter().map(String::len).sum()));
                match (part, shared) {
                    (Some(part), _) => self.inside(*part, depth),
                    (None, Some(ways)) => ways.iter().map(|way| included(way, node)).collect(),
                    (None, None) => {
                        fragment.hole(node.range());
                        vec![fragment]
                    }
                }
            }
            // They are no part of the statement.
            "selectKey" | "bind" | "property" => vec![fragment],
            _ => self.inside(node, depth),
        }
    }

    /// Adds a prefix where there is any text, and takes words off its ends.
    fn trimmed(
        &self,
        node: Node<'a, 'input>,
        depth: usize,
        prefix: &str,
        starts: &[&str],
        ends: &[&str],
    ) -> Vec<Fragment> {
        let at = node.range().start..node.range().start + 1;
        let trim = |inner: Fragment| {
            let text = &inner.text;
            let (mut from, mut to) = (text.len() - text.trim_start().len(), text.trim_end().len());
            if from >= to {
                return Fragment::default();
            }
            let begins = |word: &&&str| {
                let rest = &text[from..to];
                let named = word.chars().all(char::is_alphabetic);
                let whole = !named || rest[word.len().min(rest.len())..].starts_with(|c: char| !c.is_alphanumeric());
                !word.is_empty()
                    && rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
                    && whole
            };
            if let Some(word) = starts.iter().find(begins) {
                from += word.len();
            }
            if let Some(word) = ends.iter().find(|word| !word.is_empty() && text[from..to].ends_with(**word)) {
                to -= word.len();
            }
            let mut whole = Fragment::default();
            whole.written(&format!(" {prefix}"), at.clone());
            whole.part(&inner, from..to);
            whole.written(" ", at.clone());
            whole
        };
        self.inside(node, depth).into_iter().map(trim).collect()
    }

    /// The bytes of a text: the parser joins text and CDATA into one node and tells the range of the first of them.
    fn range_of_text(&self, node: Node<'a, 'input>) -> std::ops::Range<usize> {
        let start = node.range().start;
        let closing = || {
            let parent = node.parent()?.range();
            self.text.get(start..parent.end)?.rfind("</").map(|at| start + at)
        };
        let end = node.next_sibling().map(|next| next.range().start).or_else(closing);
        start..end.unwrap_or(node.range().end).max(start)
    }

    /// Text of the file, with CDATA, entities and parameters.
    fn text(&self, range: std::ops::Range<usize>, fragment: &mut Fragment) {
        let raw = &self.text[range.clone()];
        let (mut from, mut at, mut literal) = (0, 0, false);
        while at < raw.len() {
            let rest = &raw[at..];
            let (length, becomes): (usize, Option<String>) =
                if let Some(open) = rest.starts_with("<![CDATA[").then_some(9) {
                    literal = true;
                    (open, Some(String::new()))
                } else if literal && rest.starts_with("]]>") {
                    literal = false;
                    (3, Some(String::new()))
                } else if let Some((end, text)) = entity(rest).filter(|_| !literal) {
                    (end, Some(text))
                } else if let Some(end) = placeholder(rest, '#') {
                    (end, Some("?".to_owned()))
                } else if let Some(end) = placeholder(rest, '$') {
                    (end, None)
                } else {
                    at += rest.chars().next().map_or(1, char::len_utf8);
                    continue;
                };
            fragment.verbatim(&raw[from..at], range.start + from);
            let place = range.start + at..range.start + at + length;
            match becomes {
                Some(text) => fragment.written(&text, place),
                None => fragment.hole(place),
            }
            at += length;
            from = at;
        }
        fragment.verbatim(&raw[from..], range.start + from);
    }
}

/// A text of another file, in the place where it is included.
fn included(text: &str, node: Node<'_, '_>) -> Fragment {
    let mut fragment = Fragment::default();
    fragment.written(text, node.range());
    fragment
}

fn entity(rest: &str) -> Option<(usize, String)> {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&quot;", "\""), ("&apos;", "'")];
    let (name, text) = known.into_iter().find(|(name, _)| rest.starts_with(name))?;
    Some((name.len(), text.to_owned()))
}

/// `#{…}`, `${…}`: its length.
fn placeholder(rest: &str, mark: char) -> Option<usize> {
    let inside = rest.strip_prefix(mark)?.strip_prefix('{')?;
    inside.find('}').map(|end| end + 3)
}
