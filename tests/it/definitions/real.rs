//! The 49 tables of a real system load as they are. The file is not part of the repository.

use std::path::PathBuf;

use crate::loaded::{ALL, load, repository};
use crate::project::skipped;

/// Where the file is looked for, unless `CLAIMSMITH_REAL` names another place.
const BESIDE: &str = "../shared/real/nexuscrm_system_tables.json";

#[test]
fn a_real_system_loads_unchanged() {
    let path = std::env::var_os("CLAIMSMITH_REAL").map_or_else(|| repository(BESIDE), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&path) else {
        return skipped(&format!("a_real_system_loads_unchanged: no file at {BESIDE} or in CLAIMSMITH_REAL"));
    };
    let loaded = load(&[("real.json", &text)], &ALL);
    assert_eq!(loaded.catalog.tables.len(), 49);
    assert!(!loaded.has_errors(), "{}", loaded.report());
    for sql in loaded.sql() {
        assert_eq!(sql.matches("CREATE TABLE").count(), 49);
    }
}
