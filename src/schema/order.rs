//! The order in which tables can be created: what a foreign key references comes first.

use std::collections::BTreeMap;

use super::{Catalog, TableName};

/// A creation order, as close to the order of the definitions as the foreign keys allow.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    /// Positions in [`Catalog::tables`].
    pub tables: Vec<usize>,
    /// Foreign keys that reference a table created later, as (table, position of the key): circles make them inevitable.
    pub deferred: Vec<(usize, usize)>,
}

/// Finds the order. A circle is opened at the table that is defined first.
pub fn order(catalog: &Catalog) -> Order {
    let by_name: BTreeMap<&TableName, usize> =
        catalog.tables.iter().enumerate().map(|(at, table)| (&table.name, at)).collect();
    let parents: Vec<Vec<(usize, usize)>> = catalog
        .tables
        .iter()
        .enumerate()
        .map(|(at, table)| {
            let keys = table.foreign_keys.iter().enumerate();
            let parent = |(key, foreign): (usize, &super::ForeignKey)| Some((key, *by_name.get(&foreign.target)?));
            keys.filter_map(parent).filter(|(_, parent)| *parent != at).collect()
        })
        .collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut waiting: Vec<usize> = parents.iter().map(Vec::len).collect();
    for (at, parents) in parents.iter().enumerate() {
        parents.iter().for_each(|(_, parent)| children[*parent].push(at));
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..parents.len()).filter(|at| waiting[*at] == 0).collect();
    let mut created = vec![false; parents.len()];
    let mut order = Order { tables: Vec::new(), deferred: Vec::new() };
    let mut first_open = 0;
    while order.tables.len() < parents.len() {
        let at = ready.pop_first().unwrap_or_else(|| {
            while created[first_open] {
                first_open += 1;
            }
            first_open
        });
        let missing = parents[at].iter().filter(|(_, parent)| !created[*parent]);
        order.deferred.extend(missing.map(|(key, _)| (at, *key)));
        created[at] = true;
        order.tables.push(at);
        for child in &children[at] {
            waiting[*child] -= 1;
            if waiting[*child] == 0 && !created[*child] {
                ready.insert(*child);
            }
        }
    }
    order
}
