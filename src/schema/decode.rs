//! JSON values → the types of the format, with every fault at its place.
//!
//! What is wrong or unknown is reported and left out, what is required and missing is reported and filled in, and the rest
//! is decoded all the same.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;

use super::json::Site;
use super::rules;
use super::value::{Json, Number};

/// What became of an object.
pub struct Decoded<T> {
    /// The object, as far as it could be understood.
    pub value: Option<T>,
    /// Nothing that is required is missing.
    pub complete: bool,
}

/// Decodes one object of the format. `what` names it in messages ("the column `id`"), `key` is the key under which it
/// stands in its table, or empty. `None` if something required is missing.
pub fn decode<T: Decode>(value: Json, site: &Site, what: &str, key: &str, findings: &mut Vec<Diagnostic>) -> Option<T> {
    let decoded = decode_partly(value, site, what, key, findings);
    decoded.value.filter(|_| decoded.complete)
}

/// Like [`decode`], but what is required and missing is filled in, so that the rest can be looked at.
pub fn decode_partly<T: Decode>(
    value: Json,
    site: &Site,
    what: &str,
    key: &str,
    findings: &mut Vec<Diagnostic>,
) -> Decoded<T> {
    let mut decoder = Decoder { site, what, key, findings, path: Vec::new(), faults: 0, complete: true };
    if !matches!(value, Json::Object(_)) {
        let finding = decoder.wrong(&format!("expected an object, found {}", value.kind()));
        decoder.findings.push(finding);
        return Decoded { value: None, complete: false };
    }
    let value = T::decode(value, &mut decoder);
    Decoded { value, complete: decoder.complete }
}

/// What is expected where a string is.
const TEXT: &str = "a text";

/// A type of the format.
pub trait Decode: Sized {
    /// The value; `None` if it is of a wrong kind, which has been reported then.
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self>;

    /// What takes the place of a value that is required and not there.
    fn stand_in() -> Self;

    /// What it means that there is no value; `None` where it is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// Where decoding is, and what it has found.
pub struct Decoder<'a> {
    site: &'a Site,
    what: &'a str,
    key: &'a str,
    findings: &'a mut Vec<Diagnostic>,
    /// The keys and positions that lead to the value at hand.
    path: Vec<Cow<'static, str>>,
    /// How many values were wrong, each of which has been reported.
    faults: usize,
    complete: bool,
}

impl<'a> Decoder<'a> {
    /// The object, whose unknown keys are reported. A list is no object, and is taken for one that has nothing in it.
    pub fn object(&mut self, value: Json, keys: &[&str]) -> Option<Object<'_, 'a>> {
        let map = match value {
            Json::Object(map) => map,
            Json::List(_) => {
                let finding = self.wrong("expected an object, found a list");
                self.findings.push(finding);
                self.complete = false;
                BTreeMap::new()
            }
            other => return self.mismatch("an object", &other),
        };
        if map.keys().any(|key| !keys.contains(&&**key)) {
            self.report_unknown(&map, keys);
        }
        Some(Object { decoder: self, map })
    }

    /// One of these words, each with what it means.
    pub fn word<T: Copy>(&mut self, value: &Json, words: &[(&str, T)]) -> Option<T> {
        let Json::Text(text) = value else { return self.mismatch(TEXT, value) };
        if let Some((_, meaning)) = words.iter().find(|(word, _)| word == text) {
            return Some(*meaning);
        }
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let expected = match quoted.as_slice() {
            [one, other] => format!("{one} or {other}"),
            several => format!("one of {}", several.join(", ")),
        };
        let finding = self.wrong(&format!("unknown value `{text}`, expected {expected}"));
        self.refuse(finding.did_you_mean(text, words.iter().map(|(word, _)| *word)))
    }

    /// Reports that the value is not what is expected.
    pub fn mismatch<T>(&mut self, expected: &str, found: &Json) -> Option<T> {
        let finding = self.wrong(&format!("expected {expected}, found {}", found.found()));
        let literal = match found {
            Json::Bool(value) => Some(value.to_string()),
            Json::Number(number) => Some(number.to_string()),
            _ => None,
        };
        // The likeliest slip of all: a JSON value where a column's default is to be written as SQL.
        let is_default = expected == TEXT && self.path.last().is_some_and(|key| key == "default");
        self.refuse(match literal.filter(|_| is_default) {
            Some(literal) => finding.help(format!("write `\"{}\"`: a default is SQL text", literal.to_uppercase())),
            None => finding,
        })
    }

    /// Reports what is wrong with the value at hand, which makes it none.
    fn refuse<T>(&mut self, finding: Diagnostic) -> Option<T> {
        self.findings.push(finding);
        self.faults += 1;
        None
    }

    /// What is wrong with the value at hand.
    fn wrong(&self, message: &str) -> Diagnostic {
        let message = format!("{}: {message}", self.name());
        Diagnostic::new(&rules::WRONG_VALUE, self.site.descend(&self.path).place(), message)
    }

    /// How messages name the value at hand.
    fn name(&self) -> String {
        if self.path.is_empty() {
            return self.what.to_owned();
        }
        let key = (!self.key.is_empty()).then_some(self.key);
        format!("`{}`", key.into_iter().chain(self.path.iter().map(|key| &**key)).collect::<Vec<_>>().join("."))
    }

    fn report_unknown(&mut self, map: &BTreeMap<String, Json>, keys: &[&str]) {
        let name = self.name();
        let sites = self.site.descend(&self.path).named();
        for key in map.keys().filter(|key| !keys.contains(&&***key)) {
            let place = sites.get(key).and_then(Site::own_key);
            let finding = Diagnostic::new(&rules::UNKNOWN_KEY, place, format!("unknown key `{key}` in {name}"))
                .did_you_mean(key, keys.iter().copied());
            self.findings.push(match finding.help.is_empty() {
                true => finding.help(format!("the keys are {}", keys.join(", "))),
                false => finding,
            });
        }
    }

    /// Decodes what stands under the key or position.
    fn within<T: Decode>(&mut self, key: impl Into<Cow<'static, str>>, value: Json) -> Option<T> {
        self.path.push(key.into());
        let value = T::decode(value, self);
        self.path.pop();
        value
    }
}

/// An object that is being decoded, key by key.
pub struct Object<'d, 'a> {
    decoder: &'d mut Decoder<'a>,
    map: BTreeMap<String, Json>,
}

impl Object<'_, '_> {
    /// The value under a key that is required, unless there is a default or the type has a value for its absence.
    pub fn value<T: Decode>(&mut self, key: &'static str, default: Option<T>) -> T {
        let given = self.map.remove(key);
        let is_given = given.is_some();
        let value = given.and_then(|value| self.decoder.within(key, value));
        if let Some(value) = value.or(default).or_else(T::absent) {
            return value;
        }
        let decoder = &mut *self.decoder;
        decoder.complete = false;
        // What is given and wrong has been reported.
        if !is_given {
            let message = format!("{} lacks the key `{key}`", decoder.name());
            let place = decoder.site.descend(&decoder.path).place();
            decoder.findings.push(Diagnostic::new(&rules::MISSING_KEY, place, message));
        }
        T::stand_in()
    }
}

/// A value that may be missing, or null.
impl<T: Decode> Decode for Option<T> {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        match value {
            Json::Null => Some(None),
            value => T::decode(value, decoder).map(Some),
        }
    }

    fn stand_in() -> Self {
        None
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// A list, of which nothing is left if one of its elements is wrong: positions in it would be others.
impl<T: Decode> Decode for Vec<T> {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Json::List(list) = value else { return decoder.mismatch("a list", &value) };
        let before = decoder.faults;
        let mut values = Vec::with_capacity(list.len());
        for (at, element) in list.into_iter().enumerate() {
            values.extend(decoder.within::<T>(at.to_string(), element));
            if decoder.faults > before {
                return None;
            }
        }
        Some(values)
    }

    fn stand_in() -> Self {
        Vec::new()
    }
}

/// An object with keys of the user's own.
impl<T: Decode> Decode for BTreeMap<String, T> {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Json::Object(map) = value else { return decoder.mismatch("an object", &value) };
        let entries = map.into_iter().filter_map(|(key, value)| Some((key.clone(), decoder.within(key, value)?)));
        Some(entries.collect())
    }

    fn stand_in() -> Self {
        BTreeMap::new()
    }
}

impl Decode for Json {
    fn decode(value: Json, _: &mut Decoder<'_>) -> Option<Self> {
        Some(value)
    }

    fn stand_in() -> Self {
        Json::Null
    }
}

impl Decode for String {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        match value {
            Json::Text(text) => Some(text),
            other => decoder.mismatch(TEXT, &other),
        }
    }

    fn stand_in() -> Self {
        String::new()
    }
}

impl Decode for bool {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        match value {
            Json::Bool(value) => Some(value),
            other => decoder.mismatch("true or false", &other),
        }
    }

    fn stand_in() -> Self {
        false
    }
}

impl Decode for u32 {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        let number = match value {
            Json::Number(Number::Integer(number)) => u32::try_from(number).ok(),
            _ => None,
        };
        number.or_else(|| decoder.mismatch("a whole number from 0 to 4294967295", &value))
    }

    fn stand_in() -> Self {
        1
    }
}

impl Decode for f64 {
    fn decode(value: Json, decoder: &mut Decoder<'_>) -> Option<Self> {
        match value {
            Json::Number(Number::Integer(number)) => Some(number as f64),
            Json::Number(Number::Float(number)) => Some(number),
            other => decoder.mismatch("a number", &other),
        }
    }

    fn stand_in() -> Self {
        1.0
    }
}
