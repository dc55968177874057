//! Statements → findings of a file, with what its comments allow left out.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Level, Place, Span};
use crate::sql::Statement;
use crate::sql::ast::Verb;

use super::Options;
use super::claim::readings;
use super::rule::{Context, Found, Judge};
use super::rules;
use super::suppress::{self, Suppression};
use super::tables::{Known, Tables};
use super::unit::{Script, Unit};

/// What was found in a file.
#[derive(Debug, Default)]
pub struct Judged {
    /// Findings.
    pub findings: Vec<Diagnostic>,
    /// Statements about queues.
    pub statements: usize,
    /// Those of which a part is not known.
    pub dynamic: usize,
}

/// A finding with the statement that it is about, both in bytes of the file.
struct Placed {
    statement: Span,
    found: Found,
    span: Span,
    related: Vec<(Span, String)>,
}

/// Judges all statements of a file.
pub fn judge(unit: &Unit, tables: &Tables, options: &Options) -> Judged {
    let mut judged = Judged::default();
    let mut placed = Vec::new();
    let mut statements = Vec::new();
    for script in &unit.scripts {
        for statement in &script.statements {
            let span = script.fragment.place(statement.span);
            statements.push(span);
            let found = of_statement(statement, script, tables, options, &mut judged);
            placed.extend(found.into_iter().map(|found| {
                let related = found.related.iter().map(|(span, text)| (script.fragment.place(*span), text.clone()));
                Placed { statement: span, span: script.fragment.place(found.span), related: related.collect(), found }
            }));
        }
    }
    statements.sort_unstable();
    // The texts that one statement can become share what is found in all of them.
    let mut seen = BTreeSet::new();
    placed.retain(|one| seen.insert((one.span, one.found.check.rule.id)));
    let suppressions = if unit.scripts.is_empty() { Vec::new() } else { suppress::find(&unit.source.text) };
    let mut used = vec![Vec::new(); suppressions.len()];
    placed.retain(|one| match allowing(&suppressions, &statements, one) {
        Some((at, rule)) => {
            used[at].push(rule);
            false
        }
        None => true,
    });
    for (suppression, used) in suppressions.iter().zip(&used) {
        placed.extend(of_suppression(suppression, used));
    }
    judged.findings = placed.into_iter().filter_map(|one| finish(one, unit, options)).collect();
    judged
}

/// The suppression that allows a finding: it stands in the statement, or before it with no other between them.
fn allowing(suppressions: &[Suppression], statements: &[Span], one: &Placed) -> Option<(usize, String)> {
    let rule = one.found.check.rule.id;
    let at = suppressions.iter().position(|suppression| {
        let start = suppression.span.start;
        let inside = one.statement.start <= start && start < one.statement.end;
        let next = statements.iter().find(|statement| statement.end > start);
        let before = next.is_some_and(|next| next.start >= start && next.start == one.statement.start);
        (inside || before) && suppression.rules.iter().any(|(id, _)| id == rule)
    })?;
    Some((at, rule.to_owned()))
}

fn of_suppression(suppression: &Suppression, used: &[String]) -> Vec<Placed> {
    let place = |check, span, message: String| Placed {
        statement: span,
        found: Found::new(check, span, message),
        span,
        related: Vec::new(),
    };
    let mut placed = Vec::new();
    for (id, span) in &suppression.rules {
        if rules::find(id).is_none() {
            let mut one = place(&rules::UNUSED_SUPPRESSION, *span, format!("there is no rule `{id}`"));
            let ids = rules::ALL.iter().map(|check| check.rule.id);
            if let Some(closest) = crate::diagnostic::suggest::closest(id, ids) {
                one.found.help.push(format!("did you mean `{closest}`?"));
            }
            placed.push(one);
        } else if !used.contains(id) {
            placed.push(place(&rules::UNUSED_SUPPRESSION, *span, format!("nothing here is found by `{id}`")));
        }
    }
    if !suppression.reasoned {
        let mut one = place(&rules::SUPPRESSION_WITHOUT_REASON, suppression.span, "no reason is given".to_owned());
        one.found.help.push("write behind the parenthesis why the finding may be left out".to_owned());
        placed.push(one);
    }
    placed
}

fn of_statement(
    statement: &Statement,
    script: &Script,
    tables: &Tables,
    options: &Options,
    judged: &mut Judged,
) -> Vec<Found> {
    let context = Context { text: &script.fragment.text, tables, dialects: &script.dialects, options };
    let bare = bare(statement, tables, options);
    let mut found = Vec::new();
    let (mut about_queue, mut doubtful, mut dynamic) = (false, false, false);
    for at in 0..statement.blocks.len() {
        for reading in readings(statement, at, tables, &bare) {
            about_queue |= reading.known.queue;
            doubtful |= reading.known.queue && reading.block.verb != Verb::Insert;
            let gaps = reading.block.gaps;
            dynamic |= reading.known.queue && (gaps.filter || gaps.from || gaps.tail);
            for check in rules::ALL {
                if let Judge::Reading(judge) = check.judge {
                    judge(&reading, &context, &mut found);
                }
            }
        }
    }
    for check in rules::ALL {
        if let Judge::Statement(judge) = check.judge {
            judge(statement, &context, &mut found);
        }
    }
    judged.statements += usize::from(about_queue);
    judged.dynamic += usize::from(dynamic);
    if let Some(doubt) = statement.doubt.filter(|_| doubtful) {
        let finding = Found::new(&rules::UNPARSED_QUEUE_SQL, doubt, "this statement was not understood in full");
        found.push(finding.label("not understood"));
    }
    found
}

/// Tables of the statement that nothing is known of, but that are named like queues.
fn bare(statement: &Statement, tables: &Tables, options: &Options) -> Vec<Known> {
    let names = statement.blocks.iter().flat_map(|block| &block.tables).filter_map(|table| table.name.as_ref());
    let unknown = names.filter(|name| !name.partial && tables.get(&name.name).is_none());
    unknown.map(|name| Known::bare(&name.name, options)).filter(|known| known.queue).collect()
}

fn finish(one: Placed, unit: &Unit, options: &Options) -> Option<Diagnostic> {
    let id = one.found.check.rule.id;
    let level: Level = match options.levels.get(id) {
        Some(level) => (*level)?,
        None => one.found.level,
    };
    let place = |span| Place { source: unit.source.clone(), span };
    let mut finding = Diagnostic::new(&one.found.check.rule, place(one.span), one.found.message).label(one.found.label);
    finding.level = level;
    for (span, text) in one.related {
        finding = finding.related(place(span), text);
    }
    finding.help = one.found.help;
    Some(finding)
}
