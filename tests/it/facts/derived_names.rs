//! Names that the engine or claimsmith derives do not meet declared ones.

use serde_json::json;

use super::{assert_taken, column, nullable, table, with};
use crate::readback::definitions::Definitions;
use crate::readback::prove;
use crate::servers::{Scratch, on_servers};

/// The index that MySQL and MariaDB make for a foreign key is named like it, and must not meet another of that name.
fn names_of_automatic_indexes(scratch: &mut Scratch) {
    let key = json!([{ "column": "p", "references": "parent(id)" }]);
    let child = with(table("child", &[column("p", "BIGINT"), column("q", "INT")]), "foreignKeys", key);
    let child = with(child, "indices", json!([{ "name": "fk_child_p", "columns": ["q"] }]));
    assert_taken(&json!([table("parent", &[]), child]), scratch);
}
on_servers!(names_of_automatic_indexes);

/// On PostgreSQL a unique key is a constraint: its name must not be that of another one of its table.
fn names_of_constraints(scratch: &mut Scratch) {
    for name in ["fk_child_p", "ck_child_q"] {
        let key = json!([{ "column": "p", "references": "parent(id)" }]);
        let child = with(table("child", &[column("p", "BIGINT"), column("q", "TINYINT")]), "foreignKeys", key);
        let child =
            with(child, "indices", json!([{ "name": name, "columns": ["q"], "unique": true }, { "columns": ["p"] }]));
        assert_taken(&json!([table("parent", &[]), child]), scratch);
    }
}
on_servers!(names_of_constraints);

/// A foreign key of a circle comes later, and "it exists" is taken for an answer: so no other constraint may have its name.
fn names_in_circles(scratch: &mut Scratch) {
    let child = |name: &str, parent: &str, key: &str| {
        let key = json!([{ "name": key, "column": "p", "references": format!("{parent}(id)") }]);
        with(table(name, &[nullable("p", "BIGINT")]), "foreignKeys", key)
    };
    let unique = json!([{ "name": "same", "columns": ["p"], "unique": true }]);
    let tables = json!([with(child("a", "b", "same"), "indices", unique), child("b", "a", "other")]);
    let definitions = Definitions::parse(&tables.to_string(), scratch.server);
    match scratch.server.engine().unique_is_constraint {
        true => assert_eq!(definitions.errors(), ["duplicate-name"]),
        false => prove(&definitions.without_errors(), scratch),
    }
}
on_servers!(names_in_circles);

/// The sequence of a numbered column has a name among those of tables.
fn names_of_sequences(scratch: &mut Scratch) {
    let id = json!({ "name": "id", "type": "BIGINT", "primaryKey": true, "autoIncrement": true });
    let numbered = json!({ "tableName": "t", "columns": [id] });
    let tables = json!([numbered, table("t_id_seq", &[column("a", "INT")])]);
    prove(&Definitions::parse(&tables.to_string(), scratch.server).without_errors(), scratch);
}
on_servers!(names_of_sequences);
