//! How many bytes a key and a row may have, and how many columns a table and an index.

use serde_json::{Value, json};

use super::{assert_all_taken, assert_refused, assert_taken, column, judge, nullable, table, with};
use crate::readback::definitions::Definitions;
use crate::servers::{Scratch, Server, on_servers};

/// Types, and for the long ones how many of their characters a key holds.
const TYPES: [(&str, Option<u32>); 47] = [
    ("BOOLEAN", None),
    ("TINYINT", None),
    ("SMALLINT UNSIGNED", None),
    ("MEDIUMINT", None),
    ("INT UNSIGNED", None),
    ("BIGINT", None),
    ("DECIMAL(1,0)", None),
    ("DECIMAL(3,1)", None),
    ("DECIMAL(5,4)", None),
    ("DECIMAL(7,7)", None),
    ("DECIMAL(9,0)", None),
    ("DECIMAL(10,0)", None),
    ("DECIMAL(18,4)", None),
    ("DECIMAL(18,9) UNSIGNED", None),
    ("DECIMAL(40,15)", None),
    ("DECIMAL(65,30)", None),
    ("FLOAT", None),
    ("DOUBLE", None),
    ("CHAR(1)", None),
    ("CHAR(36)", None),
    ("CHAR(255)", None),
    ("VARCHAR(1)", None),
    ("VARCHAR(63)", None),
    ("VARCHAR(64)", None),
    ("VARCHAR(255)", None),
    ("VARCHAR(700)", None),
    ("TINYTEXT", Some(63)),
    ("TEXT", Some(100)),
    ("MEDIUMTEXT", Some(191)),
    ("LONGTEXT", Some(700)),
    ("BINARY(16)", None),
    ("BINARY(255)", None),
    ("VARBINARY(255)", None),
    ("VARBINARY(256)", None),
    ("TINYBLOB", Some(255)),
    ("BLOB", Some(256)),
    ("LONGBLOB", Some(3000)),
    ("DATE", None),
    ("TIME", None),
    ("TIME(1)", None),
    ("TIME(6)", None),
    ("DATETIME", None),
    ("DATETIME(3)", None),
    ("DATETIME(6)", None),
    ("TIMESTAMP", None),
    ("TIMESTAMP(5)", None),
    ("ENUM('a', 'b')", None),
];

/// `x` as one column, nullable or not.
fn of_type((ty, length): (&str, Option<u32>), may_be_null: bool) -> Value {
    let mut column = if may_be_null { nullable("x", ty) } else { column("x", ty) };
    if let Some(length) = length {
        column["length"] = json!(length);
    }
    column
}

/// The largest number of `1..=most` of which `check` takes the tables.
fn largest(most: u32, server: Server, tables: impl Fn(u32) -> Value) -> u32 {
    let taken = |n: u32| Definitions::parse(&tables(n).to_string(), server).errors().is_empty();
    let (mut good, mut bad) = (0, most + 1);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if taken(middle) { good = middle } else { bad = middle }
    }
    assert!(0 < good && good < most, "{good} of {most}");
    good
}

/// Kinds of tables, and for each the largest that `check` takes.
struct Boundary {
    most: u32,
    rule: &'static str,
    code: &'static str,
    largest: Vec<Value>,
}

impl Boundary {
    /// The engine refuses the first table that `check` refuses. `tables` makes a table of a name and a size.
    fn refuses(&mut self, scratch: &mut Scratch, tables: impl Fn(&str, u32) -> Value) {
        let name = format!("t{}", self.largest.len());
        let largest = largest(self.most, scratch.server, |size| tables(&name, size));
        assert_refused(&tables(&name, largest + 1), self.rule, self.code, scratch);
        self.largest.push(tables(&name, largest));
    }
}

fn key_bytes(scratch: &mut Scratch) {
    assert_eq!(scratch.server.engine().key_bytes, Some(3072));
    let mut boundary = Boundary { most: 3072, rule: "key-too-long", code: "1071", largest: Vec::new() };
    for ty in TYPES {
        for may_be_null in [false, true] {
            boundary.refuses(scratch, |name, fill| {
                let columns = [of_type(ty, may_be_null), column("fill", &format!("VARBINARY({fill})"))];
                with(table(name, &columns), "indices", json!([{ "columns": ["x", "fill"] }]))
            });
        }
    }
    assert_all_taken(&boundary.largest, scratch);
}
on_servers!(key_bytes: mysql, mariadb);

fn key_bytes_of_one_column(scratch: &mut Scratch) {
    let key = |ty: &str, unique: bool| {
        with(table("t", &[column("x", ty)]), "indices", json!([{ "columns": ["x"], "unique": unique }]))
    };
    for unique in [false, true] {
        assert_taken(&key("VARCHAR(768)", unique), scratch);
        let verdict = judge(&key("VARCHAR(769)", unique), scratch);
        assert_eq!(verdict.rules, ["key-too-long"]);
        // MariaDB makes a prefix or a hash of it without a word.
        assert_eq!(verdict.code.as_deref(), (scratch.server == Server::MySql).then_some("1071"));
    }
    let primary = |ty: &str| {
        let column = json!({ "name": "x", "type": ty, "primaryKey": true });
        json!({ "tableName": "t", "columns": [column] })
    };
    assert_taken(&primary("VARCHAR(768)"), scratch);
    assert_refused(&primary("VARCHAR(769)"), "key-too-long", "1071", scratch);
}
on_servers!(key_bytes_of_one_column: mysql, mariadb);

/// The primary key that InnoDB appends to every other key does not count.
fn the_appended_key_does_not_count(scratch: &mut Scratch) {
    let id = json!({ "name": "x", "type": "VARCHAR(768)", "primaryKey": true });
    let columns = json!([id, column("y", "VARCHAR(768)")]);
    assert_taken(&json!({ "tableName": "t", "columns": columns, "indices": [{ "columns": ["y"] }] }), scratch);
}
on_servers!(the_appended_key_does_not_count: mysql, mariadb);

fn row_bytes(scratch: &mut Scratch) {
    assert_eq!(scratch.server.engine().row_bytes, Some(65_535));
    let mut boundary = Boundary { most: 65_532, rule: "row-too-large", code: "1118", largest: Vec::new() };
    for ty in TYPES.into_iter().chain([("BLOB", None), ("MEDIUMBLOB", None), ("JSON", None)]) {
        for may_be_null in [false, true] {
            boundary.refuses(scratch, |name, fill| {
                table(name, &[of_type(ty, may_be_null), column("fill", &format!("VARBINARY({fill})"))])
            });
        }
    }
    for nulls in [0, 1, 7, 8, 9, 16, 17] {
        boundary.refuses(scratch, |name, fill| {
            let bits: Vec<Value> = (0..nulls).map(|at| nullable(&format!("c{at}"), "TINYINT")).collect();
            table(name, &[&bits[..], &[column("fill", &format!("VARBINARY({fill})"))]].concat())
        });
    }
    assert_all_taken(&boundary.largest, scratch);
}
on_servers!(row_bytes: mysql, mariadb);

/// Beside the 65,535 bytes of the server, InnoDB wants half a page for what it keeps in the row itself.
fn half_a_page(scratch: &mut Scratch) {
    let mut boundary = Boundary { most: 1016, rule: "row-too-large", code: "1118", largest: Vec::new() };
    for ty in ["BIGINT", "BINARY(255)", "CHAR(10)", "VARCHAR(10)", "VARCHAR(63)", "TEXT", "JSON"] {
        for may_be_null in [false, true] {
            let of_type =
                |at: u32| if may_be_null { nullable(&format!("c{at}"), ty) } else { column(&format!("c{at}"), ty) };
            boundary.refuses(scratch, |name, count| table(name, &(0..count).map(of_type).collect::<Vec<_>>()));
        }
    }
    assert_all_taken(&boundary.largest, scratch);
}
on_servers!(half_a_page: mysql, mariadb);

/// Elsewhere neither is fixed when the table is created.
fn no_bytes(scratch: &mut Scratch) {
    assert_eq!((scratch.server.engine().key_bytes, scratch.server.engine().row_bytes), (None, None));
    let columns: Vec<Value> = (0..10).map(|at| column(&format!("c{at}"), "VARCHAR(16383)")).collect();
    let names: Vec<String> = (0..10).map(|at| format!("c{at}")).collect();
    assert_taken(&with(table("t", &columns), "indices", json!([{ "columns": names }])), scratch);
}
on_servers!(no_bytes: postgres, sqlite);

fn columns(scratch: &mut Scratch) {
    let most = scratch.server.engine().columns;
    let code = match scratch.server {
        Server::MySql => "1117",
        Server::MariaDb => "1005",
        Server::Postgres => "54011",
        Server::Sqlite => "1",
    };
    let tables =
        |count: usize| table("t", &(1..count).map(|at| column(&format!("c{at}"), "SMALLINT")).collect::<Vec<_>>());
    assert_taken(&tables(most), scratch);
    assert_refused(&tables(most + 1), "row-too-large", code, scratch);
}
on_servers!(columns);

fn index_columns(scratch: &mut Scratch) {
    let most = scratch.server.engine().index_columns;
    let names: Vec<String> = (0..=most).map(|at| format!("c{at}")).collect();
    let tables = |count: usize| {
        let columns: Vec<Value> = names[..count].iter().map(|name| column(name, "SMALLINT")).collect();
        let key = json!([{ "columns": &names[..count] }]);
        json!({ "tableName": "t", "columns": columns, "indices": key, "allow": { "missing-primary-key": "a test" } })
    };
    assert_taken(&tables(most), scratch);
    let code = match scratch.server {
        Server::MySql | Server::MariaDb => "1070",
        Server::Postgres => "54011",
        // There are no more columns in a table than in an index, so one stands there twice.
        Server::Sqlite => {
            let index = format!("CREATE INDEX i ON t ({})", vec!["c0"; most + 1].join(", "));
            assert_eq!(scratch.refusal(&format!("CREATE TABLE t (c0 INT); {index}")), "1");
            return;
        }
    };
    assert_refused(&tables(most + 1), "key-too-long", code, scratch);
}
on_servers!(index_columns);
