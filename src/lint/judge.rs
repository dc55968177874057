//! Statements → findings of a file, with what its comments allow left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Edit, Place, Span};
use crate::schema::Catalog;
use crate::schema::check::is_allowed;
use crate::sql::ast::Verb;
use crate::sql::{ExprKind, Fragment, Statement};

use super::claim::{Reading, readings};
use super::predicate::Condition;
use super::rule::{Context, Found, Judge, Usage};
use super::suppress::{self, Suppression};
use super::tables::{Known, Tables};
use super::unit::{Script, Unit};
use super::{Options, files, rules};

/// What was found in a file.
#[derive(Debug, Default)]
pub struct Judged {
    /// Findings.
    pub findings: Vec<Diagnostic>,
    /// Statements about queues.
    pub statements: usize,
    /// Those of which a part is not known, and that no comment allows.
    pub dynamic: usize,
    /// What its statements use of tables.
    pub usage: Usage,
}

/// A finding with the statement that it is about, both in bytes of the file.
struct Placed {
    statement: Span,
    found: Found,
    span: Span,
    related: Vec<(Span, String)>,
    fix: Vec<Edit>,
}

/// What is known of a file beside its statements.
struct About<'a> {
    service: Option<&'a str>,
    by_hand: bool,
}

/// Judges all statements of a file.
pub fn judge(unit: &Unit, tables: &Tables, options: &Options) -> Judged {
    let mut judged = Judged::default();
    let mut placed = Vec::new();
    let mut statements = Vec::new();
    let about = About {
        service: options.service(&unit.source.path),
        // What is generated uses what it was generated with, and says nothing of what programs use.
        by_hand: !files::is_generated(&unit.source.text),
    };
    for script in &unit.scripts {
        for part in script.statements(MOST_TOGETHER) {
            statements.extend(part.iter().map(|statement| script.fragment.place(statement.span)));
            let found = of_part(&part, script, tables, options, &about, &mut judged);
            placed.extend(found.into_iter().map(|(statement, found)| {
                let related = found.related.iter().map(|(span, text)| (script.fragment.place(*span), text.clone()));
                let (statement, span) = (script.fragment.place(statement), script.fragment.place(found.span));
                let fix = fix(&found, &script.fragment);
                Placed { statement, span, related: related.collect(), fix, found }
            }));
        }
    }
    statements.sort_unstable();
    // The texts that one statement can become share what is found in all of them.
    let mut seen = BTreeSet::new();
    placed.retain(|one| seen.insert((one.span, one.found.check.rule.id)));
    let suppressions = if unit.scripts.is_empty() { Vec::new() } else { suppress::find(&unit.source.text) };
    let mut used = vec![Vec::new(); suppressions.len()];
    let allowing = Allowing::of(&suppressions, &statements);
    placed.retain(|one| match allowing.find(one) {
        Some((at, rule)) => {
            used[at].push(rule);
            false
        }
        None => true,
    });
    judged.dynamic = placed.iter().filter(|one| one.found.check.rule.id == rules::DYNAMIC_QUEUE_SQL.rule.id).count();
    for (suppression, used) in suppressions.iter().zip(&used) {
        placed.extend(of_suppression(suppression, used));
    }
    judged.findings = placed.into_iter().filter_map(|one| finish(one, unit, options)).collect();
    judged
}

/// The changes of the file that mend a finding; none where the text stands in the file in another way.
fn fix(found: &Found, fragment: &Fragment) -> Vec<Edit> {
    let place = |edit: &Edit| Some(Edit { span: fragment.verbatim_place(edit.span)?, text: edit.text.clone() });
    found.fix.iter().map(place).collect::<Option<Vec<Edit>>>().unwrap_or_default()
}

/// Suppressions by the statements that they are for. A file may have thousands of both.
struct Allowing<'a> {
    suppressions: &'a [Suppression],
    /// Those that stand before a statement, with no other between them, by its first byte.
    before: BTreeMap<u32, Vec<usize>>,
}

impl<'a> Allowing<'a> {
    /// `statements` are in the order of their first bytes.
    fn of(suppressions: &'a [Suppression], statements: &[Span]) -> Allowing<'a> {
        // The first statement that ends behind a place is where the greatest end so far is behind it.
        let mut greatest = 0;
        let ends: Vec<u32> = statements
            .iter()
            .map(|statement| {
                greatest = statement.end.max(greatest);
                greatest
            })
            .collect();
        let mut before: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, suppression) in suppressions.iter().enumerate() {
            let start = suppression.span.start;
            let next = statements.get(ends.partition_point(|end| *end <= start));
            if let Some(next) = next.filter(|next| next.start >= start) {
                before.entry(next.start).or_default().push(at);
            }
        }
        Allowing { suppressions, before }
    }

    /// The suppression that allows a finding: it stands in the statement, or before it with no other between them.
    fn find(&self, one: &Placed) -> Option<(usize, String)> {
        let rule = one.found.check.rule.id;
        let first_behind = |place: u32| self.suppressions.partition_point(|other| other.span.start < place);
        let inside = first_behind(one.statement.start)..first_behind(one.statement.end);
        let before = self.before.get(&one.statement.start).into_iter().flatten().copied();
        let mut found = before.chain(inside);
        let at = found.find(|at| self.suppressions[*at].rules.iter().any(|(id, _)| id == rule))?;
        Some((at, rule.to_owned()))
    }
}

fn of_suppression(suppression: &Suppression, used: &[String]) -> Vec<Placed> {
    let place = |check, span, message: String| Placed {
        statement: span,
        found: Found::new(check, span, message),
        span,
        related: Vec::new(),
        fix: Vec::new(),
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

/// So many statements of a text are parsed and looked at together: no script that a person wrote has more, and dumps do.
const MOST_TOGETHER: usize = 10_000;

/// What is found in statements of a text, each with the bytes of its statement.
fn of_part(
    statements: &[Statement],
    script: &Script,
    tables: &Tables,
    options: &Options,
    about: &About<'_>,
    judged: &mut Judged,
) -> Vec<(Span, Found)> {
    let context = Context {
        text: &script.fragment.text,
        tables,
        dialects: &script.dialects,
        service: about.service,
        body: script.body,
        options,
    };
    let bare = bare(statements, tables, options);
    let mut all = Vec::new();
    let mut found = Vec::new();
    for statement in statements {
        let blocks = 0..statement.blocks.len();
        let readings: Vec<Reading<'_>> = blocks.flat_map(|at| readings(statement, at, tables, &bare)).collect();
        judged.statements += usize::from(readings.iter().any(|reading| reading.known.queue));
        readings.iter().filter(|_| about.by_hand).for_each(|reading| used(reading, &mut judged.usage));
        let of_one = of_statement(statement, &readings, &context);
        found.extend(of_one.into_iter().map(|found| (statement.span, found)));
        // One statement can hold as many as a whole text.
        if all.len() < MOST_TOGETHER {
            all.extend(readings);
        }
    }
    let mut of_all = Vec::new();
    for check in rules::ALL {
        if let Judge::Text(judge) = check.judge {
            judge(&all, &context, &mut of_all);
        }
    }
    found.extend(of_all.into_iter().map(|one| (holder(statements, one.span), one)));
    found
}

/// The statement in which a place is.
fn holder(statements: &[Statement], span: Span) -> Span {
    // In the order of the text, and none inside another.
    let before = statements.partition_point(|statement| statement.span.start <= span.start).checked_sub(1);
    let holder = before.map(|at| statements[at].span).filter(|holder| span.end <= holder.end);
    holder.unwrap_or(span)
}

fn of_statement(statement: &Statement, readings: &[Reading<'_>], context: &Context<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for reading in readings {
        for check in rules::ALL {
            if let Judge::Reading(judge) = check.judge {
                judge(reading, context, &mut found);
            }
        }
    }
    for check in rules::ALL {
        if let Judge::Statement(judge) = check.judge {
            judge(statement, context, &mut found);
        }
    }
    let gaps = |reading: &&Reading<'_>| {
        let gaps = reading.block.gaps;
        reading.known.queue && (gaps.filter || gaps.from || gaps.tail)
    };
    if let Some(reading) = readings.iter().find(gaps) {
        let message = format!("a part of this statement on `{}` is known only when the program runs", reading.name());
        found.push(Found::new(&rules::DYNAMIC_QUEUE_SQL, reading.block.head, message));
    }
    let doubtful = readings.iter().any(|reading| reading.known.queue && reading.block.verb != Verb::Insert);
    if let Some(doubt) = statement.doubt.filter(|_| doubtful) {
        let finding = Found::new(&rules::UNPARSED_QUEUE_SQL, doubt, "this statement was not understood in full");
        found.push(finding.label("not understood"));
    }
    found
}

/// Notes which columns and indexes a statement uses to find rows of a queue.
fn used(reading: &Reading<'_>, usage: &mut Usage) {
    if !reading.known.queue || !reading.known.defined {
        return;
    }
    let tests = reading.conditions.iter().flat_map(Condition::tests);
    let names = usage.by_table.entry(reading.name().to_lowercase()).or_default();
    names.extend(tests.flat_map(|test| test.mentions.iter().chain(&test.column).cloned()));
    for item in &reading.block.order {
        item.expr.any(&mut |part| {
            if let ExprKind::Column { name, .. } = &part.kind {
                names.insert(name.to_lowercase());
            }
            false
        });
    }
    let hints = reading.table.hints.iter().flat_map(|hint| &hint.names);
    names.extend(hints.map(|(name, _)| name.to_lowercase()));
}

/// What is wrong with definitions, seen beside the statements that use their tables.
pub fn definitions(catalog: &Catalog, usage: &Usage, options: &Options) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for table in catalog.tables.iter().filter(|table| table.archive_of.is_none()) {
        let mut found = Vec::new();
        for check in rules::ALL {
            if let Judge::Table(judge) = check.judge {
                judge(table, usage, &options.dialects, &mut found);
            }
        }
        found.retain(|finding| !is_allowed(table, finding));
        findings.extend(found);
    }
    findings.into_iter().filter_map(|finding| with_level(finding, options)).collect()
}

/// Tables of the statements that nothing is known of, but that are named like queues.
fn bare(statements: &[Statement], tables: &Tables, options: &Options) -> Vec<Known> {
    let blocks = statements.iter().flat_map(|statement| &statement.blocks);
    let names = blocks.flat_map(|block| &block.tables).filter_map(|table| table.name.as_ref());
    let names = names.filter(|name| !name.partial).map(|name| name.name.to_lowercase());
    let unknown: BTreeSet<String> = names.filter(|name| tables.get(name).is_none()).collect();
    unknown.iter().map(|name| Known::bare(name, options)).filter(|known| known.queue).collect()
}

fn finish(one: Placed, unit: &Unit, options: &Options) -> Option<Diagnostic> {
    let place = |span| Place { source: unit.source.clone(), span };
    let mut finding = Diagnostic::new(&one.found.check.rule, place(one.span), one.found.message).label(one.found.label);
    finding.level = one.found.level;
    for (span, text) in one.related {
        finding = finding.related(place(span), text);
    }
    finding.help = one.found.help;
    finding.extent = Some(one.statement);
    finding.fix = one.fix;
    with_level(finding, options)
}

/// The finding at the level that the run asks for, if it does not turn the rule off.
fn with_level(mut finding: Diagnostic, options: &Options) -> Option<Diagnostic> {
    if let Some(level) = options.levels.get(finding.rule.id) {
        finding.level = (*level)?;
    }
    Some(finding)
}
