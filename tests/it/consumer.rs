//! Programs that use claimsmith: the examples, a crate that does so by its `build.rs`, and one with committed code. Cargo
//! builds them, and they run.

mod rebuild;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::brokers::server;
use crate::project::{Project, cut};

/// Cargo as this test was built by it: in the same target folder and profile, and without the network.
fn cargo(subcommand: &str) -> Command {
    let profile = Path::new(env!("CARGO_BIN_EXE_claimsmith")).parent().unwrap().file_name().unwrap().to_str().unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args([subcommand, "--offline", "--profile", if profile == "debug" { "dev" } else { profile }]);
    command.arg("--target-dir").arg(Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap());
    command.env_remove("CARGO_BUILD_TARGET").env("CARGO_TERM_COLOR", "never");
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", cut(&stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Builds everything that `cargo test` builds, examples included, and the consumers with it. What they share with claimsmith has then the same
/// features, so that sqlx is there already.
fn build() -> Vec<Value> {
    let mut command = cargo("build");
    command.args(["--locked", "--workspace", "--bins", "--examples", "--tests", "--message-format", "json"]);
    let messages = succeeded(&command.output().unwrap());
    messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The program that was built from the source file below the repository.
fn executable(messages: &[Value], source: &str, is_test: bool) -> PathBuf {
    let of = |message: &&Value| {
        let is_source = message["target"]["src_path"].as_str().is_some_and(|path| path.ends_with(source));
        is_source && message["profile"]["test"] == is_test && message["executable"].is_string()
    };
    PathBuf::from(messages.iter().find(of).unwrap_or_else(|| panic!("no {source}"))["executable"].as_str().unwrap())
}

#[test]
fn consumers_are_built_with_what_is_there_and_run() {
    let messages = build();
    let heavy = |message: &&Value| {
        let name = message["target"]["name"].as_str().unwrap_or_default();
        message["reason"] == "compiler-artifact" && (name.starts_with("sqlx") || name == "libsqlite3_sys")
    };
    let heavy: Vec<&Value> = messages.iter().filter(heavy).collect();
    assert!(heavy.len() >= 5, "{heavy:?}");
    heavy.iter().for_each(|message| assert_eq!(message["fresh"], true, "built again: {}", message["package_id"]));

    let built = executable(&messages, "tests/consumer/src/main.rs", false);
    let printed = succeeded(&Command::new(built).output().unwrap());
    assert_eq!(printed, "customer.created of Grüße & Co is delivered\n");

    let tests = executable(&messages, "tests/consumer_committed/tests/round_trip.rs", true);
    let printed = succeeded(&Command::new(tests).output().unwrap());
    assert!(printed.contains("test result: ok. 1 passed"), "{printed}");
}

#[test]
fn examples_print_what_they_are_about() {
    let messages = build();
    let print = |source| succeeded(&Command::new(executable(&messages, source, false)).output().unwrap());
    let outbox = "b1 is booked\nb2 is booked\nb3 is booked\nb4 is booked\nb1 was booked before\n\
        first: b1 is delivered\nfirst: b2 is put back: the printer is out of paper\nfirst: b3 is delivered\n\
        first: b4 is released\nsecond: b4 is delivered\nsecond: b2 is delivered\n\
        user 7 has 70; 0 events are pending, 0 are dead\n";
    assert_eq!(print("examples/outbox.rs"), outbox);
    let inbox = "m1 is handled\nm1 was handled before\n\
        m2 failed: error returned from database: (code: 275) CHECK constraint failed: amount >= 0\n\
        m2 is handled\n18 are left\n";
    assert_eq!(print("examples/inbox.rs"), inbox);
    let integration = "somebody changes a contact over there\nwebhook: 1 stored, 0 known\nwebhook: 0 stored, 1 known\n\
        sync: 1 claimed, 1 done, 1 not sent back\npush: 0 claimed\n\
        users of the CRM change two contacts, one of them twice\n1 is \"Ada\": Inserted\n2 is \"\": Inserted\n\
        1 is \"Ada Lovelace\": Coalesced\npush: 2 claimed, 1 done, 1 dead\nover there: \"Ada Lovelace\"\n\
        the platform tells of what it was sent\nwebhook: 1 stored, 0 known\nsync: 1 done, 0 not sent back\n\
        a worker is killed after its claim\n1 is \"Ada King\": Inserted\nits successor puts 1 of 1 back\n\
        push: 1 claimed, 1 done\nover there: \"Ada King\"\n\
        the contact without a name gets one, and its dead letter a new life\n2 is \"Charles\": Inserted\n1 revived\n\
        push: 2 claimed, 2 done\nover there: \"Charles\"\n";
    assert_eq!(print("examples/integration/main.rs"), integration);
    let event_bus = "4 published, 4 handled\nc1 has 3: hello / who are you? / good bye\nc2 has 1: good morning\n";
    assert_eq!(print("examples/event_bus.rs"), event_bus);
    // The same through real brokers.
    for (name, flag) in [("kafka", "--kafka"), ("nats", "--nats")] {
        let Some(address) = server::shared(name, "consumer::examples_print_what_they_are_about") else { continue };
        let executable = executable(&messages, "examples/event_bus.rs", false);
        let printed = succeeded(&Command::new(executable).args([flag, &address]).output().unwrap());
        assert_eq!(printed, event_bus, "{name}");
    }
}

/// Runs the script of the consumer with committed code in a copy of its folder.
fn script(project: &Project) -> Output {
    let mut command = Command::new(project.path("ci.sh"));
    command.arg("check").env("CLAIMSMITH", env!("CARGO_BIN_EXE_claimsmith")).output().unwrap()
}

#[test]
fn the_script_of_a_consumer_notices_code_that_is_out_of_date() {
    let project = Project::default();
    copy(&crate::loaded::repository("tests/consumer_committed"), &project.path(""));
    let output = script(&project);
    assert!(output.status.success(), "{}", cut(&String::from_utf8_lossy(&output.stderr)));

    let schema = "schemas/customers.json";
    project.write(schema, project.read(schema).replace("VARCHAR(80)", "VARCHAR(90)"));
    let output = script(&project);
    let (diff, words) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(diff.contains("+    /// `name`, `VARCHAR(90)`."), "{diff}");
    assert!(words.contains("run `claimsmith generate`"), "{words}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => _ = std::fs::copy(entry.path(), to).unwrap(),
        }
    }
}
