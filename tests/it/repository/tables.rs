//! Each table's events and scopes, and its functions on each engine.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::rust::generated::types;
use crate::servers::Server;

use super::erased::*;
use shared as tables;

/// The tables: those that are shipped, and the tests' own.
mod shared {
    pub use crate::rust::generated::seq::tables::seq_outbox;
    pub use crate::rust::generated::tables::*;
}

/// Their functions on each engine.
mod functions {
    macro_rules! functions {
        ($($dialect:ident)+) => { $(
            pub mod $dialect {
                pub use crate::rust::generated::$dialect::*;
                pub use crate::rust::generated::seq::$dialect::seq_outbox;
            }
        )+ };
    }
    functions!(mysql mariadb postgres sqlite);
}

/// Where a table has further scope columns, they are these.
const SOURCE: &str = "source";
const CHANNEL: &str = "push";

/// A table of which an event's id is in `event_id`, a reference is a text, and the scope is an app.
macro_rules! of_app {
    ($($table:ident: $about:ident)+) => { $(
        mod $table {
            use super::*;

            pub const NAME: &str = "event_id";

            pub fn event(event: &Event) -> tables::$table::NewEvent<'_> {
                tables::$table::NewEvent {
                    event_id: &event.id,
                    event_type: &event.kind,
                    $about: &event.key,
                    payload: &event.payload,
                }
            }

            pub fn scope(app_code: &str) -> tables::$table::Scope<'_> {
                tables::$table::Scope { app_code }
            }
        }
    )+ };
}
of_app!(room_outbox: room_id activity_outbox: activity_id game_outbox: round_id);

/// The same where the reference is the number of a user.
macro_rules! of_user {
    ($($table:ident)+) => { $(
        mod $table {
            use super::*;

            pub const NAME: &str = "event_id";

            pub fn event(event: &Event) -> tables::$table::NewEvent<'_> {
                tables::$table::NewEvent {
                    event_id: &event.id,
                    event_type: &event.kind,
                    user_id: 7,
                    payload: &event.payload,
                }
            }

            pub fn scope(app_code: &str) -> tables::$table::Scope<'_> {
                tables::$table::Scope { app_code }
            }
        }
    )+ };
}
of_user!(game_level_event_outbox user_outbox seq_outbox);

mod im_broadcast_outbox {
    use super::*;

    pub const NAME: &str = "event_id";

    pub fn event(event: &Event) -> tables::im_broadcast_outbox::NewEvent<'_> {
        tables::im_broadcast_outbox::NewEvent {
            event_id: &event.id,
            event_type: &event.kind,
            group_id: &event.key,
            payload: &event.text,
        }
    }

    pub fn scope(app_code: &str) -> tables::im_broadcast_outbox::Scope<'_> {
        tables::im_broadcast_outbox::Scope { app_code }
    }
}

mod wallet_outbox {
    use super::*;

    pub const NAME: &str = "event_id";

    pub fn event(event: &Event) -> tables::wallet_outbox::NewEvent<'_> {
        tables::wallet_outbox::NewEvent {
            event_id: &event.id,
            event_type: &event.kind,
            user_id: 7,
            idempotency_key: &event.key,
            payload: &event.payload,
        }
    }

    pub fn scope(app_code: &str) -> tables::wallet_outbox::Scope<'_> {
        tables::wallet_outbox::Scope { app_code }
    }
}

mod notice_delivery_events {
    use super::*;

    pub const NAME: &str = "event_id";

    pub fn event(event: &Event) -> tables::notice_delivery_events::NewEvent<'_> {
        tables::notice_delivery_events::NewEvent {
            event_id: &event.id,
            event_type: &event.kind,
            user_id: 7,
            payload: &event.payload,
            created_at_ms: types::EpochMs(1_700_000_000_000),
        }
    }

    pub fn scope(app_code: &str) -> tables::notice_delivery_events::Scope<'_> {
        tables::notice_delivery_events::Scope { source_name: SOURCE, app_code, channel: CHANNEL }
    }
}

mod agent_outbox_messages {
    use super::*;

    pub const NAME: &str = "message_key";

    pub fn event(event: &Event) -> tables::agent_outbox_messages::NewEvent<'_> {
        tables::agent_outbox_messages::NewEvent {
            biz_type: &event.kind,
            topic: "topic",
            message_key: &event.id,
            payload: &event.text,
            max_retry: None,
        }
    }
}

mod system_outbox_event {
    use super::*;

    pub const NAME: &str = "__sys_gen_id";

    pub fn event(event: &Event) -> tables::system_outbox_event::NewEvent<'_> {
        tables::system_outbox_event::NewEvent {
            __sys_gen_id: &event.id,
            event_type: &event.kind,
            payload: &event.payload,
        }
    }
}

mod system_integration_inbound {
    use super::*;

    pub const NAME: &str = "Id";

    pub fn event(event: &Event) -> tables::system_integration_inbound::NewEvent<'_> {
        tables::system_integration_inbound::NewEvent {
            id: &event.id,
            external_id: "external",
            object_type: "Deal",
            event_type: &event.kind,
            payload: &event.payload,
            raw_payload: None,
            idempotency_key: &event.key,
        }
    }

    pub fn scope(source: &str) -> tables::system_integration_inbound::Scope<'_> {
        tables::system_integration_inbound::Scope { source }
    }
}

mod system_integration_outbound {
    use super::*;

    pub const NAME: &str = "Id";

    pub fn event(event: &Event) -> tables::system_integration_outbound::NewEvent<'_> {
        tables::system_integration_outbound::NewEvent {
            id: &event.id,
            object_type: "Deal",
            record_id: &event.key,
            event_type: &event.kind,
            payload: &event.payload,
            old_payload: None,
        }
    }

    pub fn scope(destination: &str) -> tables::system_integration_outbound::Scope<'_> {
        tables::system_integration_outbound::Scope { destination }
    }
}

/// The pool or the connection of one engine.
macro_rules! of {
    ($kind:ident::$engine:ident($of:expr)) => {{
        let $kind::$engine(of) = $of else { unreachable!("another engine") };
        of
    }};
}

/// Functions that not every table has, by the name of their group.
macro_rules! part {
    (complete $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn complete(&self, link: &mut Link, lease: &Lease) -> Finished {
            wait(module::complete(of!(Link::$engine(link)).connection(), lease.of()))
        }

        fn complete_many(&self, link: &mut Link, leases: Vec<Lease>) -> sqlx::Result<Vec<Result<(), Lost>>> {
            let leases: Vec<_> = leases.into_iter().map(Lease::into_inner).collect();
            wait(module::complete_many(of!(Link::$engine(link)).connection(), &leases))
        }
    };
    (extend $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn extend(&self, link: &mut Link, lease: &Lease, by: Duration) -> Finished {
            wait(module::extend(of!(Link::$engine(link)).connection(), lease.of(), by))
        }
    };
    (reap $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn reap(&self, pools: &Pools, scope: &str, limit: u32) -> sqlx::Result<Batch> {
            _ = scope;
            wait(module::reap(of!(Pools::$engine(pools)), $(T::$scope(scope),)? limit))
        }
    };
    (recover $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn recover(&self, pools: &Pools, scope: &str, limit: u32) -> sqlx::Result<Batch> {
            _ = scope;
            wait(module::recover(of!(Pools::$engine(pools)), $(T::$scope(scope),)? limit))
        }
    };
    (lane $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn claim_lane(
            &self,
            pools: &Pools,
            scope: &str,
            lane: &str,
            options: &ClaimOptions<'_>,
        ) -> sqlx::Result<Taken> {
            let lane = N::Lane { event_type: lane };
            let batch = module::claim_lane(of!(Pools::$engine(pools)), $(T::$scope(scope),)? lane, options);
            wait(batch).map(taken)
        }
    };
    (archive $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn leave_driven(
            &self,
            pools: &Pools,
            leave: Leave<'_>,
            how: Drive<'_>,
        ) -> Option<Result<Batch, ArchiveError>> {
            let (state, cutoff) = (leave.state.parse().unwrap(), N::Cutoff(Moment::at(leave.cutoff)));
            let pool = of!(Pools::$engine(pools));
            drive(module::archive(pool, $(T::$wide(leave.scope),)? state, cutoff, leave.limit), how)
        }

        fn restore(
            &self,
            pools: &Pools,
            scope: &str,
            state: &str,
            which: &Republish<i64>,
        ) -> Result<Batch, ArchiveError> {
            let (pool, state) = (of!(Pools::$engine(pools)), state.parse().unwrap());
            wait(module::republish_archived(pool, $(T::$wide(scope),)? state, &window(which)))
        }
    };
    (cleanup $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn leave_driven(
            &self,
            pools: &Pools,
            leave: Leave<'_>,
            how: Drive<'_>,
        ) -> Option<Result<Batch, ArchiveError>> {
            let (state, cutoff) = (leave.state.parse().unwrap(), N::Cutoff(Moment::at(leave.cutoff)));
            let pool = of!(Pools::$engine(pools));
            let done = drive(module::cleanup(pool, $(T::$wide(leave.scope),)? state, cutoff, leave.limit), how);
            done.map(|done| done.map_err(ArchiveError::Db))
        }
    };
    (names $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn fail(&self, link: &mut Link, lease: &Lease, error: &str) -> Finished {
            wait(module::fail(of!(Link::$engine(link)).connection(), lease.of(), error))
        }

        fn increment_retry(&self, link: &mut Link, lease: &Lease, error: &str) -> Result<Retried, FinishError> {
            wait(module::increment_retry(of!(Link::$engine(link)).connection(), lease.of(), error))
        }
    };
    (bus $engine:ident ($($scope:ident)?) ($($wide:ident)?)) => {
        fn mark_published(&self, link: &mut Link, lease: &Lease) -> Result<Marked, FinishError> {
            wait(module::mark_published(of!(Link::$engine(link)).connection(), lease.of()))
        }

        fn retry_published(
            &self,
            link: &mut Link,
            key: &Key,
            attempt: i64,
            error: &str,
        ) -> Result<Duration, FinishError> {
            wait(module::retry_published(of!(Link::$engine(link)).connection(), key.of(), attempt, error))
        }

        fn dead_published(&self, link: &mut Link, key: &Key, error: &str) -> Finished {
            wait(module::dead_published(of!(Link::$engine(link)).connection(), key.of(), error))
        }

        fn consume(&self, link: &mut Link, key: &Key) -> sqlx::Result<Consume> {
            wait(module::consume(of!(Link::$engine(link)).connection(), key.of()))
        }

        fn sweep(&self, pools: &Pools, after: Duration, limit: u32) -> sqlx::Result<Batch> {
            wait(module::sweep(of!(Pools::$engine(pools)), after, limit))
        }
    };
}

/// Several groups.
macro_rules! parts {
    ([] $engine:ident $scope:tt $wide:tt) => {};
    ([$part:ident $($rest:ident)*] $engine:ident $scope:tt $wide:tt) => {
        part!($part $engine $scope $wide);
        parts!([$($rest)*] $engine $scope $wide);
    };
}

/// Their names.
macro_rules! names {
    ([$($part:ident)*]) => {
        vec![$(stringify!($part)),*]
    };
}

/// The functions of one table on one engine: of those in the second parentheses the scope is that of the retention.
macro_rules! repository {
    ($dialect:ident $engine:ident $table:ident ($($scope:ident)?) ($($wide:ident)?) $parts:tt) => {
        pub mod $table {
            use super::super::$table as T;
            use super::super::*;
            use super::super::functions::$dialect::$table as module;
            use tables::$table as N;

            pub struct Table;

            impl Repository for Table {
                fn parts(&self) -> Vec<&'static str> {
                    names!($parts)
                }

                fn name_column(&self) -> &'static str {
                    T::NAME
                }

                fn enqueue(&self, link: &mut Link, scope: &str, event: &Event) -> Result<Enqueued, EnqueueError> {
                    _ = scope;
                    let connection = of!(Link::$engine(link)).connection();
                    wait(module::enqueue(connection, $(T::$scope(scope),)? &T::event(event)))
                }

                fn enqueue_many(
                    &self,
                    link: &mut Link,
                    scope: &str,
                    events: &[Event],
                ) -> Result<EnqueuedMany, EnqueueError> {
                    _ = scope;
                    let events: Vec<_> = events.iter().map(T::event).collect();
                    let connection = of!(Link::$engine(link)).connection();
                    wait(module::enqueue_many(connection, $(T::$scope(scope),)? &events))
                }

                fn get_pending(&self, link: &mut Link, scope: &str, limit: u32) -> sqlx::Result<Listed> {
                    _ = scope;
                    let pool = of!(Link::$engine(link)).pool();
                    wait(module::get_pending(pool, $(T::$scope(scope),)? limit)).map(listed)
                }

                fn claim_driven(
                    &self,
                    pools: &Pools,
                    scope: &str,
                    options: &ClaimOptions<'_>,
                    how: Drive<'_>,
                ) -> Option<sqlx::Result<Taken>> {
                    _ = scope;
                    let batch = module::claim(of!(Pools::$engine(pools)), $(T::$scope(scope),)? options);
                    drive(batch, how).map(|batch| batch.map(taken))
                }

                fn retry(&self, link: &mut Link, lease: &Lease, error: &str) -> Result<Retried, FinishError> {
                    wait(module::retry(of!(Link::$engine(link)).connection(), lease.of(), error))
                }

                fn dead(&self, link: &mut Link, lease: &Lease, error: &str) -> Finished {
                    wait(module::dead(of!(Link::$engine(link)).connection(), lease.of(), error))
                }

                fn release(&self, link: &mut Link, lease: &Lease) -> Finished {
                    wait(module::release(of!(Link::$engine(link)).connection(), lease.of()))
                }

                fn list_dead(&self, link: &mut Link, scope: &str, limit: u32) -> sqlx::Result<Listed> {
                    _ = scope;
                    let pool = of!(Link::$engine(link)).pool();
                    wait(module::list_dead(pool, $(T::$scope(scope),)? limit)).map(listed)
                }

                fn replay(&self, link: &mut Link, key: &Key) -> sqlx::Result<bool> {
                    wait(module::replay(of!(Link::$engine(link)).pool(), key.of()))
                }

                fn replay_batch(
                    &self,
                    link: &mut Link,
                    scope: &str,
                    limit: u32,
                    dry_run: bool,
                ) -> sqlx::Result<Batch> {
                    _ = scope;
                    let pool = of!(Link::$engine(link)).pool();
                    wait(module::replay_batch(pool, $(T::$scope(scope),)? limit, dry_run))
                }

                fn purge(&self, link: &mut Link, key: &Key) -> sqlx::Result<bool> {
                    wait(module::purge(of!(Link::$engine(link)).pool(), key.of()))
                }

                fn republish(
                    &self,
                    pools: &Pools,
                    scope: &str,
                    state: &str,
                    which: &Republish<i64>,
                ) -> sqlx::Result<Batch> {
                    _ = scope;
                    let (pool, state) = (of!(Pools::$engine(pools)), state.parse().unwrap());
                    wait(module::republish(pool, $(T::$wide(scope),)? state, &window(which)))
                }

                fn cutoff(&self, link: &mut Link, keep: Duration) -> sqlx::Result<i64> {
                    let cutoff = wait(module::cutoff(of!(Link::$engine(link)).pool(), keep))?;
                    Ok(cutoff.0.ms())
                }

                fn metrics(
                    &self,
                    link: &mut Link,
                    scope: &str,
                    cap: u32,
                ) -> sqlx::Result<BTreeMap<String, String>> {
                    _ = scope;
                    let pool = of!(Link::$engine(link)).pool();
                    let metrics = wait(module::metrics(pool, $(T::$scope(scope),)? cap))?;
                    Ok(fields(&metrics))
                }

                parts!($parts $engine ($($scope)?) ($($wide)?));
            }
        }
    };
}

/// All tables on one engine.
macro_rules! engine {
    ($dialect:ident $engine:ident) => {
        mod $dialect {
            repository!($dialect $engine wallet_outbox (scope) (scope) [complete extend reap archive]);
            repository!($dialect $engine room_outbox (scope) (scope) [complete extend reap archive]);
            repository!($dialect $engine activity_outbox (scope) (scope) [complete extend reap lane archive]);
            repository!($dialect $engine im_broadcast_outbox (scope) (scope) [complete extend reap archive]);
            repository!($dialect $engine game_outbox (scope) (scope) [complete extend reap archive]);
            repository!($dialect $engine game_level_event_outbox (scope) (scope) [complete extend reap archive]);
            repository!($dialect $engine user_outbox (scope) (scope) [complete extend reap archive]);
            repository!($dialect $engine notice_delivery_events (scope) (scope) [complete extend reap archive]);
            repository!($dialect $engine agent_outbox_messages () () [extend cleanup bus]);
            repository!($dialect $engine system_outbox_event () () [complete recover cleanup names]);
            repository!($dialect $engine system_integration_inbound (scope) () [complete recover cleanup names]);
            repository!($dialect $engine system_integration_outbound (scope) () [complete recover cleanup names]);
            repository!($dialect $engine seq_outbox (scope) (scope) [complete extend reap archive]);

            pub fn find(table: &str) -> &'static dyn super::Repository {
                match table {
                    "wallet_outbox" => &wallet_outbox::Table,
                    "room_outbox" => &room_outbox::Table,
                    "activity_outbox" => &activity_outbox::Table,
                    "im_broadcast_outbox" => &im_broadcast_outbox::Table,
                    "game_outbox" => &game_outbox::Table,
                    "game_level_event_outbox" => &game_level_event_outbox::Table,
                    "user_outbox" => &user_outbox::Table,
                    "notice_delivery_events" => &notice_delivery_events::Table,
                    "agent_outbox_messages" => &agent_outbox_messages::Table,
                    "_System_OutboxEvent" => &system_outbox_event::Table,
                    "_System_IntegrationInbound" => &system_integration_inbound::Table,
                    "_System_IntegrationOutbound" => &system_integration_outbound::Table,
                    "seq_outbox" => &seq_outbox::Table,
                    other => panic!("no functions of {other}"),
                }
            }
        }
    };
}
engine!(mysql MySql);
engine!(mariadb MySql);
engine!(postgres Postgres);
engine!(sqlite Sqlite);

/// The functions of the table on the engine.
pub fn find(server: Server, table: &str) -> &'static dyn Repository {
    match server {
        Server::MySql => mysql::find(table),
        Server::MariaDb => mariadb::find(table),
        Server::Postgres => postgres::find(table),
        Server::Sqlite => sqlite::find(table),
    }
}
