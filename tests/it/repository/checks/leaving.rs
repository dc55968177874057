//! What becomes of finished rows.

use std::time::Duration;

use super::super::bench::{APP, Bench, OTHER, ms, now};
use super::super::erased::*;
use crate::servers::{Server, Session};

/// A time long ago, in whole seconds.
const THEN: i64 = 1_600_000_000_000;

/// Rows that were finished at [`THEN`], a second after each other.
fn finished(bench: &mut Bench<'_>, count: usize, state: &str) -> Vec<String> {
    let ids = bench.enqueue_all(count);
    let age = bench.position(&bench.queue.table.retention.as_ref().unwrap().age);
    for (at, id) in ids.iter().enumerate() {
        bench.set(id, bench.queue.status, state);
        bench.set_time(id, age, THEN + at as i64 * 1_000);
    }
    ids
}

fn states(bench: &Bench<'_>) -> Vec<String> {
    bench.queue.claim.status.done.0.clone()
}

pub fn finished_rows_are_republished(bench: &mut Bench<'_>) {
    for state in states(bench) {
        bench.clear();
        finished(bench, 6, &state);
        let before = bench.attempts("e02");
        let mut which =
            Republish { since: THEN + 1_000, until: THEN + 4_000, limit: 2, per_second: Some(10), dry_run: true };
        let republish = |bench: &Bench<'_>, which: &Republish<i64>| {
            bench.repository.republish(&bench.pools, APP, &state, which).unwrap()
        };
        assert_eq!(republish(bench, &which).moved, 2);
        assert_eq!(republish(bench, &Republish { limit: 10, ..which }).moved, 3);
        assert_eq!(bench.in_state(&state).len(), 6, "a dry run changes nothing");
        which.dry_run = false;
        let batch = republish(bench, &which);
        assert_eq!((batch.moved, batch.more, batch.wait), (2, true, Duration::from_millis(200)));
        let batch = republish(bench, &Republish { per_second: None, ..which });
        assert_eq!((batch.moved, batch.more, batch.wait), (1, false, Duration::ZERO));
        assert_eq!(bench.in_state(&state), ["e01", "e05", "e06"]);
        assert_eq!(bench.in_state(&bench.pending_state()), ["e02", "e03", "e04"]);
        // Attempts from 0, or where they are the fence, further ones.
        let claimed = bench.claim("a", 10);
        assert_eq!(claimed.len(), 3);
        for claimed in claimed {
            let fenced = i64::from(bench.queue.attempts_are_the_fence());
            assert_eq!(claimed.attempt, Some(1 + fenced * (before + 1)));
            assert!(!claimed.lease.is_last_attempt);
        }
    }
}

/// Rows of a time come back out of the archive, but for those that are in the table again.
pub fn archived_rows_are_republished(bench: &mut Bench<'_>) {
    let state = states(bench).remove(0);
    finished(bench, 5, &state);
    let left = leave(bench, &state, THEN + 3_000, 10).unwrap();
    assert_eq!((left.moved, archived(bench).len()), (4, 4));
    let mut which =
        Republish { since: THEN + 1_000, until: THEN + 5_000, limit: 2, per_second: Some(10), dry_run: true };
    let restore =
        |bench: &Bench<'_>, which: &Republish<i64>| bench.repository.restore(&bench.pools, APP, &state, which).unwrap();
    assert_eq!((restore(bench, &which).moved, archived(bench).len()), (2, 4));
    assert_eq!(restore(bench, &Republish { limit: 10, ..which }).moved, 3);
    bench.enqueue("e04");
    which.dry_run = false;
    let batch = restore(bench, &which);
    assert_eq!((batch.moved, batch.more, batch.wait), (2, true, Duration::from_millis(200)));
    assert_eq!(restore(bench, &which).moved, 0);
    assert_eq!(archived(bench), ["e01", "e04"]);
    assert_eq!((bench.in_state(&state), bench.state("e04")), (vec!["e05".to_owned()], bench.pending_state()));
    let mut claimed = bench.claim("a", 10);
    claimed.sort_by_key(|claimed| bench.id(&claimed.row));
    assert_eq!(bench.ids(&claimed), ["e02", "e03", "e04"]);
    assert!(claimed.iter().all(|claimed| claimed.attempt == Some(1)));
    claimed.iter().for_each(|claimed| bench.finish(&mut bench.link(), &claimed.lease).unwrap());
}

/// A row that was finished, and perhaps archived, lives again: who held it before holds it no more, however alike the two
/// lives are.
pub fn a_row_that_comes_back_is_not_the_old_worker_s(bench: &mut Bench<'_>) {
    let age = bench.position(&bench.queue.table.retention.as_ref().unwrap().age);
    let which = Republish { since: THEN, until: THEN + 1_000, limit: 10, per_second: None, dry_run: false };
    for by_archive in [false, true] {
        if by_archive && !bench.has("archive") {
            continue;
        }
        bench.clear();
        bench.enqueue("e01");
        let mut before = Vec::new();
        for life in 1..=3 {
            let silent = bench.claim_one("a").lease;
            bench.expire("e01");
            let current = bench.claim_one("a").lease;
            let link = &mut bench.link();
            for old in before.iter().chain([&silent]) {
                assert!(matches!(bench.finish(link, old), Err(FinishError::Lost)), "life {life}");
                assert!(matches!(bench.repository.retry(link, old, "late"), Err(FinishError::Lost)));
                assert!(matches!(bench.repository.dead(link, old, "late"), Err(FinishError::Lost)));
                assert!(matches!(bench.repository.release(link, old), Err(FinishError::Lost)));
                assert!(matches!(bench.repository.extend(link, old, ms(1_000)), Err(FinishError::Lost)));
            }
            bench.finish(link, &current).unwrap();
            if bench.has("bus") {
                assert_eq!(bench.repository.consume(link, &current.key).unwrap(), Consume::Fresh);
            }
            before.extend([silent, current]);
            let state = bench.state("e01");
            bench.set_time("e01", age, THEN);
            let batch = match by_archive {
                true => {
                    assert_eq!(leave(bench, &state, THEN, 10).unwrap().moved, 1);
                    bench.repository.restore(&bench.pools, APP, &state, &which).unwrap()
                }
                false => bench.repository.republish(&bench.pools, APP, &state, &which).unwrap(),
            };
            assert_eq!(batch.moved, 1);
        }
    }
}

fn leave(bench: &Bench<'_>, state: &str, cutoff: i64, limit: u32) -> Result<Batch, ArchiveError> {
    let leave = Leave { scope: APP, state, cutoff, limit };
    bench.repository.leave_driven(&bench.pools, leave, Drive::Through).unwrap()
}

/// The names of the events in the archive.
fn archived(bench: &mut Bench<'_>) -> Vec<String> {
    if !bench.has("archive") {
        return Vec::new();
    }
    let (name, archive) = (bench.column(bench.position(bench.repository.name_column())), bench.archive().to_owned());
    let rows = bench.scratch.rows(&format!("SELECT {name} FROM {archive}"));
    let mut names: Vec<String> = rows.into_iter().map(|row| row[0].clone().unwrap()).collect();
    names.sort();
    names
}

fn left(bench: &mut Bench<'_>) -> Vec<String> {
    bench.states().into_iter().map(|(id, _)| id).collect()
}

pub fn old_rows_leave(bench: &mut Bench<'_>) {
    for state in states(bench) {
        bench.clear();
        finished(bench, 5, &state);
        if !bench.queue.scope.is_empty() {
            let event = Event::new("o01");
            assert_eq!(bench.repository.enqueue(&mut bench.link(), OTHER, &event).unwrap(), Enqueued::Inserted);
        }
        let others = bench.states().len() - 5;
        let batch = leave(bench, &state, THEN + 2_000, 2).unwrap();
        assert_eq!((batch.moved, batch.more), (2, true));
        let batch = leave(bench, &state, THEN + 2_000, 2).unwrap();
        assert_eq!((batch.moved, batch.more), (1, false));
        assert_eq!(leave(bench, &state, THEN + 2_000, 2).unwrap().moved, 0);
        assert_eq!(bench.in_state(&state), ["e04", "e05"]);
        assert_eq!(bench.states().len(), 2 + others);
        let expected: &[&str] = if bench.has("archive") { &["e01", "e02", "e03"] } else { &[] };
        assert_eq!(archived(bench), expected);
    }
}

pub fn the_cutoff_is_the_database_s(bench: &mut Bench<'_>) {
    let keep = Duration::from_secs(86_400);
    let cutoff = bench.repository.cutoff(&mut bench.link(), keep).unwrap();
    assert!((now() - 86_403_000..=now() - 86_399_000).contains(&cutoff), "{cutoff}");
    // What is to be kept for ever stays.
    let endless = bench.repository.cutoff(&mut bench.link(), Duration::MAX).unwrap();
    assert!(endless < cutoff - 36_500 * 86_400_000, "{endless}");
    // A row that is finished now leaves by the cutoff of now, and not by one of before.
    bench.enqueue("e01");
    let state = states(bench).remove(0);
    let age = bench.position(&bench.queue.table.retention.as_ref().unwrap().age);
    bench.set("e01", bench.queue.status, &state);
    bench.set_time("e01", age, cutoff + 1_000);
    assert_eq!(leave(bench, &state, cutoff, 10).unwrap().moved, 0);
    bench.set_time("e01", age, cutoff);
    assert_eq!(leave(bench, &state, cutoff, 10).unwrap().moved, 1);
}

pub fn a_state_that_stays_is_refused(bench: &mut Bench<'_>) {
    let ids = bench.enqueue_all(2);
    for state in [bench.pending_state(), bench.dead_state()] {
        let refused = leave(bench, &state, now() + 60_000, 10).unwrap_err();
        assert!(!refused.is_retryable(), "{refused:?}");
        let which = Republish { since: 0, until: now() + 60_000, limit: 10, per_second: None, dry_run: false };
        bench.repository.republish(&bench.pools, APP, &state, &which).unwrap_err();
    }
    assert_eq!(left(bench), ids);
}

/// The first two of the holes that a script by hand has: what the archive cannot hold would be lost.
pub fn an_archive_that_differs_is_refused(bench: &mut Bench<'_>) {
    let state = states(bench).remove(0);
    let ids = finished(bench, 2, &state);
    let error = bench.queue.error.unwrap();
    bench.set("e01", error, "longer than ten characters");
    let (table, archive, column) = (bench.table().to_owned(), bench.archive().to_owned(), bench.column(error));
    let mut differences = vec![(format!("ALTER TABLE {table} ADD COLUMN extra INT"), "extra".to_owned())];
    let narrow = match bench.server() {
        Server::MySql | Server::MariaDb => Some(format!("ALTER TABLE {archive} MODIFY {column} VARCHAR(10)")),
        Server::Postgres => Some(format!("ALTER TABLE {archive} ALTER COLUMN {column} TYPE VARCHAR(10)")),
        // The width of a text is a CHECK there, and no type.
        Server::Sqlite => None,
    };
    let name = bench.queue.table.columns[error].name.clone();
    differences.extend(narrow.map(|narrow| (narrow, name)));
    for (change, expected) in differences {
        bench.scratch.run(&change).unwrap();
        let refused = leave(bench, &state, now(), 10).unwrap_err();
        let ArchiveError::Differ(columns) = refused else { panic!("{refused:?}") };
        assert!(columns.contains(&expected), "{columns:?}");
        assert_eq!((left(bench), archived(bench).len()), (ids.clone(), 0));
    }
    bench.recreate();
}

/// The second: a row that was archived, and comes and is finished once more.
pub fn a_newer_version_replaces_the_archived_one(bench: &mut Bench<'_>) {
    let state = states(bench).remove(0);
    let column = bench.column(bench.position("payload"));
    for version in ["first", "second"] {
        bench.enqueue_event(&Event::new("e01").with_payload(serde_json::json!({ "version": version })));
        let lease = bench.claim_one("a").lease;
        bench.finish(&mut bench.link(), &lease).unwrap();
        assert_eq!(leave(bench, &state, now() + 60_000, 10).unwrap().moved, 1);
        let archive = bench.archive().to_owned();
        let text = if bench.server().is_mysql_like() { "CHAR" } else { "TEXT" };
        let rows = bench.scratch.rows(&format!("SELECT CAST({column} AS {text}) FROM {archive}"));
        assert_eq!((rows.len(), bench.states().len()), (1, 0));
        assert!(rows[0][0].as_ref().unwrap().contains(version), "{rows:?}");
    }
}

/// The third: columns go by their names, and not by their places.
pub fn columns_may_stand_in_another_order(bench: &mut Bench<'_>) {
    let error = bench.queue.error.unwrap();
    let (table, archive, column) = (bench.table().to_owned(), bench.archive().to_owned(), bench.column(error));
    let ty = bench.server().dialect().column_type(&bench.queue.table.columns[error]);
    bench.scratch.run(&format!("ALTER TABLE {table} DROP COLUMN {column}")).unwrap();
    bench.scratch.run(&format!("ALTER TABLE {table} ADD COLUMN {column} {ty}")).unwrap();
    let state = states(bench).remove(0);
    finished(bench, 1, &state);
    bench.set("e01", error, "why");
    assert_eq!(leave(bench, &state, now(), 10).unwrap().moved, 1);
    assert_eq!(bench.scratch.value(&format!("SELECT {column} FROM {archive}")), "why");
    bench.recreate();
}

/// Whether each row is in exactly one place, or of rows that are deleted, all are or none.
fn assert_whole(bench: &mut Bench<'_>, ids: &[String], when: &str) {
    let (live, archived) = (left(bench), archived(bench));
    let mut all = [live.clone(), archived].concat();
    all.sort();
    match bench.has("archive") {
        true => assert_eq!(all, ids, "{when}"),
        false => assert!(live.is_empty() || live == ids, "{when}: {live:?}"),
    }
}

/// Whether something came to its end, at whatever poll it was interrupted.
fn interrupt(bench: &mut Bench<'_>, mut run: impl FnMut(&mut Bench<'_>, &str, usize) -> bool) {
    let state = states(bench).remove(0);
    for polls in 1..60 {
        bench.clear();
        let ids = finished(bench, 3, &state);
        let through = run(bench, &state, polls);
        assert_whole(bench, &ids, &format!("after {polls} polls"));
        // And the next run does the rest.
        for _ in 0..200 {
            _ = leave(bench, &state, now(), 10).unwrap();
            if left(bench).is_empty() {
                break;
            }
        }
        assert!(left(bench).is_empty());
        assert_whole(bench, &ids, "in the end");
        if through {
            return;
        }
    }
    panic!("it takes more than 60 polls");
}

pub fn an_interrupted_archive_loses_nothing(bench: &mut Bench<'_>) {
    interrupt(bench, |bench, state, polls| {
        let leave = Leave { scope: APP, state, cutoff: now(), limit: 10 };
        bench.repository.leave_driven(&bench.pools, leave, Drive::Drop(polls)).is_some()
    });
}

/// Ends all other connections to the database but one.
fn kill_others(server: Server, url: &str, but: &str) {
    let mut session = Session::open(server, url).unwrap();
    if server == Server::Postgres {
        let others = format!("datname = current_database() AND pid NOT IN (pg_backend_pid(), {but})");
        session.rows(&format!("SELECT CAST(pg_terminate_backend(pid) AS TEXT) FROM pg_stat_activity WHERE {others}"));
        return;
    }
    let others = format!("DB = DATABASE() AND ID NOT IN (CONNECTION_ID(), {but})");
    // MySQL's older list is in three-byte characters, and an error while someone runs a statement with others.
    let list =
        if server == Server::MySql { "performance_schema.processlist" } else { "information_schema.PROCESSLIST" };
    let ids = session.rows(&format!("SELECT CAST(ID AS CHAR) FROM {list} WHERE {others}"));
    for id in ids {
        // It may be gone by itself.
        _ = session.run(&format!("KILL {}", id[0].as_ref().unwrap()));
    }
}

/// A connection cannot be killed on SQLite, where it is the program's own.
pub fn a_killed_archive_loses_nothing(bench: &mut Bench<'_>) {
    let (server, url) = (bench.server(), bench.scratch.url());
    let own = match server {
        Server::MySql | Server::MariaDb => "SELECT CAST(CONNECTION_ID() AS CHAR)",
        Server::Postgres => "SELECT CAST(pg_backend_pid() AS TEXT)",
        Server::Sqlite => return,
    };
    let own = bench.scratch.value(own);
    interrupt(bench, |bench, state, polls| {
        let leave = Leave { scope: APP, state, cutoff: now(), limit: 10 };
        let mut killed = false;
        let mut kill = || {
            std::thread::scope(|scope| scope.spawn(|| kill_others(server, &url, &own)).join().unwrap());
            killed = true;
        };
        let done = bench.repository.leave_driven(&bench.pools, leave, Drive::Pause(polls, &mut kill)).unwrap();
        if let Ok(batch) = &done {
            assert_eq!(batch.moved, 3);
        }
        std::thread::sleep(ms(1));
        !killed
    });
}
