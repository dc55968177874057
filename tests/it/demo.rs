//! The demo shows what the project is for, on any machine.

use std::time::{Duration, Instant};

use assert_cmd::Command;

use crate::loaded::repository;

/// A newcomer waits no longer.
const SECONDS: u64 = 15;

#[test]
fn the_demo_shows_the_difference_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let output =
        Command::new(env!("CARGO_BIN_EXE_claimsmith")).arg("demo").env("TMPDIR", temporary.path()).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(started.elapsed() < Duration::from_secs(SECONDS), "it took {:?}", started.elapsed());
    assert!(err.starts_with("loading 200000 rows"), "{err}");
    // Not on a terminal: plain lines, neither colours nor a bar that is drawn again and again.
    let plain = |text: &str| text.chars().all(|c| c == '\n' || !c.is_control());
    assert!(plain(&out) && plain(&err), "{out:?}\n{err:?}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "something is left in the temporary folder");

    let line = |name: &str| {
        let line = out
            .lines()
            .find(|line| line.trim_start().starts_with(name))
            .unwrap_or_else(|| panic!("no {name} in {out}"));
        let words: Vec<String> =
            line.trim_start()[name.len()..].split_whitespace().map(|word| word.replace(',', "")).collect();
        (words[0].parse::<u64>().unwrap(), words[1].clone(), words[2].parse::<u64>().unwrap())
    };
    let (incident, sorted, rows) = line("the claim of the incident");
    assert_eq!((sorted.as_str(), rows), ("yes", 100));
    for (name, expected) in [("claim_pending", 100), ("claim_retryable", 100), ("claim_expired", 1)] {
        let (steps, sorted, rows) = line(name);
        assert_eq!(sorted, "no", "{name}");
        assert!(
            rows >= expected && steps * 100 < incident,
            "{name}: {rows} rows in {steps} steps, the incident {incident}"
        );
    }
    assert_next(&out);
}

/// It says at last what to type next, and that this exists: files of the repository, and commands of the program.
fn assert_next(out: &str) {
    let (_, next) = out.split_once("Next:\n").unwrap_or_else(|| panic!("no `Next` in {out}"));
    let commands: Vec<Vec<&str>> = next
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.trim().split("  ").next().unwrap().split(' ').collect())
        .collect();
    let words: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    match words[..] {
        [["claimsmith", "generate"], ["less", statements], [proof]] => {
            for path in [statements, proof] {
                assert!(repository(path).is_file(), "{path} is no file of the repository");
            }
        }
        _ => panic!("other commands come next: {commands:?}"),
    }
}
