//! What one statement reads, sorts, takes and locks, by the engine's own counters.

use serde_json::Value;

use crate::servers::Server;

use super::probe::{Answer, Bind, Probe};

/// The counters of one statement.
#[derive(Debug, Default)]
pub struct Counted {
    pub answer: Answer,
    /// Rows returned or changed.
    pub returned: u64,
    /// Rows read: handler reads on MySQL and MariaDB; rows out of the scan nodes, with those that a filter removed, on
    /// PostgreSQL; steps of the virtual machine on SQLite.
    pub examined: u64,
    /// Those that finding the rows took, without those that changing them took. PostgreSQL does both in one statement.
    pub selected: u64,
    /// A filesort, a Sort node, a temporary B-tree.
    pub sorts: bool,
    /// PostgreSQL: an Incremental Sort, which reads no further than to the next value of what is in order already.
    pub sorts_ties: bool,
    /// Indexes, the primary key among them.
    pub indexes: Vec<String>,
    /// Rows of the table locked by the transaction so far: `innodb_trx.trx_rows_locked` on InnoDB, which counts one in each
    /// index, and `pgrowlocks` on PostgreSQL, where there is that. SQLite locks the file.
    pub locked: Option<u64>,
    /// PostgreSQL: pages touched by finding the rows: entries that the index's own columns reject are not counted as rows.
    pub pages: u64,
}

/// Runs the statement, which is about this table, and counts.
pub fn measure(probe: &mut Probe, table: &str, sql: &str, binds: &[Bind]) -> Result<Counted, sqlx::Error> {
    match probe.server {
        Server::MySql | Server::MariaDb => innodb(probe, sql, binds),
        Server::Postgres => postgres(probe, table, sql, binds),
        Server::Sqlite => sqlite(probe, sql, binds),
    }
}

/// The statement with its values in place of `?`. No generated statement has a `?` in a literal.
pub fn inlined(sql: &str, binds: &[Bind]) -> String {
    let mut values = binds.iter();
    let mut text = String::new();
    for c in sql.chars() {
        match c {
            '?' => text.push_str(&values.next().unwrap().literal()),
            c => text.push(c),
        }
    }
    text
}

fn innodb(probe: &mut Probe, sql: &str, binds: &[Bind]) -> Result<Counted, sqlx::Error> {
    let mut counted = Counted::default();
    if ["SELECT", "UPDATE", "DELETE", "INSERT"].iter().any(|verb| sql.starts_with(verb)) {
        let plan = probe.ask(&format!("EXPLAIN FORMAT=TRADITIONAL {}", inlined(sql, binds)), &[])?;
        counted.indexes = plan.column("key").into_iter().filter(|key| !key.is_empty()).collect();
        counted.sorts = plan.column("Extra").iter().any(|extra| extra.contains("filesort"));
    }
    // Showing the counters counts as well: as much each time.
    if probe.reads_of_status.is_none() {
        let (first, second) = (status(probe), status(probe));
        probe.reads_of_status = Some(second.0 - first.0);
    }
    let before = status(probe);
    counted.answer = probe.ask(sql, binds)?;
    let after = status(probe);
    counted.returned = counted.answer.affected;
    counted.examined = after.0 - before.0 - probe.reads_of_status.unwrap_or_default();
    counted.selected = counted.examined;
    counted.sorts |= after.1 > before.1;
    if sql.contains("FOR UPDATE") || !sql.starts_with("SELECT") {
        counted.locked = Some(locked(probe));
    }
    Ok(counted)
}

/// Handler reads and sorts of the session.
fn status(probe: &mut Probe) -> (u64, u64) {
    let answer =
        probe.rows("SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name LIKE 'Sort_%'", &[]);
    let (mut reads, mut sorts) = (0, 0);
    for row in &answer.rows {
        let (name, value) = (row[0].as_deref().unwrap(), row[1].as_deref().unwrap().parse::<u64>().unwrap());
        match name.to_ascii_lowercase() {
            name if name.starts_with("handler_read") => reads += value,
            name if name == "sort_range" || name == "sort_scan" => sorts += value,
            _ => {}
        }
    }
    (reads, sorts)
}

/// Rows locked by the open transaction: `innodb_trx.trx_rows_locked`, read from the monitor, because the table is a
/// snapshot that is renewed only after a tenth of a second without a reader.
fn locked(probe: &mut Probe) -> u64 {
    let own = probe.number("SELECT CONNECTION_ID()");
    let answer = probe.rows("SHOW ENGINE INNODB STATUS", &[]);
    let text = answer.rows[0][2].clone().unwrap();
    let transactions = text.split("---TRANSACTION").skip(1);
    let is_own = |section: &&str| {
        let thread = section.split("thread id ").nth(1).unwrap_or_default();
        thread.split(|c: char| !c.is_ascii_digit()).next() == Some(&*own.to_string())
    };
    let section = transactions.into_iter().find(is_own);
    let section = section.unwrap_or_else(|| panic!("no transaction of the thread {own} in\n{text}"));
    // Where nothing is locked, nothing is said of it.
    let Some((before, _)) = section.split_once(" row lock(s)") else { return 0 };
    before.rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("no number of locks in\n{section}"))
}

fn postgres(probe: &mut Probe, table: &str, sql: &str, binds: &[Bind]) -> Result<Counted, sqlx::Error> {
    let execute = probe.prepare(sql, binds)?;
    let answer = probe.ask(&format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {execute}"), &[])?;
    let plan: Value = serde_json::from_str(answer.rows[0][0].as_deref().unwrap()).unwrap();
    let root = &plan[0]["Plan"];
    let mut counted = Counted::default();
    let has = |kind: &str| plan.to_string().contains(&format!("\"{kind}\""));
    walk(root, !has("ModifyTable"), &mut counted);
    counted.returned = match root["Node Type"].as_str() {
        Some("ModifyTable") => main_child(root).map(|child| number(child, "Actual Rows")).unwrap_or_default(),
        _ => number(root, "Actual Rows"),
    };
    if has("ModifyTable") || has("LockRows") {
        counted.locked = probe.rows_locked(table);
    }
    Ok(counted)
}

fn number(node: &Value, key: &str) -> u64 {
    node[key].as_f64().unwrap_or_default().round() as u64
}

fn main_child(node: &Value) -> Option<&Value> {
    node["Plans"].as_array()?.iter().find(|child| child["Parent Relationship"] == "Outer")
}

fn walk(node: &Value, selects: bool, counted: &mut Counted) {
    let kind = node["Node Type"].as_str().unwrap();
    let selects = selects || kind == "LockRows";
    // Rows that were found already may be sorted for the join that changes them.
    counted.sorts |= kind == "Sort" && node["Plans"][0]["Node Type"] != "CTE Scan";
    counted.sorts_ties |= kind == "Incremental Sort";
    counted.indexes.extend(node["Index Name"].as_str().map(str::to_owned));
    if kind.ends_with("Scan") && node["Relation Name"].is_string() {
        let rows = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"];
        let rows: u64 = rows.iter().map(|key| number(node, key)).sum::<u64>() * number(node, "Actual Loops");
        counted.examined += rows;
        if selects {
            counted.selected += rows;
            counted.pages += number(node, "Shared Hit Blocks") + number(node, "Shared Read Blocks");
        }
    }
    let below = node["Plans"].as_array().map(Vec::as_slice).unwrap_or_default();
    below.iter().for_each(|child| walk(child, selects, counted));
}

fn sqlite(probe: &mut Probe, sql: &str, binds: &[Bind]) -> Result<Counted, sqlx::Error> {
    let plan = probe.ask(&format!("EXPLAIN QUERY PLAN {sql}"), binds)?;
    let details = if plan.rows.is_empty() { Vec::new() } else { plan.column("detail") };
    let (answer, steps) = probe.steps(sql, binds)?;
    let index = |detail: &String| Some(detail.split("INDEX ").nth(1)?.split(' ').next()?.to_owned());
    Ok(Counted {
        returned: answer.affected,
        examined: steps,
        selected: steps,
        sorts: details.iter().any(|detail| detail.contains("TEMP B-TREE")),
        indexes: details.iter().filter_map(index).collect(),
        answer,
        ..Counted::default()
    })
}
