//! The program: arguments and files in, exit status, files and words out.

mod adopt;
mod check;
mod config;
mod database;
mod generate;
mod lint;
mod orphans;
mod report;
mod strange_trees;

use std::process::{Command, Stdio};

use crate::project::{NOTES, Project, SQL_ONLY};

#[test]
fn help_and_version_are_no_faults() {
    let project = Project::default();
    let help = project.run(&["--help"]).assert(0);
    for word in ["generate", "schema", "--config", "--color", "--concise"] {
        assert!(help.stdout.contains(word), "{}", help.stdout);
    }
    let help = project.run(&["generate", "--help"]).assert(0);
    for word in ["--check", "--prune", "--dialect", "--target", "--out", "[SCHEMA]"] {
        assert!(help.stdout.contains(word), "{}", help.stdout);
    }
    let version = project.run(&["--version"]).assert(0);
    assert_eq!(version.stdout, format!("claimsmith {}\n", env!("CARGO_PKG_VERSION")));
    for run in [help, version] {
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn the_help_names_every_dialect_and_target() {
    let help = Project::default().run(&["generate", "--help"]).stdout;
    let names = claimsmith::dialect::ids().chain(claimsmith::generate::targets::ids());
    names.for_each(|name| assert!(help.contains(name), "no {name} in {help}"));
}

#[test]
fn wrong_arguments_are_faults() {
    let project = Project::notes();
    for arguments in [
        &[][..],
        &["bogus"],
        &["generate", "--chek"],
        &["generate", "--out"],
        &["--color", "sometimes", "schema"],
        &["schema", "extra"],
        &["generate", "--check=yes"],
    ] {
        let run = project.run(arguments).assert(2);
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert!(run.stderr.contains("Usage: claimsmith") || run.stderr.contains("--help"), "{}", run.stderr);
    }
    project.run(&["generate", "--chek"]).says(&["--check"]);
    assert_eq!(project.files(), ["claimsmith.toml", "schemas/notes.json"]);
}

#[test]
fn schema_prints_json_and_nothing_else() {
    let run = Project::default().run(&["schema"]).assert(0);
    assert_eq!((&*run.stdout, &*run.stderr), (&*claimsmith::schema::json_schema::text(), ""));
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

/// Runs the program with a standard output that nobody reads any more.
fn unread(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimsmith"));
    let command = command.args(arguments).current_dir(project.path("")).stdout(writer).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_has_gone_is_no_fault() {
    for arguments in [&["schema"][..], &["--help"], &["--version"], &["help", "generate"]] {
        assert_eq!(unread(&Project::default(), arguments), (Some(0), String::new()), "{arguments:?}");
    }
}

/// `claimsmith generate --check | head` in a CI job with `pipefail` must not pass.
#[test]
fn a_reader_that_has_gone_does_not_hide_differences() {
    let (status, stderr) = unread(&Project::notes(), &["generate", "--check"]);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_a_fault_that_says_where() {
    let project = Project::notes();
    for arguments in [&["schema"][..], &["generate", "--check"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimsmith"));
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command.args(arguments).current_dir(project.path("")).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("standard output") && !stderr.contains("panicked"), "{stderr}");
    }
}

/// Exit statuses, side by side: 0 clean, 1 findings or differences, 2 the run itself failed.
#[test]
fn exit_statuses() {
    let broken = NOTES.replace("BIGINT", "BIGINTT");
    let queue = NOTES.replace("\"notes\"", "\"notes_outbox\"");
    let project = Project::new(&[
        ("claimsmith.toml", SQL_ONLY),
        ("good.json", NOTES),
        ("warned.json", &queue),
        ("broken.json", &broken),
        ("syntax.json", "{"),
        ("blocked/sql", "a file where a folder is needed"),
    ]);
    for (arguments, status) in [
        (&["generate", "--check", "good.json"][..], 1),
        (&["generate", "good.json"], 0),
        (&["generate", "good.json"], 0),
        (&["generate", "--check", "good.json"], 0),
        (&["generate", "--check", "warned.json"], 1),
        (&["generate", "warned.json"], 0),
        (&["generate", "--check", "warned.json"], 0),
        (&["generate", "broken.json"], 1),
        (&["generate", "--check", "broken.json"], 1),
        (&["generate", "syntax.json"], 1),
        (&["generate", "good.json", "syntax.json"], 1),
        (&["generate", "absent.json"], 2),
        (&["generate"], 2),
        (&["generate", "good.json", "--dialect", "oracle"], 2),
        (&["generate", "good.json", "--target", "cobol"], 2),
        (&["generate", "good.json", "--out", "blocked"], 2),
        (&["generate", "good.json", "--config", "absent.toml"], 2),
    ] {
        let run = project.run(arguments);
        assert_eq!(run.status, Some(status), "{arguments:?}: {}", run.stderr);
    }
}
