//! One table object of the format → a [`Table`] with its names resolved.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;

use super::decode::{Decode, Decoded, decode, decode_partly};
use super::default::{self, DefaultValue};
use super::format::{ColumnDef, ForeignKeyDef, IndexDef, OneOrMany, TableDef};
use super::json::Site;
use super::types::ColumnType;
use super::value::Json;
use super::{Action, Column, ForeignKey, Index, IndexOrigin, Table, TableName, rules};

/// Positions of the columns by their names; `None` for those that were not understood.
type Known<'a> = BTreeMap<&'a str, Option<usize>>;

/// The table, as far as it could be understood.
pub(super) fn lower(value: Json, site: &Site, findings: &mut Vec<Diagnostic>) -> Option<Table> {
    let name = value.get("tableName").and_then(Json::as_str).unwrap_or_default();
    let what = if name.is_empty() { "a table".to_owned() } else { format!("the table `{name}`") };
    let Decoded { value, complete } = decode_partly::<TableDef>(value, site, &what, "", findings);
    let def = value?;
    let mut broken = Vec::new();
    let columns = lower_columns(def.columns, &site.step("columns"), &mut broken, findings);
    let draft = def.claim.filter(|value| *value != Json::Null).map(|value| {
        let Decoded { value, complete } = decode_partly(value, &site.step("claim"), "`claim`", "claim", findings);
        if complete { (value, None) } else { (None, value) }
    });
    let (claim, claim_draft) = draft.unwrap_or_default();
    let mut table = Table {
        name: TableName::parse(&def.table_name),
        table_type: def.table_type,
        category: def.category,
        description: def.description,
        owner: def.owner,
        renamed_from: def.renamed_from,
        primary_key: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        claim,
        claim_draft,
        retention: part(def.retention, site, "retention", findings),
        publish: part(def.publish, site, "publish", findings),
        bus: part(def.bus, site, "bus", findings),
        inbox: part(def.inbox, site, "inbox", findings),
        metrics: part(def.metrics, site, "metrics", findings),
        allow: def.allow,
        archive_of: None,
        broken,
        site: site.clone(),
        columns: columns.iter().map(|(column, _)| column.clone()).collect(),
    };
    let unknown = table.broken.clone();
    let mut known: Known<'_> = unknown.iter().map(|name| (&**name, None)).collect();
    // Of two columns of one name the first counts.
    known.extend(columns.iter().enumerate().rev().map(|(at, (column, _))| (&*column.name, Some(at))));
    table.primary_key = primary_key(&table, &known, def.primary_key, &columns, findings);
    for (position, (column, _)) in columns.iter().enumerate().filter(|(_, (_, def))| def.unique) {
        let site = column.site.step("unique");
        table.indexes.push(Index {
            name: None,
            columns: vec![position],
            unique: true,
            origin: IndexOrigin::Column,
            predicate: None,
            description: None,
            site,
        });
    }
    for (value, site) in def.indices.into_iter().zip(site.step("indices").children()) {
        let index = decode(value, &site, "an index", "", findings)
            .and_then(|def| lower_index(&table, &known, def, site, findings));
        table.indexes.extend(index);
    }
    for (value, site) in def.foreign_keys.into_iter().zip(site.step("foreignKeys").children()) {
        let def = decode(value, &site, "a foreign key", "", findings);
        let foreign_key = def.and_then(|def| lower_foreign_key(&table, &known, def, site, findings));
        table.foreign_keys.extend(foreign_key);
    }
    // What is in a table without a name was looked at; the table itself is not known by anything.
    complete.then_some(table)
}

fn part<T: Decode>(value: Option<Json>, site: &Site, key: &str, findings: &mut Vec<Diagnostic>) -> Option<T> {
    let value = value.filter(|value| *value != Json::Null)?;
    decode(value, &site.step(key), &format!("`{key}`"), key, findings)
}

fn lower_columns(
    values: Vec<Json>,
    site: &Site,
    broken: &mut Vec<String>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<(Column, ColumnDef)> {
    let mut columns = Vec::new();
    for (value, site) in values.into_iter().zip(site.children()) {
        let name = value.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        let what = if name.is_empty() { "a column".to_owned() } else { format!("the column `{name}`") };
        let column = decode(value, &site, &what, "", findings).and_then(|def| lower_column(def, site, findings));
        match column {
            Some(column) => columns.push(column),
            None => broken.push(name),
        }
    }
    columns
}

fn lower_column(def: ColumnDef, site: Site, findings: &mut Vec<Diagnostic>) -> Option<(Column, ColumnDef)> {
    let ty = match ColumnType::parse(&def.type_text) {
        Ok(ty) => ty,
        Err(error) => {
            let finding =
                Diagnostic::new(&rules::UNKNOWN_TYPE, site.at("type"), format!("`{}`: {}", def.name, error.message));
            findings.push(match error.closest {
                Some(closest) => finding.help(format!("did you mean `{closest}`?")),
                None => finding,
            });
            return None;
        }
    };
    let default = match def.default.as_deref().map(DefaultValue::parse).transpose() {
        Ok(default) => default,
        Err(message) => {
            findings
                .push(Diagnostic::new(&rules::IMPOSSIBLE_DEFAULT, site.at("default"), message).help(default::EXPECTED));
            None
        }
    };
    let column = Column {
        name: def.name.clone(),
        ty,
        nullable: def.nullable,
        default,
        auto_increment: def.auto_increment,
        numbered: def.auto_increment,
        key_length: def.length,
        label: def.label.clone(),
        description: def.description.clone(),
        logical_type: def.logical_type.clone(),
        reference_to: def.reference_to.0.clone(),
        is_name_field: def.is_name_field,
        is_system: def.is_system,
        binary: false,
        collation: def.collation,
        renamed_from: def.renamed_from.clone(),
        site,
    };
    Some((column, def))
}

fn primary_key(
    table: &Table,
    known: &Known<'_>,
    declared: Option<Vec<String>>,
    columns: &[(Column, ColumnDef)],
    findings: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    let marked: Vec<usize> = (0..columns.len()).filter(|position| columns[*position].1.primary_key).collect();
    let Some(declared) = declared else { return marked };
    let site = table.site.step("primaryKey");
    let key = resolve(table, known, &declared, &site, "the primary key", findings);
    let named: BTreeSet<usize> = key.iter().copied().collect();
    // A name that is not understood has been reported, and may be that of the marked column.
    if key.len() == declared.len() && marked.iter().any(|position| !named.contains(position)) {
        let message = format!("the primary key of `{}` leaves out a column that is marked `primaryKey`", table.name);
        findings.push(
            Diagnostic::new(&rules::WRONG_VALUE, site.place(), message).help("name all of them, or remove the mark"),
        );
    }
    key
}

fn lower_index(
    table: &Table,
    known: &Known<'_>,
    def: IndexDef,
    site: Site,
    findings: &mut Vec<Diagnostic>,
) -> Option<Index> {
    let columns = resolve(table, known, &def.columns, &site.step("columns"), "an index", findings);
    let complete = columns.len() == def.columns.len() && !columns.is_empty();
    if def.columns.is_empty() {
        findings.push(Diagnostic::new(&rules::WRONG_VALUE, site.at("columns"), "an index needs at least one column"));
    }
    let index = Index {
        name: def.name,
        columns,
        unique: def.unique,
        origin: IndexOrigin::Declared,
        predicate: None,
        description: def.description,
        site,
    };
    complete.then_some(index)
}

impl Table {
    /// Whether the definition gives nothing under the path. What it gives and could not be understood has been reported
    /// already, and nothing is said about its absence.
    pub(super) fn lacks(&self, path: &str) -> bool {
        let unclear = path.starts_with("claim.") && self.claim.is_none() && given(&self.site, "claim").is_some();
        let mut site = self.site.clone();
        for (at, name) in path.split('.').enumerate() {
            // Within something that is no object.
            if at > 0 && !text(&site).starts_with('{') {
                return false;
            }
            match given(&site, name) {
                Some(value) => site = value,
                None => return !unclear,
            }
        }
        false
    }

    /// Whether all keys of the definition and their columns were understood, so that one can be said to be missing.
    pub(super) fn keys_are_understood(&self) -> bool {
        let count = |key: &str| given(&self.site, key).map(|list| list.children().len());
        let of = |origin: &IndexOrigin| self.indexes.iter().filter(|index| index.origin == *origin).count();
        let marked = |key: &str| self.columns.iter().filter(|column| given(&column.site, key).is_some()).count();
        let key = count("primaryKey").unwrap_or_else(|| marked("primaryKey"));
        // An archive follows its table.
        let complete = self.archive_of.is_some()
            || self.primary_key.len() >= key
                && of(&IndexOrigin::Declared) >= count("indices").unwrap_or_default()
                && of(&IndexOrigin::Column) >= marked("unique");
        self.broken.is_empty() && complete
    }
}

/// The value under the key, unless it is as good as none.
fn given(site: &Site, key: &str) -> Option<Site> {
    let value = Some(site.step(key)).filter(|_| site.has(key))?;
    let text = text(&value);
    let empty = matches!(&*text, "null" | "false") || text.starts_with('[') && value.children().is_empty();
    (!empty).then_some(value)
}

/// The value as it is written.
fn text(site: &Site) -> String {
    let place = site.place();
    let text = place.as_ref().and_then(|place| {
        let range = place.span.start as usize..place.span.end as usize;
        // Enough to tell an object, a list and the words apart.
        place.source.text.get(range).map(|text| text.chars().take(6).collect())
    });
    text.unwrap_or_default()
}

/// Positions of the named columns. A name that is missing is reported, unless its column is defined but broken.
fn resolve(
    table: &Table,
    known: &Known<'_>,
    names: &[String],
    site: &Site,
    what: &str,
    findings: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    let places = site.children();
    let mut positions = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match known.get(&**name) {
            Some(position) => positions.extend(*position),
            None => {
                let place = places.get(at).unwrap_or(site).place();
                findings.push(missing_column(table, name, what, place));
            }
        }
    }
    positions
}

/// A reference to a column that the table does not have.
pub(super) fn missing_column(
    table: &Table,
    name: &str,
    what: &str,
    place: Option<crate::diagnostic::Place>,
) -> Diagnostic {
    let message = format!("{what} names the column `{name}`, which `{}` does not have", table.name);
    let finding = Diagnostic::new(&rules::MISSING_COLUMN, place, message);
    let finding = finding.did_you_mean(name, table.columns.iter().map(|column| &*column.name));
    match finding.help.is_empty() && table.columns.len() <= 40 {
        true => {
            let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
            finding.help(format!("the columns are {}", names.join(", ")))
        }
        false => finding,
    }
}

fn lower_foreign_key(
    table: &Table,
    known: &Known<'_>,
    def: ForeignKeyDef,
    site: Site,
    findings: &mut Vec<Diagnostic>,
) -> Option<ForeignKey> {
    let OneOrMany(names) = &def.column;
    let columns = resolve(table, known, names, &site.step("column"), "a foreign key", findings);
    let mut action = |key: &str, text: &Option<String>| {
        let text = text.as_deref()?;
        let action = Action::parse(text);
        if action.is_none() {
            let finding =
                Diagnostic::new(&rules::WRONG_VALUE, site.at(key), format!("`{key}`: unknown action `{text}`"));
            let finding = finding.did_you_mean(&text.to_uppercase(), Action::ALL.map(Action::sql));
            findings.push(match finding.help.is_empty() {
                true => finding.help(format!("the actions are {}", Action::ALL.map(Action::sql).join(", "))),
                false => finding,
            });
        }
        action
    };
    let (on_delete, on_update) = (action("onDelete", &def.on_delete), action("onUpdate", &def.on_update));
    let Some((target, target_columns)) = reference(&def.references) else {
        let message = format!("`{}` is not a reference", def.references);
        let finding = Diagnostic::new(&rules::WRONG_VALUE, site.at("references"), message);
        findings.push(finding.help("write `Table(column)`, or `Table(column, column)`"));
        return None;
    };
    if columns.len() != names.len() || names.is_empty() {
        return None;
    }
    Some(ForeignKey { name: def.name, columns, target, target_columns, on_delete, on_update, site })
}

/// `Table(column, column)`.
fn reference(text: &str) -> Option<(TableName, Vec<String>)> {
    let (table, columns) = text.trim().strip_suffix(')')?.split_once('(')?;
    let columns: Vec<String> = columns.split(',').map(|column| column.trim().to_owned()).collect();
    let complete = !table.trim().is_empty() && columns.iter().all(|column| !column.is_empty());
    complete.then(|| (TableName::parse(table.trim()), columns))
}
