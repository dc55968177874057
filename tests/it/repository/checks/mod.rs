//! What holds for the repository of every table whose definition asks for it.

mod bus;
mod claims;
mod counts;
mod enqueueing;
mod failures;
mod leases;
mod leaving;
mod many;

use claimsmith::schema::format::Strategy;

use crate::queries::queue::Queue;

use super::bench::Bench;

/// A check, with its name and the definitions that it holds for.
pub type Check = (&'static str, fn(&Queue<'_>) -> bool, fn(&mut Bench<'_>));

macro_rules! checks {
    ($($module:ident { $($name:ident: $holds:expr,)+ })+) => {
        vec![$($((concat!(stringify!($module), "::", stringify!($name)), $holds, $module::$name)),+),+]
    };
}

/// All checks.
pub fn all() -> Vec<Check> {
    checks! {
        claims {
            no_row_is_claimed_twice: always,
            workers_share_a_backlog: always,
            locked_rows_are_passed_over: always,
            each_branch_begins_once: three_branches,
            what_is_due_now_is_due: timed,
            a_lease_that_ends_now_has_ended: leased_by_column,
            the_clock_of_the_options_decides: leased,
            a_lane_is_kept: |queue| queue.lane.is_some(),
            the_order_is_that_of_the_table: always,
            pending_rows_are_shown_and_not_taken: always,
            a_claim_that_is_dropped_loses_nothing: leased,
            long_leases_do_not_overflow: leased,
            an_endless_lease_is_a_lease: leased,
            a_row_comes_once_whatever_its_lease: leased,
            a_later_branch_that_fails_keeps_the_rows: three_branches,
        }
        leases {
            a_stale_worker_cannot_finish: fenced,
            an_unheld_row_cannot_be_finished: always,
            an_extension_keeps_the_lease: leased,
            another_worker_takes_over: leased,
            a_crash_loop_ends: leased,
            releasing_gives_the_attempt_back: always,
            a_new_life_is_not_the_old_worker_s: fenced,
            finishing_is_undone_with_the_transaction: always,
            who_is_given_up_may_try_again: completes,
            silent_workers_are_reaped: |queue| queue.until.is_some(),
            the_only_worker_recovers_its_rows: |queue| queue.until.is_none() && queue.claim.status.running.is_some(),
        }
        many {
            each_lease_has_its_answer: completes,
            stale_leases_beside_good_ones: |queue| completes(queue) && fenced(queue),
            answers_are_undone_with_the_transaction: completes,
            more_than_a_statement_takes: completes,
        }
        enqueueing {
            a_duplicate_leaves_the_transaction_alone: |queue| !queue.claim.idempotency_key.is_empty(),
            another_key_that_is_taken_is_an_error: has_a_key_of_its_own,
            two_transactions_enqueue_the_same: |queue| !queue.claim.idempotency_key.is_empty(),
            a_rollback_takes_the_event_along: always,
            case_makes_another_id: always,
            blanks_make_another_id: always,
            many_with_duplicates: |queue| !queue.claim.idempotency_key.is_empty(),
            many_without_a_key_are_all_or_none: has_a_key_of_its_own,
            what_is_too_long_is_refused: always,
            coalescing: |queue| !queue.claim.coalesce.is_empty(),
            what_comes_from_there_is_skipped: |queue| !queue.claim.coalesce.is_empty(),
        }
        failures {
            a_failed_row_waits: always,
            retries_end: always,
            long_errors_are_cut: always,
            dead_rows_are_listed_replayed_and_purged: always,
            batches_are_replayed: always,
            undecodable_rows_come_beside_good_ones: always,
            names_of_the_seed: |queue| queue.until.is_none() && !queue.by_visibility(),
        }
        leaving {
            finished_rows_are_republished: always,
            archived_rows_are_republished: archives,
            a_row_that_comes_back_is_not_the_old_worker_s: |queue| fenced(queue) && leased(queue),
            old_rows_leave: always,
            the_cutoff_is_the_database_s: always,
            a_state_that_stays_is_refused: always,
            an_archive_that_differs_is_refused: archives,
            a_newer_version_replaces_the_archived_one: archives,
            columns_may_stand_in_another_order: archives,
            an_interrupted_archive_loses_nothing: always,
            a_killed_archive_loses_nothing: |queue| archives(queue),
        }
        counts {
            metrics_are_right: always,
        }
        bus {
            the_consumer_may_be_faster: on_a_bus,
            a_message_is_consumed_once: on_a_bus,
            failed_handlers_try_again: on_a_bus,
            lost_messages_are_swept: on_a_bus,
        }
    }
}

fn always(_: &Queue<'_>) -> bool {
    true
}

/// Another worker may take a row over.
fn leased(queue: &Queue<'_>) -> bool {
    queue.until.is_some() || queue.by_visibility()
}

/// Until when a row is held stands in a column of its own.
fn leased_by_column(queue: &Queue<'_>) -> bool {
    queue.until.is_some()
}

/// A worker of before is told apart.
fn fenced(queue: &Queue<'_>) -> bool {
    queue.fence().is_some()
}

/// A column says when a failed row is due.
fn timed(queue: &Queue<'_>) -> bool {
    queue.time().is_some()
}

fn three_branches(queue: &Queue<'_>) -> bool {
    queue.claim.status.retryable.is_some() && queue.until.is_some()
}

/// The worker itself finishes the row, and not its consumer.
fn completes(queue: &Queue<'_>) -> bool {
    queue.claim.status.published.is_none()
}

fn on_a_bus(queue: &Queue<'_>) -> bool {
    queue.claim.status.published.is_some()
}

fn archives(queue: &Queue<'_>) -> bool {
    queue.table.retention.as_ref().is_some_and(|retention| retention.strategy == Strategy::Archive)
}

/// The primary key is the caller's, and not what identifies the event.
fn has_a_key_of_its_own(queue: &Queue<'_>) -> bool {
    let key = queue.table.primary_key.iter().map(|at| &queue.table.columns[*at]);
    key.clone().all(|column| !column.auto_increment)
        && !key.into_iter().all(|column| queue.claim.idempotency_key.contains(&column.name))
}
