//! Pieces of PostgreSQL's DDL.

use super::super::quoted;

/// A string literal. One with a backslash is written as an escape string, which reads the same whatever
/// `standard_conforming_strings` says.
pub fn literal(text: &str) -> String {
    match text.contains('\\') {
        true => format!("E{}", quoted(&text.replace('\\', "\\\\"), '\'')),
        false => quoted(text, '\''),
    }
}

/// `ALTER TABLE … ADD CONSTRAINT`, which knows no IF NOT EXISTS, in a block that takes "it exists" for an answer.
pub fn add_constraint(table: &str, constraint: &str) -> String {
    let body =
        format!("BEGIN\n  ALTER TABLE {table} ADD {constraint};\nEXCEPTION WHEN duplicate_object THEN NULL;\nEND");
    let mut tag = "$claimsmith".to_owned();
    // A name that holds the tag would end the block early.
    while body.contains(&tag) {
        tag.push('_');
    }
    format!("DO {tag}$\n{body}\n{tag}$")
}
