//! The file system refuses in the middle of a run: nothing is replaced, and no temporary file stays.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{FILES, assert_changes_nothing, large, outdated};
use crate::project::{Project, skipped};

/// Runs a program that only root can run with effect; whether it worked.
fn as_root(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// A path that even root cannot change, until it is dropped.
struct Immutable(PathBuf);

impl Immutable {
    fn new(path: PathBuf) -> Option<Immutable> {
        as_root("chattr", &["+i", path.to_str()?]).then_some(Immutable(path))
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        as_root("chattr", &["-i", self.0.to_str().unwrap()]);
    }
}

/// A file system of its own, until it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(path: PathBuf, options: &str) -> Option<Mounted> {
        std::fs::create_dir_all(&path).ok()?;
        as_root("mount", &["-t", "tmpfs", "-o", options, "tmpfs", path.to_str()?]).then_some(Mounted(path))
    }

    fn change(path: &Path, options: &str) -> bool {
        as_root("mount", &["-o", &format!("remount,{options}"), path.to_str().unwrap()])
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        as_root("umount", &[self.0.to_str().unwrap()]);
    }
}

#[test]
fn a_file_that_cannot_be_replaced_keeps_all_others() {
    for file in FILES {
        let project = outdated();
        let Some(_immutable) = Immutable::new(project.path(file)) else {
            return skipped("a file that cannot be replaced: `chattr +i` needs root and a file system that knows it");
        };
        assert_changes_nothing(&project, &[], &[file, "check the permissions"]);
    }
}

#[test]
fn a_folder_that_takes_no_file_keeps_all_others() {
    for file in FILES {
        let project = outdated();
        let folder = project.path(file).parent().unwrap().to_owned();
        let Some(_immutable) = Immutable::new(folder) else {
            return skipped("a folder that takes no file: `chattr +i` needs root and a file system that knows it");
        };
        assert_changes_nothing(&project, &[], &[file, "cannot write", "check the permissions"]);
    }
}

#[test]
fn a_full_disk_keeps_the_old_files() {
    let project = Project::notes();
    let Some(mounted) = Mounted::new(project.path("generated"), "size=20k") else {
        return skipped("a full disk: mounting a small one needs root");
    };
    project.run(&["generate"]).assert(0);
    // Four small files take a page each, and four large ones beside them more than there is.
    project.write("schemas/notes.json", large());
    assert_changes_nothing(&project, &[], &["generated/sql/", "free some space; no file was changed by this run"]);
    assert!(Mounted::change(&mounted.0, "size=1m"));
    project.run(&["generate"]).assert(0).says(&["4 files written"]);
}

#[test]
fn a_read_only_file_system_is_named() {
    let project = Project::notes();
    let Some(mounted) = Mounted::new(project.path("generated"), "size=1m") else {
        return skipped("a read-only file system: mounting one needs root");
    };
    project.run(&["generate"]).assert(0);
    project.edit(FILES[3]);
    assert!(Mounted::change(&mounted.0, "ro"));
    assert_changes_nothing(&project, &[], &[FILES[3], "the file system is mounted read-only"]);
    // What is as it should be needs no writing.
    project.run(&["generate", "--dialect", "mysql"]).assert(0);
}

/// Somebody else's folder, as seen by a user who is not root.
#[test]
fn permissions_that_are_missing_are_named() {
    let project = outdated();
    let program = "chmod -R a-w generated; exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" generate";
    as_root("chmod", &["a+rx", project.path("").to_str().unwrap()]);
    if !as_root(
        "setpriv",
        &["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_claimsmith"), "--version"],
    ) {
        return skipped("missing permissions: `setpriv` needs root, and the program must be readable for all");
    }
    let before = project.contents("");
    let run = crate::project::Run::of(
        assert_cmd::Command::new("sh")
            .args(["-c", program, env!("CARGO_BIN_EXE_claimsmith")])
            .current_dir(project.path("")),
    );
    assert_eq!(project.contents(""), before);
    run.assert(2).says(&[FILES[0], "Permission denied", "check the permissions of the file and of its folder"]);
}
