//! A module uses only what stands on a lower floor.

use std::fs;
use std::path::Path;

/// Modules by floor, lowest first.
const FLOORS: [&[&str]; 8] = [
    &["diagnostic", "engine"],
    &["error"],
    &["schema", "sql", "output"],
    &["workload"],
    &["dialect"],
    &["statement", "template"],
    &["demo", "generate", "lint", "queue"],
    &["build_script", "cli", "main", "lib"],
];

fn floor(module: &str) -> usize {
    FLOORS
        .iter()
        .position(|floor| floor.contains(&module))
        .unwrap_or_else(|| panic!("`{module}` is on no floor: add it"))
}

/// Sources below `path`, each with the top module that it belongs to.
fn sources(path: &Path, module: Option<&str>, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = module.unwrap_or(&name);
        if path.is_dir() {
            sources(&path, Some(module), found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((module.to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn modules_use_only_lower_floors() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found);
    assert!(found.len() > 20, "the sources were not found");
    let mut uses = 0;
    for (module, text) in found.iter().filter(|(module, _)| module != "lib") {
        for used in text.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if used != *module {
                assert!(floor(&used) < floor(module), "`{module}` uses `{used}`, which is not below it");
                uses += 1;
            }
        }
    }
    assert!(uses > 20, "no uses were found");
}

#[test]
fn only_the_command_line_prints_and_only_dialects_name_databases() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found);
    for (module, text) in &found {
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        if module != "cli" {
            assert!(!code.contains("println!"), "`{module}` prints");
        }
        for id in claimsmith::dialect::ids().filter(|_| !["dialect", "cli"].contains(&module.as_str())) {
            assert!(!code.contains(&format!("\"{id}\"")), "`{module}` names {id}");
        }
    }
}
