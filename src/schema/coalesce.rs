//! Changes of one thing that wait as one row: what a definition must have so that none of them is lost.

use super::Table;
use super::format::Claim;

/// The columns by which a change joins one that waits already, as positions in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// What identifies the thing, within the scope.
    pub thing: Vec<usize>,
    /// What says which of several rows is the newest.
    pub order: usize,
    /// The type of the change: only changes of one type join.
    pub kind: Option<usize>,
    /// What the newer change says: its content and the version of its type.
    pub newer: Vec<usize>,
    /// What tells that no worker ever had the row, where one that has it leaves it pending.
    pub untaken: Option<usize>,
}

/// How changes join in this table: `None` where the claim does not ask for it, and an error that says what is in the way.
pub fn coalescing(table: &Table, claim: &Claim) -> Option<Result<Coalescing, String>> {
    (!claim.coalesce.is_empty()).then(|| columns(table, claim))
}

fn columns(table: &Table, claim: &Claim) -> Result<Coalescing, String> {
    let at = |name: Option<&String>| name.and_then(|name| table.position(name));
    let lacks = |what: &str| format!("the claim has no `{what}`");
    let order = at(claim.order.as_ref()).ok_or_else(|| format!("{}, and so no newest row", lacks("order")))?;
    let event = claim.event.as_ref();
    let payload = at(event.and_then(|event| event.payload.as_ref()));
    let payload = payload.ok_or_else(|| format!("{}, which the newer change would replace", lacks("event.payload")))?;
    if !claim.idempotency_key.is_empty() {
        return Err(
            "a change that has joined another leaves no `idempotencyKey`: sent again, it would undo newer ones"
                .to_owned(),
        );
    }
    let mut thing = Vec::new();
    for name in claim.coalesce.iter().filter(|name| !claim.scope.contains(name)) {
        let Some(column) = table.position(name) else { continue };
        if table.columns[column].nullable {
            return Err(format!("`{name}` may be NULL, which equals nothing"));
        }
        if *name == claim.status.column || column == order || column == payload {
            return Err(format!("`{name}` is not the same in all changes of one thing"));
        }
        thing.push(column);
    }
    let count = at(claim.retry.as_ref().and_then(|retry| retry.count.as_ref()));
    let untaken = match claim.visibility {
        Some(_) => {
            Some(count.ok_or_else(|| format!("{}: nothing tells a row that a worker has", lacks("retry.count")))?)
        }
        None => None,
    };
    let kind = at(event.and_then(|event| event.type_column.as_ref()));
    let kind = kind.filter(|kind| !thing.contains(kind) && !claim.scope.contains(&table.columns[*kind].name));
    let version = at(event.and_then(|event| event.version.as_ref())).filter(|version| !thing.contains(version));
    Ok(Coalescing { thing, order, kind, newer: [payload].into_iter().chain(version).collect(), untaken })
}
