//! Columns: defaults, numbering, and the size of the row.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::engine::{Engine, Page, titles};

use super::super::{Column, ColumnType, Literal, Table, rules};
use super::accents::Letters;
use super::failing;

/// Checks the columns of one table.
pub fn check(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    if table.columns.is_empty() && table.broken.is_empty() {
        findings.push(Diagnostic::new(
            &rules::MISSING_KEY,
            table.site.at("columns"),
            format!("`{}` has no columns", table.name),
        ));
    }
    for column in &table.columns {
        default(table, column, engines, findings);
        if let ColumnType::Enum(members) = &column.ty {
            alike(column, members, engines, findings);
            let trimming = failing(engines, |engine| engine.enum_trims);
            if let Some(member) = members.iter().find(|member| member.ends_with(' ') && !trimming.is_empty()) {
                let message = format!("{} cut the blank off the ENUM member '{member}'", titles(&trimming));
                findings.push(
                    Diagnostic::new(&rules::WRONG_VALUE, column.site.at("type"), message).help("remove the blank"),
                );
            }
        }
    }
    numbering(table, engines, findings);
    size(table, engines, findings);
}

/// Members that the default collation takes for the same.
fn alike(column: &Column, members: &[String], engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let folding = failing(engines, |engine| engine.enum_folds_accents);
    if column.binary || folding.is_empty() {
        return;
    }
    let letters = Letters::new();
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for member in members {
        if let Some(first) = seen.insert(letters.fold(member), member) {
            let message = format!("{} take the ENUM members '{first}' and '{member}' for the same", titles(&folding));
            let finding = Diagnostic::new(&rules::WRONG_VALUE, column.site.at("type"), message);
            findings.push(finding.help("rename one of the two, or add `\"collation\": \"binary\"` to the column"));
            return;
        }
    }
}

fn default(table: &Table, column: &Column, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let Some(default) = &column.default else { return };
    let fault = |message: String| {
        let message = format!("`{}.{}`: {message}", table.name, column.name);
        Diagnostic::new(&rules::IMPOSSIBLE_DEFAULT, column.site.at("default"), message)
    };
    if let Some(message) = default.fault(&column.ty) {
        findings.push(fault(message));
    }
    if let (Literal::Number(number), ColumnType::Int { bytes: 8, unsigned: true }) = (&default.value, &column.ty) {
        let half = failing(engines, |engine| !engine.unsigned_big);
        if number.parse::<i64>().is_err() && number.parse::<u64>().is_ok() && !half.is_empty() {
            findings.push(fault(format!("{} has no integers over {}", titles(&half), i64::MAX)));
        }
    }
    if let (Literal::Text(text), ColumnType::Timestamp(_)) = (&default.value, &column.ty) {
        let short = failing(engines, |engine| engine.timestamp_32_bit);
        // In range whatever the session's time zone.
        let safe = "1970-01-02 00:00:00"..="2038-01-18 00:00:00";
        if !safe.contains(&text.as_str()) && !short.is_empty() {
            let message = format!("a TIMESTAMP of {} holds no `{text}` in every time zone", titles(&short));
            findings.push(
                fault(message)
                    .help("write a time from '1970-01-02 00:00:00' to '2038-01-18 00:00:00', or use DATETIME"),
            );
        }
    }
    if default.value == Literal::Null && !column.nullable {
        findings.push(
            fault("the column is NOT NULL, its default is NULL".to_owned())
                .help("add `\"nullable\": true`, or another default"),
        );
    }
    let plain = failing(engines, |engine| !engine.literal_text_default);
    let literal = !matches!(default.value, Literal::Null) && !default.parenthesised;
    if column.ty.is_long() && literal && !plain.is_empty() {
        let text = super::super::default::sql_text(&default.value);
        let message = format!("{} takes no literal default on a {} column", titles(&plain), column.ty);
        findings.push(fault(message).help(format!("write it in parentheses: `\"default\": \"({text})\"`")));
    }
    if let (Literal::Now(digits), ColumnType::DateTime(most) | ColumnType::Timestamp(most)) =
        (&default.value, &column.ty)
    {
        let exact = failing(engines, |engine| engine.now_needs_precision);
        if (digits != most && !exact.is_empty()) || digits > most {
            let written =
                if *most == 0 { "CURRENT_TIMESTAMP".to_owned() } else { format!("CURRENT_TIMESTAMP({most})") };
            let whose = if exact.is_empty() { "the column" } else { &titles(&exact) };
            let message = format!("{whose} wants as many fractional digits in the default as in {}", column.ty);
            findings.push(fault(message).help(format!("write `{written}`")));
        }
    }
}

fn numbering(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let numbered: Vec<usize> = (0..table.columns.len()).filter(|at| table.columns[*at].auto_increment).collect();
    for (count, at) in numbered.iter().enumerate() {
        let column = &table.columns[*at];
        let mut fault = |message: &str| {
            let message = format!("`{}.{}`: {message}", table.name, column.name);
            findings.push(Diagnostic::new(&rules::WRONG_AUTO_INCREMENT, column.site.at("autoIncrement"), message));
        };
        if count > 0 {
            fault("a table has one auto-increment column");
        }
        if !matches!(column.ty, ColumnType::Int { .. }) {
            fault("only an integer column can be auto-increment");
        }
        if column.nullable || column.default.is_some() {
            fault("an auto-increment column is NOT NULL and has no default");
        }
        let whole = failing(engines, |engine| engine.auto_increment_is_key);
        if table.primary_key != [*at] && !whole.is_empty() {
            fault(&format!("on {} an auto-increment column must be the whole primary key", titles(&whole)));
        }
        let leading = failing(engines, |engine| engine.auto_increment_leads_key);
        let leads = table.primary_key.first() == Some(at)
            || table.indexes.iter().any(|index| index.columns.first() == Some(at));
        if !leads && !leading.is_empty() {
            fault(&format!("on {} an auto-increment column must be the first of a key", titles(&leading)));
        }
    }
}

fn size(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let bytes: usize = table.columns.iter().map(row_bytes).sum::<usize>()
        + table.columns.iter().filter(|column| column.nullable).count().div_ceil(8);
    let large = failing(engines, |engine| engine.row_bytes.is_some_and(|most| bytes > most));
    if let Some(most) = large.first().and_then(|engine| engine.row_bytes) {
        let message =
            format!("a row of `{}` takes up to {bytes} bytes, on {} at most {most}", table.name, titles(&large));
        let widest = table.columns.iter().max_by_key(|column| row_bytes(column));
        let finding = Diagnostic::new(&rules::ROW_TOO_LARGE, table.site.at("tableName"), message);
        findings.push(match widest {
            Some(column) => finding.help(format!("`{}` is the widest column: TEXT does not count", column.name)),
            None => finding,
        });
    }
    let full = failing(engines, |engine| engine.page.is_some_and(|page| in_page(table, page) >= page.bytes));
    if let (Some(page), true) = (full.first().and_then(|engine| engine.page), large.is_empty()) {
        let message = format!(
            "a row of `{}` keeps up to {} bytes in its page, on {} it must be fewer than {}",
            table.name,
            in_page(table, page),
            titles(&full),
            page.bytes
        );
        let finding = Diagnostic::new(&rules::ROW_TOO_LARGE, table.site.at("tableName"), message);
        findings.push(finding.help("split the table: even a TEXT keeps some bytes in the page"));
    }
    let wide = failing(engines, |engine| table.columns.len() > engine.columns);
    if let Some(engine) = wide.first() {
        let message = format!(
            "`{}` has {} columns, on {} at most {}",
            table.name,
            table.columns.len(),
            titles(&wide),
            engine.columns
        );
        findings.push(Diagnostic::new(&rules::ROW_TOO_LARGE, table.site.at("tableName"), message));
    }
}

/// Bytes that InnoDB keeps in the page in the worst case: a header of 5, the bits of NULL, 6 and 7 of transaction and undo
/// pointer, fixed columns in full, and of varying ones a part and a byte for its length.
fn in_page(table: &Table, page: Page) -> usize {
    let varying = |bytes: usize| 1 + if bytes < page.whole_below { bytes } else { page.kept };
    let kept = |column: &Column| match &column.ty {
        // In utf8mb4 the length in bytes of a CHAR varies.
        ColumnType::Char(characters) | ColumnType::Varchar(characters) => varying(*characters as usize * 4),
        ColumnType::Varbinary(bytes) => varying(*bytes as usize),
        ColumnType::Text(_) | ColumnType::Blob(_) | ColumnType::Json => varying(usize::MAX),
        _ => super::keys::bytes(column).unwrap_or_default(),
    };
    let nulls = table.columns.iter().filter(|column| column.nullable).count().div_ceil(8);
    5 + nulls + 13 + table.columns.iter().map(kept).sum::<usize>()
}

/// Bytes of a column in MySQL's row format: 4 a character, one or two for the length, and for TEXT, BLOB and JSON only
/// their pointer of 8 bytes and their length of 1 to 4.
fn row_bytes(column: &Column) -> usize {
    let varying = |bytes: usize| bytes + if bytes > 255 { 2 } else { 1 };
    match &column.ty {
        ColumnType::Varchar(characters) => varying(*characters as usize * 4),
        ColumnType::Varbinary(bytes) => varying(*bytes as usize),
        ColumnType::Text(size) | ColumnType::Blob(size) => 9 + *size as usize,
        ColumnType::Json => 12,
        _ => super::keys::bytes(column).unwrap_or_default(),
    }
}
