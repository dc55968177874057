//! The generated code is formatted as rustfmt does it by default.

use std::process::Command;

use super::subjects::subjects;

#[test]
fn rustfmt_would_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut roots = Vec::new();
    for (name, loaded) in subjects("formatted Rust") {
        for file in loaded.rust() {
            let path = folder.path().join(&name).join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file.content).unwrap();
        }
        roots.push(folder.path().join(name).join("rust/mod.rs"));
    }
    let output = Command::new("rustfmt").args(["--edition", "2024", "--check"]).args(&roots).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{}", text.chars().take(5_000).collect::<String>());
}
