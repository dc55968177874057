//! The README says what happens: its console blocks are run, in their order, in one empty folder.

use std::path::Path;
use std::process::Command;

use crate::typescript;

/// A fenced block: its language, and the file that the comment before it names.
struct Block<'a> {
    language: &'a str,
    file: Option<&'a str>,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut file = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("<!-- file: ").and_then(|rest| rest.strip_suffix(" -->")) {
            file = Some(path);
        } else if let Some(language) = line.strip_prefix("```") {
            let lines = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block { language, file: file.take(), lines });
        }
    }
    blocks
}

/// What the shell prints for one command, both streams in their order.
fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_claimsmith")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn console_blocks_print_what_they_say() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for block in blocks(&readme) {
        if let Some(file) = block.file {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, block.lines.join("\n") + "\n").unwrap();
        }
        if block.language == "console" {
            for step in block.lines.join("\n").split("$ ").skip(1).filter(|step| !step.is_empty()) {
                let (command, expected) = step.split_once('\n').unwrap_or((step, ""));
                let printed = run(command, folder.path());
                assert_eq!(printed.trim_end(), expected.trim_end(), "`{command}` printed something else");
                commands += 1;
            }
        }
    }
    assert!(commands >= 8, "only {commands} commands were found");
    typescript::check_example(&folder.path().join("example.ts"));
}
