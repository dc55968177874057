//! Messages of one key in the order of their rows: what a definition must have so that a relay can keep it.

use super::Table;
use super::format::PublishOrder;

/// Whether relays keep the messages of each key of this table in the order of their rows.
pub fn in_order(table: &Table) -> bool {
    let asked = table.publish.as_ref().is_some_and(|publish| publish.order == PublishOrder::Key);
    asked && out_of_order(table).is_none()
}

/// What is in the way of such an order.
#[derive(Clone, Copy, Debug)]
pub struct Missing {
    /// The role that is missing.
    pub role: &'static str,
    /// What is in the way.
    pub message: &'static str,
    /// How to mend it.
    pub help: &'static str,
}

/// What is in the way of such an order; `None`: nothing is.
pub fn out_of_order(table: &Table) -> Option<Missing> {
    let numbered = matches!(table.primary_key[..], [key] if table.columns[key].auto_increment);
    if table.publish.as_ref()?.key.is_none() {
        let (message, help) = ("an order by key needs a `key`", "name the column that keys the messages");
        return Some(Missing { role: "publish.key", message, help });
    }
    let claim = table.claim.as_ref()?;
    if claim.order.is_none() && !numbered {
        let message = "an order by key needs to know which row comes first";
        let help = "add `claim.order`, or number the rows by an `autoIncrement` primary key";
        return Some(Missing { role: "claim.order", message, help });
    }
    if claim.due.is_none() && claim.retry.as_ref().is_none_or(|retry| retry.at.is_none()) {
        let message = "an order by key lets rows wait for others, and no column says until when";
        return Some(Missing { role: "claim.retry.at", message, help: "add `claim.retry.at`, or `claim.due`" });
    }
    None
}
