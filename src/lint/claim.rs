//! Whether a block takes rows of a queue for work, and what its conditions say of the table.

use std::cell::OnceCell;

use crate::sql::ast::{Block, Expr, ExprKind, Role, Statement, TableRef, Verb};

use super::predicate::{Columns, Condition, Test, TestKind};
use super::roles::{is_identity, is_row_number};
use super::tables::{Known, Tables};

/// A block as it reads or changes one table.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The statement.
    pub statement: &'a Statement,
    /// The block.
    pub block: &'a Block,
    /// The table in the block.
    pub table: &'a TableRef,
    /// What is known of the table.
    pub known: &'a Known,
    /// Conditions of WHERE and of inner joins that all hold.
    pub conditions: Vec<Condition<'a>>,
    /// Conditions of WHERE alone.
    pub filters: usize,
    /// What kind of claim it is, if it is one.
    pub claim: Option<Claim>,
    /// What [`Reading::is_keyed`] found, which many rules ask.
    keyed: OnceCell<bool>,
}

/// A kind of claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A SELECT that locks.
    Lock,
    /// An UPDATE that moves rows by state or time.
    Update,
    /// A SELECT that polls.
    Poll,
}

/// How a block of a statement reads the tables that are known.
pub fn readings<'a>(statement: &'a Statement, at: usize, tables: &'a Tables, bare: &'a [Known]) -> Vec<Reading<'a>> {
    let block = &statement.blocks[at];
    if block.verb == Verb::Insert {
        return Vec::new();
    }
    let find = |table: &'a TableRef| {
        let name = table.name.as_ref().filter(|name| !name.partial)?;
        if is_common_table(statement, at, &name.name) {
            return None;
        }
        let unknown = || bare.iter().find(|known| known.table.name.name.eq_ignore_ascii_case(&name.name));
        tables.get(&name.name).or_else(unknown)
    };
    let known: Vec<(&TableRef, &Known)> = block.tables.iter().filter_map(|table| Some((table, find(table)?))).collect();
    known.into_iter().map(|(table, known)| reading(statement, block, table, known)).collect()
}

/// Whether the name is that of a common table expression around the block.
pub fn is_common_table(statement: &Statement, at: usize, name: &str) -> bool {
    let mut at = Some(at);
    while let Some(block) = at.and_then(|at| statement.blocks.get(at)) {
        if block.ctes.iter().any(|(cte, _)| cte.eq_ignore_ascii_case(name)) {
            return true;
        }
        at = block.parent;
    }
    false
}

fn reading<'a>(statement: &'a Statement, block: &'a Block, table: &'a TableRef, known: &'a Known) -> Reading<'a> {
    let names = Names { table, known, alone: block.tables.len() == 1 };
    let mut conditions: Vec<Condition<'a>> = block.filter.iter().map(|filter| Condition::of(filter, &names)).collect();
    let filters = conditions.len();
    conditions.extend(block.joins.iter().map(|join| Condition::of(join, &names)));
    let mut reading =
        Reading { statement, block, table, known, conditions, filters, claim: None, keyed: OnceCell::new() };
    reading.claim = reading.classify();
    reading
}

/// Resolves columns to one table of a block.
struct Names<'a> {
    table: &'a TableRef,
    known: &'a Known,
    alone: bool,
}

impl Columns for Names<'_> {
    fn column(&self, expr: &Expr) -> Option<String> {
        let ExprKind::Column { table, name, quoted } = &expr.kind else { return None };
        let has = self.known.position(name).is_some();
        let ours = match table {
            Some(qualifier) => {
                let own = self.table.alias.as_ref().or(self.table.name.as_ref().map(|name| &name.name));
                own.is_some_and(|own| own.eq_ignore_ascii_case(qualifier))
            }
            None if self.known.columns_known => has || self.alone && !quoted || is_row_number(&name.to_lowercase()),
            None => self.alone,
        };
        ours.then(|| name.to_lowercase())
    }
}

impl<'a> Reading<'a> {
    /// The table's name, as the statement writes it.
    pub fn name(&self) -> &'a str {
        self.table.name.as_ref().map_or("", |name| &name.name)
    }

    /// Conditions that all hold, taken apart.
    pub fn conjuncts(&self) -> Vec<&Condition<'a>> {
        let mut found = Vec::new();
        self.conditions.iter().for_each(|condition| condition.add_conjuncts(&mut found));
        found
    }

    /// Conditions of WHERE.
    pub fn filter(&self) -> &[Condition<'a>] {
        &self.conditions[..self.filters]
    }

    /// Tests that all hold.
    pub fn tests(&self) -> impl Iterator<Item = &Test<'a>> {
        self.conjuncts().into_iter().filter_map(|condition| match condition {
            Condition::Test(test) => Some(test),
            _ => None,
        })
    }

    /// Tests anywhere in WHERE.
    pub fn all_tests(&self) -> Vec<&Test<'a>> {
        let mut found = Vec::new();
        self.filter().iter().for_each(|condition| condition.add_tests(&mut found));
        found
    }

    /// Whether every row that is read has one of the given values in the column.
    pub fn pins(&self, column: &str, wanted: &dyn Fn(&Test<'a>) -> bool) -> bool {
        let joined = || self.block.using.iter().any(|using| using.eq_ignore_ascii_case(column));
        joined() || self.conditions.iter().any(|condition| condition.pins(column, wanted))
    }

    /// Whether the block goes to rows by their key, or by another id.
    pub fn is_keyed(&self) -> bool {
        *self.keyed.get_or_init(|| self.finds_keyed())
    }

    fn finds_keyed(&self) -> bool {
        let choice = |column: &str| self.pins(column, &|test| test.is_choice());
        let known = self.known;
        let name = |at: usize| known.table.columns[at].name.to_lowercase();
        let in_scope = |column: &String| known.scope.contains(column);
        let covers = |key: &[usize]| {
            let columns: Vec<String> = key.iter().map(|at| name(*at)).collect();
            let own: Vec<&String> = columns.iter().filter(|column| !in_scope(column)).collect();
            let wanted = if own.is_empty() { columns.iter().collect() } else { own };
            !wanted.is_empty() && wanted.into_iter().all(|column| choice(column))
        };
        let uniques = known.table.indexes.iter().filter(|index| index.unique).map(|index| &index.columns);
        if covers(&known.table.primary_key) || uniques.into_iter().any(|key| covers(key)) {
            return true;
        }
        // What identifies the thing that changed: such a statement looks for the one change that waits, and waits for it.
        let thing = known.table.claim.as_ref().map_or(&[][..], |claim| &claim.coalesce);
        if !thing.is_empty() && thing.iter().all(|column| choice(&column.to_lowercase())) {
            return true;
        }
        let mut tests = self.conditions.iter().flat_map(Condition::tests).filter_map(|test| test.column.as_deref());
        tests.any(|column| {
            let named = is_row_number(column) || is_identity(column) || known.roles.is_owner(column);
            let role = known.scope.iter().any(|scope| scope == column) || known.roles.is_state(column);
            named && !role && choice(column)
        })
    }

    /// Whether it would be a claim if its unknown end had a LIMIT or an order.
    pub fn may_be_claim(&self) -> bool {
        let block = self.block;
        let counts = block.items.iter().any(is_aggregate) || block.grouped || block.distinct;
        let plain = block.verb == Verb::Select && block.role != Role::Exists && !counts && !block.set_operation;
        self.known.queue && plain && block.gaps.tail && block.order.is_empty() && !self.is_keyed() && self.searches()
    }

    /// Whether the block changes the table, and does not only read it.
    pub fn is_changed(&self) -> bool {
        let changed = &self.block.tables[..self.block.changes.min(self.block.tables.len())];
        changed.iter().any(|table| std::ptr::eq(table, self.table))
    }

    /// The expressions that decide something: conditions, orders, what columns become, what is returned.
    pub fn expressions(&self) -> impl Iterator<Item = &'a Expr> {
        let block = self.block;
        let values = block.set.iter().filter_map(|set| set.value.as_ref());
        block
            .filter
            .iter()
            .chain(&block.joins)
            .chain(&block.items)
            .chain(block.order.iter().map(|item| &item.expr))
            .chain(values)
    }

    /// Whether a column of the table occurs in the expression.
    pub fn mentions_any(&self, expr: &Expr) -> bool {
        let names = Names { table: self.table, known: self.known, alone: self.block.tables.len() == 1 };
        expr.any(&mut |part| names.column(part).is_some())
    }

    /// Whether rows are only counted.
    pub fn counts(&self) -> bool {
        self.block.grouped || self.block.items.iter().any(is_aggregate)
    }

    /// Whether the expression is all of WHERE.
    pub fn is_root(&self, expr: &Expr) -> bool {
        self.block.filter.as_ref().is_some_and(|filter| std::ptr::eq(filter, expr))
    }

    /// Whether the table has an index of which it is not known what it serves.
    pub fn has_index_of_unknown_use(&self) -> bool {
        self.known.table.indexes.iter().any(|index| index.columns.is_empty())
    }

    /// Whether rows are chosen by their state or by a time.
    fn searches(&self) -> bool {
        let roles = &self.known.roles;
        self.all_tests().into_iter().any(|test| {
            let by_state = |column: &str| roles.is_state(column) || roles.is_finish(column);
            let column = test.column.as_deref();
            let mentioned = || test.mentions.iter().any(|column| by_state(column) || roles.is_time(column));
            match column {
                Some(column) => by_state(column) || roles.is_time(column) && test.kind != TestKind::Equal,
                None => mentioned(),
            }
        })
    }

    fn classify(&self) -> Option<Claim> {
        let block = self.block;
        if !self.known.queue || block.verb == Verb::Delete || self.is_keyed() {
            return None;
        }
        if block.verb == Verb::Update {
            let changed = self.is_changed();
            let moves = |column: &str| {
                let roles = &self.known.roles;
                roles.is_search(column) && !roles.is_order(column)
            };
            let moves = block.set.iter().any(|set| moves(&set.column.to_lowercase()));
            // Without WHERE it is a wipe, and takes nothing for work.
            return (changed && moves && block.filter.is_some() && self.searches()).then_some(Claim::Update);
        }
        // Dead letters, finished rows: whoever reads them archives or replays, and claims nothing.
        if self.is_of_closed_rows() {
            return None;
        }
        if block.lock.is_some() || self.table.lock_hint.is_some() {
            return Some(Claim::Lock);
        }
        let newest_first = block.order.first().is_some_and(|first| first.descending && !self.is_rank(&first.expr));
        let counts = block.items.iter().any(is_aggregate);
        let ends = block.limit.is_some() || !block.order.is_empty();
        let probe = block.role == Role::Exists || is_single_probe(block);
        let listed = newest_first || block.offset.is_some() || counts || block.grouped || block.distinct || probe;
        (ends && !listed && self.searches()).then_some(Claim::Poll)
    }

    /// Whether what is ordered by first says how urgent a row is, and not how old.
    fn is_rank(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Column { name, .. } if {
            let name = name.to_lowercase();
            ["priority", "urgen", "weight", "rank"].iter().any(|part| name.contains(part))
        })
    }

    /// Whether all rows are of finished or given-up states, which the statement names.
    pub fn is_of_closed_rows(&self) -> bool {
        self.is_of_rows(|state| self.known.roles.is_closed(state))
    }

    /// Whether it asks for rows that are held while no lease says by whom, as the only worker of a scope does when it takes the
    /// place of another one: it waits for what that one has left under way, and takes all of them in whatever order.
    pub fn takes_back(&self) -> bool {
        self.is_of_rows(|state| self.known.roles.is_unleased(state))
    }

    /// Whether all rows are of such states, which the statement names.
    fn is_of_rows(&self, is: impl Fn(&str) -> bool) -> bool {
        let closed = |test: &Test<'a>| {
            let state = test.column.as_deref().is_some_and(|column| self.known.roles.is_state(column));
            let states = test.texts();
            let named = matches!(test.kind, TestKind::Equal | TestKind::In(_)) && !states.is_empty();
            state && named && states.into_iter().all(&is)
        };
        self.conjuncts().into_iter().any(|condition| {
            let tests = condition.tests();
            !tests.is_empty() && tests.into_iter().all(closed)
        })
    }
}

/// `SELECT 1 FROM … LIMIT 1`: whether there is a row.
fn is_single_probe(block: &Block) -> bool {
    let constant = |item: &Expr| matches!(item.kind, ExprKind::Number(_) | ExprKind::Constant(_));
    !block.items.is_empty() && block.items.iter().all(constant) && block.order.is_empty()
}

fn is_aggregate(expr: &Expr) -> bool {
    let names = ["count", "sum", "min", "max", "avg", "group_concat", "array_agg", "json_agg", "string_agg", "exists"];
    expr.any(&mut |part| match &part.kind {
        ExprKind::Call { name, .. } => names.iter().any(|aggregate| name.eq_ignore_ascii_case(aggregate)),
        ExprKind::Exists(_) => true,
        _ => false,
    })
}
