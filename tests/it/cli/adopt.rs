//! `lint` in a repository that has much to mend: exceptions by path, changes only, several projects, mends.

use std::process::Command;

use crate::project::Project;

const TABLE: &str = "CREATE TABLE mail_queue (id BIGINT PRIMARY KEY, app_code TEXT, status TEXT);\n";
const UNSCOPED: &str =
    "SELECT id FROM mail_queue\nWHERE status = 'new'\nORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;\n";
const SCOPED: &str =
    "SELECT id FROM mail_queue\nWHERE app_code = ?\nAND status = 'new'\nORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;\n";

fn allow(rule: &str, path: &str, reason: &str) -> String {
    format!("[[lint.allow]]\nrule = \"{rule}\"\npath = \"{path}\"\nreason = \"{reason}\"\n")
}

#[test]
fn findings_are_allowed_by_rule_and_path() {
    let project = Project::new(&[("db/table.sql", TABLE), ("tools/a.sql", UNSCOPED), ("app/a.sql", UNSCOPED)]);
    project.run(&["lint"]).assert(1).says(&["2 errors"]);
    for pattern in ["tools", "/tools/", "tools/**", "tools/*.sql"] {
        project.write("claimsmith.toml", allow("claim-without-scope", pattern, "run by hand"));
        let run = project.run(&["lint", "--format", "concise"]).assert(1);
        assert!(
            run.stdout.starts_with("app/a.sql:1:16") && run.stdout.lines().count() == 1,
            "{pattern}: {}",
            run.stdout
        );
    }
    // It is for its rule only, and what allows nothing is a finding, unless only a part was looked at.
    project.write("claimsmith.toml", allow("claim-or-branch", "tools", "run by hand"));
    project.run(&["lint"]).assert(1).says(&["claimsmith.toml:2:8", "nothing in `tools` is found by `claim-or-branch`"]);
    assert!(!project.run(&["lint", "app", "db"]).assert(1).stderr.contains("claimsmith.toml"));
}

#[test]
fn wrong_exceptions_are_said() {
    let project = Project::new(&[("db/table.sql", TABLE)]);
    for (text, words) in [
        (allow("claim-without-scop", "tools", "a"), "did you mean `claim-without-scope`?"),
        (allow("claim-without-scope", "tools", " "), "`reason` is empty"),
        (allow("claim-without-scope", "", "a"), "names no files"),
        (allow("claim-without-scope", "!a", "a"), "names no files"),
        ("[[lint.allow]]\nrule = \"claim-without-scope\"\nreason = \"a\"\n".to_owned(), "`path` is missing"),
        ("[[lint.allow]]\nrules = \"a\"\n".to_owned(), "did you mean `rule`?"),
        ("[lint]\nallow = \"a\"\n".to_owned(), "expected a list of tables"),
        ("[lint]\nservices = [\"a\"]\n".to_owned(), "expected a table"),
    ] {
        project.write("claimsmith.toml", &text);
        project.run(&["lint"]).assert(2).says(&[words, "claimsmith.toml:"]);
    }
}

const ORDERS: &str = r#"{
  "tableName": "order_outbox", "description": "Events of orders.", "primaryKey": ["id"],
  "columns": [{ "name": "id", "type": "VARCHAR(64)" }, { "name": "status", "type": "VARCHAR(20)" },
    { "name": "made_ms", "type": "BIGINT" }],
  "claim": { "global": true, "order": "made_ms", "status": { "column": "status", "pending": "new", "done": "done" } },
  "allow": { "queue-without-mark": "a", "queue-without-retry-time": "a", "queue-without-dead-state": "a", "queue-without-retention": "a", "queue-without-retry-count": "a" }
}
"#;

const READS: &str = "SELECT id FROM order_outbox WHERE id = ?;\n";

/// Each folder with a configuration is a project: its rules, its definitions, its service.
#[test]
fn folders_with_a_configuration_are_projects() {
    let project = Project::new(&[
        ("claimsmith.toml", "[lint.services]\n\"tools/reports\" = \"reports\"\n"),
        ("services/orders/claimsmith.toml", "schemas = [\"defs\"]\n[lint]\nservice = \"orders\"\n"),
        ("services/orders/defs/order_outbox.json", ORDERS),
        ("services/orders/src/read.sql", READS),
        ("services/shop/claimsmith.toml", "[lint]\nservice = \"shop\"\n[lint.rules]\nclaim-without-scope = \"off\"\n"),
        ("services/shop/read.sql", READS),
        ("services/shop/change.sql", "UPDATE order_outbox SET status = 'done' WHERE id = ?;\n"),
        ("services/shop/own.sql", &format!("{TABLE}{UNSCOPED}")),
        ("tools/reports/read.sql", READS),
        ("tools/other.sql", READS),
    ]);
    let run = project.run(&["lint", "--format", "concise"]).assert(1);
    let found: Vec<&str> = run.stdout.lines().filter(|line| !line.contains("[queue-")).collect();
    let [changes, reads, reports] = &found[..] else { panic!("{}", run.stdout) };
    assert!(changes.starts_with("services/shop/change.sql:1:8: error[foreign-scan]: `shop` changes"), "{changes}");
    assert!(reads.starts_with("services/shop/read.sql:1:16: warning[foreign-scan]: `shop` reads"), "{reads}");
    assert!(reports.starts_with("tools/reports/read.sql:1:16: warning[foreign-scan]: `reports` reads"), "{reports}");
    // A configuration that is named is the only one.
    let run = project.run(&["lint", "--config", "claimsmith.toml", "--format", "concise"]);
    assert!(!run.stdout.contains("foreign-scan") && run.stdout.contains("claim-without-scope"), "{}", run.stdout);
    // Exceptions of a project are for its own files.
    let own = "[lint]\nservice = \"shop\"\n".to_owned() + &allow("foreign-scan", "*.sql", "moves away next month");
    project.write("services/shop/claimsmith.toml", own);
    let run = project.run(&["lint", "--format", "concise"]).assert(1);
    assert!(run.stdout.contains("`reports` reads") && !run.stdout.contains("`shop`"), "{}", run.stdout);
    // A fault in one of them is said where it stands.
    project.write("services/shop/claimsmith.toml", "[lint]\nservices = 1\n");
    project.run(&["lint"]).assert(2).says(&["services/shop/claimsmith.toml:2:12"]);
}

fn git(project: &Project, arguments: &[&str]) {
    let mut command = Command::new("git");
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    command.current_dir(project.path("")).args(identity).args(arguments).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository(files: &[(&str, &str)]) -> Project {
    let project = Project::new(files);
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "-m", "a"]);
    project
}

fn paths(project: &Project, arguments: &[&str]) -> Vec<String> {
    let run = project.run(&[&["lint", "--fail-on", "never", "--format", "concise"], arguments].concat()).assert(0);
    run.stdout.lines().map(|line| line.split(": ").next().unwrap().to_owned()).collect()
}

#[test]
fn since_a_commit_only_changed_statements_are_found() {
    let two = format!("{UNSCOPED}\n{UNSCOPED}");
    let project = repository(&[("db/table.sql", TABLE), ("app/old.sql", &two), ("app/good.sql", SCOPED)]);
    let since = ["--since", "main"];
    assert_eq!(paths(&project, &since), Vec::<String>::new());
    // Another line of the statement than the one that the finding stands on.
    project.write("app/old.sql", format!("{UNSCOPED}\n{}", UNSCOPED.replace("LIMIT 10", "LIMIT 20")));
    assert_eq!(paths(&project, &since), ["app/old.sql:5:16"]);
    // A condition that was taken out leaves no line.
    project.write("app/good.sql", SCOPED.replace("app_code = ?\nAND ", ""));
    assert_eq!(paths(&project, &since), ["app/good.sql:1:16", "app/old.sql:5:16"]);
    // A line above moves everything, and changes nothing.
    project.write("app/old.sql", format!("-- a\n{two}"));
    project.write("app/good.sql", SCOPED);
    assert_eq!(paths(&project, &since), Vec::<String>::new());
    // A new file with a strange name, from a folder below.
    project.write("app/ä \"new\".sql", UNSCOPED);
    assert_eq!(paths(&project, &since), ["app/ä \"new\".sql:1:16"]);
    git(&project, &["add", "."]);
    assert_eq!(paths(&project, &since), ["app/ä \"new\".sql:1:16"]);
    project.write("app/table.sql", TABLE);
    let run = project.run_in("app", &["lint", "--since", "HEAD", "--format", "concise"]).assert(1);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
}

/// What happened on the other branch meanwhile is not what this one changed.
#[test]
fn changes_are_those_since_the_branches_parted() {
    let project = repository(&[("db/table.sql", TABLE), ("app/a.sql", UNSCOPED)]);
    git(&project, &["checkout", "--quiet", "-b", "work"]);
    git(&project, &["checkout", "--quiet", "main"]);
    project.write("app/a.sql", SCOPED);
    git(&project, &["commit", "--quiet", "-am", "b"]);
    git(&project, &["checkout", "--quiet", "work"]);
    assert_eq!(paths(&project, &["--since", "main"]), Vec::<String>::new());
}

#[test]
fn since_says_what_it_lacks() {
    let project = Project::new(&[("db/table.sql", TABLE)]);
    let outside = project.run(&["lint", "--since", "main"]).assert(2);
    assert!(outside.stderr.contains("git could not say what changed"), "{}", outside.stderr);
    let project = repository(&[("db/table.sql", TABLE)]);
    project.run(&["lint", "--since", "nothing"]).assert(2).says(&["`nothing` is no commit of this repository"]);
    project.run(&["lint", "--since=--output=x"]).assert(2).says(&["is no commit"]);
    assert!(!project.path("x").exists());
    let mut command = project.command();
    let run = crate::project::Run::of(command.env("PATH", "").args(["lint", "--since", "main"])).assert(2);
    run.says(&["cannot run `git`", "use a baseline"]);
}

const MENDED: &str = "-- `mysql`\nSELECT id FROM mail_queue WHERE app_code = ? AND status = 'new' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;\n";

#[test]
fn certain_mends_are_written() {
    let waits = MENDED.replace(" SKIP LOCKED", "");
    let turned = MENDED.replace("LIMIT 10 FOR UPDATE SKIP LOCKED", "FOR UPDATE SKIP LOCKED LIMIT 10");
    let both = MENDED.replace("LIMIT 10 FOR UPDATE SKIP LOCKED", "FOR UPDATE LIMIT 10");
    let go = |sql: &str| format!("package a\n\nvar q = `{}`\n", sql.replace("-- `mysql`\n", ""));
    let escaped = "package a\n\nvar q = \"SELECT id FROM mail_queue WHERE app_code = ? AND status = 'new' \\n ORDER BY id LIMIT 10 FOR UPDATE\"\n";
    let delete = "DELETE FROM mail_queue WHERE app_code = ? AND status = 'sent';\n";
    let project = Project::new(&[
        ("db/table.sql", TABLE),
        ("a/waits.sql", &waits),
        ("a/turned.sql", &turned),
        ("a/both.sql", &both),
        ("a/waits.go", &go(&waits)),
        ("a/escaped.go", escaped),
        ("a/allowed.sql", &format!("-- claimsmith: allow(claim-without-skip-locked) one worker\n{waits}")),
        ("a/delete.sql", delete),
    ]);
    let before = project.read("a/allowed.sql");
    let run = project.run(&["lint", "--fix"]);
    assert!(run.stderr.contains("mended in 5 files"), "{}", run.stderr);
    for path in ["a/waits.sql", "a/turned.sql"] {
        assert_eq!(project.read(path), MENDED, "{path}");
    }
    assert_eq!(project.read("a/waits.go"), go(MENDED));
    assert_eq!(project.read("a/escaped.go"), escaped.replace("FOR UPDATE", "FOR UPDATE SKIP LOCKED"));
    // A delete never gets a LIMIT, and what is allowed stays.
    assert_eq!(project.read("a/delete.sql"), delete);
    assert_eq!(project.read("a/allowed.sql"), before);
    // Mends that touch one another come one after the other.
    project.run(&["lint", "--fix"]);
    assert_eq!(project.read("a/both.sql"), MENDED);
    let after = project.contents("a");
    let run = project.run(&["lint", "--fix"]);
    assert!(run.stderr.contains("0 findings mended in 0 files"), "{}", run.stderr);
    assert_eq!(project.contents("a"), after);
    project.run(&["lint", "-", "--fix"]).assert(2);
}

/// Rights stay, a link stays a link, and no file is left beside.
#[cfg(unix)]
#[test]
fn mended_files_keep_what_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let project = Project::new(&[("db/table.sql", TABLE), ("real/a.sql", &MENDED.replace(" SKIP LOCKED", ""))]);
    std::fs::set_permissions(project.path("real/a.sql"), std::fs::Permissions::from_mode(0o640)).unwrap();
    project.write("links/x", "");
    symlink("../real/a.sql", project.path("links/a.sql")).unwrap();
    project.run(&["lint", "db", "links/a.sql", "--fix", "--fail-on", "never"]).assert(0);
    assert_eq!(project.read("real/a.sql"), MENDED);
    assert!(project.path("links/a.sql").symlink_metadata().unwrap().is_symlink());
    assert_eq!(project.path("real/a.sql").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(project.files(), ["db/table.sql", "links/a.sql", "links/x", "real/a.sql"]);
}

/// Files that are not linted themselves say what the names in others stand for.
#[test]
fn names_of_files_that_are_not_linted_are_known() {
    let worker = "package worker\n\nimport \"example.org/shop/gen/tables\"\n\nvar q = \"SELECT id FROM \" + tables.MailQueue + \" WHERE \" + open + \" ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED\"\n";
    let common = "<mapper namespace=\"a.Common\"><sql id=\"open\">status = 'new'</sql></mapper>";
    let mapper = "<mapper namespace=\"a.Mail\"><select id=\"a\">SELECT id FROM mail_queue WHERE <include refid=\"a.Common.open\"/> ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED</select></mapper>";
    let project = Project::new(&[
        ("db/table.sql", TABLE),
        (
            "gen/tables/tables.go",
            "// Code generated by x. DO NOT EDIT.\npackage tables\n\nconst MailQueue = \"mail_queue\"\n",
        ),
        ("worker/worker.go", worker),
        ("worker/states.go", "package worker\n\nconst open = \"status = 'new'\"\n"),
        ("mappers/Common.xml", common),
        ("mappers/Mail.xml", mapper),
    ]);
    let run = project.run(&["lint", "--format", "concise"]).assert(1);
    let found: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(found.len(), 2, "{}", run.stdout);
    assert!(found[0].starts_with("mappers/Mail.xml:") && found[0].contains("claim-without-scope"), "{}", found[0]);
    assert!(found[1].starts_with("worker/worker.go:5:") && found[1].contains("claim-without-scope"), "{}", found[1]);
}
