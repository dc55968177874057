//! A backlog as production has it: nearly everything finished long ago, and little of the rest due.

use claimsmith::schema::format::IndexSet;
use claimsmith::schema::{Column, ColumnType, Table};

use crate::servers::Server;

use super::probe::Probe;

/// How much of the backlog waits to be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// 98.9 % finished, 0.5 % pending, 0.4 % retryable of which a quarter is due, 0.1 % running of which half has expired,
    /// 0.1 % dead: about 1 % open. Where rows can be stranded, 0.05 % are: in states of their own times, which no statement
    /// gives them.
    Usual,
    /// So many percent, or as many as can be, are due: pending, retryable and expired in equal shares. Of each other state
    /// there is a twentieth, and the rest is finished.
    Due(u64),
}

/// The three scopes have 60, 30 and 10 % of the rows of each state. Those of the first two alternate; those of the last come
/// after them in every order, so that a statement for it that does not go by the scope reads all the others.
pub const SCOPES: [&str; 3] = ["chat", "date", "game"];

/// When the first rows were created: four in the same second, and then a pause.
pub const START_S: i64 = 1_700_000_000;

/// What each state has, of 10,000, where most of the rest is due.
const FEW: u64 = 500;

/// A time that does not come while these tests are run.
const FUTURE_S: i64 = 2_100_000_000;

/// The worker that holds a running row.
pub const WORKER: &str = "0123456789abcdefghijkl/worker-of-before";

/// A state with its own times, and the rows from the one number to the other.
struct Part {
    state: String,
    kind: Kind,
    from: u64,
    to: u64,
}

impl Part {
    /// Its row from which on so many percent are left.
    fn last(&self, percent: u64) -> u64 {
        self.to - ((self.to - self.from) * percent).div_ceil(100)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pending,
    Retryable,
    Running,
    /// Pending with a retry time where the claim asks for none, or published without a time.
    Stranded,
    Other,
}

/// Fills the table with `rows` rows instead of what it has, and lets the engine look at them.
pub fn load(probe: &mut Probe, table: &Table, rows: u64, mix: Mix) {
    let name = probe.server.dialect().ident(&table.name.name);
    empty(probe, table);
    fill(probe, table, rows, mix);
    if let (Server::Postgres, Some(numbered)) =
        (probe.server, table.columns.iter().find(|column| column.auto_increment))
    {
        let sequence = format!("pg_get_serial_sequence('{name}', '{}')", numbered.name);
        probe.run(&format!("SELECT setval({sequence}, {rows})"));
    }
    probe.run(&match probe.server {
        Server::MySql | Server::MariaDb => format!("ANALYZE TABLE {name}"),
        Server::Postgres => format!("VACUUM ANALYZE {name}"),
        Server::Sqlite => format!("ANALYZE {name}"),
    });
}

/// Takes all rows away.
pub fn empty(probe: &mut Probe, table: &Table) {
    let name = probe.server.dialect().ident(&table.name.name);
    probe.run(&match probe.server {
        Server::Sqlite => format!("DELETE FROM {name}"),
        _ => format!("TRUNCATE TABLE {name}"),
    });
}

/// Adds the rows of a backlog to a table that has none.
pub fn fill(probe: &mut Probe, table: &Table, rows: u64, mix: Mix) {
    probe.run(&insert(probe.server, table, rows, mix));
}

/// Fills the table's archive, if it has one, with all rows of the table, as if they had been there before.
pub fn load_archive(probe: &mut Probe, table: &Table) {
    let Some(into) = archive(table) else { return };
    let dialect = probe.server.dialect();
    let (into, from) = (dialect.ident(into), dialect.ident(&table.name.name));
    probe.run(&format!("INSERT INTO {into} SELECT * FROM {from}"));
    probe.run(&match probe.server {
        Server::MySql | Server::MariaDb => format!("ANALYZE TABLE {into}"),
        _ => format!("ANALYZE {into}"),
    });
}

/// Empties the archive.
pub fn empty_archive(probe: &mut Probe, table: &Table) {
    if let Some(into) = archive(table) {
        let into = probe.server.dialect().ident(into);
        probe.run(&format!("DELETE FROM {into}"));
    }
}

fn archive(table: &Table) -> Option<&String> {
    table.retention.as_ref()?.into.as_ref()
}

fn insert(server: Server, table: &Table, rows: u64, mix: Mix) -> String {
    let parts = parts(table, rows, mix);
    let columns: Vec<String> = table.columns.iter().map(|column| server.dialect().ident(&column.name)).collect();
    let values: Vec<String> =
        table.columns.iter().map(|column| value(server, table, column, rows, &parts, mix)).collect();
    format!(
        "INSERT INTO {} ({})\nSELECT {}\nFROM ({}) AS numbers",
        server.dialect().ident(&table.name.name),
        columns.join(", "),
        values.join(",\n  "),
        numbers(rows)
    )
}

/// A query of the numbers below `rows` as `n`, from their digits: no engine has to be asked to recurse so often.
pub fn numbers(rows: u64) -> String {
    let digits = (0..10).map(|digit| if digit == 0 { "SELECT 0 AS d".to_owned() } else { format!("SELECT {digit}") });
    let digits = digits.collect::<Vec<_>>().join(" UNION ALL ");
    let places = (rows - 1).to_string().len();
    let n: Vec<String> = (0..places).map(|place| format!("p{place}.d * {}", 10_u64.pow(place as u32))).collect();
    let from: Vec<String> = (0..places).map(|place| format!("({digits}) AS p{place}")).collect();
    let n = n.join(" + ");
    format!("SELECT {n} AS n FROM {} WHERE {n} < {rows}", from.join(" CROSS JOIN "))
}

fn parts(table: &Table, rows: u64, mix: Mix) -> Vec<Part> {
    let Some(claim) = &table.claim else { return Vec::new() };
    let status = &claim.status;
    let mut shares: Vec<(String, Kind, u64)> = vec![(status.pending.clone(), Kind::Pending, 50)];
    let due = claim.retry.as_ref().and_then(|retry| retry.at.as_ref());
    shares.extend(status.retryable.iter().map(|state| (state.clone(), Kind::Retryable, 40)));
    let leased = claim.lease.is_some();
    shares.extend(status.running.iter().map(|state| (state.clone(), Kind::Running, 10)));
    shares.extend(status.published.iter().map(|state| (state.clone(), Kind::Other, 30)));
    let swept = claim.times.as_ref().and_then(|times| table.column(times.published.as_ref()?));
    let open = swept.filter(|column| column.nullable).and(status.published.as_ref());
    let seed = (claim.indexes == IndexSet::Seed).then_some(&status.pending);
    shares.extend(open.or(seed).map(|state| (state.clone(), Kind::Stranded, 5)));
    shares.extend(status.dead.iter().map(|state| (state.clone(), Kind::Other, 10)));
    let done = &status.done.0;
    if let Mix::Due(percent) = mix {
        let is_due = |kind: Kind| match kind {
            Kind::Pending => true,
            Kind::Retryable => due.is_some(),
            Kind::Running => leased,
            Kind::Stranded | Kind::Other => false,
        };
        let dues = shares.iter().filter(|share| is_due(share.1)).count() as u64;
        let others = (shares.len() + done.len()) as u64 - dues;
        let each = (percent * 100).min(10_000 - others * FEW) / dues;
        shares.iter_mut().for_each(|share| share.2 = if is_due(share.1) { each } else { FEW });
    }
    // Finished rows are the oldest: most in the first finished state, a tenth in each further one.
    let open: u64 = shares.iter().map(|share| share.2 * rows / 10_000).sum();
    let further = ((rows - open) / 10).max(if mix == Mix::Usual { 0 } else { FEW * rows / 10_000 });
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, state) in done.iter().enumerate().rev() {
        let to = if at == 0 { rows - open } else { from + further };
        parts.push(Part { state: state.clone(), kind: Kind::Other, from, to });
        from = to;
    }
    for (state, kind, share) in shares {
        let to = from + share * rows / 10_000;
        parts.push(Part { state, kind, from, to });
        from = to;
    }
    parts
}

/// `CASE` over the parts of some kinds, each with its own value; `other` for all else.
fn by_part(parts: &[Part], value: impl Fn(&Part) -> Option<String>, other: &str) -> String {
    let arms: Vec<String> = parts
        .iter()
        .filter_map(|part| Some(format!("WHEN n >= {} AND n < {} THEN {}", part.from, part.to, value(part)?)))
        .collect();
    if arms.is_empty() { other.to_owned() } else { format!("CASE {} ELSE {other} END", arms.join(" ")) }
}

/// What the column holds in row `n`.
fn value(server: Server, table: &Table, column: &Column, rows: u64, parts: &[Part], mix: Mix) -> String {
    let claim = table.claim.as_ref();
    let is = |name: Option<&String>| name == Some(&column.name);
    let retry = claim.and_then(|claim| claim.retry.as_ref());
    let lease = claim.and_then(|claim| claim.lease.as_ref());
    let created = time(server, column, &format!("({START_S} + n - n % 4)"));
    let future = time(server, column, &format!("({FUTURE_S} + n - n % 4)"));
    // Every so manieth row of a state has come, the last among them: scopes go by threes.
    let past_for = |part: &Part, every: u64| match mix {
        Mix::Usual => format!("CASE WHEN ({} - n) % {every} = 0 THEN {created} ELSE {future} END", part.to - 1),
        Mix::Due(_) => created.clone(),
    };
    let of_kind = |kind: Kind, every: u64| move |part: &Part| (part.kind == kind).then(|| past_for(part, every));
    let never = if column.nullable { "NULL".to_owned() } else { time(server, column, "0") };
    if let Some(claim) = claim {
        let waits = claim.status.retryable.is_none();
        if let Some(at) = claim.scope.iter().position(|scope| *scope == column.name) {
            return by_part(parts, |part| Some(scope(part, at, claim.scope.len())), "''");
        }
        if is(claim.lane.as_ref()) {
            // What is in the lane comes last, so that a statement for it that does not go by the lane reads what is not.
            return by_part(parts, |part| Some(format!("CASE WHEN n < {} THEN 'y' ELSE 'x' END", part.last(50))), "''");
        }
        if column.name == claim.status.column {
            return by_part(parts, |part| Some(format!("'{}'", part.state)), "''");
        }
        if is(claim.due.as_ref()) || is(retry.and_then(|retry| retry.at.as_ref())) {
            let kind = if waits { Kind::Pending } else { Kind::Retryable };
            let other = if is(claim.due.as_ref()) || waits { &created } else { &never };
            let value = |part: &Part| match part.kind {
                Kind::Stranded if !waits => Some(created.clone()),
                at if at == kind => Some(past_for(part, 4)),
                _ => None,
            };
            return by_part(parts, value, other);
        }
        if is(lease.map(|lease| &lease.until)) {
            return by_part(parts, of_kind(Kind::Running, 2), &never);
        }
        if is(lease.and_then(|lease| lease.by.as_ref())) {
            let nobody = if column.nullable { "NULL" } else { "''" };
            return by_part(parts, |part| (part.kind == Kind::Running).then(|| format!("'{WORKER}'")), nobody);
        }
        if is(claim.times.as_ref().and_then(|times| times.published.as_ref())) && column.nullable {
            return by_part(parts, |part| (part.kind == Kind::Stranded).then(|| "NULL".to_owned()), &created);
        }
        if is(retry.and_then(|retry| retry.count.as_ref())) {
            return by_part(parts, |part| (part.kind != Kind::Pending).then(|| "1".to_owned()), "0");
        }
    }
    plain(server, table, column, rows, &created)
}

/// A column of the scope: the first tells the three scopes apart; each further one has another value in some of the first
/// rows, and else the same in all.
fn scope(part: &Part, at: usize, columns: usize) -> String {
    match at {
        0 => format!(
            "CASE WHEN n >= {} THEN '{}' WHEN n % 3 < 2 THEN '{}' ELSE '{}' END",
            part.last(10),
            SCOPES[2],
            SCOPES[0],
            SCOPES[1]
        ),
        _ => format!("CASE WHEN n < {} AND n % {} = {} THEN 'y' ELSE 'x' END", part.last(70), columns - 1, at - 1),
    }
}

/// A column without a role in the claim.
fn plain(server: Server, table: &Table, column: &Column, rows: u64, created: &str) -> String {
    let in_key = table.primary_key.last().is_some_and(|last| table.columns[*last].name == column.name);
    let unique = in_key || table.indexes.iter().any(|index| index.unique && last_is(table, &index.columns, column));
    // Identities are in no order of time, as random ones are.
    let wide = if server == Server::Postgres { "::BIGINT" } else { "" };
    let mixed = format!("(n{wide} * 7919 % {rows})");
    let text = match server {
        Server::MySql | Server::MariaDb => format!("LPAD({mixed}, 12, '0')"),
        Server::Postgres => format!("LPAD(({mixed})::TEXT, 12, '0')"),
        Server::Sqlite => format!("printf('%012d', {mixed})"),
    };
    match &column.ty {
        ColumnType::DateTime(_) | ColumnType::Timestamp(_) => created.to_owned(),
        ColumnType::Int { bytes: 8, .. } if column.name.ends_with("_ms") => created.to_owned(),
        _ if column.auto_increment => "n + 1".to_owned(),
        ColumnType::Int { .. } => {
            if unique {
                mixed
            } else {
                "20".to_owned()
            }
        }
        ColumnType::Json => "'{\"n\": 1}'".to_owned(),
        _ if unique => text,
        _ if column.nullable => "NULL".to_owned(),
        _ => "'x'".to_owned(),
    }
}

fn last_is(table: &Table, columns: &[usize], column: &Column) -> bool {
    columns.last().is_some_and(|last| table.columns[*last].name == column.name)
}

/// The column's value for a time in seconds, which are SQL text.
pub fn time(server: Server, column: &Column, seconds: &str) -> String {
    let moment = matches!(column.ty, ColumnType::Timestamp(_));
    match (&column.ty, server) {
        (ColumnType::DateTime(_) | ColumnType::Timestamp(_), _) if seconds == "0" => {
            format!("'1970-01-01 00:00:0{}'", u8::from(moment))
        }
        (ColumnType::DateTime(_) | ColumnType::Timestamp(_), Server::MySql | Server::MariaDb) => {
            format!("DATE_ADD('1970-01-01 00:00:00', INTERVAL {seconds} SECOND)")
        }
        (ColumnType::DateTime(_), Server::Postgres) => format!("to_timestamp({seconds}) AT TIME ZONE 'UTC'"),
        (ColumnType::Timestamp(_), Server::Postgres) => format!("to_timestamp({seconds})"),
        (ColumnType::DateTime(digits) | ColumnType::Timestamp(digits), Server::Sqlite) => {
            let fraction = if *digits == 0 { "S" } else { "f" };
            format!("strftime('%Y-%m-%d %H:%M:%{fraction}', {seconds}, 'unixepoch')")
        }
        _ if seconds == "0" => "0".to_owned(),
        (_, Server::Postgres) => format!("{seconds}::BIGINT * 1000"),
        _ => format!("{seconds} * 1000"),
    }
}
