//! `lint` on trees that are no good: what cannot be read, what goes in circles, what changes meanwhile, what fills memory.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::project::Project;

const BAD: &str = "CREATE TABLE mail_queue (id BIGINT PRIMARY KEY, app_code TEXT, status TEXT);\n\
    SELECT id FROM mail_queue WHERE status = 'new' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;\n";

/// Bytes that are no UTF-8 and NUL bytes, in every kind of file and in its middle.
#[test]
fn files_that_are_no_text_are_counted() {
    let project = Project::new(&[("a.sql", BAD)]);
    for (at, extension) in ["sql", "go", "rs", "ts", "py", "java", "kt", "php", "rb", "cs", "xml"].iter().enumerate() {
        let text = "\"SELECT id FROM mail_queue WHERE status = 'new'\"";
        project.write(&format!("nul{at}.{extension}"), format!("{text}\u{0}{text}"));
        project
            .write(&format!("latin{at}.{extension}"), [text.as_bytes(), b" \xff\xfe \xe4", text.as_bytes()].concat());
        project.write(&format!("cut{at}.{extension}"), [text.as_bytes(), b" \xf0\x9f"].concat());
    }
    let run = project.run(&["lint"]).assert(1);
    assert!(run.stderr.contains("33 files skipped, not text") && run.stderr.contains("1 error"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_read_are_counted() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new(&[("a.sql", BAD), ("shut.sql", BAD)]);
    std::fs::set_permissions(project.path("shut.sql"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let stopped = std::fs::read(project.path("shut.sql")).is_err();
    let run = project.run(&["lint"]).assert(1);
    // Permissions do not stop root.
    let expected = if stopped { "1 file skipped, unreadable: shut.sql" } else { "2 errors" };
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn links_in_circles_end() {
    use std::os::unix::fs::symlink;

    let project = Project::new(&[("a.sql", BAD), ("deep/er/x", "")]);
    symlink("b.sql", project.path("c.sql")).unwrap();
    symlink("c.sql", project.path("b.sql")).unwrap();
    symlink("../..", project.path("deep/er/up")).unwrap();
    symlink("absent.sql", project.path("gone.sql")).unwrap();
    let run = project.run(&["lint", "--format", "concise"]).assert(1);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    project.run(&["lint", "b.sql"]).assert(2).says(&["cannot lint `b.sql`"]);
    project.run(&["lint", "gone.sql"]).assert(2).says(&["cannot lint `gone.sql`"]);
    // A link that is named is followed, through any folders.
    project.run(&["lint", "deep/er/up/a.sql"]).assert(1);
}

/// Files come and go, grow and become folders while they are read.
#[test]
fn a_tree_that_changes_meanwhile_is_linted() {
    let project = Project::new(&[("a.sql", BAD)]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0_usize;
            while !done.load(Ordering::Relaxed) {
                let path = format!("deep/{}/f{}.sql", round % 7, round % 3);
                match round % 4 {
                    0 | 1 => {
                        _ = std::fs::create_dir_all(project.path(&path).parent().unwrap())
                            .and_then(|()| std::fs::write(project.path(&path), BAD))
                    }
                    2 => _ = std::fs::remove_dir_all(project.path(&format!("deep/{}", round % 7))),
                    _ => _ = std::fs::create_dir_all(project.path(&path)),
                }
                round += 1;
            }
        });
        for _ in 0..15 {
            let run = project.run(&["lint", "--format", "concise"]);
            let mended = project.run(&["lint", "--fix", "--format", "concise"]);
            done.store(run.status != Some(1) || mended.status.is_none_or(|status| status > 2), Ordering::Relaxed);
            assert_eq!(run.status, Some(1), "{}", run.stderr);
            assert!(!run.stderr.contains("panicked") && !mended.stderr.contains("panicked"), "{}", mended.stderr);
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// A program that is given so much memory and no more reads the worst files that it reads at all.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded() {
    let many = 1_000_000;
    let sql = "SELECT event_id FROM order_outbox WHERE app_code = ? AND (status = 'pending'";
    let project = Project::new(&[
        (
            "or.sql",
            &format!(
                "{sql}{}) ORDER BY created_at_ms LIMIT 1 FOR UPDATE SKIP LOCKED",
                " OR lock_until_ms < 1".repeat(many / 21)
            ),
        ),
        ("parentheses.sql", &format!("{sql}{}", "(".repeat(many))),
        ("statements.sql", &"SELECT 1 FROM order_outbox;".repeat(many / 27)),
        ("literal.sql", &format!("{sql} AND payload = '{}'", "x".repeat(4 * many))),
        ("line.go", &format!("package a\nvar q = \"SELECT 1 FROM order_outbox {}\"\n", "x ".repeat(many))),
        (
            "if.xml",
            &format!(
                "<mapper><select id=\"a\">SELECT 1 FROM order_outbox {}</select></mapper>",
                "<if test=\"a\"> x </if>".repeat(many / 21)
            ),
        ),
    ]);
    // Address space, of which the stacks of threads are a part.
    let program = env!("CARGO_BIN_EXE_claimsmith");
    let script = format!("ulimit -v 1500000 && exec '{program}' lint --format concise");
    let mut shell = assert_cmd::Command::new("sh");
    let output = shell
        .current_dir(project.path(""))
        .args(["-c", &script])
        .timeout(std::time::Duration::from_secs(120))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("error[claim-or-branch]"), "{stderr}");
}
