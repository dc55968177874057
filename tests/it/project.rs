//! A temporary folder with files in it, and runs of the program there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A definition without findings on any engine.
pub const NOTES: &str = r#"{
  "tableName": "notes",
  "description": "What people write.",
  "columns": [
    { "name": "id", "type": "BIGINT", "primaryKey": true },
    { "name": "title", "type": "VARCHAR(80)", "default": "'untitled'" }
  ],
  "indices": [{ "name": "idx_title", "columns": ["title"] }]
}
"#;

/// A configuration that asks for SQL and nothing else.
pub const SQL_ONLY: &str = "targets = [\"sql\"]\n";

/// Longer than any run should take, and short enough to notice one that never ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// A temporary folder.
pub struct Project(tempfile::TempDir);

impl Default for Project {
    /// An empty folder.
    fn default() -> Project {
        Project(tempfile::tempdir().unwrap())
    }
}

impl Project {
    /// A folder with these files, given by path and text.
    pub fn new(files: &[(&str, &str)]) -> Project {
        let project = Project::default();
        files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    /// A folder with one table in `schemas/notes.json`, of which only SQL is generated: one file for each database.
    pub fn notes() -> Project {
        Project::new(&[("schemas/notes.json", NOTES), ("claimsmith.toml", SQL_ONLY)])
    }

    /// Like [`Project::notes`], after `generate`.
    pub fn generated() -> Project {
        let project = Project::notes();
        project.run(&["generate"]).assert(0);
        project
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Adds a line to a file, as somebody would by hand.
    pub fn edit(&self, path: &str) {
        self.write(path, self.read(path) + "-- edited by hand\n");
    }

    /// All files and links, relative to the folder and sorted.
    pub fn files(&self) -> Vec<String> {
        self.files_in("")
    }

    /// The files and links below one folder, by their paths from the root of the project.
    pub fn files_in(&self, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        collect(self.0.path(), &self.path(folder), &mut found);
        found.sort();
        found
    }

    /// All files below a folder with their contents, to see that nothing changed.
    pub fn contents(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let read = |file: String| (file.clone(), fs::read(self.path(&file)).unwrap());
        self.files_in(folder).into_iter().map(read).collect()
    }

    /// A command that runs the program in the folder, in an environment without settings for colours.
    pub fn command(&self) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_claimsmith"));
        command.current_dir(self.0.path()).timeout(PATIENCE);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command().args(arguments))
    }

    /// Runs the program in a folder below.
    pub fn run_in(&self, folder: &str, arguments: &[&str]) -> Run {
        Run::of(self.command().current_dir(self.path(folder)).args(arguments))
    }
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            collect(root, &entry.path(), found);
        } else {
            found.push(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// What a run printed, and how it ended.
#[derive(Debug)]
pub struct Run {
    /// Exit status; `None` after a signal.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn of(command: &mut assert_cmd::Command) -> Run {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Checks the exit status, and that the run did not end in a panic.
    #[track_caller]
    pub fn assert(self, status: i32) -> Run {
        assert_eq!(self.status, Some(status), "stdout: {}\nstderr: {}", cut(&self.stdout), cut(&self.stderr));
        assert!(!self.stderr.contains("panicked at"), "{}", cut(&self.stderr));
        self
    }

    /// What is not as it should be: the exit status, or a text that standard error lacks.
    pub fn fault(&self, status: i32, texts: &[&str]) -> Option<String> {
        let missing: Vec<&&str> = texts.iter().filter(|text| !self.stderr.contains(**text)).collect();
        let fine = self.status == Some(status) && missing.is_empty() && !self.stderr.contains("panicked at");
        (!fine).then(|| format!("status {:?}, no {missing:?} in: {}", self.status, cut(&self.stderr)))
    }

    /// Checks that standard error holds every one of the texts.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Run {
        for text in texts {
            assert!(self.stderr.contains(text), "no `{text}` in: {}", cut(&self.stderr));
        }
        self
    }
}

/// Fails with all faults of a list of cases at once.
#[track_caller]
pub fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults:\n\n{}", faults.len(), faults.join("\n\n"));
}

/// The beginning of a text, for messages.
pub fn cut(text: &str) -> String {
    text.chars().take(3_000).collect()
}

/// Says that a test was left out. Written past the capture of libtest, so that it is seen.
pub fn skipped(reason: &str) {
    _ = std::io::stderr().write_all(format!("skipped: {reason}\n").as_bytes());
}
