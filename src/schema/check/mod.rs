//! What is wrong with the meaning of a catalog, on the engines that were asked for.

mod accents;
mod archives;
mod columns;
mod foreign_keys;
pub mod keys;
mod names;
pub mod queue;
mod roles;
mod texts;

use crate::diagnostic::{self, Diagnostic};
use crate::engine::Engine;

use super::{Catalog, Site, Table, rules};

/// All findings, sorted; those that a table allows are left out.
pub fn check(catalog: &Catalog, engines: &[&Engine]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    names::tables(catalog, engines, &mut findings);
    names::indexes(catalog, engines, &mut findings);
    foreign_keys::check(catalog, engines, &mut findings);
    archives::check(catalog, &mut findings);
    for table in &catalog.tables {
        let mut found = Vec::new();
        check_table(table, engines, &mut found);
        keep(table, found, &mut findings);
    }
    diagnostic::sort(&mut findings);
    findings
}

/// Whether the table's `allow` leaves the finding out.
pub fn is_allowed(table: &Table, finding: &Diagnostic) -> bool {
    let reason = table.allow.get(finding.rule.id);
    rules::can_be_allowed(finding.level) && reason.is_some_and(|reason| !reason.trim().is_empty())
}

/// Adds what was found of the table and what it does not allow.
fn keep(table: &Table, found: Vec<Diagnostic>, findings: &mut Vec<Diagnostic>) {
    findings.extend(found.into_iter().filter(|finding| !is_allowed(table, finding)));
}

fn check_table(table: &Table, engines: &[&Engine], findings: &mut Vec<Diagnostic>) {
    // What is wrong with an archive's columns is wrong with those of its table, and said there.
    if table.archive_of.is_some() {
        return;
    }
    names::columns(table, engines, findings);
    texts::check(table, engines, findings);
    columns::check(table, engines, findings);
    keys::check(table, engines, findings);
    roles::check(table, engines, findings);
    queue::check(table, findings);
    allow(table, findings);
}

fn allow(table: &Table, findings: &mut Vec<Diagnostic>) {
    let all = if table.allow.is_empty() { Vec::new() } else { rules::all() };
    let places = table.site.step("allow").named();
    for (id, reason) in &table.allow {
        let place = places.get(id).and_then(Site::own_key);
        let linted = rules::LINTED.contains(&&**id);
        if !linted && !all.iter().any(|rule| rule.id == id) {
            let finding =
                Diagnostic::new(&rules::UNUSABLE_ALLOW, place, format!("`allow` names the unknown rule `{id}`"));
            let known = all.iter().map(|rule| rule.id).chain(rules::LINTED);
            findings.push(finding.did_you_mean(id, known));
        } else if all.iter().any(|rule| rule.id == id && !rules::can_be_allowed(rule.level)) {
            let message = format!("`{id}` is an error and cannot be allowed");
            findings.push(Diagnostic::new(&rules::UNUSABLE_ALLOW, place, message).help("mend it instead"));
        } else if reason.trim().is_empty() {
            let message = format!("`allow` gives no reason for `{id}`");
            findings.push(
                Diagnostic::new(&rules::UNUSABLE_ALLOW, place, message).help("write why the finding may be left out"),
            );
        }
    }
}

/// The engines for which `fails` is true.
fn failing<'a>(engines: &[&'a Engine], fails: impl Fn(&Engine) -> bool) -> Vec<&'a Engine> {
    engines.iter().copied().filter(|engine| fails(engine)).collect()
}
