//! How findings are printed: frames or lines, with colours or without.

use crate::project::{NOTES, Project, Run};

/// A project with a fault on line 8 of `schemas/notes.json`.
fn broken() -> Project {
    Project::new(&[("schemas/notes.json", &NOTES.replace("[\"title\"]", "[\"titel\"]"))])
}

#[test]
fn a_finding_is_a_headline_a_frame_and_help() {
    let run = broken().run(&["generate"]).assert(1);
    assert_eq!(run.stdout, "");
    assert_eq!(
        run.stderr,
        "error[missing-column]: an index names the column `titel`, which `notes` does not have
 --> schemas/notes.json:8:50
  |
8 |   \"indices\": [{ \"name\": \"idx_title\", \"columns\": [\"titel\"] }]
  |                                                  ^^^^^^^
  |
  = help: did you mean `title`?

1 error
"
    );
}

#[test]
fn concise_findings_are_a_line_each() {
    let run = broken().run(&["generate", "--concise"]).assert(1);
    let line = "schemas/notes.json:8:50: error[missing-column]: an index names the column `titel`, which `notes` does not have";
    assert_eq!(run.stderr, format!("{line}\n1 error\n"));
    let project = Project::default();
    let fault = project.run(&["generate", "--concise"]).assert(2);
    assert_eq!(fault.stderr.lines().count(), 1, "{}", fault.stderr);
}

/// Names and texts of a definition come from its author, and lines of a log from claimsmith alone.
#[test]
fn a_name_cannot_begin_a_line_of_its_own() {
    let name = "x\\nschemas/other.json:1:1: error[json-syntax]: forged";
    let project = Project::new(&[(
        "schemas/notes.json",
        &NOTES.replace("\"notes\"", &format!("\"{name}\"")).replace("BIGINT", name),
    )]);
    let concise = project.run(&["generate", "--concise"]).assert(1);
    let forged: Vec<&str> = concise.stderr.lines().filter(|line| line.starts_with("schemas/other.json")).collect();
    assert!(forged.is_empty(), "{}", concise.stderr);
    let framed = project.run(&["generate"]).assert(1);
    assert!(
        !framed.stderr.lines().any(|line| line.trim_start().starts_with("schemas/other.json")),
        "{}",
        framed.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_path_cannot_move_the_cursor_or_reorder_the_line() {
    let project = Project::new(&[("schemas/a\u{1b}[2Jb\u{202e}\nc.json", "[1,]")]);
    for arguments in [&["--color", "always", "generate"][..], &["--color", "always", "generate", "--concise"]] {
        let run = project.run(arguments).assert(1);
        for hidden in ["\u{1b}[2J", "\u{202e}", "\nc.json"] {
            assert!(!run.stderr.contains(hidden), "{:?}", run.stderr);
        }
    }
    let fault = project.run(&["--color", "always", "generate", "no\u{1b}[2Jwhere"]).assert(2);
    assert!(!fault.stderr.contains("\u{1b}[2J"), "{:?}", fault.stderr);
}

#[test]
fn colours_are_chosen_by_flag_terminal_and_environment() {
    let project = broken();
    for (flag, variables, coloured) in [
        ("auto", &[][..], false),
        ("always", &[], true),
        ("never", &[], false),
        ("auto", &[("CLICOLOR_FORCE", "1")], true),
        ("never", &[("CLICOLOR_FORCE", "1")], false),
        ("auto", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ("always", &[("NO_COLOR", "1")], true),
        ("auto", &[("NO_COLOR", "1")], false),
    ] {
        let run =
            Run::of(project.command().args(["--color", flag, "generate"]).envs(variables.iter().copied())).assert(1);
        assert_eq!(run.stderr.contains('\u{1b}'), coloured, "{flag} {variables:?}: {:?}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

/// `script` lends the program a terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_unless_it_does_not_want_them() {
    let project = broken();
    for (flag, variable, coloured) in [("auto", None, true), ("auto", Some("1"), false), ("never", None, false)] {
        let mut command = assert_cmd::Command::new("script");
        let program = format!("'{}' --color {flag} generate", env!("CARGO_BIN_EXE_claimsmith"));
        command.args(["--quiet", "--return", "--command", &program, "/dev/null"]).current_dir(project.path(""));
        command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE");
        command.envs(variable.map(|value| ("NO_COLOR", value)));
        let Ok(output) = command.output() else {
            return crate::project::skipped("a terminal gets colours: `script` is not here");
        };
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("missing-column"), "{text}");
        assert_eq!(text.contains("\u{1b}["), coloured, "{flag} {variable:?}: {text:?}");
    }
}

#[test]
fn findings_are_counted_by_their_weight() {
    let queue =
        NOTES.replace("\"notes\"", "\"notes_outbox\"").replace("VARCHAR(80)\"", "JSON\"").replace("'untitled'", "'{'");
    let run = Project::new(&[("schemas/notes.json", &queue)]).run(&["generate", "--concise"]).assert(1);
    let last = run.stderr.lines().last().unwrap();
    let count = |level: &str| run.stderr.matches(&format!(": {level}[")).count();
    assert_eq!((count("error"), count("warning"), count("note")), (3, 1, 2), "{}", run.stderr);
    assert_eq!(last, "3 errors, 1 warning, 2 notes");
}
