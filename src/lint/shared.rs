//! What files see of one another: constants of a Go package and of those that it imports, parts of MyBatis mappers.

#[cfg(feature = "lang-go")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Input;
#[cfg(any(feature = "lang-go", feature = "mybatis"))]
use super::parallel;

#[cfg(feature = "lang-go")]
use crate::sql::host::{self, Constants, go};
#[cfg(feature = "mybatis")]
use crate::sql::mybatis;

/// Names of texts, by where they are known.
#[derive(Debug, Default)]
pub struct Shared {
    /// By folder.
    #[cfg(feature = "lang-go")]
    packages: BTreeMap<String, Package>,
    /// Parts of all mappers.
    #[cfg(feature = "mybatis")]
    pub parts: mybatis::Parts,
}

/// A Go package.
#[cfg(feature = "lang-go")]
#[derive(Debug, Default)]
struct Package {
    name: String,
    constants: Constants,
}

/// The folder of a path.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folder that an import means, among those of the tree: its whole path is the end of the import's, or at least two
/// names of it are; where several are, it is not known.
#[cfg(feature = "lang-go")]
fn imported<'a>(import: &str, folders: &'a BTreeSet<String>) -> Option<&'a str> {
    let shares = |folder: &str| {
        let shared = folder.rsplit('/').zip(import.rsplit('/')).take_while(|(a, b)| a == b && !a.is_empty()).count();
        let whole = shared > 0 && shared == folder.split('/').count();
        if whole || shared >= 2 { shared } else { 0 }
    };
    let most = folders.iter().map(|folder| shares(folder)).max().filter(|most| *most > 0)?;
    let mut best = folders.iter().filter(|folder| shares(folder) == most);
    best.next().filter(|_| best.next().is_none()).map(|folder| &**folder)
}

impl Shared {
    /// What the files of a run see of one another. Twice, since a constant may be made of those of other files.
    pub fn of(inputs: &[Input]) -> Shared {
        let mut shared = Shared::default();
        for _ in 0..2 {
            shared = shared.next(inputs);
        }
        shared
    }

    #[cfg(feature = "lang-go")]
    fn next(&self, inputs: &[Input]) -> Shared {
        let go: Vec<&Input> = inputs.iter().filter(|input| input.extension == "go").collect();
        let several = go.len() > 1;
        let read = parallel(&go, |input| {
            let text = &input.source.text;
            let declares = several && go::may_declare(text);
            let constants =
                if declares { host::constants(text, "go", self.constants(input)) } else { Constants::new() };
            (folder(&input.source.path).to_owned(), go::header(text).package, constants)
        });
        let mut next = Shared { packages: BTreeMap::new(), ..self.mappers(inputs) };
        for (folder, name, constants) in read {
            let package = next.packages.entry(folder).or_default();
            if !name.ends_with("_test") {
                package.name = name;
            }
            for (name, text) in constants {
                package.constants.entry(name).or_insert(text);
            }
        }
        next
    }

    #[cfg(not(feature = "lang-go"))]
    fn next(&self, inputs: &[Input]) -> Shared {
        self.mappers(inputs)
    }

    #[cfg(feature = "mybatis")]
    fn mappers(&self, inputs: &[Input]) -> Shared {
        let mappers: Vec<&Input> = inputs.iter().filter(|input| input.extension == "xml").collect();
        if mappers.len() < 2 {
            return Shared::default();
        }
        let parts = parallel(&mappers, |input| mybatis::parts(&input.source.text, &self.parts));
        Shared { parts: parts.into_iter().flatten().collect(), ..Shared::default() }
    }

    #[cfg(not(feature = "mybatis"))]
    fn mappers(&self, _: &[Input]) -> Shared {
        Shared::default()
    }

    /// The names of other files that a program sees, as it writes them.
    #[cfg(feature = "lang-go")]
    pub fn constants(&self, input: &Input) -> Constants {
        if input.extension != "go" || self.packages.is_empty() {
            return Constants::new();
        }
        let own = folder(&input.source.path);
        let mut seen = self.packages.get(own).map(|package| package.constants.clone()).unwrap_or_default();
        let folders: BTreeSet<String> = self.packages.keys().cloned().collect();
        for (alias, path) in go::header(&input.source.text).imports {
            let Some(package) = imported(&path, &folders).and_then(|folder| self.packages.get(folder)) else {
                continue;
            };
            let alias = alias.unwrap_or_else(|| package.name.clone());
            for (name, text) in &package.constants {
                let called = if alias == "." { name.clone() } else { format!("{alias}.{name}") };
                seen.insert(called, text.clone());
            }
        }
        seen
    }
}

#[cfg(feature = "lang-go")]
use go::may_declare;

#[cfg(not(feature = "lang-go"))]
fn may_declare(_: &str) -> bool {
    false
}

/// Which other files the kept ones see names of.
#[derive(Debug, Default)]
pub struct Wanted {
    folders: BTreeSet<String>,
    namespaces: BTreeSet<String>,
}

impl Wanted {
    /// What the files ask for, among the folders in which there are programs of their language.
    pub fn by(inputs: &[Input], folders: &BTreeSet<String>) -> Wanted {
        let mut wanted = Wanted::default();
        for input in inputs {
            match &*input.extension {
                "go" => wanted.programs(input, folders),
                "xml" => wanted.mapper(&input.source.text),
                _ => {}
            }
        }
        wanted
    }

    #[cfg(feature = "lang-go")]
    fn programs(&mut self, input: &Input, folders: &BTreeSet<String>) {
        self.folders.insert(folder(&input.source.path).to_owned());
        let imports = go::header(&input.source.text).imports;
        self.folders.extend(imports.iter().filter_map(|(_, path)| imported(path, folders)).map(str::to_owned));
    }

    #[cfg(not(feature = "lang-go"))]
    fn programs(&mut self, _: &Input, _: &BTreeSet<String>) {}

    fn mapper(&mut self, text: &str) {
        for (at, mark) in text.match_indices("refid=\"") {
            let id = text[at + mark.len()..].split('"').next().unwrap_or_default();
            self.namespaces.extend(id.rsplit_once('.').map(|(namespace, _)| namespace.to_owned()));
        }
    }

    /// Whether a file may be asked for, by its path.
    pub fn may_be(&self, path: &str, extension: &str) -> bool {
        match extension {
            "go" => self.folders.contains(folder(path)),
            "xml" => !self.namespaces.is_empty(),
            _ => false,
        }
    }

    /// Whether a file is asked for, by its text.
    pub fn is(&self, text: &str, extension: &str) -> bool {
        extension == "go" && may_declare(text)
            || self.namespaces.iter().any(|namespace| text.contains(&format!("namespace=\"{namespace}\"")))
    }
}

#[cfg(all(test, feature = "lang-go"))]
mod tests {
    use super::imported;

    #[test]
    fn imports_are_found_by_their_ends() {
        let folders = ["queue", "internal/tables", "a/x/tables", "b/x/tables"].map(str::to_owned).into();
        for (import, expected) in [
            ("example.org/shop/queue", Some("queue")),
            ("example.org/shop/internal/tables", Some("internal/tables")),
            ("example.org/b/x/tables", Some("b/x/tables")),
            ("example.org/x/tables", None),
            ("database/sql", None),
            ("other/tables", None),
        ] {
            assert_eq!(imported(import, &folders), expected, "{import}");
        }
    }
}
