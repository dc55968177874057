//! Access paths and indexes, offline: every derived index serves its path, and no column of it can be spared or moved.

use std::path::Path as File;
use std::sync::Arc;

use claimsmith::diagnostic::Source;
use claimsmith::dialect;
use claimsmith::engine::Engine;
use claimsmith::schema::{Catalog, Index, Table, check, load};
use claimsmith::workload::serves::{Fix, serves};
use claimsmith::workload::{Path, PinValue, derive, index, indexed};
use proptest::prelude::*;

fn engines() -> impl Iterator<Item = &'static Engine> {
    dialect::ALL.iter().map(|dialect| dialect.engine())
}

fn catalog(text: String) -> Catalog {
    let (catalog, findings) = load::load(&[Arc::new(Source::new("policy.json", text))]);
    assert!(findings.is_empty(), "{findings:?}");
    catalog
}

fn committed() -> Catalog {
    let folder = File::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    load::load(&load::read(&[folder], |path| path.display().to_string()).unwrap()).0
}

/// What a claim may look like.
#[derive(Clone, Debug)]
struct Policy {
    scope: usize,
    key: usize,
    order: bool,
    retryable: bool,
    retry_at: bool,
    due: bool,
    lease: bool,
    lane: bool,
    seed: bool,
    retention: usize,
    own_scope: bool,
    declared: Vec<Vec<usize>>,
}

const COLUMNS: [&str; 10] = ["a", "b", "id", "kind", "status", "due", "next", "until", "created", "updated"];

fn policies() -> impl Strategy<Value = Policy> {
    let flags = proptest::collection::vec(any::<bool>(), 8);
    let declared = proptest::collection::vec(
        proptest::sample::subsequence((0..COLUMNS.len()).collect::<Vec<_>>(), 1..5).prop_shuffle(),
        0..3,
    );
    (0..3_usize, 0..3_usize, 0..3_usize, flags, declared).prop_map(|(scope, key, retention, flags, declared)| Policy {
        scope,
        key,
        retention,
        declared,
        order: flags[0],
        retryable: flags[1],
        retry_at: flags[2],
        due: flags[3],
        lease: flags[4],
        lane: flags[5],
        seed: flags[6],
        own_scope: flags[7],
    })
}

impl Policy {
    fn table(&self) -> Table {
        let columns =
            COLUMNS.map(|name| format!(r#"{{ "name": "{name}", "type": "BIGINT", "default": "0" }}"#)).map(|column| {
                if column.contains("status") || column.contains("kind") {
                    column.replace("BIGINT\", \"default\": \"0\"", "VARCHAR(20)\"")
                } else {
                    column
                }
            });
        let names = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let mut claim = vec![format!(r#""scope": [{}]"#, names(&["a", "b"][..self.scope]))];
        let retryable = if self.retryable || self.seed { r#", "retryable": "retryable""# } else { "" };
        let done = names(&["done", "delivered"]);
        claim.push(format!(
            r#""status": {{ "column": "status", "pending": "pending", "running": "running", "done": [{done}], "dead": "dead"{retryable} }}"#
        ));
        let mut add = |given: bool, text: &str| claim.extend(given.then(|| text.to_owned()));
        add(self.order || self.seed, r#""order": "created""#);
        add(self.retry_at || self.seed, r#""retry": { "at": "next" }"#);
        add(self.due && !self.seed, r#""due": "due""#);
        add(self.lease || self.seed, r#""lease": { "until": "until", "for": "30s" }"#);
        add(self.lane, r#""lane": "kind""#);
        add(self.seed, r#""indexes": "seed""#);
        let key = names(&["a", "b", "id"][self.key..]);
        let declared = self.declared.iter().map(|index| {
            format!(r#"{{ "columns": [{}] }}"#, names(&index.iter().map(|at| COLUMNS[*at]).collect::<Vec<_>>()))
        });
        let declared = declared.collect::<Vec<_>>().join(", ");
        let own_scope = if self.own_scope { r#", "scope": []"# } else { "" };
        let states = names(&["done", "delivered"][..self.retention]);
        let retention = if self.retention == 0 {
            String::new()
        } else {
            format!(
                r#", "retention": {{ "states": [{states}], "age": "updated", "keep": "30d", "strategy": "delete"{own_scope} }}"#
            )
        };
        let text = format!(
            r#"{{ "tableName": "t", "columns": [{}], "primaryKey": [{key}], "indices": [{declared}], "claim": {{ {} }}{retention} }}"#,
            columns.join(", "),
            claim.join(", ")
        );
        catalog(text).tables.remove(0)
    }
}

fn primary(table: &Table) -> Index {
    let mut index = index::ideal(table, dialect::ALL[0].engine(), &derive::paths(table)[0], false);
    index.columns = table.primary_key.clone();
    index.unique = true;
    index
}

/// Every path of the table has an index, and every derived index has a path that nothing else serves.
fn assert_covered(engine: &Engine, table: &Table) {
    let derived = index::derived(table, engine);
    let primary = primary(table);
    let paths = derive::paths(table);
    for path in &paths {
        let all = table.indexes.iter().chain(&derived).chain([&primary]);
        let reasons: Vec<String> = all
            .map(|index| serves(engine, table, index, path).err().map_or(String::new(), |misfit| misfit.reason))
            .collect();
        assert!(
            reasons.iter().any(String::is_empty),
            "{}: nothing serves {path:?} of {}: {reasons:?}",
            engine.title,
            table.name
        );
    }
    for (at, index) in derived.iter().enumerate() {
        let others = || table.indexes.iter().chain(&derived[..at]).chain(&derived[at + 1..]).chain([&primary]);
        let needed = paths.iter().any(|path| {
            serves(engine, table, index, path).is_ok()
                && others().all(|other| serves(engine, table, other, path).is_err())
        });
        assert!(needed, "{}: {index:?} of {} is not needed", engine.title, table.name);
    }
}

#[test]
fn every_path_of_the_committed_definitions_is_served() {
    let catalog = committed();
    let mut queues = 0;
    for table in catalog.tables.iter().filter(|table| table.claim.is_some()) {
        engines().for_each(|engine| assert_covered(engine, table));
        queues += 1;
    }
    assert!(queues >= 12, "only {queues} queues");
}

#[test]
fn the_seed_shapes_are_reproduced_column_by_column() {
    let shapes = |table: &str| {
        let catalog = indexed(&committed(), dialect::find("mysql").unwrap().engine());
        let table = catalog.tables.into_iter().find(|found| found.name.name == table).unwrap();
        let names: Vec<String> =
            table.indexes.iter().map(|index| table.names(&index.columns).collect::<Vec<_>>().join(" ")).collect();
        names
    };
    assert_eq!(
        shapes("room_outbox"),
        [
            "app_code status next_retry_at_ms created_at_ms event_id",
            "app_code status lock_until_ms created_at_ms event_id",
            "app_code status updated_at_ms event_id",
        ]
    );
    assert_eq!(shapes("im_broadcast_outbox")[1], "app_code status locked_until_ms created_at_ms event_id");
    assert_eq!(
        shapes("notice_delivery_events"),
        [
            "source_name app_code channel status next_retry_at_ms updated_at_ms event_id",
            "source_name app_code channel status lock_until_ms updated_at_ms event_id",
            "source_name app_code channel status updated_at_ms event_id",
        ]
    );
    assert_eq!(
        shapes("wallet_outbox")[1..],
        [
            "app_code status created_at_ms event_id",
            "app_code status next_retry_at_ms event_id",
            "app_code status lock_until_ms event_id",
            "app_code status updated_at_ms event_id",
        ]
    );
}

/// Whether a column of the index decides about the order of what the path reads: a pinned one, or one of ORDER BY that the
/// engine does not append by itself.
fn matters(engine: &Engine, table: &Table, path: &Path, index: &Index, at: usize) -> bool {
    let column = index.columns[at];
    let pinned = path.pins.iter().any(|pin| pin.column == column);
    // What the engine appends stands in the key's order, behind everything else: a column there is no loss if it stood
    // there anyway, or if nothing is ordered and all of the index is pinned.
    let appended = engine.appends_primary_key && table.primary_key.contains(&column) && {
        let mut without = index.columns.clone();
        without.remove(at);
        let missing: Vec<usize> = table.primary_key.iter().filter(|key| !without.contains(key)).copied().collect();
        without.extend(missing);
        without == index.columns || path.order.is_empty()
    };
    (pinned || path.order.contains(&column)) && !appended
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_policies_are_served_by_indexes_of_which_nothing_can_be_spared(policy in policies()) {
        let table = policy.table();
        for engine in engines() {
            assert_covered(engine, &table);
            for path in derive::paths(&table) {
                let ideal = index::ideal(&table, engine, &path, !policy.seed);
                prop_assert_eq!(serves(engine, &table, &ideal, &path), Ok(()));
                for at in (0..ideal.columns.len()).filter(|at| matters(engine, &table, &path, &ideal, *at)) {
                    let mut without = ideal.clone();
                    without.columns.remove(at);
                    prop_assert!(serves(engine, &table, &without, &path).is_err(), "{path:?} is served without column {at} of {ideal:?}");
                }
                let ordered: Vec<usize> = (0..ideal.columns.len()).filter(|at| path.order.contains(&ideal.columns[*at])).collect();
                for pair in ordered.windows(2) {
                    let mut swapped = ideal.clone();
                    swapped.columns.swap(pair[0], pair[1]);
                    prop_assert!(serves(engine, &table, &swapped, &path).is_err(), "{path:?} is served by {swapped:?}");
                }
                let last_pin = ideal.columns.iter().rposition(|column| path.pins.iter().any(|pin| pin.column == *column));
                if let (Some(pin), Some(first)) = (last_pin, ordered.first()) {
                    let mut swapped = ideal.clone();
                    swapped.columns.swap(pin, *first);
                    prop_assert!(serves(engine, &table, &swapped, &path).is_err(), "{path:?} is served by {swapped:?}");
                }
            }
        }
    }
}

#[test]
fn a_bound_state_and_a_nullable_pin_are_told_apart_from_equalities() {
    let table = committed().tables.into_iter().find(|table| table.name.name == "wallet_outbox").unwrap();
    let postgres = dialect::find("postgres").unwrap().engine();
    let mut path = derive::paths(&table).remove(0);
    let partial = index::ideal(&table, postgres, &path, true);
    assert_eq!(serves(postgres, &table, &partial, &path), Ok(()));
    path.pins.iter_mut().for_each(|pin| pin.value = PinValue::Parameter);
    let misfit = serves(postgres, &table, &partial, &path).unwrap_err();
    assert_eq!(misfit.reason, "the index holds only rows whose `status` is 'pending'");
    let whole = index::ideal(&table, postgres, &path, false);
    assert_eq!(misfit.fix, Fix::Index(whole.columns.clone()));
    assert_eq!(serves(postgres, &table, &whole, &path), Ok(()));

    let mut seed = committed().tables.into_iter().find(|table| table.name.name == "room_outbox").unwrap();
    let at = seed.position("next_retry_at_ms").unwrap();
    seed.columns[at].nullable = true;
    let path = derive::paths(&seed).remove(0);
    for (id, served) in [("mysql", true), ("mariadb", true), ("sqlite", true), ("postgres", false)] {
        let engine = dialect::find(id).unwrap().engine();
        let shape = index::ideal(&seed, engine, &path, false);
        let verdict = serves(engine, &seed, &shape, &path);
        assert_eq!(verdict.is_ok(), served, "{id}");
        assert!(verdict.is_ok() || verdict.unwrap_err().fix == Fix::NotNull(at), "{id}");
    }
}

#[test]
fn derived_keys_are_measured() {
    let wide = r#"{ "tableName": "t", "columns": [
        { "name": "app", "type": "VARCHAR(255)" }, { "name": "id", "type": "VARCHAR(255)" },
        { "name": "status", "type": "VARCHAR(255)" }, { "name": "created", "type": "VARCHAR(4)" } ],
        "primaryKey": ["app", "id"], "claim": { "scope": ["app"], "order": "created",
        "status": { "column": "status", "pending": "p", "done": "d" } } }"#;
    let catalog = catalog(wide.to_owned());
    let all: Vec<&Engine> = engines().collect();
    assert!(check::check(&catalog, &all).iter().all(|finding| finding.rule.id != "key-too-long"));
    let found = claimsmith::workload::check(&catalog, &all);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule.id, "key-too-long");
}

/// The order may be the very column that rows are found by, or one that is pinned.
#[test]
fn no_path_orders_by_a_column_twice() {
    let seed = |order: &str| {
        format!(
            r#"{{ "tableName": "t", "columns": [
            {{ "name": "app", "type": "BIGINT" }}, {{ "name": "id", "type": "BIGINT" }},
            {{ "name": "status", "type": "VARCHAR(20)" }}, {{ "name": "at_ms", "type": "BIGINT", "default": "0" }},
            {{ "name": "until_ms", "type": "BIGINT", "default": "0" }}, {{ "name": "worker", "type": "VARCHAR(64)" }},
            {{ "name": "tries", "type": "INT" }} ],
            "primaryKey": ["app", "id"], "claim": {{ "scope": ["app"], "order": "{order}", "indexes": "seed",
            "retry": {{ "at": "at_ms", "count": "tries" }}, "lease": {{ "until": "until_ms", "by": "worker", "for": "30s" }},
            "status": {{ "column": "status", "pending": "p", "retryable": "r", "running": "b", "done": "d", "dead": "x" }} }},
            "retention": {{ "states": ["d"], "age": "at_ms", "keep": "1d", "strategy": "delete" }} }}"#
        )
    };
    for order in ["at_ms", "until_ms", "app", "id"] {
        let catalog = catalog(seed(order));
        let all: Vec<&Engine> = engines().collect();
        let found: Vec<_> =
            check::check(&catalog, &all).into_iter().chain(claimsmith::workload::check(&catalog, &all)).collect();
        assert!(found.is_empty(), "{found:?}");
        for path in derive::paths(&catalog.tables[0]) {
            let mut seen = std::collections::BTreeSet::new();
            assert!(path.order.iter().all(|column| seen.insert(column)), "ordered by {order}: {path:?}");
        }
        all.iter().for_each(|engine| assert_covered(engine, &catalog.tables[0]));
    }
}
