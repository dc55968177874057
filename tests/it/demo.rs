//! The demo shows what the project is for, on any machine.

use assert_cmd::Command;

#[test]
fn the_demo_shows_the_difference_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_claimsmith")).arg("demo").env("TMPDIR", temporary.path()).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(err.starts_with("loading 200000 rows"), "{err}");
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
}
