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
    "😀",
    "א\u{200f}",
    "\u{202e}",
    "\u{2028}",
    "\n",
    "\r\n-- ",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{85}",
];

/// How many of the fragments can stand in a name on all engines or be refused for their meaning only.
const PRINTABLE: usize = 43;

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

/// Two tables that reference each other. Names first, then texts.
#[derive(Clone, Debug)]
pub struct Definition {
    names: [String; 11],
    texts: [String; 10],
}

/// A definition; most of them without what no engine takes, so that there is SQL to look at.
pub fn definitions() -> impl Strategy<Value = Definition> {
    let of = |fragments: &'static [&'static str]| {
        let word = || {
            let parts = prop::collection::vec(prop::sample::select(fragments), 1..4);
            (parts, "[a-c]{0,2}").prop_map(|(parts, end)| parts.concat() + &end)
        };
        let names = prop::collection::vec(word(), 11);
        let texts = prop::collection::vec(prop_oneof![6 => word(), 1 => Just(String::new())], 10);
        (names, texts).prop_map(|(names, texts)| Definition {
            // The number keeps names apart: duplicates are another test's.
            names: std::array::from_fn(|at| format!("{}{at}", names[at])),
            texts: std::array::from_fn(|at| texts[at].clone()),
        })
    };
    prop_oneof![4 => of(&FRAGMENTS[..PRINTABLE]), 1 => of(&FRAGMENTS)]
}

/// The same definition with plain names and texts. What decides about the statements stays: empty texts, databases, and
/// backslashes, for which MySQL gets a setting.
pub fn harmless(hostile: &Definition) -> Definition {
    let mut databases = BTreeMap::new();
    let slash = |text: &str| if text.contains('\\') { "\\" } else { "" };
    let mut name = |at: usize| {
        let hostile = &hostile.names[at];
        let plain = format!("n{at}{}", slash(hostile));
        match hostile.split_once('.').filter(|_| at < 2) {
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
    Definition { names: std::array::from_fn(&mut name), texts: std::array::from_fn(text) }
}

fn sql(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Definition {
    /// How many places there are.
    pub const PLACES: usize = 21;

    /// A harmless definition but for these places.
    pub fn with(places: impl Fn(usize) -> bool, hostile: &str) -> Definition {
        let name = |at: usize| if places(at) { format!("n{hostile}{at}") } else { format!("n{at}") };
        let text = |at: usize| if places(at + 11) { hostile.to_owned() } else { format!("t{at}") };
        Definition { names: std::array::from_fn(name), texts: std::array::from_fn(text) }
    }

    pub fn json(&self) -> Value {
        let [a, b, id, text, state, other, unique, index, unique_index, key, back] = &self.names;
        let [about, label, description, default, member, member2, note, kind, meaning, owner] = &self.texts;
        json!([
            {
                "tableName": a, "description": about, "tableType": kind, "category": kind, "owner": owner,
                "columns": [
                    { "name": id, "type": "BIGINT", "primaryKey": true, "label": label, "description": description },
                    { "name": text, "type": "VARCHAR(255)", "default": sql(default), "logicalType": meaning },
                    { "name": state, "type": format!("ENUM({}, {})", sql(&format!("{member}1")), sql(&format!("{member2}2"))), "description": note },
                    { "name": other, "type": "BIGINT", "nullable": true },
                    { "name": unique, "type": "VARCHAR(20)", "unique": true, "label": label }
                ],
                "indices": [
                    { "name": index, "columns": [text, state], "description": note },
                    { "name": unique_index, "columns": [other, id], "unique": true, "description": about },
                    { "columns": [state] }
                ],
                "foreignKeys": [{ "name": key, "column": other, "references": format!("{b}({id})"), "onDelete": "SET NULL" }]
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
        let tables = self.names[..2].iter().flat_map(|name| name.splitn(2, '.'));
        let names = tables.map(str::to_owned).chain(self.names[2..].iter().cloned());
        let [.., default, member, member2] = self.texts.first_chunk::<6>().unwrap();
        names.chain([default.clone(), format!("{member}1"), format!("{member2}2")]).collect()
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
