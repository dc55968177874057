//! Definitions for tests: loaded, checked and generated as `claimsmith generate` does it.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claimsmith::diagnostic::{Diagnostic, Level, Source};
use claimsmith::generate::{self, Options, targets};
use claimsmith::schema::{Catalog, Column, Table, TableName, check, load};
use claimsmith::template::Templates;
use serde_json::Value;

use crate::servers::Server;

/// Definitions for one engine.
pub struct Definitions {
    pub server: Server,
    pub catalog: Catalog,
    pub findings: Vec<Diagnostic>,
    /// The same definitions as nothing but JSON.
    pub json: Vec<Value>,
}

impl Definitions {
    /// Reads a file, or all files of a folder.
    pub fn read(path: &Path, server: Server) -> Definitions {
        let shown = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        Definitions::new(&load::read(&[path.to_owned()], shown).unwrap(), server)
    }

    /// Takes the text of a definition file.
    pub fn parse(text: &str, server: Server) -> Definitions {
        Definitions::new(&[Arc::new(Source::new("test.json", text))], server)
    }

    fn new(inputs: &[load::Input], server: Server) -> Definitions {
        let (catalog, mut findings) = load::load(inputs);
        findings.extend(check::check(&catalog, &[server.engine()]));
        let json = inputs.iter().map(|input| serde_json::from_str(&input.text).unwrap()).collect();
        Definitions { server, catalog, findings, json }
    }

    /// The ids of the rules that found an error, each once.
    pub fn errors(&self) -> Vec<&'static str> {
        self.ids(Level::Error)
    }

    /// The ids of the rules that found something of this level, each once.
    pub fn ids(&self, level: Level) -> Vec<&'static str> {
        let mut ids: Vec<_> =
            self.findings.iter().filter(|finding| finding.level == level).map(|finding| finding.rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Panics if there is an error in the definitions.
    pub fn without_errors(self) -> Self {
        let errors = self.findings.iter().filter(|finding| finding.level == Level::Error);
        let messages: Vec<&str> = errors.map(|finding| &*finding.message).collect();
        assert!(messages.is_empty(), "{messages:#?}");
        self
    }

    /// Panics unless the catalog has as many columns, indexes and foreign keys as the JSON text.
    pub fn assert_complete(&self) {
        let count = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        for json in self.json.iter().flat_map(tables) {
            let name = json["tableName"].as_str().unwrap();
            let table = self.catalog.table(&TableName::parse(name)).unwrap_or_else(|| panic!("{name} is lost"));
            let uniques = json["columns"].as_array().unwrap().iter().filter(|column| column["unique"] == true).count();
            let found = [table.columns.len(), table.indexes.len(), table.foreign_keys.len()];
            assert_eq!(
                found,
                [count(json, "columns"), count(json, "indices") + uniques, count(json, "foreignKeys")],
                "columns, indexes and foreign keys of {name}"
            );
            if json["retention"]["strategy"] == "archive" {
                self.assert_archived(table, json);
            }
        }
    }

    /// Panics unless there is an archive that takes every row of the table and finds it by age within its scope and state.
    fn assert_archived(&self, table: &Table, json: &Value) {
        let retention = &json["retention"];
        let name = match retention["into"].as_str() {
            Some(name) => name.to_owned(),
            None => format!("{}_archive", table.name),
        };
        let archive = self.catalog.table(&TableName::parse(&name)).unwrap_or_else(|| panic!("{name} is lost"));
        if archive.archive_of.is_none() {
            return; // The definitions have a table of that name.
        }
        let plain = |column: &Column| Column { auto_increment: false, site: table.site.clone(), ..column.clone() };
        let columns = |table: &Table| format!("{:?}", table.columns.iter().map(plain).collect::<Vec<_>>());
        assert_eq!(columns(archive), columns(table));
        assert_eq!(archive.primary_key, table.primary_key);
        assert!(archive.foreign_keys.is_empty() && archive.columns.iter().all(|column| !column.auto_increment));
        let at = |name: &Value| table.position(name.as_str().unwrap()).unwrap();
        let claim = &json["claim"];
        let scope = if retention["scope"].is_array() { &retention["scope"] } else { &claim["scope"] };
        let mut columns: Vec<usize> = scope.as_array().into_iter().flatten().map(at).collect();
        columns.extend(
            [&claim["status"]["column"], &retention["age"]].into_iter().filter(|name| name.is_string()).map(at),
        );
        let rest = table.primary_key.iter().filter(|column| !columns.contains(column)).copied().collect::<Vec<_>>();
        columns.extend(rest);
        let indexes: Vec<_> = archive.indexes.iter().map(|index| (index.columns.clone(), index.unique)).collect();
        assert_eq!(indexes, [(columns, false)], "the indexes of {name}");
    }

    /// `schema.sql`.
    pub fn schema_sql(&self) -> String {
        let options = Options {
            dialects: vec![self.server.dialect()],
            targets: vec![targets::find("sql").unwrap()],
            rust: Default::default(),
            source: "schemas",
        };
        let files = generate::run(&self.catalog, &options, &Templates::new(None).unwrap()).unwrap();
        let path = format!("sql/{}/schema.sql", self.server.id());
        files.into_iter().find(|file| file.path == path).unwrap().content
    }
}

/// The table objects of a file.
fn tables(file: &Value) -> Vec<&Value> {
    match file.get("tables").unwrap_or(file) {
        Value::Array(tables) => tables.iter().collect(),
        table => vec![table],
    }
}

/// A fixture of these tests.
pub fn fixture(name: &str) -> PathBuf {
    root().join("tests/cases/schemas").join(name)
}

/// The definitions that claimsmith ships: `schemas`, never empty.
pub fn shipped() -> PathBuf {
    root().join("schemas")
}

/// The definitions of a real system: the file that `CLAIMSMITH_REAL` names, or one beside the repository. It is not part
/// of the repository, so it may be missing; then the reason is returned.
pub fn real() -> Result<PathBuf, String> {
    let variable = "CLAIMSMITH_REAL";
    let path = env::var(variable).unwrap_or_else(|_| "../shared/real/nexuscrm_system_tables.json".to_owned());
    let path = root().join(path);
    if path.is_file() { Ok(path) } else { Err(format!("no {variable}, and no file at its default")) }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
