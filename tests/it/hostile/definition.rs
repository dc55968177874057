//! A definition with a name or a text of one's own at every place that takes one.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

/// What ends a string, a name, a comment, a statement or a line somewhere, or only looks like it.
pub const FRAGMENTS: [&str; 53] = [
    ".",
    "'",
    "\"",
    "`",
    "''",
    "\"\"",
    "``",
    "\\",
    "\\'",
    "\\\"",
    "\\\\",
    "*/",
    "/*",
    "/*!50000 ",
    "--",
    "-- ",
    "#",
    ";",
    ");",
    "(",
    ")",
    ",",
    "$$",
    "$claimsmith$",
    "$claimsmith_$",
    "$1",
    "{{ 7*7 }}",
    "{% if x %}",
    "{# ",
    "E'",
    "U&'",
    "X'",
    "?",
    ":x",
    "@x",
    "%s",
    "%",
    "'; DROP TABLE canary; --",
    "\"; DROP TABLE canary; --",
    "`; DROP TABLE canary; --",
    "名",
    "é",
    "e\u{301}",
    // From here on not in names.
    "😀",
    "א\u{200f}",
    "\u{2028}",
    "\n",
    "\r\n-- ",
    "\t",
    // From here on not in texts.
    "\u{202e}",
    "\0",
    "\u{1b}[2J",
    "\u{85}",
];

/// How many of the fragments can stand in a name.
const IN_NAMES: usize = 43;

/// How many of the fragments can stand in a text.
const IN_TEXTS: usize = IN_NAMES + 6;

/// SQL as people write it into `type`, `default`, `references` and `onDelete`.
const UNDERSTOOD: [&str; 16] = [
    "INT",
    "VARCHAR(20)",
    "DECIMAL(9, 2)",
    "BIGINT UNSIGNED",
    "ENUM('a', 'b')",
    "TEXT",
    "DATETIME(3)",
    "'x'",
    "''",
    "0",
    "-1",
    "NULL",
    "('x')",
    "b(id)",
    "CASCADE",
    "NO ACTION",
];

/// What turns it into something else.
const ADDED: [&str; 24] = [
    "",
    "'",
    "''",
    "\"",
    "`",
    ")",
    "(",
    ",",
    ";",
    "--",
    "/*",
    "*/",
    "#",
    "\\",
    "\\'",
    "\n",
    "||",
    " OR 1",
    " UNION SELECT 1",
    "; DROP TABLE canary",
    "'); DROP TABLE canary; --",
    ") REFERENCES canary (sings",
    "\u{0}",
    " ",
];

/// Raw SQL: what is understood, with something else at a place in it.
pub fn raw() -> impl Strategy<Value = String> {
    let parts = (prop::sample::select(&UNDERSTOOD[..]), prop::sample::select(&ADDED[..]), any::<prop::sample::Index>());
    parts.prop_map(|(sql, added, at)| {
        let mut text = sql.to_owned();
        text.insert_str(at.index(sql.len() + 1), added);
        text
    })
}

/// Two tables that reference each other, and the archive of one.
#[derive(Clone, Debug)]
pub struct Definition {
    /// First of all the tables'.
    names: [String; 12],
    members: [String; 2],
    texts: [String; 8],
}

/// The tables, whose names may have a database before them.
const TABLES: usize = 3;

/// A definition; most of them without what no engine takes, so that there is SQL to look at.
pub fn definitions() -> impl Strategy<Value = Definition> {
    prop_oneof![4 => of(IN_NAMES, IN_TEXTS), 1 => of(FRAGMENTS.len(), FRAGMENTS.len())]
}

/// A definition of the first of the fragments.
fn of(in_names: usize, in_texts: usize) -> impl Strategy<Value = Definition> {
    let word = |count: usize| {
        let parts = prop::collection::vec(prop::sample::select(&FRAGMENTS[..count]), 1..4);
        (parts, "[a-c]{0,2}").prop_map(|(parts, end)| parts.concat() + &end)
    };
    let names = prop::collection::vec(word(in_names), 12);
    let texts = prop::collection::vec(prop_oneof![6 => word(in_texts), 1 => Just(String::new())], 8);
    // States of a queue are members of an ENUM, and take no more than names do.
    let members = prop::collection::vec(word(in_names), 2);
    (names, members, texts).prop_map(|(names, members, texts)| Definition {
        // The number keeps names apart: duplicates are another test's.
        names: std::array::from_fn(|at| format!("{}{at}", names[at])),
        members: std::array::from_fn(|at| members[at].clone()),
        texts: std::array::from_fn(|at| texts[at].clone()),
    })
}

/// The same definition with plain names and texts. What decides about the statements stays: empty texts, databases, and
/// backslashes, for which MySQL gets a setting.
pub fn harmless(hostile: &Definition) -> Definition {
    let mut databases = BTreeMap::new();
    let slash = |text: &str| if text.contains('\\') { "\\" } else { "" };
    let mut name = |at: usize| {
        let hostile = &hostile.names[at];
        let plain = format!("n{at}{}", slash(hostile));
        match hostile.split_once('.').filter(|_| at < TABLES) {
            Some((database, _)) => {
                let count = databases.len();
                format!("d{}.{plain}", databases.entry(database.to_owned()).or_insert(count))
            }
            None => plain,
        }
    };
    let text = |at: usize| match hostile.texts[at].as_str() {
        "" => String::new(),
        text => format!("t{at}{}", slash(text)),
    };
    let member = |at: usize| format!("m{at}{}", slash(&hostile.members[at]));
    Definition {
        names: std::array::from_fn(&mut name),
        members: std::array::from_fn(member),
        texts: std::array::from_fn(text),
    }
}

fn sql(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Definition {
    /// How many places there are.
    pub const PLACES: usize = 22;

    /// A harmless definition but for these places.
    pub fn with(places: impl Fn(usize) -> bool, hostile: &str) -> Definition {
        let name = |at: usize| if places(at) { format!("n{hostile}{at}") } else { format!("n{at}") };
        let member = |at: usize| if places(at + 12) { hostile.to_owned() } else { format!("m{at}") };
        let text = |at: usize| if places(at + 14) { hostile.to_owned() } else { format!("t{at}") };
        Definition {
            names: std::array::from_fn(name),
            members: std::array::from_fn(member),
            texts: std::array::from_fn(text),
        }
    }

    /// The members of the ENUM, told apart by a number.
    fn members(&self) -> [String; 2] {
        std::array::from_fn(|at| format!("{}{at}", self.members[at]))
    }

    pub fn json(&self) -> Value {
        let [a, b, archive, id, text, state, other, unique, index, unique_index, key, back] = &self.names;
        let [about, label, description, default, note, kind, meaning, owner] = &self.texts;
        let [pending, done] = &self.members();
        json!([
            {
                "tableName": a, "description": about, "tableType": kind, "category": kind, "owner": owner,
                "columns": [
                    { "name": id, "type": "BIGINT", "primaryKey": true, "label": label, "description": description },
                    { "name": text, "type": "VARCHAR(255)", "default": sql(default), "logicalType": meaning },
                    { "name": state, "type": format!("ENUM({}, {})", sql(pending), sql(done)), "description": note },
                    { "name": other, "type": "BIGINT", "nullable": true },
                    { "name": unique, "type": "VARCHAR(20)", "unique": true, "label": label }
                ],
                "indices": [
                    { "name": index, "columns": [text, state], "description": note },
                    { "name": unique_index, "columns": [other, id], "unique": true, "description": about },
                    { "columns": [state] }
                ],
                "foreignKeys": [{ "name": key, "column": other, "references": format!("{b}({id})"), "onDelete": "SET NULL" }],
                "claim": { "global": true, "order": id, "status": { "column": state, "pending": pending, "done": done } },
                "retention": { "states": [done], "age": id, "keep": "30d", "strategy": "archive", "into": archive }
            },
            {
                "tableName": b, "description": description,
                "columns": [
                    { "name": id, "type": "BIGINT", "primaryKey": true, "autoIncrement": true },
                    { "name": other, "type": "BIGINT" }
                ],
                "foreignKeys": [
                    { "name": back, "column": other, "references": format!("{a}({id})") },
                    { "column": other, "references": format!("{b}({id})") }
                ]
            }
        ])
    }

    /// What must stand in quotes in the SQL of every database just as it is: names, a default and members.
    pub fn quoted(&self) -> Vec<String> {
        // A point separates the database from the table.
        let tables = self.names[..TABLES].iter().flat_map(|name| name.splitn(2, '.'));
        let names = tables.map(str::to_owned).chain(self.names[TABLES..].iter().cloned());
        names.chain(self.members()).chain([self.texts[3].clone()]).collect()
    }
}

/// Two plain tables with a raw text at one place.
pub fn with_raw(key: &str, text: &str) -> Value {
    let mut file = json!([
        { "tableName": "b", "columns": [{ "name": "id", "type": "BIGINT", "primaryKey": true }] },
        {
            "tableName": "t",
            "columns": [
                { "name": "id", "type": "BIGINT", "primaryKey": true },
                { "name": "x", "type": "VARCHAR(99)", "nullable": true },
                { "name": "other", "type": "BIGINT", "nullable": true }
            ],
            "foreignKeys": [{ "column": "other", "references": "b(id)" }]
        }
    ]);
    let place = if ["type", "default"].contains(&key) { "/1/columns/1" } else { "/1/foreignKeys/0" };
    file.pointer_mut(place).unwrap()[key] = json!(text);
    file
}
