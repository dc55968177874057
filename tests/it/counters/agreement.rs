//! `workload::serves` and the engines agree: an index serves a path exactly when the statement reads its rows and no more.
//!
//! The pairs are made up, but always the same. In the rows, whatever is pinned comes last in every order, so that an index
//! which lacks a column cannot look good by chance.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use claimsmith::diagnostic::Source;
use claimsmith::schema::{Index, IndexOrigin, Predicate, Table, load};
use claimsmith::workload::index::ideal;
use claimsmith::workload::serves::{Fix, serves};
use claimsmith::workload::{Path, Pin, PinValue, Purpose};

use crate::servers::{Scratch, Server, on_servers};

use super::backlog::numbers;
use super::measure::measure;
use super::probe::Probe;

const COLUMNS: [&str; 9] = ["app", "status", "failed", "next", "created", "until", "updated", "id", "payload"];
const APP: usize = 0;
const STATUS: usize = 1;
const FAILED: usize = 2;
const NEXT: usize = 3;
const CREATED: usize = 4;
const UNTIL: usize = 5;
const UPDATED: usize = 6;
const ID: usize = 7;
const LIMIT: u64 = 3;
const INDEXES: usize = 120;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

fn table() -> Table {
    let column = |name: &&str| match *name {
        "failed" => r#"{ "name": "failed", "type": "BIGINT", "nullable": true }"#.to_owned(),
        "app" | "status" | "id" | "payload" => format!(r#"{{ "name": "{name}", "type": "VARCHAR(16)" }}"#),
        name => format!(r#"{{ "name": "{name}", "type": "BIGINT" }}"#),
    };
    let columns = COLUMNS.iter().map(column).collect::<Vec<_>>().join(", ");
    let text = format!(r#"{{ "tableName": "t", "columns": [{columns}], "primaryKey": ["app", "id"] }}"#);
    let (catalog, findings) = load::load(&[Arc::new(Source::new("t.json", text))]);
    assert!(findings.is_empty(), "{findings:?}");
    catalog.tables[0].clone()
}

/// Rows of one of the eight combinations of pinned columns that match and that do not.
fn block(server: Server) -> u64 {
    // PostgreSQL counts no entries that the index's own columns reject, but pages: there must be some.
    if server == Server::Postgres { 2_000 } else { 500 }
}

/// Rows in eight blocks: the first match no pin, the last all, and those between the fewer the earlier.
fn fill(probe: &mut Probe) {
    let size = block(probe.server);
    let number = "BIGINT NOT NULL";
    let text = match probe.server {
        Server::MySql | Server::MariaDb => "VARCHAR(16) COLLATE utf8mb4_bin NOT NULL",
        Server::Postgres => "VARCHAR(16) COLLATE \"C\" NOT NULL",
        Server::Sqlite => "TEXT NOT NULL",
    };
    // On PostgreSQL, which has no hints, the index must be the only one.
    let key = if probe.server == Server::Postgres { "" } else { ", PRIMARY KEY (app, id)" };
    let (div, pad) = match probe.server {
        Server::MySql | Server::MariaDb => ("DIV", "LPAD"),
        Server::Postgres => ("/", "LPAD"),
        Server::Sqlite => ("/", "printf"),
    };
    probe.run(&format!(
        "CREATE TABLE t (app {text}, status {text}, failed BIGINT, \"next\" {number}, created {number}, \"until\" {number}, updated {number}, id {text}, payload {text}{key})"
    ).replace('"', if probe.server.is_mysql_like() { "`" } else { "\"" }).replace("COLLATE `C`", "COLLATE \"C\""));
    probe.keep_autovacuum_out();
    let bit = |bit: u32| {
        let blocks: Vec<String> = [0_u32, 1, 2, 4, 3, 5, 6, 7]
            .iter()
            .enumerate()
            .filter(|(_, bits)| *bits >> bit & 1 == 1)
            .map(|(at, _)| at.to_string())
            .collect();
        format!("n {div} {size} IN ({})", blocks.join(", "))
    };
    let mixed = |factor: u64| format!("(n {div} {size}) * {size} + (n % {size}) * {factor} % {size}");
    let id = mixed(17);
    let id = match pad {
        "LPAD" if probe.server == Server::Postgres => format!("LPAD(({id})::TEXT, 8, '0')"),
        "LPAD" => format!("LPAD({id}, 8, '0')"),
        _ => format!("printf('%08d', {id})"),
    };
    probe.run(&format!(
        "INSERT INTO t SELECT CASE WHEN {} THEN 'chat' ELSE 'date' END, CASE WHEN {} THEN 'pending' ELSE 'done' END, CASE WHEN {} THEN NULL ELSE 1 END, {}, {}, {}, {}, {id}, 'x' FROM ({}) AS numbers",
        bit(0), bit(1), bit(2), mixed(3), mixed(7), mixed(11), mixed(13), numbers(8 * size)
    ));
    match probe.server {
        // So that what an index's own columns reject is counted, and only this index is read.
        Server::MySql | Server::MariaDb => {
            let more = if probe.server == Server::MariaDb { ",rowid_filter=off" } else { "" };
            probe.run(&format!("SET SESSION optimizer_switch = 'index_condition_pushdown=off,mrr=off{more}'"));
        }
        Server::Postgres => {
            probe.run("VACUUM ANALYZE t");
            probe.run("SET enable_seqscan = off; SET enable_bitmapscan = off");
        }
        Server::Sqlite => {}
    }
}

fn some_path(dice: &mut Dice) -> Path {
    let mut pins = Vec::new();
    let mut pin = |column, value, chance| {
        if dice.percent(chance) {
            pins.push(Pin { column, value });
        }
    };
    pin(APP, PinValue::Parameter, 85);
    pin(STATUS, PinValue::State("pending".to_owned()), 85);
    pin(FAILED, PinValue::Never, 25);
    let range = dice.percent(60).then(|| [NEXT, UNTIL][dice.below(2)]);
    let mut order: Vec<usize> = range.into_iter().collect();
    for column in [CREATED, UPDATED, NEXT] {
        if dice.percent(30) && !order.contains(&column) {
            order.push(column);
        }
    }
    if order.is_empty() || dice.percent(80) {
        order.extend([APP, ID].into_iter().filter(|key| pins.iter().all(|pin| pin.column != *key)));
    }
    Path { purpose: Purpose::Pending, lane: None, pins, range, order }
}

/// An index that may be exactly the path, and may be anything.
fn some_index(dice: &mut Dice, server: Server, path: &Path) -> Index {
    let mut columns: Vec<usize> = path.pins.iter().map(|pin| pin.column).chain(path.order.iter().copied()).collect();
    for _ in 0..[0, 0, 1, 1, 2][dice.below(5)] {
        let (at, other) = (dice.below(columns.len()), dice.below(columns.len()));
        match dice.below(4) {
            0 => columns.swap(at, other),
            1 if columns.len() > 1 => _ = columns.remove(at),
            2 => {
                let new = [FAILED, NEXT, CREATED, UNTIL, UPDATED][dice.below(5)];
                columns.retain(|column| *column != new);
                columns.insert(at.min(columns.len()), new);
            }
            _ => columns.truncate(at.max(1)),
        }
    }
    let partial = server.engine().partial_indexes && dice.percent(40);
    let predicate = partial.then(|| Predicate { column: STATUS, value: "pending".to_owned() });
    if partial && dice.percent(80) {
        columns.retain(|column| *column != STATUS);
    }
    if columns.is_empty() {
        columns.push(CREATED);
    }
    let table = table();
    Index {
        name: None,
        columns,
        unique: false,
        origin: IndexOrigin::Declared,
        predicate,
        description: None,
        site: table.site,
    }
}

/// The path with one thing changed.
fn varied(dice: &mut Dice, path: &Path) -> Path {
    let mut path = path.clone();
    match dice.below(3) {
        0 if path.pins.len() > 1 => _ = path.pins.remove(dice.below(path.pins.len())),
        1 if path.order.len() > 1 => _ = path.order.pop(),
        _ => path = some_path(dice),
    }
    path
}

fn quoted(server: Server, columns: &[usize]) -> String {
    columns.iter().map(|at| server.dialect().ident(COLUMNS[*at])).collect::<Vec<_>>().join(", ")
}

fn statement(server: Server, path: &Path) -> String {
    let hint = server.dialect().index_hint("i");
    let mut conditions: Vec<String> = Vec::new();
    for pin in &path.pins {
        let column = quoted(server, &[pin.column]);
        conditions.push(match &pin.value {
            PinValue::Parameter => format!("{column} = 'chat'"),
            PinValue::State(state) => format!("{column} = '{state}'"),
            PinValue::Never => format!("{column} IS NULL"),
        });
    }
    // Half of the last block is due.
    let bound = block(server) * 15 / 2;
    conditions.extend(path.range.map(|range| format!("{} <= {bound}", quoted(server, &[range]))));
    let mut sql = format!("SELECT payload FROM t{hint}");
    if !conditions.is_empty() {
        _ = write!(sql, " WHERE {}", conditions.join(" AND "));
    }
    sql + &format!(" ORDER BY {} LIMIT {LIMIT}", quoted(server, &path.order))
}

/// What the engine's counters say, as a verdict and in words.
fn measured(probe: &mut Probe, path: &Path) -> (bool, String) {
    let counted = match measure(probe, "t", &statement(probe.server, path), &[]) {
        Ok(counted) => counted,
        // SQLite refuses an index that cannot be used.
        Err(error) if probe.server == Server::Sqlite && error.to_string().contains("no query solution") => {
            return (false, error.to_string());
        }
        Err(error) => panic!("{:?}: {error}\n{}", probe.server, statement(probe.server, path)),
    };
    assert_eq!(counted.returned, LIMIT, "{}", statement(probe.server, path));
    let (few, pages) = match probe.server {
        // Some steps for each row.
        Server::Sqlite => (40 * LIMIT, u64::MAX),
        _ => (LIMIT + 1, 2 * LIMIT + 3),
    };
    let sorts = counted.sorts || counted.sorts_ties;
    let words =
        format!("examined {}, pages {}, sorts {sorts}, indexes {:?}", counted.examined, counted.pages, counted.indexes);
    (counted.examined <= few && counted.pages <= pages && !sorts, words)
}

fn serves_and_the_engine_agree(scratch: &mut Scratch) {
    let (server, table) = (scratch.server, table());
    let mut probe = Probe::open(scratch);
    fill(&mut probe);
    let mut dice = Dice(4);
    let (mut yes, mut no, mut found) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for _ in 0..INDEXES {
        let path = some_path(&mut dice);
        let index = some_index(&mut dice, server, &path);
        let only = index.predicate.as_ref().map(|predicate| format!(" WHERE status = '{}'", predicate.value));
        let text = format!("({}){}", quoted(server, &index.columns), only.unwrap_or_default());
        probe.run(&format!("CREATE INDEX i ON t {text}"));
        for path in [path.clone(), varied(&mut dice, &path), varied(&mut dice, &path), varied(&mut dice, &path)] {
            let verdict = serves(server.engine(), &table, &index, &path);
            let (served, words) = measured(&mut probe, &path);
            // Dice may fall alike: each pair counts once.
            (if verdict.is_ok() { &mut yes } else { &mut no }).insert((text.clone(), statement(server, &path)));
            if let Err(misfit) = &verdict {
                assert_mended(server, &table, &index, &path, &misfit.fix);
            }
            if served != verdict.is_ok() {
                found.push(format!("{text}: {verdict:?}, but {words}\n  {}", statement(server, &path)));
            }
        }
        probe.run(if server.is_mysql_like() { "DROP INDEX i ON t" } else { "DROP INDEX i" });
    }
    let (yes, no) = (yes.len(), no.len());
    assert!(found.is_empty(), "{server:?}: {} of {} disagree:\n{}", found.len(), yes + no, found.join("\n"));
    assert!(yes + no >= 380 && yes >= 50 && no >= 50, "{yes} served, {no} not");
}
on_servers!(serves_and_the_engine_agree);

/// With what is said to mend it, the path is served, or the next thing is said that mends it.
fn assert_mended(server: Server, table: &Table, index: &Index, path: &Path, fix: &Fix) {
    let (mut table, mut index, mut path) = (table.clone(), index.clone(), path.clone());
    match fix {
        Fix::Index(columns) => (index.columns, index.predicate) = (columns.clone(), None),
        Fix::NotNull(column) => table.columns[*column].nullable = false,
        Fix::OrderBy(column) => {
            path.order.retain(|at| at != column);
            path.order.insert(0, *column);
        }
    }
    if !matches!(fix, Fix::Index(_)) {
        index = ideal(&table, server.engine(), &path, false);
    }
    match serves(server.engine(), &table, &index, &path) {
        Err(next) if matches!(fix, Fix::OrderBy(_)) && next.fix != *fix => {
            assert_mended(server, &table, &index, &path, &next.fix);
        }
        verdict => assert_eq!(verdict, Ok(()), "{fix:?}"),
    }
}
