//! Roles: the columns and states that claim, retention, publishing, bus and inbox name exist and can do their part.

mod claim;
mod life;
mod payload;

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Place};
use crate::engine::Engine;

use super::super::lower::missing_column;
use super::super::{Column, ColumnType, Table, rules};

/// What a role asks of its column's type.
#[derive(Clone, Copy)]
enum Kind {
    /// Anything that can be compared.
    Any,
    /// A string or ENUM.
    Text,
    /// Epoch milliseconds (BIGINT) or DATETIME, TIMESTAMP.
    Time,
    /// An integer.
    Count,
    /// BIGINT.
    Sequence,
}

impl Kind {
    fn accepts(self, ty: &ColumnType) -> bool {
        match self {
            Kind::Any => !matches!(ty, ColumnType::Json),
            Kind::Text => ty.is_text(),
            Kind::Time => ty.is_time() || matches!(ty, ColumnType::Int { bytes: 8, .. }),
            Kind::Count => matches!(ty, ColumnType::Int { .. }),
            Kind::Sequence => matches!(ty, ColumnType::Int { bytes: 8, .. }),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Kind::Any => "a type that can be compared",
            Kind::Text => "VARCHAR, CHAR, TEXT or ENUM",
            Kind::Time => "BIGINT (epoch milliseconds), DATETIME or TIMESTAMP",
            Kind::Count => "an integer type",
            Kind::Sequence => "BIGINT",
        }
    }
}

/// Checks all roles of one table.
pub fn check(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    let mut roles = Roles { table, findings };
    if let Some(claim) = &table.claim {
        claim::check(claim, engines, &mut roles);
    } else if let Some(draft) = &table.claim_draft {
        claim::columns(draft, &mut roles);
    }
    if let Some(retention) = &table.retention {
        life::retention(retention, &mut roles);
    }
    if let Some(publish) = &table.publish {
        life::publish(publish, &mut roles);
    }
    if let Some(bus) = &table.bus {
        life::bus(bus, &mut roles);
    }
    if let Some(inbox) = &table.inbox {
        life::inbox(inbox, &mut roles);
    }
    if let Some(metrics) = &table.metrics {
        life::metrics(metrics, &mut roles);
    }
}

struct Roles<'a> {
    table: &'a Table,
    findings: &'a mut Vec<Diagnostic>,
}

impl<'a> Roles<'a> {
    /// The column in the role at `path`, if it exists.
    fn column(&mut self, path: &str, name: &str, kind: Kind) -> Option<&'a Column> {
        let table = self.table;
        self.column_at(path, name, kind, || table.site.at(path))
    }

    fn column_at(
        &mut self,
        path: &str,
        name: &str,
        kind: Kind,
        place: impl Fn() -> Option<Place>,
    ) -> Option<&'a Column> {
        let table = self.table;
        // What was filled in for something missing has been reported.
        if name.is_empty() && table.claim.is_none() {
            return None;
        }
        match table.column(name) {
            Some(column) if kind.accepts(&column.ty) => Some(column),
            Some(column) => {
                let message =
                    format!("`{path}`: `{}.{name}` is {}, the role needs {}", table.name, column.ty, kind.expected());
                let finding = Diagnostic::new(&rules::WRONG_VALUE, place(), message);
                self.findings.push(finding.related(column.site.at("type"), "this type"));
                Some(column)
            }
            None if table.broken.iter().any(|broken| broken == name) => None,
            None => {
                self.findings.push(missing_column(table, name, &format!("`{path}`"), place()));
                None
            }
        }
    }

    fn optional(&mut self, path: &str, name: &Option<String>, kind: Kind) -> Option<&'a Column> {
        self.column(path, name.as_deref()?, kind)
    }

    fn columns(&mut self, path: &str, names: &[String], kind: Kind) {
        let list = self.table.site.step(path);
        let places = list.children();
        let mut seen = BTreeSet::new();
        for (at, name) in names.iter().enumerate() {
            let place = || places.get(at).unwrap_or(&list).place();
            self.column_at(&format!("{path}.{at}"), name, kind, place);
            if !seen.insert(name) {
                let message = format!("`{path}` names `{name}` twice");
                let finding = Diagnostic::new(&rules::WRONG_VALUE, place(), message);
                self.findings.push(finding.help("remove one of the two"));
            }
        }
    }

    fn not_null(&mut self, path: &str, column: Option<&Column>, why: &str) {
        if let Some(column) = column.filter(|column| column.nullable) {
            self.fault(
                path,
                format!("`{path}`: `{}.{}` may not be nullable: {why}", self.table.name, column.name),
                "make the column NOT NULL",
            );
        }
    }

    fn fault(&mut self, path: &str, message: String, help: &str) {
        let finding = Diagnostic::new(&rules::WRONG_VALUE, self.table.site.at(path), message);
        self.findings.push(finding.help(help));
    }
}

/// Checks that the column can hold the value.
fn holds(value: &str, column: &Column, path: &str, roles: &mut Roles<'_>) {
    if let ColumnType::Enum(members) = &column.ty
        && !members.iter().any(|member| member == value)
    {
        roles.fault(
            path,
            format!("`{value}` is not a member of the ENUM `{}`", column.name),
            &format!("the members are {}", members.join(", ")),
        );
    }
    if let Some(most) = characters(&column.ty).filter(|most| value.chars().count() > *most as usize) {
        roles.fault(
            path,
            format!("`{value}` is longer than the {most} characters of `{}`", column.name),
            "make the column longer",
        );
    }
}

fn characters(ty: &ColumnType) -> Option<u32> {
    match ty {
        ColumnType::Char(most) | ColumnType::Varchar(most) => Some(*most),
        _ => None,
    }
}
