//! What the template of a table's functions gets.

use crate::template::template_object;

use super::super::publish::Published;
use super::super::text::Items;

/// The functions of a table's workload.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// The statements with their parameters, each called like its text in `query`.
    pub statements: Vec<Statement>,
    /// The type of the scope; empty where there is none.
    pub scope: String,
    /// The type of the lane.
    pub lane: String,
    /// The type of what who enqueues an event gives.
    pub event: String,
    /// The type of a message that a consumer has.
    pub message: String,
    /// The type of what a batch of finished rows pins; empty where that is nothing.
    pub retention_scope: String,
    /// Finished rows have states.
    pub has_states: bool,
    /// Some name is so long that rustfmt would break lines.
    pub skips: bool,
    /// How values of structs become parameters.
    pub sources: Vec<Source>,
    /// Their types are so long that rustfmt would break lines.
    pub found_is_wide: bool,
    /// How columns of the primary key pass from one statement to the next, where rows are changed by their keys.
    pub found: Vec<FoundField>,
    /// Rows are claimed.
    pub queue: Option<Queue>,
    /// The ways to claim: of the whole scope, and of one lane.
    pub claims: Vec<Claim>,
    /// The branch whose rows may have used up their attempts.
    pub exhausting: Option<String>,
    /// What the column holds that names the worker; 0 where there is none.
    pub token: usize,
    /// What extends a lease.
    pub extends: &'static str,
    /// The state of a row that is done, as a literal.
    pub done: String,
    /// There is a wait between attempts.
    pub backoff: bool,
    /// Some column of the scope has a length.
    pub scope_checks: bool,
    /// There is a column of errors.
    pub error: bool,
    /// Events that would go to where they come from are skipped.
    pub origin: bool,
    /// The functions have the names of the program that the table comes from, too.
    pub seed_names: bool,
    /// The statement that inserts a row, taken apart.
    pub rows: Option<Rows>,
    /// `cleanup` or `archive`.
    pub leavings: Vec<Leaving>,
    /// Finished rows that can be published once more.
    pub republishes: Vec<Republish>,
    /// Archived rows that can be published once more.
    pub restores: Vec<Republish>,
    /// The counts of the metrics.
    pub counts: Vec<Count>,
    /// Their statements.
    pub counted: Items,
    /// Since when the oldest row waits.
    pub oldest: Option<Oldest>,
    /// The open rows of an event bus, state by state; empty where some state has no index that gives an order.
    pub opens: Vec<Open>,
    /// The columns that order them.
    pub places: Vec<Place>,
    /// How its rows become messages, where they are relayed.
    pub published: Option<Published>,
    /// The column of the message's key, where messages of one key come in the order of their rows.
    pub partition: Option<Arm>,
}

template_object!(Work {
    statements,
    scope,
    lane,
    event,
    message,
    retention_scope,
    has_states,
    skips,
    sources,
    found_is_wide,
    found,
    queue,
    claims,
    exhausting,
    token,
    extends,
    done,
    backoff,
    scope_checks,
    error,
    origin,
    seed_names,
    rows,
    leavings,
    republishes,
    restores,
    counts,
    counted,
    oldest,
    opens,
    places,
    published,
    partition,
});

/// A statement with its parameters.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statement {
    /// The constant of its text in `query`, and its own.
    pub name: String,
    /// Its parameters but for a list of keys.
    pub parameters: Items,
    /// The byte at which the list of keys begins.
    pub keys_at: usize,
    /// The parameters of one key.
    pub keys: Items,
}

template_object!(Statement { name, parameters, keys_at, keys });

/// How values of a struct become parameters.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// The struct.
    pub ty: String,
    /// One for each of its fields.
    pub arms: Vec<Arm>,
}

template_object!(Source { ty, arms });

/// How a value of a column becomes a parameter.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arm {
    /// The column's position in the table.
    pub column: usize,
    /// The value as the driver takes it.
    pub value: String,
}

template_object!(Arm { column, value });

/// A column of the primary key as the driver reads it and takes it back.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundField {
    /// The column's position in the table.
    pub column: usize,
    /// The driver's type.
    pub ty: String,
}

template_object!(FoundField { column, ty });

/// How rows are claimed.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queue {
    /// The fields of the key.
    pub key: Vec<KeyField>,
    /// What reads the attempts so far.
    pub attempt: Option<String>,
    /// What reads the most attempts.
    pub most: Option<String>,
    /// The most attempts, where they are the same for all rows.
    pub most_attempts: Option<String>,
    /// What reads the number of the claim.
    pub seq: Option<String>,
    /// `token`, `seq`, `attempt` or `none`.
    pub fence: &'static str,
    /// The position of the fence's column.
    pub fence_column: usize,
    /// What reads the fence, where it is a number.
    pub fence_read: String,
    /// The position of the state's column.
    pub status: usize,
    /// The state of rows that are given up, as a literal.
    pub dead: Option<String>,
    /// The field by which rows are ordered.
    pub order: Option<String>,
    /// The function that compares it.
    pub compare: &'static str,
    /// What taking a row changes in it: statements.
    pub taken: Vec<String>,
}

template_object!(Queue {
    key,
    attempt,
    most,
    most_attempts,
    seq,
    fence,
    fence_column,
    fence_read,
    status,
    dead,
    order,
    compare,
    taken,
});

/// A field of a key.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyField {
    /// The identifier.
    pub name: String,
    /// The column's position in the table.
    pub column: usize,
    /// The function that reads it.
    pub read: String,
    /// Of a decimal number, the digits behind the point.
    pub scale: Option<u8>,
    /// It is a part of the scope.
    pub in_scope: bool,
    /// Its values are copied rather than cloned.
    pub copied: bool,
}

template_object!(KeyField { name, column, read, scale, in_scope, copied });

/// A way to claim.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// `CLAIM` or `CLAIM_LANE`.
    pub name: &'static str,
    /// The statements of the three branches.
    pub branches: Items,
}

template_object!(Claim { name, branches });

/// The statement that inserts a row, taken apart, all as literals.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rows {
    /// What stands before the first row.
    pub before: String,
    /// What stands between the values of a row.
    pub row: Items,
    /// What stands behind the last row.
    pub after: String,
}

template_object!(Rows { before, row, after });

/// How finished rows leave.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leaving {
    /// `cleanup` or `archive`.
    pub name: &'static str,
    /// The states, or one entry where there are none.
    pub states: Vec<Leave>,
}

template_object!(Leaving { name, states });

/// How finished rows of one state leave.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leave {
    /// The state's variant of `Status`; empty where there are no states.
    pub variant: String,
    /// The statement, or a pair with the one that deletes what it has copied, where that is one of its own for each state.
    pub statements: String,
}

template_object!(Leave { variant, statements });

/// Finished rows of one state that can be published once more.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Republish {
    /// The state's variant of `Status`.
    pub variant: String,
    /// The statement that counts them, and the one that finds them or publishes them.
    pub pair: String,
}

template_object!(Republish { variant, pair });

/// One of the metrics' counts.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Count {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// The field.
    pub name: String,
    /// The statement.
    pub statement: String,
}

template_object!(Count { docs, name, statement });

/// Since when the oldest row waits.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Oldest {
    /// Lines for `///`.
    pub docs: Vec<String>,
    /// `oldest_pending` or `oldest_due`.
    pub name: String,
    /// The type of the time.
    pub ty: String,
    /// The statement.
    pub statement: String,
}

template_object!(Oldest { docs, name, ty, statement });

/// How the rows of one open state are walked.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Open {
    /// The state, as a literal.
    pub state: String,
    /// The statement of the first page.
    pub first: String,
    /// Those of what comes behind a row, the nearest first.
    pub after: Items,
    /// The statement that counts the rows that have no place in that order, where there can be some.
    pub stranded: Option<String>,
}

template_object!(Open { state, first, after, stranded });

/// A column that orders open rows: how its value passes from one page to the next.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The column's position in the table.
    pub column: usize,
    /// The type of `value`.
    pub ty: String,
    /// The function that reads it.
    pub read: String,
    /// Of a decimal number, the digits behind the point.
    pub scale: Option<u8>,
    /// `value` as the driver takes it.
    pub value: String,
}

template_object!(Place { column, ty, read, scale, value });
