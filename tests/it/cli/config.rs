//! `claimsmith.toml`: where it is found, what it says, and what is wrong with it.

use claimsmith::generate::targets;

use crate::project::{NOTES, Project, assert_none};

#[test]
fn the_nearest_file_upwards_is_taken_and_its_paths_are_its_own() {
    let project = Project::new(&[
        ("claimsmith.toml", "this is not read"),
        ("app/claimsmith.toml", "schemas = [\"defs\"]\nout = \"gen\"\ndialects = [\"sqlite\"]\ntargets = [\"sql\"]\n"),
        ("app/defs/notes.json", NOTES),
        ("app/src/deep/x", ""),
    ]);
    project.run_in("app/src/deep", &["generate"]).assert(0);
    assert_eq!(project.files_in("app/gen"), ["app/gen/sql/sqlite/schema.sql"]);
    project.run_in("app", &["generate", "--check"]).assert(0).says(&["1 file up to date in gen\n"]);
    project.run(&["generate", "--check", "--config", "app/claimsmith.toml"]).assert(0).says(&["in app/gen\n"]);
}

#[test]
fn flags_win_over_the_file() {
    let project = Project::new(&[
        ("claimsmith.toml", "schemas = [\"nowhere\"]\nout = \"gen\"\ndialects = [\"mysql\"]\ntargets = [\"sql\"]\n"),
        ("other.toml", "schemas = [\"other.json\"]\nout = \"other\"\ndialects = [\"sqlite\"]\ntargets = [\"sql\"]\n"),
        ("other.json", NOTES),
    ]);
    project.run(&["generate", "other.json", "--dialect", "postgres", "--out", "here"]).assert(0);
    assert_eq!(project.files_in("here"), ["here/sql/postgres/schema.sql"]);
    assert!(!project.path("gen").exists());
    project.run(&["--config", "other.toml", "generate"]).assert(0);
    assert_eq!(project.files_in("other"), ["other/sql/sqlite/schema.sql"]);
}

#[test]
fn without_a_file_the_defaults_hold() {
    let project = Project::default();
    project.run(&["generate"]).assert(2).says(&[
        "no definitions at",
        "schemas",
        "as arguments, or as `schemas` in claimsmith.toml",
    ]);
    project.write("schemas/notes.json", NOTES);
    project.run(&["generate"]).assert(0);
    // A table without events has no file of them.
    let targets = targets::ids().filter(|id| *id != "events").map(|id| format!("generated/{id}"));
    targets.for_each(|folder| assert!(!project.files_in(&folder).is_empty(), "{folder}"));
    assert_eq!(project.files_in("generated/sql").len(), 4);
}

/// Each with what is said about it.
const WRONG: [(&str, &[&str]); 13] = [
    ("dialetcs = [\"mysql\"]\n", &["claimsmith.toml:1:1", "unknown field `dialetcs`", "did you mean `dialects`?"]),
    ("\n  colour = 1\n", &["claimsmith.toml:2:3", "unknown field `colour`", "`templates`"]),
    ("out = 5\n", &["claimsmith.toml:1:7"]),
    ("schemas = \"defs\"\n", &["claimsmith.toml:1:11"]),
    ("schemas = [\n", &["claimsmith.toml:1:12"]),
    ("out = \"a\"\nout = \"b\"\n", &["claimsmith.toml:2:1", "duplicate key"]),
    (
        "# größe\ndialects = [\"mysql\", \"mysq\"]\n",
        &["claimsmith.toml:2:22", "unknown dialect `mysq`", "did you mean `mysql`?"],
    ),
    ("dialects = [\"oracle\"]\n", &["claimsmith.toml:1:13", "choose from mysql, mariadb, postgres, sqlite"]),
    ("targets = [\"slq\"]\n", &["claimsmith.toml:1:12", "unknown target `slq`", "did you mean `sql`?"]),
    ("schemas = [\"nowhere\"]\n", &["no definitions at", "nowhere"]),
    // The value stands elsewhere, too, or in other quotes.
    ("out = \"slq\"\ntargets = [\"slq\"]\n", &["claimsmith.toml:2:12", "unknown target `slq`"]),
    ("# \"mysq\"\ndialects = ['mysq']\n", &["claimsmith.toml:2:13", "unknown dialect `mysq`"]),
    ("dialects = [\"my\\u0073q\"]\n", &["claimsmith.toml:1:13", "unknown dialect `mysq`"]),
];

#[test]
fn what_is_wrong_is_told_with_its_position() {
    let mut faults = Vec::new();
    for (text, says) in WRONG {
        let project = Project::new(&[("claimsmith.toml", text), ("schemas/notes.json", NOTES)]);
        if let Some(fault) = project.run(&["generate"]).fault(2, says) {
            faults.push(format!("{text:?}: {fault}"));
        }
        assert!(!project.path("generated").exists());
    }
    assert_none(faults);
}

/// A flag is not in the file, even if the file has the same word.
#[test]
fn a_wrong_flag_is_not_blamed_on_the_file() {
    let project = Project::new(&[("claimsmith.toml", "out = \"mysq\"\n"), ("schemas/notes.json", NOTES)]);
    let run = project.run(&["generate", "--dialect", "mysq"]).assert(2);
    assert!(!run.stderr.contains("claimsmith.toml"), "{}", run.stderr);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let project = Project::notes();
    project
        .run(&["generate", "--config", "absent.toml"])
        .assert(2)
        .says(&["absent.toml", "cannot read the configuration"]);
    project
        .run(&["generate", "--config", "schemas"])
        .assert(2)
        .says(&["schemas", "a folder stands where a file is needed"]);
    project.write("claimsmith.toml", b"out = \"\xff\"\n");
    project.run(&["generate"]).assert(2).says(&["claimsmith.toml", "UTF-8"]);
}

/// People who write TOML have not read the Rust types.
#[test]
fn messages_speak_of_toml() {
    for text in ["schemas = \"defs\"\n", "dialects = 5\n", "out = []\n"] {
        let project = Project::new(&[("claimsmith.toml", text), ("schemas/notes.json", NOTES)]);
        let run = project.run(&["generate"]).assert(2);
        assert!(!run.stderr.contains("sequence") && !run.stderr.contains("path string"), "{text}: {}", run.stderr);
    }
}
