//! Pieces of MySQL's DDL.

use crate::schema::Column;

use super::super::{Frame, Needs, quoted};

/// A string literal. Backslashes are doubled, which is right in every SQL mode but NO_BACKSLASH_ESCAPES; [`frame`]
/// switches that mode off where a text holds one.
pub fn literal(text: &str) -> String {
    quoted(&text.replace('\\', "\\\\"), '\'')
}

/// The column in a key, long ones by their prefix.
pub fn key_part(column: &Column) -> String {
    let name = quoted(&column.name, '`');
    match column.key_length.filter(|_| column.ty.is_long()) {
        Some(length) => format!("{name}({length})"),
        None => name,
    }
}

/// Switches what stands in the way off before the tables, and back as it was after them.
pub fn frame(needs: &Needs) -> Frame {
    let mut frame = Frame::default();
    let mut add = |before: &[&str], after: &str| {
        frame.before.extend(before.iter().map(|sql| (*sql).to_owned()));
        frame.after.push(after.to_owned());
    };
    if needs.beyond_ascii {
        // Clients without a locale take the script for Latin-1.
        let save = "SET @claimsmith_client = @@SESSION.character_set_client, \
            @claimsmith_results = @@SESSION.character_set_results, \
            @claimsmith_connection = @@SESSION.character_set_connection, \
            @claimsmith_collation = @@SESSION.collation_connection";
        let back = "SET SESSION character_set_client = @claimsmith_client, \
            character_set_results = @claimsmith_results, \
            character_set_connection = @claimsmith_connection, \
            collation_connection = @claimsmith_collation";
        add(&[save, "SET NAMES utf8mb4"], back);
    }
    if needs.backslash {
        let save = "SET @claimsmith_sql_mode = @@SESSION.sql_mode";
        let off = "SET SESSION sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')";
        add(&[save, off], "SET SESSION sql_mode = @claimsmith_sql_mode");
    }
    if needs.circular {
        let save = "SET @claimsmith_foreign_key_checks = @@SESSION.foreign_key_checks";
        let back = "SET SESSION foreign_key_checks = @claimsmith_foreign_key_checks";
        add(&[save, "SET SESSION foreign_key_checks = 0"], back);
    }
    if needs.bare_timestamp {
        // The setting asks for a privilege, so it is touched only where it is off: then a TIMESTAMP without a default would
        // get one, and be set by every update.
        let save = "SET @claimsmith_timestamps = @@SESSION.explicit_defaults_for_timestamp";
        let choose = |value: &str| {
            format!(
                "SET @claimsmith_set = IF(@claimsmith_timestamps, 'DO 0', 'SET SESSION explicit_defaults_for_timestamp = {value}')"
            )
        };
        let run = [
            "PREPARE claimsmith_set FROM @claimsmith_set",
            "EXECUTE claimsmith_set",
            "DEALLOCATE PREPARE claimsmith_set",
        ];
        add(&[&[save, &*choose("ON")], &run[..]].concat(), &choose("OFF"));
        frame.after.extend(run.map(str::to_owned));
    }
    frame
}
