//! What makes cargo generate again, and what does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use super::{cargo, succeeded};
use crate::project::cut;

const NOTES: &str = r#"{
  "tableName": "notes",
  "columns": [
    { "name": "id", "type": "BIGINT", "primaryKey": true }
  ]
}
"#;

const BUILD: &str = "//! Definitions → code.\n\nfn main() {\n    claimsmith::build_script::configure().compile();\n}\n";

const MAIN: &str = r#"include!(concat!(env!("OUT_DIR"), "/tables.rs"));

fn main() {
    println!("{}", env!("OUT_DIR"));
    println!("{:?}", tables::notes::COLUMNS);
}
"#;

/// A crate with a `build.rs` and without a database, always in the same place, so that its parts are built once.
struct Consumer(PathBuf);

impl Consumer {
    fn new() -> Consumer {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("consumer");
        _ = fs::remove_dir_all(&folder);
        let consumer = Consumer(folder);
        consumer.write("Cargo.toml", &manifest());
        consumer.write("build.rs", BUILD);
        consumer.write("src/main.rs", MAIN);
        consumer.write("schemas/notes.json", NOTES);
        // The versions that are here already.
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"), consumer.0.join("Cargo.lock")).unwrap();
        consumer
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn cargo(&self, subcommand: &str) -> Command {
        let mut command = cargo(subcommand);
        command.current_dir(&self.0);
        command
    }

    /// Builds the crate, and returns whether there was anything to do.
    #[track_caller]
    fn builds(&self) -> bool {
        let output = self.cargo("build").arg("--verbose").output().unwrap();
        succeeded(&output);
        let words = String::from_utf8(output.stderr).unwrap();
        let said = |word: &str| words.contains(&format!("{word} claimsmith-minimal v0.0.0 "));
        assert_ne!(said("Fresh"), said("Compiling"), "{}", cut(&words));
        said("Compiling")
    }

    /// Lets the build fail, and returns what cargo said.
    fn fails(&self) -> String {
        let output = self.cargo("build").output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && !words.contains("panicked"), "{}", cut(&words));
        words
    }

    /// What the program prints: its OUT_DIR and the columns.
    #[track_caller]
    fn prints(&self) -> (PathBuf, String) {
        let text = succeeded(&self.cargo("run").output().unwrap());
        let (out, columns) = text.trim_end().split_once('\n').unwrap();
        (PathBuf::from(out), columns.to_owned())
    }
}

fn manifest() -> String {
    format!(
        r#"[package]
name = "claimsmith-minimal"
version = "0.0.0"
edition = "2024"

[build-dependencies]
claimsmith = {{ path = {:?}, default-features = false, features = ["generate"] }}

[dependencies]
serde = {{ version = "1", features = ["derive"] }}

[profile.dev]
debug = "line-tables-only"

[workspace]
"#,
        env!("CARGO_MANIFEST_DIR")
    )
}

/// When the generated code was written, and what it is.
fn generated(out: &Path) -> (SystemTime, String) {
    let path = out.join("tables.rs");
    (fs::metadata(&path).unwrap().modified().unwrap(), fs::read_to_string(path).unwrap())
}

#[test]
fn what_is_touched_is_generated_again_and_nothing_else() {
    let consumer = Consumer::new();
    consumer.builds();
    let (out, columns) = consumer.prints();
    assert_eq!(columns, r#"["id"]"#);
    assert!(!consumer.builds(), "nothing was touched");
    let first = generated(&out);

    // The same again in a file that is newer: cargo runs the build script, which finds nothing to write.
    consumer.write("schemas/notes.json", NOTES);
    assert!(consumer.builds(), "a definition was touched");
    assert_eq!(generated(&out), first);
    assert!(!consumer.builds(), "nothing was touched");

    let id = r#"{ "name": "id", "type": "BIGINT", "primaryKey": true }"#;
    let more = NOTES.replace(id, &format!("{id},\n    {{ \"name\": \"text\", \"type\": \"TEXT\" }}"));
    consumer.write("schemas/notes.json", &more);
    assert_eq!(consumer.prints().1, r#"["id", "text"]"#);
    let second = generated(&out);
    assert_ne!(second, first);

    consumer.write("schemas/others.json", &NOTES.replace("notes", "others"));
    assert!(consumer.builds(), "a definition was added");
    assert!(generated(&out).1.contains("pub mod others {"));
    fs::remove_file(consumer.0.join("schemas/others.json")).unwrap();
    assert!(consumer.builds(), "a definition was removed");
    assert_eq!(generated(&out).1, second.1);
    assert!(!consumer.builds(), "nothing was touched");

    consumer.write("schemas/notes.json", &more.replace("BIGINT", r"BIGNIT\ncargo::rustc-env=PATH=x"));
    let words = consumer.fails();
    let expected = r"error: claimsmith-minimal@0.0.0: schemas/notes.json:4:29: error[unknown-type]: `id`: unknown type `BIGNIT\ncargo";
    assert!(words.contains(expected), "{words}");
    consumer.write("schemas/notes.json", &more.replace("BIGINT", "BIGNIT"));
    assert!(consumer.fails().contains("unknown type `BIGNIT`; help: did you mean `BIGINT`?"));
    assert_eq!(generated(&out).1, second.1, "a build that fails leaves what is there");
    consumer.write("schemas/notes.json", &more);
    assert!(consumer.builds(), "a definition was mended");
}
