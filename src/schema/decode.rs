//! JSON values → the Rust types of the format, collecting every fault instead of stopping at the first.
//!
//! serde stops at one fault. So each fault is reported at its place, what is wrong is taken out or filled in, and decoding
//! is tried again: at most once for each key of the format, because unknown keys of an object go all at once.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use crate::diagnostic::Diagnostic;

use super::json::Site;
use super::rules;
use super::wording;

/// What became of an object.
pub struct Decoded<T> {
    /// The object, as far as it could be understood.
    pub value: Option<T>,
    /// Nothing that is required is missing.
    pub complete: bool,
}

/// Decodes one object of the format. `what` names it in messages ("the column `id`"), `key` is the key under which it
/// stands in its table, or empty. `None` if something required is missing.
pub fn decode<T: DeserializeOwned>(
    value: Value,
    site: &Site,
    what: &str,
    key: &str,
    findings: &mut Vec<Diagnostic>,
) -> Option<T> {
    let decoded = decode_partly(value, site, what, key, findings);
    decoded.value.filter(|_| decoded.complete)
}

/// Like [`decode`], but what is required and missing is filled in, so that the rest can be looked at.
pub fn decode_partly<T: DeserializeOwned>(
    mut value: Value,
    site: &Site,
    what: &str,
    key: &str,
    findings: &mut Vec<Diagnostic>,
) -> Decoded<T> {
    let mut object = Object { site, what, key, findings, filled: Vec::new(), complete: true };
    if !value.is_object() {
        object.wrong(&[], &format!("expected an object, found {}", wording::kind(&value)));
        return Decoded { value: None, complete: false };
    }
    object.refuse_lists(&mut value, &mut Vec::new());
    loop {
        let error = match serde_path_to_error::deserialize(&value) {
            Ok(decoded) => return Decoded { value: Some(decoded), complete: object.complete },
            Err(error) => error,
        };
        let path = segments(error.path());
        let text = error.inner().to_string();
        let mended = match (quoted_after(&text, "missing field "), quoted_after(&text, "unknown field ")) {
            (Some(name), _) => object.missing(&mut value, path, name),
            (None, Some(_)) => object.unknown(&mut value, &path, &text),
            (None, None) => object.wrong_value(&mut value, path, &text),
        };
        if !mended {
            return Decoded { value: None, complete: false };
        }
    }
}

/// The object that is being decoded.
struct Object<'a> {
    site: &'a Site,
    what: &'a str,
    key: &'a str,
    findings: &'a mut Vec<Diagnostic>,
    /// Paths of missing keys, each with how many placeholders were tried.
    filled: Vec<(Vec<String>, usize)>,
    complete: bool,
}

/// What is put in the place of a missing value, until one is of the right kind.
fn placeholder(tried: usize) -> Option<Value> {
    let all = [json!(""), json!([]), json!({}), json!(1), json!("1s"), json!("kafka"), json!("delete"), json!(true)];
    all.into_iter().nth(tried)
}

/// Keys whose values are objects; serde would take a list for one.
const OBJECTS: [&str; 9] = ["status", "retry", "lease", "event", "times", "backoff", "tag", "consumers", "topic"];

impl Object<'_> {
    /// How messages name the object at `path`.
    fn name(&self, path: &[String]) -> String {
        match path.is_empty() {
            true => self.what.to_owned(),
            false => format!("`{}`", self.path(path)),
        }
    }

    fn path(&self, path: &[String]) -> String {
        let key = (!self.key.is_empty()).then_some(self.key);
        key.into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(".")
    }

    fn wrong(&mut self, path: &[String], message: &str) {
        let message = match path.is_empty() {
            true => format!("{}: {message}", self.what),
            false => format!("`{}`: {message}", self.path(path)),
        };
        self.findings.push(Diagnostic::new(&rules::WRONG_VALUE, self.site.descend(path).place(), message));
    }

    fn refuse_lists(&mut self, value: &mut Value, path: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map.iter_mut() {
                    path.push(key.clone());
                    if OBJECTS.contains(&&**key) {
                        self.refuse_lists(inner, path);
                    }
                    path.pop();
                }
            }
            Value::Array(list) if path.last().is_some_and(|key| key == "consumers") => {
                for (at, inner) in list.iter_mut().enumerate() {
                    path.push(at.to_string());
                    self.refuse_lists(inner, path);
                    path.pop();
                }
            }
            Value::Array(_) => {
                self.wrong(path, "expected an object, found a list");
                self.complete = false;
                *value = json!({});
            }
            _ => {}
        }
    }

    /// Reports a missing key once and fills it in.
    fn missing(&mut self, value: &mut Value, mut path: Vec<String>, name: &str) -> bool {
        let message = format!("{} lacks the key `{name}`", self.name(&path));
        let place = self.site.descend(&path).place();
        path.push(name.to_owned());
        // Filled in before, or inside of what was filled in: that was said already.
        if !self.filled.iter().any(|(filled, _)| path.starts_with(filled)) {
            self.findings.push(Diagnostic::new(&rules::MISSING_KEY, place, message));
        }
        self.complete = false;
        self.fill(value, path)
    }

    fn fill(&mut self, value: &mut Value, path: Vec<String>) -> bool {
        let tried = match self.filled.iter_mut().find(|(filled, _)| *filled == path) {
            Some((_, tried)) => {
                *tried = tried.wrapping_add(1);
                *tried
            }
            None => {
                self.filled.push((path.clone(), 0));
                0
            }
        };
        let (Some((last, parents)), Some(placeholder)) = (path.split_last(), placeholder(tried)) else { return false };
        match inner(value, parents) {
            Some(Value::Object(map)) => {
                map.insert(last.clone(), placeholder);
                true
            }
            _ => false,
        }
    }

    /// Reports and removes all unknown keys of the object that has the one at `path`.
    fn unknown(&mut self, value: &mut Value, path: &[String], text: &str) -> bool {
        let expected: Vec<&str> = expected(text);
        let Some((_, parents)) = path.split_last() else { return false };
        let name = self.name(parents);
        let sites: BTreeMap<String, Site> = self.site.descend(parents).named();
        let Some(Value::Object(map)) = inner(value, parents) else { return false };
        let unknown: Vec<String> = map.keys().filter(|key| !expected.contains(&&***key)).cloned().collect();
        for key in &unknown {
            map.remove(key);
            let place = sites.get(key).and_then(Site::own_key);
            let finding = Diagnostic::new(&rules::UNKNOWN_KEY, place, format!("unknown key `{key}` in {name}"))
                .did_you_mean(key, expected.iter().copied());
            self.findings.push(match finding.help.is_empty() {
                true => finding.help(format!("the keys are {}", expected.join(", "))),
                false => finding,
            });
        }
        !unknown.is_empty()
    }

    /// Reports a value of a wrong kind and takes it out.
    fn wrong_value(&mut self, value: &mut Value, path: Vec<String>, text: &str) -> bool {
        // A placeholder of a wrong kind is our own fault: the next one.
        let ours = self.filled.iter().find(|(filled, tried)| *tried != usize::MAX && path.starts_with(filled));
        if let Some((filled, _)) = ours {
            let filled = filled.clone();
            return self.fill(value, filled);
        }
        let message = wording::of_serde(text);
        let message = match path.is_empty() {
            true => format!("{}: {message}", self.what),
            false => format!("`{}`: {message}", self.path(&path)),
        };
        let mut finding = Diagnostic::new(&rules::WRONG_VALUE, self.site.descend(&path).place(), message);
        if let Some(variant) = quoted_after(text, "unknown variant ") {
            finding = finding.did_you_mean(variant, expected(text));
        }
        if let (Some("default"), Some(found)) = (path.last().map(String::as_str), inner(value, &path))
            && !found.is_object()
            && !found.is_array()
            && !found.is_null()
        {
            let sql = found.to_string().to_uppercase();
            finding = finding.help(format!("write `\"{sql}\"`: a default is SQL text"));
        }
        self.findings.push(finding);
        // What is required must be filled in again, what is not is simply not there; of a list all goes, so that the
        // positions of the other faults stay right.
        let whole: Vec<String> = path.iter().take_while(|key| key.parse::<usize>().is_err()).cloned().collect();
        let whole = if whole.is_empty() { path } else { whole };
        let removed = remove(value, &whole);
        // If it is required, it is filled in without a further word.
        self.filled.push((whole, usize::MAX));
        removed
    }
}

fn segments(path: &serde_path_to_error::Path) -> Vec<String> {
    let key = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(key).collect()
}

/// The word in back-quotes that follows `start` at the beginning of a serde message.
fn quoted_after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(start)?.strip_prefix('`')?;
    // The word may hold back-quotes itself; what follows it does not begin with one.
    Some(rest.rsplit_once("`, expected").map_or_else(|| rest.trim_end_matches('`'), |(word, _)| word))
}

/// The words that serde expected instead.
fn expected(text: &str) -> Vec<&str> {
    let list = text.rsplit_once("expected").map_or("", |(_, list)| list);
    list.split('`').skip(1).step_by(2).collect()
}

fn remove(value: &mut Value, path: &[String]) -> bool {
    let Some((last, parents)) = path.split_last() else { return false };
    match inner(value, parents) {
        Some(Value::Object(map)) => map.remove(last).is_some(),
        _ => false,
    }
}

fn inner<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Object(map) => map.get_mut(key),
        Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}
