//! Foreign keys: what they reference is created first, and circles are opened instead of refused.

use claimsmith::diagnostic::Level;
use claimsmith::schema::order::order;
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::loaded::{Loaded, load_text};

/// Tables `t0`, `t1`, … with a foreign key for each edge.
fn definitions(count: usize, edges: &[(usize, usize)]) -> String {
    let table = |at: usize| {
        let keys: Vec<String> = edges
            .iter()
            .enumerate()
            .filter(|(_, (from, _))| *from == at)
            .map(|(edge, (_, to))| format!(r#"{{"name":"fk{edge}","column":"other","references":"t{to}(id)"}}"#))
            .collect();
        format!(
            r#"{{"tableName":"t{at}","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}},{{"name":"other","type":"BIGINT","nullable":true}}],"foreignKeys":[{}]}}"#,
            keys.join(",")
        )
    };
    let tables: Vec<String> = (0..count).map(table).collect();
    format!("[{}]", tables.join(","))
}

/// The names of the tables in the order in which they are created.
fn created(loaded: &Loaded) -> Vec<String> {
    order(&loaded.catalog).tables.iter().map(|at| loaded.catalog.tables[*at].name.to_string()).collect()
}

#[test]
fn a_table_comes_after_those_that_it_references() {
    let loaded = load_text(&definitions(4, &[(0, 3), (3, 2), (0, 1)]));
    assert_eq!(created(&loaded), ["t1", "t2", "t3", "t0"]);
    assert!(order(&loaded.catalog).deferred.is_empty());
    // Nothing to reorder: the order of the definitions stays.
    assert_eq!(created(&load_text(&definitions(4, &[(3, 0), (2, 2)]))), ["t0", "t1", "t2", "t3"]);
}

#[test]
fn circles_are_opened_on_every_engine_and_are_no_fault() {
    for (count, edges) in [(1, &[(0, 0)][..]), (2, &[(0, 1), (1, 0)]), (3, &[(0, 1), (1, 2), (2, 0), (2, 2)])] {
        let loaded = load_text(&definitions(count, edges));
        // Only a note: SQLite enforces foreign keys where it is asked to.
        assert!(loaded.findings.iter().all(|finding| finding.level == Level::Note), "{}", loaded.report());
        let circular = count > 1;
        let [mysql, mariadb, postgres, sqlite] = <[String; 4]>::try_from(loaded.sql()).unwrap();
        for sql in [mysql, mariadb] {
            assert_eq!(sql.contains("SET SESSION foreign_key_checks = 0;"), circular, "{sql}");
            assert_eq!(sql.contains("foreign_key_checks = @claimsmith_foreign_key_checks;"), circular, "{sql}");
            assert_eq!(sql.matches("FOREIGN KEY").count(), edges.len());
        }
        assert_eq!(sqlite.matches("FOREIGN KEY").count(), edges.len());
        assert_eq!(postgres.matches("FOREIGN KEY").count(), edges.len());
        assert_eq!(postgres.matches("DO $claimsmith$").count(), usize::from(circular), "{postgres}");
        if circular {
            let last_table = postgres.rfind("CREATE TABLE").unwrap();
            assert!(postgres.find("DO $claimsmith$").unwrap() > last_table, "{postgres}");
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 100, failure_persistence: None, ..Config::default() })]

    /// Every table once; every key either references a table that is there, or waits until all are.
    #[test]
    fn any_graph_is_ordered(edges in prop::collection::vec((0..8usize, 0..8usize), 0..20)) {
        let loaded = load_text(&definitions(8, &edges));
        prop_assert!(!loaded.has_errors(), "{}", loaded.report());
        let order = order(&loaded.catalog);
        let mut sorted = order.tables.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..8).collect::<Vec<_>>());
        let position = |table: usize| order.tables.iter().position(|at| *at == table).unwrap();
        for (at, table) in loaded.catalog.tables.iter().enumerate() {
            for (key, foreign_key) in table.foreign_keys.iter().enumerate() {
                let target = loaded.catalog.tables.iter().position(|table| table.name == foreign_key.target).unwrap();
                let waits = order.deferred.contains(&(at, key));
                prop_assert_eq!(waits, position(target) > position(at), "{} of {:?}", key, table.name);
            }
        }
    }
}
