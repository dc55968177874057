//! `schemas/*.json` → `OUT_DIR`.

fn main() {
    claimsmith::build_script::configure()
        .schemas("schemas")
        .dialect("sqlite")
        .table_attribute("customers", "#[derive(Eq, Hash)]")
        .compile();
}
