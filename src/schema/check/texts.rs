//! Texts that end up in SQL, code and documents: labels, descriptions, defaults, ENUM members.

use crate::diagnostic::{Diagnostic, Level, render::is_reordering};
use crate::engine::{Comments, Engine, titles};

use super::super::{ColumnType, Literal, Site, Table, rules};
use super::failing;

/// Checks all texts of one table.
pub fn check(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let of_table = [("tableType", &table.table_type), ("category", &table.category), ("owner", &table.owner)];
    for (key, text) in of_table.into_iter().chain([("description", &table.description)]) {
        printable(text.as_deref(), &table.site, key, findings);
    }
    length(table.description.as_deref(), true, &table.site, engines, findings);
    supplementary(table, engines, findings);
    for column in &table.columns {
        let of_column =
            [("label", &column.label), ("description", &column.description), ("logicalType", &column.logical_type)];
        for (key, text) in of_column {
            printable(text.as_deref(), &column.site, key, findings);
        }
        length(column.comment().as_deref(), false, &column.site, engines, findings);
        if let Some(Literal::Text(text)) = column.default.as_ref().map(|default| &default.value) {
            printable(Some(text), &column.site, "default", findings);
        }
        if let ColumnType::Enum(members) = &column.ty {
            members.iter().for_each(|member| printable(Some(member), &column.site, "type", findings));
        }
    }
    for index in &table.indexes {
        printable(index.description.as_deref(), &index.site, "description", findings);
        length(index.description.as_deref(), false, &index.site, engines, findings);
    }
}

fn printable(text: Option<&str>, site: &Site, key: &str, findings: &mut Vec<Diagnostic>) {
    let hidden = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t') || is_reordering(*c);
    if let Some(c) = text.and_then(|text| text.chars().find(hidden)) {
        let message = format!("`{key}` holds the character {}", c.escape_unicode());
        let finding = Diagnostic::new(&rules::UNUSABLE_TEXT, site.at(key), message);
        findings.push(finding.help("remove it: it would change what a reader of the generated files sees"));
    }
}

/// MySQL and MariaDB keep comments without characters beyond U+FFFF.
fn supplementary(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let losing = failing(engines, |engine| !engine.supplementary_identifiers);
    let of_columns = table.columns.iter().map(|column| (column.comment(), &column.site));
    let of_indexes = table.indexes.iter().map(|index| (index.description.clone(), &index.site));
    let all = [(table.description.clone(), &table.site)].into_iter().chain(of_columns).chain(of_indexes);
    for (text, site) in all.filter(|_| !losing.is_empty()) {
        if let Some(c) = text.iter().flat_map(|text| text.chars()).find(|c| *c > '\u{FFFF}') {
            let message = format!("{} keep a `?` for the `{c}` of this comment", titles(&losing));
            let mut finding = Diagnostic::new(&rules::ENGINE_DIFFERENCE, site.at("description"), message);
            finding.level = Level::Warning;
            findings.push(finding);
        }
    }
}

fn length(text: Option<&str>, of_table: bool, site: &Site, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let count = text.map_or(0, |text| text.chars().count());
    let limit = |engine: &Engine| match engine.comments {
        Comments::Inline { table, column } => Some(if of_table { table } else { column }),
        Comments::Statement | Comments::Text => None,
    };
    let short = failing(engines, |engine| limit(engine).is_some_and(|most| count > most));
    if let Some(most) = short.first().and_then(|engine| limit(engine)) {
        let message = format!("the comment has {count} characters; {} keep {most} of them", titles(&short));
        findings.push(Diagnostic::new(&rules::COMMENT_TOO_LONG, site.at("description"), message));
    }
}
