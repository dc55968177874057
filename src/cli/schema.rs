//! `claimsmith schema`: the JSON Schema of the definition format.

use super::{Outcome, print};

/// Prints the schema to standard output.
pub fn run() -> anyhow::Result<Outcome> {
    print(&crate::schema::json_schema::text())?;
    Ok(Outcome::Clean)
}
