//! The rules, one file each.

mod archive_select_star;
mod archive_unmatched_delete;
mod bound_state_with_partial_index;
mod claim_by_update;
mod claim_function_on_column;
mod claim_join_locks;
mod claim_like_routing;
mod claim_limit_in_subquery;
mod claim_negated_state;
mod claim_nondeterministic_order;
mod claim_nullable_due;
mod claim_offset;
mod claim_optional_filter;
mod claim_or_branch;
mod claim_order_off_index;
mod claim_outside_transaction;
mod claim_select_star;
mod claim_state_list;
mod claim_user_variable;
mod claim_without_index;
mod claim_without_limit;
mod claim_without_order;
mod claim_without_scope;
mod claim_without_skip_locked;
mod cursor_by_id;
mod dynamic_queue_sql;
mod force_index_mismatch;
mod force_index_unknown;
mod foreign_scan;
mod implicit_cast;
mod index_redundant;
mod index_serves_nothing;
mod insert_ignore_hides_errors;
mod insert_into_generated_column;
mod limit_before_lock;
mod reserved_word;
mod retention_on_update_column;
mod retention_open_states;
mod retention_state_list;
mod retention_unbounded_delete;
mod retention_without_index;
mod scope_inside_or;
mod scope_not_equality;
mod suppression_without_reason;
mod transition_unbounded;
mod transition_without_fence;
mod transition_without_scope;
mod unit_mismatch;
mod unknown_column;
mod unknown_state;
mod unparsed_queue_sql;
mod unused_suppression;
mod update_claim_without_token;
mod utc_in_unix_timestamp;

pub(super) use dynamic_queue_sql::CHECK as DYNAMIC_QUEUE_SQL;
pub use reserved_word::WORDS as RESERVED_WORDS;
pub(super) use suppression_without_reason::CHECK as SUPPRESSION_WITHOUT_REASON;
pub(super) use unparsed_queue_sql::CHECK as UNPARSED_QUEUE_SQL;
pub(super) use unused_suppression::CHECK as UNUSED_SUPPRESSION;

use crate::diagnostic::Rule;

use super::rule::Check;

/// Every rule about SQL, in the order of their ids.
pub static ALL: [&Check; 54] = [
    &archive_select_star::CHECK,
    &archive_unmatched_delete::CHECK,
    &bound_state_with_partial_index::CHECK,
    &claim_by_update::CHECK,
    &claim_function_on_column::CHECK,
    &claim_join_locks::CHECK,
    &claim_like_routing::CHECK,
    &claim_limit_in_subquery::CHECK,
    &claim_negated_state::CHECK,
    &claim_nondeterministic_order::CHECK,
    &claim_nullable_due::CHECK,
    &claim_offset::CHECK,
    &claim_optional_filter::CHECK,
    &claim_or_branch::CHECK,
    &claim_order_off_index::CHECK,
    &claim_outside_transaction::CHECK,
    &claim_select_star::CHECK,
    &claim_state_list::CHECK,
    &claim_user_variable::CHECK,
    &claim_without_index::CHECK,
    &claim_without_limit::CHECK,
    &claim_without_order::CHECK,
    &claim_without_scope::CHECK,
    &claim_without_skip_locked::CHECK,
    &cursor_by_id::CHECK,
    &dynamic_queue_sql::CHECK,
    &force_index_mismatch::CHECK,
    &force_index_unknown::CHECK,
    &foreign_scan::CHECK,
    &implicit_cast::CHECK,
    &index_redundant::CHECK,
    &index_serves_nothing::CHECK,
    &insert_ignore_hides_errors::CHECK,
    &insert_into_generated_column::CHECK,
    &limit_before_lock::CHECK,
    &reserved_word::CHECK,
    &retention_on_update_column::CHECK,
    &retention_open_states::CHECK,
    &retention_state_list::CHECK,
    &retention_unbounded_delete::CHECK,
    &retention_without_index::CHECK,
    &scope_inside_or::CHECK,
    &scope_not_equality::CHECK,
    &suppression_without_reason::CHECK,
    &transition_unbounded::CHECK,
    &transition_without_fence::CHECK,
    &transition_without_scope::CHECK,
    &unit_mismatch::CHECK,
    &unknown_column::CHECK,
    &unknown_state::CHECK,
    &unparsed_queue_sql::CHECK,
    &unused_suppression::CHECK,
    &update_claim_without_token::CHECK,
    &utc_in_unix_timestamp::CHECK,
];

/// The rule about exceptions that leave nothing out, for those that stand elsewhere than in SQL.
pub fn unused_suppression() -> &'static Rule {
    &UNUSED_SUPPRESSION.rule
}

/// The rule of this id.
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.into_iter().find(|check| check.rule.id == id)
}
