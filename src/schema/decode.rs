//! JSON values → the Rust types of the format, collecting every fault instead of stopping at the first.
//!
//! serde stops at one fault. So each fault is reported at its key, the key is taken out, and decoding is tried again:
//! a bounded number of times, because every round takes a key away.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::diagnostic::Diagnostic;

use super::json::Site;
use super::rules;

/// Decodes one object of the format. `what` names it in messages ("a column"). `None` if something required is missing.
pub fn decode<T: DeserializeOwned>(
    mut value: Value,
    site: &Site,
    what: &str,
    findings: &mut Vec<Diagnostic>,
) -> Option<T> {
    let mut removed: Vec<String> = Vec::new();
    loop {
        let error = match serde_path_to_error::deserialize(&value) {
            Ok(decoded) => return Some(decoded),
            Err(error) => error,
        };
        let keys = keys(error.path());
        let text = error.inner().to_string();
        let path = keys.join(".");
        if let Some(name) = quoted_after(&text, "missing field ") {
            let missing = join(&path, name);
            if !removed.contains(&missing) {
                let message = format!("{} lacks the key `{name}`", if path.is_empty() { what } else { &path });
                findings.push(Diagnostic::new(&rules::MISSING_KEY, site.at(&path), message));
            }
            return None;
        }
        let unknown = quoted_after(&text, "unknown field ");
        // The path of an unknown key ends in the key itself.
        let finding = match unknown {
            Some(name) => unknown_key(name, &text, site, &path, what),
            None => wrong_value(&text, site, &path),
        };
        findings.push(finding);
        removed.push(path);
        if !remove(&mut value, &keys) {
            return None;
        }
    }
}

fn unknown_key(name: &str, text: &str, site: &Site, path: &str, what: &str) -> Diagnostic {
    let expected: Vec<&str> = text.split('`').skip(3).step_by(2).collect();
    let parent = path.rsplit_once('.').map_or(what, |(parent, _)| parent);
    let finding = Diagnostic::new(&rules::UNKNOWN_KEY, site.key(path), format!("unknown key `{name}` in {parent}"))
        .did_you_mean(name, expected.iter().copied());
    match finding.help.is_empty() {
        true => finding.help(format!("the keys are {}", expected.join(", "))),
        false => finding,
    }
}

fn wrong_value(text: &str, site: &Site, path: &str) -> Diagnostic {
    let name = path.rsplit('.').next().unwrap_or_default();
    let message = match name.is_empty() {
        true => text.to_owned(),
        false => format!("`{name}`: {text}"),
    };
    let finding = Diagnostic::new(&rules::WRONG_VALUE, site.at(path), message);
    match quoted_after(text, "unknown variant ") {
        Some(variant) => finding.did_you_mean(variant, text.split('`').skip(3).step_by(2)),
        None => finding,
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn keys(path: &serde_path_to_error::Path) -> Vec<String> {
    let key = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(key).collect()
}

/// The word in back-quotes that follows `start` at the beginning of a serde message.
fn quoted_after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.strip_prefix('`')?.split('`').next()
}

/// Takes the value at `keys` out, so that it is not found again; `false` if that is the root.
fn remove(value: &mut Value, keys: &[String]) -> bool {
    let Some((last, parents)) = keys.split_last() else { return false };
    match inner(value, parents) {
        Some(Value::Object(map)) => map.remove(last).is_some(),
        // Taking the whole list out keeps the positions of the other faults right.
        Some(Value::Array(_)) => remove(value, parents),
        _ => false,
    }
}

fn inner<'a>(value: &'a mut Value, keys: &[String]) -> Option<&'a mut Value> {
    keys.iter().try_fold(value, |value, key| match value {
        Value::Object(map) => map.get_mut(key),
        Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}
