//! The rules about definitions: identity and documentation of everything that loading and checking can find.
//!
//! Rules that judge a queue's workload stand beside their checks in [`check::queue`](super::check::queue).

use crate::diagnostic::{Level, Rule};

use super::check::queue;

/// Declares rules with the same five headings for all.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident $level:ident $id:literal $summary:literal does $does:literal why $why:literal
       example $example:literal instead $instead:literal allow $allow:literal)*) => {
        $($(#[$doc])*
        pub static $name: $crate::diagnostic::Rule = $crate::diagnostic::Rule {
            id: $id,
            level: $crate::diagnostic::Level::$level,
            summary: $summary,
            docs: concat!("## What it does\n\n", $does, "\n\n## Why is this bad?\n\n", $why,
                "\n\n## Example\n\n```json\n", $example, "\n```\n\n## Use instead\n\n```json\n", $instead,
                "\n```\n\n## When it is right to allow it\n\n", $allow, "\n"),
        };)*
    };
}
pub(crate) use rules;

rules! {
    /// A file that is not JSON.
    JSON_SYNTAX Error "json-syntax" "the file is not strict JSON"
    does "Reports text that a strict JSON reader does not take: comments, trailing commas, single quotes, nesting of more than 512 levels."
    why "Other programs read the same file; what only some of them take is a difference waiting to happen."
    example "{ \"tableName\": \"t\", // comment\n}"
    instead "{ \"tableName\": \"t\", \"description\": \"comment\" }"
    allow "Never: nothing can be read from such a file."

    /// A key that stands twice in one object.
    DUPLICATE_KEY Error "duplicate-key" "a key occurs twice in one object"
    does "Reports a JSON object that has the same key twice."
    why "Most readers silently keep one of the two, and not all the same one."
    example "{ \"nullable\": true, \"nullable\": false }"
    instead "{ \"nullable\": false }"
    allow "Never."

    /// A key that the format does not have.
    UNKNOWN_KEY Error "unknown-key" "a key that the format does not have"
    does "Reports keys that the definition format does not know, with the closest one that it knows."
    why "A misspelt `nullabel` would silently mean NOT NULL."
    example "{ \"name\": \"note\", \"type\": \"TEXT\", \"nullabel\": true }"
    instead "{ \"name\": \"note\", \"type\": \"TEXT\", \"nullable\": true }"
    allow "Never; free text belongs into `description`."

    /// A required key that is absent.
    MISSING_KEY Error "missing-key" "a required key is absent"
    does "Reports objects that lack a key without which they mean nothing."
    why "There is no default that would be right for everyone."
    example "{ \"name\": \"note\" }"
    instead "{ \"name\": \"note\", \"type\": \"TEXT\" }"
    allow "Never."

    /// A value of a wrong kind.
    WRONG_VALUE Error "wrong-value" "a value that cannot stand here"
    does "Reports values of the wrong kind or outside their range, and names what was expected."
    why "A guess would be silently wrong."
    example "{ \"name\": \"note\", \"type\": \"TEXT\", \"nullable\": \"yes\" }"
    instead "{ \"name\": \"note\", \"type\": \"TEXT\", \"nullable\": true }"
    allow "Never."

    /// A column type that is not understood.
    UNKNOWN_TYPE Error "unknown-type" "a column type that is not understood"
    does "Reports type texts that claimsmith does not know or that lack a needed number."
    why "A type that cannot be understood cannot be the same on four engines."
    example "{ \"name\": \"id\", \"type\": \"VARHCAR(36)\" }"
    instead "{ \"name\": \"id\", \"type\": \"VARCHAR(36)\" }"
    allow "Never."

    /// A default that the column or an engine cannot have.
    IMPOSSIBLE_DEFAULT Error "impossible-default" "a default that the column or a chosen engine cannot have"
    does "Compares each default with its column's type and with what the chosen engines accept."
    why "MySQL refuses `DATETIME(3) DEFAULT CURRENT_TIMESTAMP` (error 1067) and plain literals on TEXT, BLOB and JSON (error 1101); a default outside the type fails at the first insert."
    example "{ \"name\": \"at\", \"type\": \"DATETIME(3)\", \"default\": \"CURRENT_TIMESTAMP\" }"
    instead "{ \"name\": \"at\", \"type\": \"DATETIME(3)\", \"default\": \"CURRENT_TIMESTAMP(3)\" }"
    allow "Never: the table could not be created."

    /// A name of a column that does not exist.
    MISSING_COLUMN Error "missing-column" "a reference to a column that does not exist"
    does "Reports keys, indexes, foreign keys and roles of the workload that name a column the table does not have."
    why "Nothing could be generated from it."
    example "{ \"columns\": [\"stauts\", \"created_at_ms\"] }"
    instead "{ \"columns\": [\"status\", \"created_at_ms\"] }"
    allow "Never."

    /// A foreign key to a table that does not exist.
    MISSING_TABLE Error "missing-table" "a reference to a table that does not exist"
    does "Reports foreign keys to tables that no definition describes."
    why "The order of creation and the types of both ends cannot be known."
    example "{ \"column\": \"user_id\", \"references\": \"Users(id)\" }"
    instead "{ \"column\": \"user_id\", \"references\": \"_System_User(id)\" }"
    allow "Never; leave the foreign key out and use `referenceTo` if the table is not described here."

    /// Two things of one name.
    DUPLICATE_NAME Error "duplicate-name" "two tables, columns, indexes or foreign keys of one name"
    does "Reports names that occur twice where a chosen engine wants them unique, also across upper and lower case, indexes named like a table, and foreign keys named like an index or a constraint."
    why "Index names are unique per schema on PostgreSQL and per database on SQLite, where `CREATE INDEX IF NOT EXISTS` with a taken name silently does nothing. Foreign keys are named once in a database on MySQL (error 1826) and MariaDB (errno 121), and once in a table on PostgreSQL, where unique keys count too."
    example "[{ \"name\": \"idx_poll\", \"columns\": [\"status\"] }, { \"name\": \"IDX_POLL\", \"columns\": [\"owner\"] }]"
    instead "[{ \"name\": \"idx_poll\", \"columns\": [\"status\"] }, { \"name\": \"idx_owner\", \"columns\": [\"owner\"] }]"
    allow "Never."

    /// A name that no engine or no reader can stand.
    UNUSABLE_NAME Error "unusable-name" "an empty name, or one with characters that names cannot hold"
    does "Reports names that are empty, begin or end with a blank, or hold control characters, characters that reorder text, or on MySQL and MariaDB characters beyond U+FFFF."
    why "Engines refuse them or cut them, and readers cannot see them."
    example "{ \"name\": \" id\", \"type\": \"INT\" }"
    instead "{ \"name\": \"id\", \"type\": \"INT\" }"
    allow "Never."

    /// A text with characters that cannot be shown.
    UNUSABLE_TEXT Error "unusable-text" "a text with control or reordering characters"
    does "Reports labels, descriptions, defaults and ENUM members with control characters (except line breaks and tabs) or with characters that reorder the text around them."
    why "They end up in SQL comments and in code, where a reviewer would not see what is there."
    example "{ \"label\": \"a\\u0000b\" }"
    instead "{ \"label\": \"a b\" }"
    allow "Never."

    /// A name over an engine's limit.
    IDENTIFIER_TOO_LONG Error "identifier-too-long" "a name over the limit of a chosen engine"
    does "Measures table and column names, and as a warning declared names of indexes and foreign keys, which are shortened by a hash."
    why "MySQL and MariaDB take 64 characters (errors 1059, 1103); PostgreSQL cuts names after 63 bytes without an error."
    example "{ \"tableName\": \"a_table_name_that_describes_everything_there_is_to_know_about_the_events\" }"
    instead "{ \"tableName\": \"described_events\" }"
    allow "Where a declared index name is shortened and nobody asks for it by name."

    /// A key over an engine's limit.
    KEY_TOO_LONG Error "key-too-long" "a key of more bytes than a chosen engine takes"
    does "Adds up the bytes of each key, 4 for each character of a string."
    why "InnoDB takes 3,072 bytes; MySQL refuses longer keys (error 1071), and MariaDB silently makes a prefix of a non-unique one, which loses its order."
    example "{ \"columns\": [\"app_code\", \"status\", \"event_id\", \"created_at_ms\"] }"
    instead "{ \"name\": \"status\", \"type\": \"VARCHAR(20)\" }"
    allow "Never."

    /// A row over an engine's limit.
    ROW_TOO_LARGE Error "row-too-large" "a table of more bytes or columns than a chosen engine takes"
    does "Adds up the bytes of all columns but TEXT and BLOB, and counts columns."
    why "MySQL and MariaDB take 65,535 bytes a row (error 1118) and 1,017 columns."
    example "{ \"name\": \"payload\", \"type\": \"VARCHAR(16383)\" }"
    instead "{ \"name\": \"payload\", \"type\": \"TEXT\" }"
    allow "Never."

    /// A key on a column that needs a length, or that cannot be in a key.
    UNINDEXABLE_COLUMN Error "unindexable-column" "a key on a TEXT, BLOB or JSON column that a chosen engine refuses"
    does "Reports TEXT and BLOB columns in keys without a `length`, and JSON columns in keys."
    why "MySQL and MariaDB index a prefix of such columns only and ask for its length (error 1170)."
    example "{ \"name\": \"token\", \"type\": \"TEXT\", \"unique\": true }"
    instead "{ \"name\": \"token\", \"type\": \"VARCHAR(750)\", \"unique\": true }"
    allow "Never."

    /// A table without a primary key.
    MISSING_PRIMARY_KEY Warning "missing-primary-key" "a table without a primary key; of a queue an error"
    does "Reports tables without a primary key."
    why "Rows without a key cannot be claimed, archived or repaired one by one; a queue without one has no statements."
    example "{ \"tableName\": \"notes\", \"columns\": [{ \"name\": \"id\", \"type\": \"BIGINT\" }] }"
    instead "{ \"tableName\": \"notes\", \"columns\": [{ \"name\": \"id\", \"type\": \"BIGINT\", \"primaryKey\": true }] }"
    allow "When rows are only ever read and removed together. Never of a queue."

    /// A primary key that cannot be.
    WRONG_PRIMARY_KEY Error "wrong-primary-key" "a primary key that cannot be one"
    does "Reports nullable columns in a primary key and columns named twice in a key."
    why "Engines refuse both."
    example "{ \"name\": \"id\", \"type\": \"BIGINT\", \"primaryKey\": true, \"nullable\": true }"
    instead "{ \"name\": \"id\", \"type\": \"BIGINT\", \"primaryKey\": true }"
    allow "A table without a primary key, where rows are never told apart."

    /// A numbered column that cannot be.
    WRONG_AUTO_INCREMENT Error "wrong-auto-increment" "an auto-increment column that a chosen engine cannot have"
    does "Reports auto-increment on columns that are no integers, have a default, are nullable or second of their kind, or stand in a key where a chosen engine does not number them."
    why "MySQL wants the column first in a key (error 1075), SQLite numbers only a column that is the whole primary key."
    example "{ \"name\": \"seq\", \"type\": \"VARCHAR(20)\", \"autoIncrement\": true }"
    instead "{ \"name\": \"seq\", \"type\": \"BIGINT\", \"autoIncrement\": true, \"primaryKey\": true }"
    allow "Never."

    /// A foreign key that cannot be.
    WRONG_FOREIGN_KEY Error "wrong-foreign-key" "a foreign key that a chosen engine refuses"
    does "Compares both ends of each foreign key: number and types of the columns, a unique key at the other end, NULL for SET NULL, and actions that an engine lacks."
    why "MySQL refuses different types (error 3780) and SET NULL on NOT NULL columns (error 1830); PostgreSQL refuses a target without a unique key; SQLite fails at the first change of a row."
    example "{ \"column\": \"user_id\", \"references\": \"Users(id)\", \"onDelete\": \"SET NULL\" }"
    instead "{ \"name\": \"user_id\", \"type\": \"VARCHAR(36)\", \"nullable\": true }"
    allow "Never."

    /// A comment over an engine's limit.
    COMMENT_TOO_LONG Warning "comment-too-long" "a description that a chosen engine cannot keep in full"
    does "Measures labels and descriptions; longer ones are cut in the engine's comment."
    why "MySQL and MariaDB keep 1,024 characters on columns and indexes and 2,048 on tables (errors 1629, 1628)."
    example "{ \"description\": \"a page of text …\" }"
    instead "{ \"description\": \"one paragraph\" }"
    allow "Where the full text in the definition is enough."

    /// A type that an engine holds differently.
    ENGINE_DIFFERENCE Note "engine-difference" "an engine holds a column or a key in another way than the definition says"
    does "Names every column, key and comment that an engine cannot hold just as the definition says it, and what is done instead."
    why "It is right in most cases, and a surprise in some."
    example "{ \"name\": \"total\", \"type\": \"DECIMAL(18,4)\" }"
    instead "{ \"name\": \"total_cents\", \"type\": \"BIGINT\" }"
    allow "Where you have read it and it does no harm."

    /// An exception without effect or reason.
    UNUSABLE_ALLOW Warning "unusable-allow" "an exception for an unknown rule, or without a reason"
    does "Checks the table's `allow`: each key must be a rule, each value a reason."
    why "A misspelt exception allows nothing, and one without a reason cannot be judged later."
    example "{ \"allow\": { \"queue-without-lease\": \"\" } }"
    instead "{ \"allow\": { \"queue-without-lease\": \"one worker only, by design\" } }"
    allow "Never."
}

/// Every rule about definitions, in the order of their ids.
pub fn all() -> Vec<&'static Rule> {
    let text = [
        &JSON_SYNTAX,
        &DUPLICATE_KEY,
        &UNKNOWN_KEY,
        &MISSING_KEY,
        &WRONG_VALUE,
        &UNKNOWN_TYPE,
        &IMPOSSIBLE_DEFAULT,
        &MISSING_COLUMN,
        &MISSING_TABLE,
        &DUPLICATE_NAME,
        &UNUSABLE_NAME,
        &UNUSABLE_TEXT,
        &IDENTIFIER_TOO_LONG,
        &KEY_TOO_LONG,
        &ROW_TOO_LARGE,
        &UNINDEXABLE_COLUMN,
        &MISSING_PRIMARY_KEY,
        &WRONG_PRIMARY_KEY,
        &WRONG_AUTO_INCREMENT,
        &WRONG_FOREIGN_KEY,
        &COMMENT_TOO_LONG,
        &ENGINE_DIFFERENCE,
        &UNUSABLE_ALLOW,
    ];
    let mut all: Vec<&Rule> = text.into_iter().chain(queue::RULES.iter().copied()).collect();
    all.sort_by_key(|rule| rule.id);
    all
}

/// Rules about definitions that only the linter judges, since it sees the statements of others; `allow` may name them.
pub const LINTED: [&str; 3] = ["index-redundant", "index-serves-nothing", "reserved-word"];

/// Whether a finding may be left out by a table's `allow`: everything that is not an error.
pub fn can_be_allowed(level: Level) -> bool {
    level < Level::Error
}
