//! JSON text → values and the byte ranges of their keys and values.
//!
//! Strict JSON: the reader's leniency (comments, trailing commas, single quotes …) is switched off, so that every other
//! program reads the same definitions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jsonc_parser::ast::{ObjectPropName, Value as Ast};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::diagnostic::{Diagnostic, Place, Source, Span};

use super::rules;
use super::value::{Json, Number};

/// A place in a definition file: a JSON value in it, from which [`Site::at`] leads to the values inside.
#[derive(Clone, Debug, Default)]
pub struct Site(Option<(Arc<Spans>, u32)>);

impl Site {
    /// The root of a file.
    fn root(spans: Arc<Spans>) -> Self {
        Site(Some((spans, 0)))
    }

    /// The range of the value itself.
    pub fn place(&self) -> Option<Place> {
        let (spans, node) = self.0.as_ref()?;
        Some(spans.place(spans.nodes[*node as usize].value))
    }

    /// The range of the value under a path of our own keys and indexes such as `claim.retry.at` or `columns.3`, or of the
    /// closest value around it that exists.
    pub fn at(&self, path: &str) -> Option<Place> {
        self.step(path).place()
    }

    /// Like [`Site::at`], but the range of the key.
    pub fn key(&self, path: &str) -> Option<Place> {
        self.step(path).own_key()
    }

    /// The range of the key under which the value stands, or of the value if it has none.
    pub fn own_key(&self) -> Option<Place> {
        let (spans, node) = self.0.as_ref()?;
        let node = spans.nodes[*node as usize];
        Some(spans.place(if node.key == Span::default() { node.value } else { node.key }))
    }

    /// Whether there is a value under the key.
    pub fn has(&self, key: &str) -> bool {
        self.0.as_ref().is_some_and(|(spans, node)| spans.child(*node, key).is_some())
    }

    /// The value under `path`, or the closest around it that exists.
    pub fn step(&self, path: &str) -> Site {
        self.descend(&path.split('.').filter(|name| !name.is_empty()).collect::<Vec<_>>())
    }

    /// Like [`Site::step`], for keys of any kind.
    pub fn descend<T: AsRef<str>>(&self, path: &[T]) -> Site {
        let Some((spans, mut node)) = self.0.clone() else { return Site(None) };
        for name in path {
            match spans.child(node, name.as_ref()) {
                Some(child) => node = child,
                None => break,
            }
        }
        Site(Some((spans, node)))
    }

    /// The sites of an object's values by their keys; of a key that occurs twice the first.
    pub fn named(&self) -> BTreeMap<String, Site> {
        let mut named = BTreeMap::new();
        for site in self.children() {
            let key = site.0.as_ref().map(|(spans, node)| spans.key(*node).into_owned());
            named.entry(key.unwrap_or_default()).or_insert(site);
        }
        named
    }

    /// The sites of the elements of an array or object, in their order.
    pub fn children(&self) -> Vec<Site> {
        let Some((spans, node)) = &self.0 else { return Vec::new() };
        spans.children(*node).map(|child| Site(Some((spans.clone(), child)))).collect()
    }
}

/// The ranges of all values of one file, as a tree in one vector.
#[derive(Debug)]
struct Spans {
    source: Arc<Source>,
    /// What precedes the JSON text in the file: the length of a byte order mark.
    offset: u32,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: Span,
    value: Span,
    first_child: u32,
    next: u32,
}

/// No child, no sibling: 0 is the root, which is neither.
const NONE: u32 = 0;

impl Spans {
    fn place(&self, span: Span) -> Place {
        let span = Span { start: span.start + self.offset, end: span.end + self.offset };
        Place { source: self.source.clone(), span }
    }

    fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(self.nodes[node as usize].first_child).filter(|child| *child != NONE);
        std::iter::successors(first, |at| Some(self.nodes[*at as usize].next).filter(|next| *next != NONE))
    }

    fn child(&self, node: u32, name: &str) -> Option<u32> {
        let index = name.parse::<usize>().ok();
        self.children(node).enumerate().find_map(|(position, child)| {
            let named = match self.nodes[child as usize].key == Span::default() {
                true => index == Some(position),
                false => self.key(child) == name,
            };
            named.then_some(child)
        })
    }

    /// The key of a node, without its quotes and escapes; empty in lists.
    fn key(&self, node: u32) -> Cow<'_, str> {
        let quoted = self.text(self.nodes[node as usize].key);
        let plain = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        match plain.contains('\\') {
            true => unquoted(quoted).map_or(Cow::Borrowed(plain), Cow::Owned),
            false => Cow::Borrowed(plain),
        }
    }

    fn text(&self, span: Span) -> &str {
        let at = |byte: u32| (byte + self.offset) as usize;
        self.source.text.get(at(span.start)..at(span.end)).unwrap_or_default()
    }
}

/// What every reader of JSON takes, and nothing else.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads one JSON text. Faults of syntax and duplicate keys are added to `findings`; after the former there is no value.
pub fn read(source: &Arc<Source>, findings: &mut Vec<Diagnostic>) -> Option<(Json, Site)> {
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
    let offset = source.text.len() - text.len();
    let place = |range: Range| Place {
        source: source.clone(),
        span: Span { start: (range.start + offset) as u32, end: (range.end + offset) as u32 },
    };
    if let Some((at, what)) = stray(text) {
        let length = text[at..].chars().next().map_or(0, char::len_utf8);
        let finding = Diagnostic::new(
            &rules::JSON_SYNTAX,
            place(Range { start: at, end: at + length }),
            format!("not valid JSON: {what}"),
        );
        findings.push(finding);
        return None;
    }
    let ast = match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => parsed.value,
        Err(error) => {
            let what = format!("not valid JSON: {}", what(&error));
            let finding = Diagnostic::new(&rules::JSON_SYNTAX, place(error.range()), what);
            findings.push(finding.help("definitions are strict JSON: double quotes, no comments, no trailing commas"));
            return None;
        }
    };
    let Some(ast) = ast else {
        let finding = Diagnostic::new(&rules::JSON_SYNTAX, place(Range { start: 0, end: 0 }), "the file is empty");
        findings.push(finding.help("write a table, an array of tables, or `{\"tables\": []}`"));
        return None;
    };
    let mut reader = Reader { nodes: Vec::new(), duplicates: Vec::new(), numbers: Vec::new() };
    let value = reader.value(Span::default(), &ast);
    for number in reader.numbers {
        let finding = Diagnostic::new(&rules::WRONG_VALUE, place(number), "the number is out of every range");
        findings.push(finding.help("numbers have at most 64 bits"));
    }
    for (name, first, second) in reader.duplicates {
        let finding = Diagnostic::new(&rules::DUPLICATE_KEY, place(second), format!("the key `{name}` occurs twice"));
        findings.push(finding.related(place(first), "first here").help("remove one of the two"));
    }
    let spans = Spans { source: source.clone(), offset: offset as u32, nodes: reader.nodes };
    Some((value, Site::root(Arc::new(spans))))
}

/// What is wrong with a JSON text by itself, such as the default of a column; `None` if it is valid.
pub fn fault(text: &str) -> Option<String> {
    if let Some((_, what)) = stray(text) {
        return Some(what);
    }
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => parsed.value.is_none().then(|| "there is no value".to_owned()),
        Err(error) => Some(what(&error)),
    }
}

/// What the parser says, as the end of a sentence.
fn what(error: &ParseError) -> String {
    let sentence = error.kind().to_string();
    let mut chars = sentence.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// The text of a JSON string, which was read before.
fn unquoted(string: &str) -> Option<String> {
    match parse_to_ast(string, &CollectOptions::default(), &STRICT).ok()?.value? {
        Ast::StringLit(text) => Some(text.value.into_owned()),
        _ => None,
    }
}

/// The first character that JSON knows neither between its values nor, unescaped, in its texts; the parser takes it.
fn stray(text: &str) -> Option<(usize, String)> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quoted, byte) {
            (true, 0..0x20) => {
                return Some((at, format!("a control character in a text must be written as {}", escape(byte))));
            }
            (false, 0..0x20) if !matches!(byte, b'\t' | b'\n' | b'\r') => {
                return Some((at, "a control character between values".to_owned()));
            }
            (false, 0x80..) => {
                let found = text[at..].chars().next().unwrap_or_default();
                return Some((at, format!("the character {} outside of a text", found.escape_unicode())));
            }
            (_, b'"') if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = quoted && byte == b'\\' && !escaped;
    }
    None
}

/// A control character as JSON writes it.
fn escape(byte: u8) -> String {
    match byte {
        0x08 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        _ => format!("\\u{byte:04x}"),
    }
}

struct Reader {
    nodes: Vec<Node>,
    duplicates: Vec<(String, Range, Range)>,
    /// Numbers that cannot be held.
    numbers: Vec<Range>,
}

impl Reader {
    /// The value, its node and those of everything in it. The depth is bounded by the parser (512).
    fn value(&mut self, key: Span, ast: &Ast<'_>) -> Json {
        let id = self.nodes.len();
        self.nodes.push(Node { key, value: span(ast.range()), first_child: NONE, next: NONE });
        match ast {
            Ast::StringLit(text) => Json::Text(text.value.to_string()),
            Ast::NumberLit(number) => match Number::parse(number.value) {
                Some(number) => Json::Number(number),
                None => {
                    self.numbers.push(number.range);
                    Json::Null
                }
            },
            Ast::BooleanLit(literal) => Json::Bool(literal.value),
            Ast::NullKeyword(_) => Json::Null,
            Ast::Array(array) => {
                let mut last = None;
                let child = |element| self.child(id, &mut last, Span::default(), element);
                Json::List(array.elements.iter().map(child).collect())
            }
            Ast::Object(object) => {
                let mut last = None;
                let mut map = BTreeMap::new();
                let mut seen = BTreeMap::new();
                for property in &object.properties {
                    let name = match &property.name {
                        ObjectPropName::String(text) => text.value.to_string(),
                        ObjectPropName::Word(word) => word.value.to_owned(),
                    };
                    let range = property.name.range();
                    let value = self.child(id, &mut last, span(range), &property.value);
                    match seen.get(&name) {
                        Some(first) => self.duplicates.push((name, *first, range)),
                        None => {
                            seen.insert(name.clone(), range);
                            map.insert(name, value);
                        }
                    }
                }
                Json::Object(map)
            }
        }
    }

    fn child(&mut self, parent: usize, last: &mut Option<usize>, key: Span, ast: &Ast<'_>) -> Json {
        let id = self.nodes.len();
        let value = self.value(key, ast);
        match last.replace(id) {
            Some(sibling) => self.nodes[sibling].next = id as u32,
            None => self.nodes[parent].first_child = id as u32,
        }
        value
    }
}

fn span(range: Range) -> Span {
    Span { start: range.start as u32, end: range.end as u32 }
}
