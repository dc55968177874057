//! How to mend a claim: one statement for each branch of an OR, and the index that serves each, made by the code that
//! makes those of `generate` and proven by [`serves`].

use crate::diagnostic::Span;
use crate::dialect::Dialect;
use crate::engine::Engine;
use crate::schema::{Index, IndexOrigin, Table, names};
use crate::sql::ast::{ExprKind, OrderItem};
use crate::statement;
use crate::workload::{self, Path, Pin, PinValue, Purpose, serves::serves};

use super::claim::Reading;
use super::predicate::{Any, Condition, Test, TestKind};
use super::rule::Context;

/// Most branches that are written out.
const MOST_BRANCHES: usize = 6;
/// Longest statement that is written out, in bytes.
const LONGEST: usize = 4_000;

/// The statement once for each branch of the OR, and the indexes that serve these.
pub fn split(reading: &Reading<'_>, any: &Any<'_>, context: &Context<'_>) -> Vec<String> {
    let span = reading.statement.span;
    let length = span.end.saturating_sub(span.start) as usize;
    if any.branches.len() > MOST_BRANCHES || length > LONGEST || reading.block.set_operation {
        return vec!["one statement for each branch, asked in turn until the batch is full".to_owned()];
    }
    let mut statements = Vec::new();
    let mut paths = Vec::new();
    for branch in &any.branches {
        let path = path(reading, Some((any, branch)));
        statements.push(format!("{};", with_branch(reading, any, branch, path.as_ref(), context)));
        paths.extend(path);
    }
    let mut help = vec![format!(
        "one statement for each branch, asked in turn until the batch is full, each in a transaction of its own:\n{}",
        statements.join("\n")
    )];
    if paths.len() == any.branches.len() {
        help.extend(indexes(reading, &paths, context));
    }
    help
}

/// The statement with one branch in place of the OR, ordered as the branch's own index is.
fn with_branch(
    reading: &Reading<'_>,
    any: &Any<'_>,
    branch: &Condition<'_>,
    path: Option<&Path>,
    context: &Context<'_>,
) -> String {
    let mut edits: Vec<(Span, String)> = Vec::new();
    let qualifier = reading.table.alias.as_ref().filter(|_| reading.block.tables.len() > 1);
    let qualified = |name: &str| qualifier.map_or_else(|| name.to_owned(), |alias| format!("{alias}.{name}"));
    if let Some(filter) = &reading.block.filter {
        let start = Span { start: filter.span.start, end: filter.span.start };
        let known = reading.known;
        let open = known.scope.iter().filter(|scope| !is_scoped(reading, Some(branch), scope));
        let written = |scope: &str| {
            known.position(scope).map_or_else(|| scope.to_owned(), |at| known.table.columns[at].name.clone())
        };
        edits.extend(open.map(|scope| (start, format!("{} = ? AND ", qualified(&written(scope))))));
    }
    let text = context.of(branch.span());
    let text = match branch {
        Condition::Any(_) if !text.starts_with('(') => format!("({text})"),
        _ => unwrapped(text).to_owned(),
    };
    edits.push((any.expr.span, text));
    let order = &reading.block.order;
    if let (Some(path), Some(first), Some(last)) = (path, order.first(), order.last()) {
        let wanted: Vec<&str> = path.order.iter().map(|at| &*reading.known.table.columns[*at].name).collect();
        let wanted: Vec<String> = wanted.into_iter().map(qualified).collect();
        edits.push((Span { start: first.expr.span.start, end: last.expr.span.end }, wanted.join(", ")));
    }
    edited(context, reading.statement.span, &mut edits)
}

/// The text without parentheses around all of it.
fn unwrapped(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut depth = 0_i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            // Parentheses in a string: better one pair too many.
            '\'' | '"' => return text,
            _ => {}
        }
        if depth < 0 {
            return text;
        }
    }
    inner
}

/// The text of `span` with some ranges replaced.
fn edited(context: &Context<'_>, span: Span, edits: &mut [(Span, String)]) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let mut text = String::new();
    let mut at = span.start;
    for (range, new) in edits.iter().filter(|(range, _)| range.start >= span.start && range.end <= span.end) {
        if range.start < at {
            continue;
        }
        text.push_str(context.of(Span { start: at, end: range.start }));
        text.push_str(new);
        at = range.end;
    }
    text.push_str(context.of(Span { start: at, end: span.end }));
    text
}

/// The access path of a reading, with one branch of an OR in place of it. `None` where not all of it is known.
pub fn path(reading: &Reading<'_>, branch: Option<(&Any<'_>, &Condition<'_>)>) -> Option<Path> {
    let known = reading.known;
    if !known.columns_known || known.table.primary_key.is_empty() {
        return None;
    }
    let replaced = branch.map(|(any, _)| any.expr);
    let conjuncts = reading.conjuncts().into_iter().filter(|condition| match condition {
        Condition::Any(any) => !replaced.is_some_and(|replaced| std::ptr::eq(replaced, any.expr)),
        _ => true,
    });
    let own = branch.into_iter().flat_map(|(_, branch)| branch.conjuncts());
    let mut pins: Vec<Pin> = Vec::new();
    let mut range = None;
    for condition in conjuncts.chain(own) {
        // An OR that is left filters what the index finds.
        let Condition::Test(test) = condition else { continue };
        let Some(column) = test.column.as_deref().and_then(|column| known.position(column)) else { continue };
        let pinned = pins.iter().any(|pin| pin.column == column);
        let name = known.table.columns[column].name.to_lowercase();
        if !(is_found_by(reading, column) || test.is_pin() && known.roles.is_published(&name)) {
            // It filters what the index finds.
            continue;
        }
        if test.is_pin() && !pinned {
            pins.push(Pin { column, value: value(reading, test) });
        } else if test.kind == TestKind::Below && is_time(reading, column) && range.is_none() {
            range = Some(column);
        } else if test.kind == TestKind::Null && !pinned {
            pins.push(Pin { column, value: PinValue::Never });
        }
    }
    // Where the scope is missing, the mended statement has it.
    for scope in known.scope.iter().filter(|scope| !is_scoped(reading, branch.map(|(_, branch)| branch), scope)) {
        let column = known.position(scope)?;
        if pins.iter().all(|pin| pin.column != column) {
            pins.push(Pin { column, value: PinValue::Parameter });
        }
    }
    let range = range.filter(|range| pins.iter().all(|pin| pin.column != *range));
    pins.sort_by_key(|pin| rank(reading, pin.column));
    let is_pinned = |column: &usize| pins.iter().any(|pin| pin.column == *column);
    let mut order: Vec<usize> = range.into_iter().collect();
    if range.is_none() {
        order.extend(ordered(reading)?.into_iter().filter(|column| !is_pinned(column)));
    }
    let key = known.table.primary_key.iter().copied();
    for column in key.filter(|column| !is_pinned(column)) {
        if !order.contains(&column) {
            order.push(column);
        }
    }
    Some(Path { purpose: Purpose::Pending, lane: None, pins, range, order })
}

/// Whether rows are found by the column, and not only filtered.
pub fn is_found_by(reading: &Reading<'_>, column: usize) -> bool {
    let known = reading.known;
    let name = known.table.columns[column].name.to_lowercase();
    let lane = known.table.claim.as_ref().and_then(|claim| claim.lane.as_deref());
    let owner = known.roles.is_owner(&name);
    known.roles.is_search(&name) && !owner
        || known.scope.contains(&name)
        || lane.is_some_and(|lane| lane.eq_ignore_ascii_case(&name))
}

fn is_time(reading: &Reading<'_>, column: usize) -> bool {
    reading.known.roles.is_time(&reading.known.table.columns[column].name.to_lowercase())
}

/// Whether the statement, or the branch, pins the scope.
fn is_scoped(reading: &Reading<'_>, branch: Option<&Condition<'_>>, scope: &str) -> bool {
    reading.pins(scope, &|test| test.is_choice())
        || branch.is_some_and(|branch| branch.pins(scope, &|test| test.is_choice()))
}

/// The scope first, then the state, then everything else.
pub fn rank(reading: &Reading<'_>, column: usize) -> usize {
    let name = reading.known.table.columns[column].name.to_lowercase();
    let scope = reading.known.scope.iter().position(|scope| *scope == name);
    scope.unwrap_or_else(|| if reading.known.roles.is_state(&name) { 100 } else { 101 })
}

/// What a test pins its column to.
pub fn value(reading: &Reading<'_>, test: &Test<'_>) -> PinValue {
    let state = test.column.as_deref().is_some_and(|column| reading.known.roles.is_state(column));
    match test.text() {
        Some(text) if state => PinValue::State(text.to_owned()),
        _ => PinValue::Parameter,
    }
}

/// The columns of ORDER BY; `None` if it has anything else, or a descending one.
pub fn ordered(reading: &Reading<'_>) -> Option<Vec<usize>> {
    let column = |item: &OrderItem| match &item.expr.kind {
        ExprKind::Column { name, .. } if !item.descending => reading.known.position(name),
        _ => None,
    };
    reading.block.order.iter().map(column).collect()
}

/// The indexes of a table on an engine, those that its definition derives included.
pub fn present(table: &Table, engine: &Engine) -> Vec<Index> {
    let mut all = table.indexes.clone();
    all.extend(workload::index::derived(table, engine));
    all.push(Index {
        name: Some("PRIMARY".to_owned()),
        columns: table.primary_key.clone(),
        unique: true,
        origin: IndexOrigin::Declared,
        predicate: None,
        description: None,
        site: table.site.clone(),
    });
    all
}

/// The indexes that serve the paths and are not there, for each way to write them.
pub fn indexes(reading: &Reading<'_>, paths: &[Path], context: &Context<'_>) -> Vec<String> {
    let mut ways: Vec<(Vec<String>, Vec<&'static str>)> = Vec::new();
    for dialect in context.dialects {
        let lines = missing(reading, paths, *dialect);
        let title = dialect.engine().title;
        match ways.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, titles)) => titles.push(title),
            None => ways.push((lines, vec![title])),
        }
    }
    let one = ways.len() == 1;
    let text = |(lines, titles): (Vec<String>, Vec<&str>)| {
        let on = if one { String::new() } else { format!(" on {}", titles.join(", ")) };
        Some(format!("with these indexes{on}:\n{}", lines.join("\n"))).filter(|_| !lines.is_empty())
    };
    ways.into_iter().filter_map(text).collect()
}

fn missing(reading: &Reading<'_>, paths: &[Path], dialect: &dyn Dialect) -> Vec<String> {
    let (engine, table) = (dialect.engine(), &reading.known.table);
    let present = present(table, engine);
    let mut made: Vec<Index> = Vec::new();
    for path in paths {
        let served = |index: &Index| serves(engine, table, index, path).is_ok();
        if present.iter().chain(&made).any(served) {
            continue;
        }
        let mut index = workload::index::ideal(table, engine, path, true);
        index.origin = IndexOrigin::Declared;
        // What is printed has been proven, or is not printed.
        if served(&index) {
            made.push(index);
        }
    }
    made.iter().map(|index| format!("{};", statement::add_index(dialect, table, index))).collect()
}

/// The names of the indexes of a table on an engine.
pub fn names(table: &Table, engine: &Engine) -> Vec<String> {
    present(table, engine).iter().map(|index| name(table, index, engine)).collect()
}

/// The name of an index on an engine.
pub fn name(table: &Table, index: &Index, engine: &Engine) -> String {
    let own = index.name.clone().unwrap_or_else(|| names::derived(table, index));
    names::shorten(&own, engine.identifier)
}
