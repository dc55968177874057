//! No statement uses an index.

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::schema::{Index, IndexOrigin, Table};
use crate::workload::{derive, serves::serves};

use super::super::rule::{Judge, Usage, check};

check! {
    "json" Note Medium "index-serves-nothing" "a declared index of a queue serves no statement"
    does "Reports indexes of a queue's definition that serve no statement of its workload and whose first column, after the scope, no linted statement asks for. Silent about unique indexes, foreign keys, and tables that no linted statement is about."
    why "Each index takes space and is written with every new row and every change of one of its columns, and on a queue each row changes several times."
    bad "{ \"tableName\": \"mail_outbox\", \"primaryKey\": [\"app_code\", \"id\"],\n  \"columns\": [{ \"name\": \"app_code\", \"type\": \"VARCHAR(32)\" }, { \"name\": \"id\", \"type\": \"VARCHAR(64)\" }, { \"name\": \"kind\", \"type\": \"VARCHAR(20)\" }, { \"name\": \"status\", \"type\": \"VARCHAR(20)\" }, { \"name\": \"made_ms\", \"type\": \"BIGINT\" }],\n  \"indices\": [{ \"columns\": [\"app_code\", \"kind\"] }],\n  \"claim\": { \"scope\": [\"app_code\"], \"order\": \"made_ms\", \"status\": { \"column\": \"status\", \"pending\": \"pending\", \"done\": \"done\" } } }"
    good "{ \"tableName\": \"mail_outbox\", \"primaryKey\": [\"app_code\", \"id\"],\n  \"columns\": [{ \"name\": \"app_code\", \"type\": \"VARCHAR(32)\" }, { \"name\": \"id\", \"type\": \"VARCHAR(64)\" }, { \"name\": \"kind\", \"type\": \"VARCHAR(20)\" }, { \"name\": \"status\", \"type\": \"VARCHAR(20)\" }, { \"name\": \"made_ms\", \"type\": \"BIGINT\" }],\n  \"claim\": { \"scope\": [\"app_code\"], \"order\": \"made_ms\", \"status\": { \"column\": \"status\", \"pending\": \"pending\", \"done\": \"done\" } } }"
    allow "A program outside the linted files uses it, or people do."
    judge Judge::Table(judge)
}

fn judge(table: &Table, usage: &Usage, dialects: &[&'static dyn Dialect], found: &mut Vec<Diagnostic>) {
    let used = usage.by_table.get(&table.name.name.to_lowercase());
    let (Some(used), Some(claim)) = (used, &table.claim) else { return };
    let paths = derive::paths(table);
    for index in table.indexes.iter().filter(|index| index.origin == IndexOrigin::Declared && !index.unique) {
        let name = |at: &usize| table.columns[*at].name.to_lowercase();
        let in_scope = |at: &&usize| claim.scope.iter().any(|scope| scope.eq_ignore_ascii_case(&name(at)));
        let Some(first) = index.columns.iter().find(|at| !in_scope(at)) else { continue };
        let hinted = index.name.as_ref().is_some_and(|name| used.contains(&name.to_lowercase()));
        let foreign = table.foreign_keys.iter().any(|key| index.columns.starts_with(&key.columns));
        let serves_one = |dialect: &&'static dyn Dialect| {
            paths.iter().any(|path| serves(dialect.engine(), table, index, path).is_ok())
        };
        if hinted || foreign || used.contains(&name(first)) || dialects.iter().any(serves_one) {
            continue;
        }
        let message = format!("no statement about `{}` uses {}", table.name, title(table, index));
        found.push(Diagnostic::new(&CHECK.rule, index.site.place(), message).help("leave it out"));
    }
}

fn title(table: &Table, index: &Index) -> String {
    let columns: Vec<&str> = table.names(&index.columns).collect();
    match &index.name {
        Some(name) => format!("the index `{name}`"),
        None => format!("the index on `{}`", columns.join("`, `")),
    }
}
