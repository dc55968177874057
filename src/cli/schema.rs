//! `claimsmith schema`: the JSON Schema of the definition format.

use std::io::Write;

use super::Outcome;

/// Prints the schema to standard output.
pub fn run() -> anyhow::Result<Outcome> {
    anstream::stdout().write_all(crate::schema::json_schema::text().as_bytes())?;
    Ok(Outcome::Clean)
}
