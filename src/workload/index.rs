//! Access paths → the indexes that serve them: as few as can be, none that a declared one makes needless.

use crate::engine::Engine;
use crate::schema::format::IndexSet;
use crate::schema::{Index, IndexOrigin, Predicate, Table};

use super::serves::serves;
use super::{Path, PinValue, derive};

/// The index that is exactly the path: its equalities, its order. Where there are partial indexes and the claim does not
/// ask for the seed's shapes, the state is a predicate instead of a column.
pub fn ideal(table: &Table, engine: &Engine, path: &Path, partial: bool) -> Index {
    let state = path.pins.iter().find_map(|pin| match &pin.value {
        PinValue::State(state) if partial && engine.partial_indexes => {
            Some(Predicate { column: pin.column, value: state.clone() })
        }
        _ => None,
    });
    let in_predicate = |column: usize| state.as_ref().is_some_and(|predicate| predicate.column == column);
    let mut columns: Vec<usize> =
        path.pins.iter().map(|pin| pin.column).filter(|column| !in_predicate(*column)).collect();
    columns.extend(path.order.iter().filter(|column| !columns.contains(column)).copied().collect::<Vec<_>>());
    if path.order.is_empty() && state.is_some() {
        // Without the key such an index would look cheaper than the primary key to statements that go by the key.
        let missing = table.primary_key.iter().filter(|column| !columns.contains(column));
        columns.extend(missing.copied().collect::<Vec<_>>());
    }
    Index {
        name: None,
        columns,
        unique: false,
        origin: IndexOrigin::Workload(path.suffix(table)),
        predicate: state,
        description: None,
        site: table.site.step(if path.purpose.is_retention() { "retention" } else { "claim" }),
    }
}

/// The indexes that the table's workload needs beside the declared ones and the primary key.
pub fn derived(table: &Table, engine: &Engine) -> Vec<Index> {
    let paths = derive::paths(table);
    let seed = table.claim.as_ref().is_some_and(|claim| claim.indexes == IndexSet::Seed);
    let primary = Index {
        name: None,
        columns: table.primary_key.clone(),
        unique: true,
        origin: IndexOrigin::Declared,
        predicate: None,
        description: None,
        site: table.site.clone(),
    };
    let present: Vec<&Index> = table.indexes.iter().chain([&primary]).collect();
    // The longest first, so that an index which is the beginning of another is never chosen beside it.
    let mut order: Vec<usize> = (0..paths.len()).collect();
    let candidates: Vec<Index> = paths.iter().map(|path| ideal(table, engine, path, !seed)).collect();
    order.sort_by_key(|at| std::cmp::Reverse(candidates[*at].columns.len()));
    let open = |at: &usize| !present.iter().any(|index| serves(engine, table, index, &paths[*at]).is_ok());
    let order: Vec<usize> = order.into_iter().filter(open).collect();
    let served = |by: usize, at: usize| serves(engine, table, &candidates[by], &paths[at]).is_ok();
    let mut chosen: Vec<usize> = Vec::new();
    for at in &order {
        if !chosen.iter().any(|by| served(*by, *at)) {
            chosen.push(*at);
        }
    }
    // A later choice may have made an earlier one needless.
    for by in order.iter().rev() {
        let others: Vec<usize> = chosen.iter().copied().filter(|other| other != by).collect();
        if order.iter().all(|at| others.iter().any(|other| served(*other, *at))) {
            chosen = others;
        }
    }
    chosen.sort_unstable();
    let mut purposes: Vec<Vec<usize>> = vec![Vec::new(); chosen.len()];
    for at in 0..paths.len() {
        // Its own index where there is one, else the first that serves it.
        let own = chosen.iter().position(|by| *by == at);
        let by = own.or_else(|| chosen.iter().position(|by| served(*by, at))).filter(|_| order.contains(&at));
        if let Some(by) = by {
            purposes[by].push(at);
        }
    }
    let finish = |(by, served): (&usize, &Vec<usize>)| {
        let texts: Vec<String> = served.iter().map(|at| paths[*at].text(table)).collect();
        Index { description: Some(comment(&texts)), ..candidates[*by].clone() }
    };
    chosen.iter().zip(&purposes).map(finish).collect()
}

fn comment(purposes: &[String]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    purposes.iter().for_each(|purpose| {
        if !seen.contains(&&**purpose) {
            seen.push(purpose);
        }
    });
    let text = seen.join(", ");
    let mut chars = text.chars();
    let first: String = chars.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
