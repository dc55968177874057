//! An index is the beginning of another.

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::schema::{Index, IndexOrigin, Table};

use super::super::rule::{Judge, Usage, check};

check! {
    "json" Note Medium "index-redundant" "a declared index is the beginning of another"
    does "Reports indexes of definitions whose columns are the first columns of another declared index, or of the primary key."
    why "Whatever rows it finds the longer one finds as well, and every change of a row pays for both."
    bad "{ \"tableName\": \"notes\", \"primaryKey\": [\"id\"],\n  \"columns\": [{ \"name\": \"id\", \"type\": \"BIGINT\" }, { \"name\": \"kind\", \"type\": \"VARCHAR(20)\" }, { \"name\": \"made\", \"type\": \"BIGINT\" }],\n  \"indices\": [{ \"columns\": [\"kind\"] }, { \"columns\": [\"kind\", \"made\"] }] }"
    good "{ \"tableName\": \"notes\", \"primaryKey\": [\"id\"],\n  \"columns\": [{ \"name\": \"id\", \"type\": \"BIGINT\" }, { \"name\": \"kind\", \"type\": \"VARCHAR(20)\" }, { \"name\": \"made\", \"type\": \"BIGINT\" }],\n  \"indices\": [{ \"columns\": [\"kind\", \"made\"] }] }"
    allow "A statement is ordered by the key right behind the columns of the shorter one, which the longer one cannot give."
    judge Judge::Table(judge)
}

fn judge(table: &Table, _: &Usage, _: &[&'static dyn Dialect], found: &mut Vec<Diagnostic>) {
    let declared = |index: &&Index| index.origin == IndexOrigin::Declared;
    for (at, index) in table.indexes.iter().enumerate().filter(|(_, index)| declared(index) && !index.unique) {
        let longer = table.indexes.iter().enumerate().find(|(other, longer)| {
            let same = longer.columns.len() == index.columns.len();
            // Of two that are the same the later one is needless.
            *other != at && longer.columns.starts_with(&index.columns) && (!same || *other < at || longer.unique)
        });
        let by_key = table.primary_key.starts_with(&index.columns);
        let name = |index: &Index| {
            let columns: Vec<&str> = table.names(&index.columns).collect();
            index.name.clone().unwrap_or_else(|| columns.join(", "))
        };
        let other = match longer {
            Some((_, longer)) => format!("the index `{}`", name(longer)),
            None if by_key && !index.columns.is_empty() => "the primary key".to_owned(),
            None => continue,
        };
        let message = format!("`{}` is the beginning of {other} of `{}`", name(index), table.name);
        found.push(Diagnostic::new(&CHECK.rule, index.site.place(), message).help("leave it out"));
    }
}
