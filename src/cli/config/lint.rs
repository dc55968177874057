//! The table `lint` of the configuration.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Result;

use super::{Reader, Word};

/// The keys of the table.
const KEYS: [&str; 7] = ["paths", "queue_tables", "scope", "rules", "service", "services", "allow"];

/// The keys of one entry of `allow`.
const ALLOW_KEYS: [&str; 3] = ["rule", "path", "reason"];

/// The table `lint`.
#[derive(Debug, Default)]
pub struct LintSettings {
    /// What to lint where no path is given.
    pub paths: Option<Vec<Word>>,
    /// Names of tables that are queues.
    pub queue_tables: Option<Vec<Word>>,
    /// Columns that are the scope of tables without a definition.
    pub scope: Option<Vec<Word>>,
    /// Levels of rules.
    pub rules: Vec<(Word, Word)>,
    /// The service that all files below belong to.
    pub service: Option<Word>,
    /// Folders with the services that their files belong to.
    pub services: Vec<(Word, Word)>,
    /// Findings that are left out.
    pub allow: Vec<Allow>,
}

/// Findings of one rule in some files, which are left out.
#[derive(Debug)]
pub struct Allow {
    /// The rule.
    pub rule: Word,
    /// Which files, as `.gitignore` says it.
    pub path: Word,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    /// The table `lint`.
    pub(super) fn lint(&self, value: &Value<'_>) -> Result<LintSettings> {
        let DeValue::Table(table) = value.get_ref() else { return Err(self.expected("lint", "a table", value)) };
        let mut settings = LintSettings::default();
        for (key, value) in table {
            let name: &str = key.get_ref();
            match name {
                "paths" => settings.paths = Some(self.list("lint.paths", value)?),
                "queue_tables" => settings.queue_tables = Some(self.list("lint.queue_tables", value)?),
                "scope" => settings.scope = Some(self.list("lint.scope", value)?),
                "rules" => settings.rules = self.pairs("lint.rules", value)?,
                "service" => settings.service = Some(self.text("lint.service", value)?),
                "services" => settings.services = self.pairs("lint.services", value)?,
                "allow" => settings.allow = self.allow(value)?,
                _ => return Err(self.unknown(name, key.span(), &KEYS)),
            }
        }
        Ok(settings)
    }

    /// A table of texts.
    fn pairs(&self, name: &str, value: &Value<'_>) -> Result<Vec<(Word, Word)>> {
        let DeValue::Table(table) = value.get_ref() else { return Err(self.expected(name, "a table", value)) };
        let pair = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Value<'_>)| {
            let key = Word { text: key.get_ref().to_string(), place: Some(self.place(key.span())) };
            Ok((key, self.text(name, value)?))
        };
        table.iter().map(pair).collect()
    }

    /// `[[lint.allow]]`.
    fn allow(&self, value: &Value<'_>) -> Result<Vec<Allow>> {
        let what = "a list of tables with `rule`, `path` and `reason`";
        let DeValue::Array(entries) = value.get_ref() else { return Err(self.expected("lint.allow", what, value)) };
        entries.iter().map(|entry| self.allow_entry(what, entry)).collect()
    }

    fn allow_entry(&self, what: &str, value: &Value<'_>) -> Result<Allow> {
        let DeValue::Table(table) = value.get_ref() else { return Err(self.expected("lint.allow", what, value)) };
        if let Some((key, _)) = table.iter().find(|(key, _)| !ALLOW_KEYS.contains(&&**key.get_ref())) {
            return Err(self.unknown(key.get_ref(), key.span(), &ALLOW_KEYS));
        }
        let reason = self.entry(table, "reason", value)?;
        if reason.text.trim().is_empty() {
            return Err(reason
                .fault("the configuration is wrong: `reason` is empty")
                .help("write why the findings may be left out"));
        }
        Ok(Allow { rule: self.entry(table, "rule", value)?, path: self.entry(table, "path", value)? })
    }

    fn entry(&self, table: &DeTable<'_>, name: &str, value: &Value<'_>) -> Result<Word> {
        match table.iter().find(|(key, _)| key.get_ref() == name) {
            Some((_, value)) => self.text(name, value),
            None => Err(self.fault(value.span(), format!("`lint.allow`: `{name}` is missing"))),
        }
    }
}
