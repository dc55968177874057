//! Settings of the session do not change what a script makes, and the script does not change them.

use crate::readback::assert_as_defined;
use crate::readback::definitions::{Definitions, fixture};
use crate::readback::rows::unchecked;
use crate::servers::{Scratch, Server, on_servers};

/// Runs the script of a fixture under settings and compares what is there afterwards, without them.
fn prove_under(settings: &str, back: &str, name: &str, scratch: &mut Scratch) {
    let definitions = Definitions::read(&fixture(name), scratch.server).without_errors();
    let script = definitions.schema_sql();
    scratch.run(settings).unwrap_or_else(|refusal| panic!("{settings}: {refusal}"));
    let before = variables(scratch);
    for run in ["first", "second"] {
        scratch.run(&script).unwrap_or_else(|refusal| panic!("{run} run under {settings}: {refusal}"));
    }
    let mut after = variables(scratch);
    after.retain(|setting| !before.contains(setting));
    assert!(after.is_empty(), "under {settings} the script changed the session: {after:?}");
    scratch.run(back).unwrap();
    assert_as_defined(&definitions, scratch, settings);
    drop_all(&definitions, scratch);
}

/// The settings that a script could have a reason to change. Not all there are: other tests may change global ones.
fn variables(scratch: &mut Scratch) -> Vec<Vec<Option<String>>> {
    match scratch.server.is_mysql_like() {
        true => scratch.rows(
            "SHOW SESSION VARIABLES WHERE Variable_name IN ('sql_mode', 'time_zone', 'autocommit', 'sql_notes')
                OR Variable_name LIKE '%checks' OR Variable_name LIKE 'character_set%' OR Variable_name LIKE 'collation%'
                OR Variable_name LIKE '%storage_engine' OR Variable_name LIKE '%for_timestamp'
                OR Variable_name LIKE '%strict%' OR Variable_name LIKE '%isolation'",
        ),
        false => scratch.rows("SELECT name, setting FROM pg_settings WHERE context = 'user' AND name NOT LIKE 'plpgsql.%'"),
    }
}

fn drop_all(definitions: &Definitions, scratch: &mut Scratch) {
    let dialect = scratch.server.dialect();
    for table in definitions.catalog.tables.iter() {
        let drop = format!("DROP TABLE {}", dialect.ident(&table.name.name));
        unchecked(&if scratch.server == Server::Postgres { drop + " CASCADE" } else { drop }, scratch);
    }
}

fn sql_modes(scratch: &mut Scratch) {
    let default = scratch.value("SELECT @@sql_mode");
    for mode in [
        "NO_BACKSLASH_ESCAPES",
        "STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,NO_ZERO_DATE",
        "ANSI,NO_BACKSLASH_ESCAPES",
        "",
        "ANSI",
        "TRADITIONAL",
        "NO_UNSIGNED_SUBTRACTION,HIGH_NOT_PRECEDENCE,REAL_AS_FLOAT",
    ] {
        let back = format!("SET sql_mode = '{default}'");
        prove_under(&format!("SET sql_mode = '{mode}'"), &back, "hostile.json", scratch);
        prove_under(&format!("SET sql_mode = '{mode}'"), &back, "every_type.json", scratch);
    }
}
on_servers!(sql_modes: mysql, mariadb);

/// A circle of foreign keys is created with their checks off; afterwards they are as they were.
fn foreign_key_checks(scratch: &mut Scratch) {
    for on in [0, 1] {
        let settings = format!("SET foreign_key_checks = {on}");
        prove_under(&settings, "SET foreign_key_checks = 1", "keys.json", scratch);
    }
}
on_servers!(foreign_key_checks: mysql, mariadb);

fn other_settings_of_mysql(scratch: &mut Scratch) {
    for (settings, back) in [
        ("SET default_storage_engine = MEMORY", "SET default_storage_engine = InnoDB"),
        ("SET innodb_strict_mode = OFF", "SET innodb_strict_mode = ON"),
        ("SET time_zone = '-05:00'", "SET time_zone = 'SYSTEM'"),
        ("SET collation_database = 'latin1_bin'", "SET NAMES utf8mb4"),
    ] {
        for name in ["every_type.json", "hostile.json"] {
            prove_under(settings, back, name, scratch);
        }
    }
}
on_servers!(other_settings_of_mysql: mysql, mariadb);

/// Without a locale the command-line clients speak Latin-1, and take the script for it.
fn character_set(scratch: &mut Scratch) {
    prove_under("SET NAMES latin1", "SET NAMES utf8mb4", "hostile.json", scratch);
}
on_servers!(character_set: mysql, mariadb);

/// Off was the default of MySQL before 8.0 and of MariaDB before 10.10.
fn explicit_defaults_for_timestamp(scratch: &mut Scratch) {
    let settings = "SET explicit_defaults_for_timestamp = OFF";
    prove_under(settings, "SET explicit_defaults_for_timestamp = ON", "every_type.json", scratch);
}
on_servers!(explicit_defaults_for_timestamp: mysql, mariadb);

fn settings_of_postgres(scratch: &mut Scratch) {
    for settings in [
        "SET standard_conforming_strings = off",
        "SET standard_conforming_strings = off; SET backslash_quote = off; SET escape_string_warning = off",
        "SET TIME ZONE '+08'",
        "SET DateStyle = 'SQL, DMY'",
        "SET quote_all_identifiers = on",
        "SET default_transaction_isolation = 'serializable'",
        "SET transform_null_equals = on",
        "SET client_min_messages = error",
    ] {
        for name in ["hostile.json", "every_type.json", "keys.json"] {
            prove_under(settings, "RESET ALL", name, scratch);
        }
    }
}
on_servers!(settings_of_postgres: postgres);

fn settings_of_sqlite(scratch: &mut Scratch) {
    scratch.run("PRAGMA encoding = 'UTF-16'; PRAGMA recursive_triggers = ON; PRAGMA case_sensitive_like = ON").unwrap();
    for name in ["hostile.json", "every_type.json", "keys.json"] {
        let definitions = Definitions::read(&fixture(name), scratch.server).without_errors();
        scratch.run(&definitions.schema_sql()).unwrap();
        assert_as_defined(&definitions, scratch, name);
        drop_all(&definitions, scratch);
    }
    assert_eq!(scratch.value("PRAGMA encoding"), "UTF-16le");
}
on_servers!(settings_of_sqlite: sqlite);
