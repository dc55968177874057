//! The committed modules are what their templates make: written when `CLAIMSMITH_UPDATE` is `1`, checked otherwise.

use std::path::Path;
use std::process::Command;

const MODULES: [&str; 1] = ["nats"];

/// These templates say nothing but their header.
fn rendered(module: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let template = std::fs::read_to_string(root.join(format!("templates/rust/{module}.rs.jinja"))).unwrap();
    let (version, body) = template.split_once("#}\n").unwrap();
    assert!(version.starts_with("{#"), "{version}");
    let text = body
        .replace("{{ header.line }}", &format!("Made from templates/rust/{module}.rs.jinja by a test; do not edit"))
        .replace("{{ header.fingerprint }}", "fingerprint of no definition");
    assert!(!["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)), "{module} says more");
    text
}

#[test]
fn the_modules_are_those_of_the_templates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/brokers/generated");
    for module in MODULES {
        let (path, text) = (folder.join(format!("{module}.rs")), rendered(module));
        if std::env::var("CLAIMSMITH_UPDATE").as_deref() == Ok("1") {
            std::fs::write(&path, text).unwrap();
        } else {
            let committed = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(committed == text, "run the tests with CLAIMSMITH_UPDATE=1 to renew {}", path.display());
        }
    }
}

#[test]
fn rustfmt_would_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let paths = MODULES.map(|module| folder.path().join(format!("{module}.rs")));
    MODULES.iter().zip(&paths).for_each(|(module, path)| std::fs::write(path, rendered(module)).unwrap());
    // In a folder of its own, where no configuration of this project is found.
    let output = Command::new("rustfmt").args(["--edition", "2024", "--check"]).args(&paths).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{}", text.chars().take(5_000).collect::<String>());
}
