//! What is committed is what is generated.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[test]
fn the_generated_files_are_up_to_date() {
    let output = Command::new(env!("CARGO_BIN_EXE_claimsmith"))
        .args(["generate", "--check"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let status = output.status;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(status.success(), "run `cargo run -- generate`:\n{text}");
}

#[test]
fn the_definitions_of_this_repository_have_neither_warnings_nor_notes() {
    let output = Command::new(env!("CARGO_BIN_EXE_claimsmith"))
        .args(["generate", "--check", "--concise"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("generated/sql").is_dir());
}

/// What the light profile must not have: a database, a runtime, a command line, parsers of SQL and of other languages; and
/// derives, which cost more to build than all that they would write.
const HEAVY: [&str; 15] = [
    "sqlx",
    "tokio",
    "clap",
    "sqlparser",
    "tree-sitter",
    "toml",
    "similar",
    "schemars",
    "anyhow",
    "indicatif",
    "anstream",
    "serde",
    "syn",
    "quote",
    "proc-macro2",
];

/// The profile of a consumer's build.rs compiles few crates, its own build scripts and macros included, and none of the
/// heavy ones.
#[test]
fn the_light_profile_stays_light() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--no-default-features", "--features", "generate"])
        .args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Two versions of one crate are two.
    let crates: BTreeSet<(&str, &str)> =
        text.lines().filter_map(|line| line.split(' ').next().zip(line.split(' ').nth(1))).collect();
    assert!((5..=10).contains(&crates.len()), "{} crates: {crates:?}", crates.len());
    for (name, _) in &crates {
        let heavy = HEAVY.iter().find(|heavy| *name == **heavy || name.starts_with(&format!("{heavy}-")));
        assert_eq!(heavy, None, "{name} is in the light profile");
    }
}
