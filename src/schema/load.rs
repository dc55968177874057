//! Definition files → [`Catalog`], with every fault of every file.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Source, suggest};
use crate::error::{Error, Result};

use super::decode::decode;
use super::format::FileDef;
use super::json::{self, Site};
use super::lower::lower;
use super::value::Json;
use super::{Catalog, archive, collation, rules};

/// Largest definition file, in bytes. The 49 tables of a real system take 115 kB; byte offsets are 32 bits.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// One definition file that was read.
pub type Input = Arc<Source>;

/// The definition files under `paths`, each a file or a folder of which every `*.json` counts, read in the order of their
/// names. A file named twice, in whatever spelling, is read once. `shown` turns a path into what messages call it.
pub fn read(paths: &[PathBuf], shown: impl Fn(&Path) -> String) -> Result<Vec<Input>> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut seen = BTreeSet::new();
    for path in paths {
        let found = if path.is_dir() { folder(path)? } else { vec![path.clone()] };
        files.extend(
            found.into_iter().filter(|file| seen.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone()))),
        );
    }
    files.iter().map(|path| read_file(path, shown(path))).collect()
}

fn folder(path: &Path) -> Result<Vec<PathBuf>> {
    let fault = |source| Error::io("read the folder", path, source);
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(fault)? {
        let file = entry.map_err(fault)?.path();
        if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(Error::new(format!("no definition in the folder `{}`", path.display()))
            .help("definitions are `*.json` files")),
        false => Ok(files),
    }
}

fn read_file(path: &Path, shown: String) -> Result<Input> {
    let fault = |source| Error::io("read", Path::new(&shown), source);
    let too_large = |size: String| {
        let most = MAX_FILE_BYTES / (1024 * 1024);
        Err(Error::new(format!("`{shown}` has {size} bytes, a definition file at most {most} MiB")).help("split it"))
    };
    let file = fs::File::open(path).map_err(fault)?;
    let size = file.metadata().map_err(fault)?.len();
    if size > MAX_FILE_BYTES {
        return too_large(size.to_string());
    }
    // The size of a pipe or a device is not known before it is read.
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return too_large(format!("more than {MAX_FILE_BYTES}"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Arc::new(Source::new(shown, text))),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(Error::new(format!("`{shown}` is not UTF-8: line {line}, byte {at}")).help("save the file as UTF-8"))
        }
    }
}

/// The catalog that the files define, and what is wrong with their text. The catalog holds what could be understood, so
/// that [`check`](super::check::check) can find the other faults in the same run.
pub fn load(inputs: &[Input]) -> (Catalog, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let mut catalog = Catalog { tables: Vec::new(), fingerprint: FNV_OFFSET };
    for input in inputs {
        catalog.fingerprint = fingerprint(catalog.fingerprint, &input.text);
        let Some((value, site)) = json::read(input, &mut findings) else { continue };
        for (value, site) in tables(value, &site, &mut findings) {
            catalog.tables.extend(lower(value, &site, &mut findings));
        }
    }
    archive::add(&mut catalog);
    collation::resolve(&mut catalog);
    (catalog, findings)
}

/// The table objects of a file: an array, a single object, or `{"tables": […]}`.
fn tables(value: Json, site: &Site, findings: &mut Vec<Diagnostic>) -> Vec<(Json, Site)> {
    match value {
        Json::List(list) => list.into_iter().zip(site.children()).collect(),
        Json::Object(map) if map.contains_key("tableName") || !map.contains_key("tables") => {
            let slip = map.keys().find(|key| suggest::closest(key, ["tables"]).is_some() && map.len() <= 2);
            if let (Some(slip), false) = (slip, map.contains_key("columns")) {
                let finding = Diagnostic::new(
                    &rules::UNKNOWN_KEY,
                    site.descend(&[slip]).own_key(),
                    format!("unknown key `{slip}` in the file"),
                );
                findings.push(finding.help("did you mean `tables`?"));
                return Vec::new();
            }
            vec![(Json::Object(map), site.clone())]
        }
        Json::Object(map) => match decode::<FileDef>(Json::Object(map), site, "the file", "", findings) {
            Some(file) => file.tables.into_iter().zip(site.step("tables").children()).collect(),
            None => Vec::new(),
        },
        _ => {
            let message = "a definition file is a table, an array of tables, or an object with `tables`";
            findings.push(Diagnostic::new(&rules::WRONG_VALUE, site.place(), message));
            Vec::new()
        }
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a (Fowler, Noll, Vo; 64 bits) of a name or text.
pub fn fnv(text: &str) -> u64 {
    text.bytes().fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

/// Continues `hash` over a JSON text without the white space outside its strings.
fn fingerprint(hash: u64, text: &str) -> u64 {
    let mut quoted = false;
    let mut escaped = false;
    text.trim_start_matches('\u{feff}').bytes().fold(hash, |hash, byte| {
        if !quoted && byte.is_ascii_whitespace() {
            return hash;
        }
        match byte {
            b'"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = quoted && byte == b'\\' && !escaped;
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::{FNV_OFFSET, fingerprint, fnv};

    #[test]
    fn fnv_agrees_with_its_published_values() {
        assert_eq!(fnv(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn fingerprint_ignores_layout_only() {
        let of = |text| fingerprint(FNV_OFFSET, text);
        assert_eq!(of("{\"a\": \"b c\",\r\n \"d\\\"\": 1}"), of("{\"a\":\"b c\",\"d\\\"\":1}"));
        assert_ne!(of("{\"a\":\"b c\"}"), of("{\"a\":\"bc\"}"));
        assert_ne!(of(r#"["\\", "a b"]"#), of(r#"["\\","ab"]"#));
    }
}
