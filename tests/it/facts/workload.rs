//! Facts by which indexes are derived, and of foreign keys that a connection must ask for.

use crate::servers::{Scratch, Server, on_servers};

/// An index of some rows only.
fn partial_indexes(scratch: &mut Scratch) {
    scratch.run("CREATE TABLE t (a INT NOT NULL, b INT)").unwrap();
    let index = "CREATE INDEX i ON t (b) WHERE a = 1";
    match scratch.server.engine().partial_indexes {
        true => scratch.run(index).unwrap(),
        false => _ = scratch.refusal(index),
    }
}
on_servers!(partial_indexes);

/// The plan of the statement as one text.
pub fn plan(scratch: &mut Scratch, statement: &str) -> String {
    let explain = match scratch.server {
        Server::MySql | Server::MariaDb => "EXPLAIN FORMAT=JSON",
        Server::Postgres => "EXPLAIN",
        Server::Sqlite => "EXPLAIN QUERY PLAN",
    };
    let rows = scratch.rows(&format!("{explain} {statement}"));
    rows.iter().flatten().flatten().cloned().collect::<Vec<_>>().join("\n")
}

fn sorts(plan: &str) -> bool {
    plan.contains("\"using_filesort\": true")
        || plan.contains("filesort\": {")
        || plan.contains("Sort")
        || plan.contains("TEMP B-TREE")
}

/// A thousand rows in which `b` is NULL for some, with the index to be read and no other.
fn fill(scratch: &mut Scratch, index: &str) {
    scratch.run("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT NOT NULL, b INT, c INT NOT NULL)").unwrap();
    let values: Vec<String> = (0..1000)
        .map(|n| {
            format!(
                "({n}, {}, {}, {})",
                n % 3,
                if n % 2 == 0 { "NULL".to_owned() } else { n.to_string() },
                n * 7 % 1000
            )
        })
        .collect();
    scratch.run(&format!("INSERT INTO t VALUES {}", values.join(", "))).unwrap();
    scratch.run(&format!("CREATE INDEX i ON t ({index})")).unwrap();
    if scratch.server == Server::Postgres {
        scratch.run("ANALYZE t; SET enable_seqscan = off; SET enable_bitmapscan = off").unwrap();
    }
}

fn forced(scratch: &Scratch) -> String {
    format!("t{}", scratch.server.dialect().index_hint("i"))
}

/// Whether the order of what follows a pinned NULL comes from the index.
fn null_is_equality(scratch: &mut Scratch) {
    fill(scratch, "a, b, c, id");
    let statement = format!("SELECT id FROM {} WHERE a = 1 AND b IS NULL ORDER BY c, id LIMIT 10", forced(scratch));
    let plan = plan(scratch, &statement);
    assert_eq!(!sorts(&plan), scratch.server.engine().null_is_equality, "{plan}");
    // A sort there is only for the NULL.
    let statement = statement.replace("b IS NULL", "b = 1");
    assert!(!sorts(&self::plan(scratch, &statement)));
}
on_servers!(null_is_equality);

/// Whether the primary key gives the order behind an index that does not have it.
fn appends_primary_key(scratch: &mut Scratch) {
    fill(scratch, "a");
    let statement = format!("SELECT id FROM {} WHERE a = 1 ORDER BY id LIMIT 10", forced(scratch));
    let plan = plan(scratch, &statement);
    assert_eq!(!sorts(&plan), scratch.server.engine().appends_primary_key, "{plan}");
}
// SQLite: INTEGER PRIMARY KEY would be the row's number, which every index ends with; INT is not.
on_servers!(appends_primary_key: mysql, mariadb, sqlite);

/// On PostgreSQL the primary key is the competitor: without it the sort shows.
fn appends_no_primary_key(scratch: &mut Scratch) {
    fill(scratch, "a");
    scratch.run("ALTER TABLE t DROP CONSTRAINT t_pkey").unwrap();
    let plan = plan(scratch, "SELECT id FROM t WHERE a = 1 ORDER BY id LIMIT 10");
    assert!(sorts(&plan) && !scratch.server.engine().appends_primary_key, "{plan}");
}
on_servers!(appends_no_primary_key: postgres);

/// Whether a row without its parent is refused on a connection that asks for nothing.
fn enforces_foreign_keys(scratch: &mut Scratch) {
    if scratch.server == Server::Sqlite {
        scratch.run("PRAGMA foreign_keys = OFF").unwrap();
    }
    scratch.run("CREATE TABLE p (id INT NOT NULL PRIMARY KEY)").unwrap();
    scratch.run("CREATE TABLE c (p INT, FOREIGN KEY (p) REFERENCES p (id))").unwrap();
    let orphan = "INSERT INTO c VALUES (1)";
    match scratch.server.engine().enforces_foreign_keys {
        true => _ = scratch.refusal(orphan),
        false => scratch.run(orphan).unwrap(),
    }
}
on_servers!(enforces_foreign_keys);
