//! The rules, one file each.

mod claim_nullable_due;
mod claim_optional_filter;
mod claim_or_branch;
mod claim_state_list;
mod claim_without_scope;
mod scope_inside_or;
mod scope_not_equality;
mod suppression_without_reason;
mod unparsed_queue_sql;
mod unused_suppression;

pub(super) use suppression_without_reason::CHECK as SUPPRESSION_WITHOUT_REASON;
pub(super) use unparsed_queue_sql::CHECK as UNPARSED_QUEUE_SQL;
pub(super) use unused_suppression::CHECK as UNUSED_SUPPRESSION;

use super::rule::Check;

/// Every rule about SQL, in the order of their ids.
pub static ALL: [&Check; 10] = [
    &claim_nullable_due::CHECK,
    &claim_optional_filter::CHECK,
    &claim_or_branch::CHECK,
    &claim_state_list::CHECK,
    &claim_without_scope::CHECK,
    &scope_inside_or::CHECK,
    &scope_not_equality::CHECK,
    &suppression_without_reason::CHECK,
    &unparsed_queue_sql::CHECK,
    &unused_suppression::CHECK,
];

/// The rule of this id.
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.into_iter().find(|check| check.rule.id == id)
}
