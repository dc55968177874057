//! What the columns of a queue are for: as its definition says or, where it has none, as their names do.

use crate::schema::Table;
use crate::schema::format::Claim;

/// The roles of a table's columns. Names are in lower case.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// The definition says them; else names are judged.
    declared: bool,
    status: Vec<String>,
    times: Vec<String>,
    owners: Vec<String>,
    order: Vec<String>,
    /// When a row of an event bus was published.
    published: Option<String>,
    /// States whose rows still have work to be done.
    open: Vec<String>,
    /// The state of held rows, where no lease says who holds them.
    unleased: Option<String>,
    /// All states.
    states: Vec<String>,
}

/// Names of state columns.
const STATES: [&str; 14] = [
    "status",
    "state",
    "processed",
    "published",
    "sent",
    "delivered",
    "dispatched",
    "done",
    "completed",
    "handled",
    "is_processed",
    "is_published",
    "is_sent",
    "is_delivered",
];

/// Names of columns that are set when a row is finished: NULL is a state.
const FINISHED: [&str; 10] = [
    "processed",
    "published",
    "sent",
    "delivered",
    "dispatched",
    "completed",
    "finished",
    "consumed",
    "handled",
    "done",
];

/// Parts of names of columns that say when a row may be taken.
const TIMES: [&str; 18] = [
    "retry_at",
    "retry_time",
    "attempt_at",
    "run_at",
    "schedul",
    "available",
    "visible",
    "due",
    "lock_until",
    "locked_until",
    "locked_at",
    "lease",
    "not_before",
    "process_after",
    "expire",
    "claimed_at",
    "heartbeat",
    "next_retry",
];

/// Parts of names of columns that say who has a row.
const OWNERS: [&str; 6] = ["locked_by", "worker", "claimed_by", "lock_token", "claim_token", "owner"];

/// Values of finished or given-up states.
const CLOSED: [&str; 20] = [
    "dead",
    "dead_letter",
    "deadletter",
    "dlq",
    "failed",
    "done",
    "delivered",
    "completed",
    "complete",
    "sent",
    "success",
    "succeeded",
    "processed",
    "published",
    "cancelled",
    "canceled",
    "consumed",
    "finished",
    "discarded",
    "archived",
];

/// Names of columns that end like an id and say whose a row is, or what kind, and not which one.
const GROUPS: [&str; 16] = [
    "tenant",
    "app",
    "org",
    "account",
    "customer",
    "workspace",
    "project",
    "shard",
    "partition",
    "topic",
    "queue",
    "type",
    "source",
    "consumer",
    "company",
    "client",
];

impl Roles {
    /// The roles that the definition declares.
    pub fn declared(claim: &Claim) -> Roles {
        let status = &claim.status;
        let lower = |name: &Option<String>| name.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
        let retry = claim.retry.as_ref().and_then(|retry| retry.at.clone());
        let lease = claim.lease.as_ref();
        let mut times = lower(&claim.due);
        times.extend(lower(&retry));
        times.extend(lease.map(|lease| lease.until.to_lowercase()));
        let open =
            [Some(&status.pending), status.retryable.as_ref(), status.running.as_ref(), status.published.as_ref()];
        let open: Vec<String> = open.into_iter().flatten().cloned().collect();
        let mut states = open.clone();
        states.extend(status.done.0.iter().chain(&status.dead).cloned());
        Roles {
            declared: true,
            status: vec![status.column.to_lowercase()],
            times,
            owners: lease.map(|lease| lower(&lease.by)).unwrap_or_default(),
            order: lower(&claim.order),
            published: claim.times.as_ref().and_then(|times| times.published.as_ref()).map(|name| name.to_lowercase()),
            open,
            unleased: status.running.clone().filter(|_| lease.is_none()),
            states,
        }
    }

    /// Whether the column holds the state.
    pub fn is_state(&self, column: &str) -> bool {
        match self.declared {
            true => self.status.iter().any(|status| status == column),
            false => STATES.contains(&column) || column.ends_with("_status") || column.ends_with("_state"),
        }
    }

    /// Whether NULL in the column is a state.
    pub fn is_finish(&self, column: &str) -> bool {
        let name = column.strip_suffix("_ms").unwrap_or(column);
        let name = name.strip_suffix("_at").or_else(|| name.strip_suffix("_date")).or_else(|| name.strip_suffix("_on"));
        !self.declared && name.is_some_and(|name| FINISHED.contains(&name))
    }

    /// Whether the column says when a row may be taken.
    pub fn is_time(&self, column: &str) -> bool {
        match self.declared {
            true => self.times.iter().any(|time| time == column),
            false => TIMES.iter().any(|part| column.contains(part)),
        }
    }

    /// Whether the column says who has a row.
    pub fn is_owner(&self, column: &str) -> bool {
        match self.declared {
            true => self.owners.iter().any(|owner| owner == column),
            false => OWNERS.iter().any(|part| column.contains(part)),
        }
    }

    /// Whether the column orders pending rows.
    pub fn is_order(&self, column: &str) -> bool {
        match self.declared {
            true => self.order.iter().any(|order| order == column),
            false => column.starts_with("created"),
        }
    }

    /// Whether the column says since when a row of an event bus is published: those that stay so are found by it.
    pub fn is_published(&self, column: &str) -> bool {
        self.published.as_deref() == Some(column)
    }

    /// Whether the column decides which rows a claim finds.
    pub fn is_search(&self, column: &str) -> bool {
        self.is_state(column)
            || self.is_time(column)
            || self.is_owner(column)
            || self.is_order(column)
            || self.is_finish(column)
    }

    /// Whether rows of the state have no work to be done.
    pub fn is_closed(&self, state: &str) -> bool {
        match self.declared {
            true => self.states.iter().any(|known| known == state) && !self.open.iter().any(|open| open == state),
            false => CLOSED.contains(&&*state.to_lowercase()),
        }
    }

    /// Whether rows of the state still have work to be done, as the definition says.
    pub fn is_open(&self, state: &str) -> bool {
        self.open.iter().any(|open| open == state)
    }

    /// Whether rows of the state are held, and nothing in the table says by whom.
    pub fn is_unleased(&self, state: &str) -> bool {
        self.unleased.as_deref() == Some(state)
    }

    /// All declared states; none where nothing is declared.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The declared state column.
    pub fn status(&self) -> Option<&str> {
        self.status.first().map(|status| &**status)
    }
}

/// Whether a column is named like the id of one row or of one thing, and not of a group.
pub fn is_identity(column: &str) -> bool {
    let id = ["id", "uuid", "guid", "key"]
        .iter()
        .any(|end| column == *end || column.strip_suffix(end).is_some_and(|start| start.ends_with('_')));
    id && !GROUPS.iter().any(|group| column.starts_with(group))
}

/// Whether a column is the database's own number of a row.
pub fn is_row_number(column: &str) -> bool {
    matches!(column, "ctid" | "rowid" | "_rowid_" | "oid")
}

/// Whether a table without a definition is named like a queue.
pub fn named_like_a_queue(name: &str, patterns: &[String]) -> bool {
    let name = name.to_lowercase();
    let history =
        ["archive", "archived", "history", "log", "dlq", "dead", "dead_letter", "dead_letters", "backup", "bak"];
    let is_history = history.iter().any(|end| name.strip_suffix(end).is_some_and(|start| start.ends_with('_')));
    !is_history && patterns.iter().any(|pattern| matches(pattern, &name))
}

/// Whether `name` fits a pattern in which `*` stands for any text. Both are in lower case.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut open = false;
    let mut last = first;
    for part in parts {
        open = true;
        last = part;
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || open && (last.is_empty() || name.ends_with(last))
}

/// What a table's columns are for.
pub fn of(table: &Table) -> Roles {
    table.claim.as_ref().map(Roles::declared).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{is_identity, matches, named_like_a_queue};

    #[test]
    fn patterns_match_as_globs_do() {
        for (pattern, name, expected) in [
            ("*outbox*", "order_outbox", true),
            ("*outbox*", "outbox", true),
            ("*_jobs", "email_jobs", true),
            ("*_jobs", "jobs", false),
            ("*_jobs", "email_jobs_x", false),
            ("*_jobs", "a_jobs_jobs", true),
            ("jobs", "jobs", true),
            ("jobs", "jobs2", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn archives_are_no_queues() {
        let patterns = ["*outbox*".to_owned()];
        assert!(named_like_a_queue("Order_Outbox", &patterns));
        assert!(!named_like_a_queue("order_outbox_archive", &patterns));
    }

    #[test]
    fn ids_of_groups_are_no_identities() {
        assert!(is_identity("id") && is_identity("event_id") && is_identity("idempotency_key"));
        assert!(!is_identity("tenant_id") && !is_identity("app_id") && !is_identity("paid"));
    }
}
