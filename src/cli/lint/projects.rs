//! The configurations of a run: that of the working directory, and those of folders below it that have their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Level};
use crate::dialect::catalogue::Catalogue;
use crate::dialect::{self, Dialect};
use crate::error::Error;
use crate::lint::files::Listing;
use crate::lint::finder::Finder;
use crate::lint::{self, Input, Options, Report, rules};
use crate::schema::{Catalog, check, load};
use crate::workload;

use super::super::config::{Config, FILE, Word, normal, shown};
use super::Arguments;

/// One configuration with what it makes of its files.
pub struct Project {
    /// What the file says.
    pub config: Config,
    /// What its files are linted with.
    options: Options,
    /// Its definitions.
    catalog: Catalog,
    /// What is wrong with its definitions.
    findings: Vec<Diagnostic>,
}

/// All of them, the one of the working directory first.
pub struct Projects {
    /// In the order in which their files came.
    pub all: Vec<Project>,
    /// Which of them a folder belongs to.
    folders: BTreeMap<PathBuf, usize>,
    here: PathBuf,
}

impl Projects {
    /// The configuration of the working directory, and those of the files' folders, if it was not named.
    pub fn of(
        config: Config,
        arguments: &Arguments,
        named: bool,
        listing: &Listing,
        here: &Path,
    ) -> anyhow::Result<Projects> {
        let root = normal(&config.root);
        let first = Project::new(config, arguments, here)?;
        let mut projects = Projects { all: vec![first], folders: BTreeMap::new(), here: here.to_owned() };
        projects.folders.insert(root.clone(), 0);
        // Sorted, so that the files of a folder come together.
        let mut last = None;
        for (path, _) in listing.files.iter().filter(|_| !named) {
            if path.parent() == last {
                continue;
            }
            last = path.parent();
            let path = normal(path);
            if let Some(folder) = path.parent().filter(|folder| folder.starts_with(&root)) {
                projects.find(folder, arguments)?;
            }
        }
        projects.share();
        Ok(projects)
    }

    /// The project of a folder below the first one's: its own, or that of the folder above.
    fn find(&mut self, folder: &Path, arguments: &Arguments) -> anyhow::Result<usize> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(*known);
        }
        let file = folder.join(FILE);
        let at = match (file.is_file(), folder.parent()) {
            (true, _) => {
                let config = Config::read(&file, &self.here)?;
                self.all.push(Project::new(config, arguments, &self.here)?);
                self.all.len() - 1
            }
            (false, Some(above)) => self.find(above, arguments)?,
            (false, None) => 0,
        };
        self.folders.insert(folder.to_owned(), at);
        Ok(at)
    }

    /// Tells each project the tables and the folders of the others.
    fn share(&mut self) {
        let services: Vec<(String, String)> =
            self.all.iter().flat_map(|project| project.services(&self.here)).collect();
        let tables: Vec<_> = self.all.iter().map(|project| project.catalog.tables.clone()).collect();
        for (at, project) in self.all.iter_mut().enumerate() {
            project.options.services.clone_from(&services);
            let others = tables.iter().enumerate().filter(|(other, _)| *other != at);
            project.options.foreign.tables = others.flat_map(|(_, tables)| tables.clone()).collect();
        }
    }

    /// Tells all projects what a database says of its tables. Where nobody says which databases statements are for, they
    /// are for this one.
    pub fn learn(&mut self, catalogue: Catalogue, arguments: &Arguments) {
        for project in &mut self.all {
            if arguments.dialect.is_empty() && project.config.dialects.is_empty() {
                project.options.dialects = vec![catalogue.dialect];
            }
            project.options.made = Some((catalogue.dialect, catalogue.statements.clone()));
        }
    }

    /// Finds the names of the queues of all projects.
    pub fn finder(&self) -> Finder {
        Finder::of_all(self.all.iter().map(|project| (&project.catalog, &project.options)))
    }

    /// Lints the files, each by the rules of its project, and the definitions of all.
    pub fn lint(&self, inputs: &[Input]) -> Report {
        let mut groups: Vec<Vec<Input>> = vec![Vec::new(); self.all.len()];
        for input in inputs {
            let path = normal(&self.here.join(&input.source.path));
            let at = path.parent().and_then(|folder| self.folders.get(folder)).copied().unwrap_or_default();
            groups[at].push(input.clone());
        }
        let mut all = Report::default();
        for (project, inputs) in self.all.iter().zip(groups) {
            let report = lint::run(&inputs, &project.catalog, &project.options);
            all.findings.extend(project.findings.iter().cloned().chain(report.findings));
            all.statements += report.statements;
            all.dynamic += report.dynamic;
            all.tangled.extend(report.tangled);
        }
        all.files = inputs.len();
        all
    }
}

impl Project {
    fn new(config: Config, arguments: &Arguments, here: &Path) -> anyhow::Result<Project> {
        let options = options(arguments, &config)?;
        let (mut catalog, findings) = definitions(&config, &options, here)?;
        if let Some(service) = &config.lint.service {
            for table in catalog.tables.iter_mut().filter(|table| table.owner.is_none()) {
                table.owner = Some(service.text.clone());
            }
        }
        Ok(Project { config, options, catalog, findings })
    }

    /// The folders of which it says the service, as reports show them.
    fn services(&self, here: &Path) -> Vec<(String, String)> {
        let (lint, root) = (&self.config.lint, &self.config.root);
        let own = lint.service.iter().map(|service| (shown(here, root), service.text.clone()));
        let listed = lint.services.iter();
        own.chain(listed.map(|(folder, service)| (shown(here, &root.join(&folder.text)), service.text.clone())))
            .collect()
    }
}

fn options(arguments: &Arguments, config: &Config) -> Result<Options, Error> {
    let mut options = Options::default();
    let words: Vec<Word> = match arguments.dialect.as_slice() {
        [] => config.dialects.clone(),
        flags => flags.iter().map(|flag| Word::from(&**flag)).collect(),
    };
    if !words.is_empty() {
        let find = |word: &Word| dialect::find(&word.text).ok_or_else(|| word.unknown("dialect", dialect::ids()));
        options.dialects = words.iter().map(find).collect::<Result<Vec<&'static dyn Dialect>, Error>>()?;
    }
    let lower = |words: &Vec<Word>| words.iter().map(|word| word.text.to_lowercase()).collect::<Vec<_>>();
    if let Some(patterns) = &config.lint.queue_tables {
        options.queue_tables = lower(patterns);
    }
    if let Some(scope) = &config.lint.scope {
        options.scope = lower(scope);
    }
    for (id, level) in &config.lint.rules {
        if rules::find(&id.text).is_none() {
            return Err(id.unknown("rule", rules::ALL.iter().map(|check| check.rule.id)));
        }
        let parsed = match &*level.text {
            "off" => None,
            "note" => Some(Level::Note),
            "warning" => Some(Level::Warning),
            "error" => Some(Level::Error),
            _ => return Err(level.unknown("level", ["off", "note", "warning", "error"].into_iter())),
        };
        options.levels.insert(id.text.clone(), parsed);
    }
    Ok(options)
}

/// The definitions and what is wrong with them; without definitions the linter knows what DDL and names say.
fn definitions(config: &Config, options: &Options, here: &Path) -> anyhow::Result<(Catalog, Vec<Diagnostic>)> {
    let paths: Vec<PathBuf> = config.schemas.iter().map(|word| config.root.join(&word.text)).collect();
    // A folder that nobody named need not be there.
    let named = |path: &Path, word: &Word| word.place.is_some() || path.exists();
    let paths: Vec<PathBuf> =
        paths.into_iter().zip(&config.schemas).filter(|(path, word)| named(path, word)).map(|(path, _)| path).collect();
    if paths.is_empty() {
        return Ok((Catalog::default(), Vec::new()));
    }
    let (catalog, mut findings) = load::load(&load::read(&paths, |path| shown(here, path))?);
    let engines: Vec<_> = options.dialects.iter().map(|dialect| dialect.engine()).collect();
    findings.extend(check::check(&catalog, &engines));
    findings.extend(workload::check(&catalog, &engines));
    Ok((catalog, findings))
}
