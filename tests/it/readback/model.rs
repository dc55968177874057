//! What a database holds, or should hold, in the same words for all engines.

use std::collections::BTreeMap;

/// One thing that a catalogue tells of. Names of tables in a second database carry its name: `db.table`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    Table {
        name: String,
        comment: String,
        collation: String,
    },
    Column {
        table: String,
        /// Counted from 1.
        position: usize,
        name: String,
        /// As the engine writes it.
        ty: String,
        nullable: bool,
        default: Option<String>,
        /// Numbering, and whatever else the engine says of the column.
        extra: String,
        collation: Option<String>,
        comment: String,
    },
    PrimaryKey {
        table: String,
        columns: Vec<String>,
    },
    Index {
        table: String,
        name: String,
        /// With the prefix length, where there is one: `body(20)`.
        columns: Vec<String>,
        unique: bool,
        /// What the rows of a partial index have in common, in the engine's words, `{}` standing for the column.
        predicate: String,
        comment: String,
    },
    ForeignKey {
        table: String,
        name: String,
        columns: Vec<String>,
        target: String,
        target_columns: Vec<String>,
        on_delete: String,
        on_update: String,
    },
    Check {
        table: String,
        name: String,
        /// The condition in the engine's words, `{}` standing for the column.
        condition: String,
    },
}

/// Panics unless both hold the same objects, each as often.
pub fn assert_same(expected: &[Object], found: &[Object], what: &str) {
    let mut counts: BTreeMap<&Object, (usize, usize)> = BTreeMap::new();
    expected.iter().for_each(|object| counts.entry(object).or_default().0 += 1);
    found.iter().for_each(|object| counts.entry(object).or_default().1 += 1);
    let mut differences = String::new();
    for (object, (expected, found)) in counts.into_iter().filter(|(_, (expected, found))| expected != found) {
        let how = if expected > found { "missing or other" } else { "not expected" };
        differences += &format!("{how}: {object:?}\n");
    }
    assert!(differences.is_empty(), "{what}:\n{differences}");
}

/// Puts the column names of rows that are sorted by object and position into lists: `key` names what a row is part of.
pub fn grouped<T, K: PartialEq>(rows: Vec<T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for row in rows {
        match groups.last_mut().filter(|group| key(&group[0]) == key(&row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// The condition of a check with `{}` in the place of its column: whole words, or quoted as `quoted`, outside of strings.
pub fn without_column(condition: &str, column: &str, quoted: &str) -> String {
    if quoted.contains('\'') {
        return condition.replace(quoted, "{}");
    }
    let mut parts: Vec<String> = condition.split('\'').map(str::to_owned).collect();
    for outside in parts.iter_mut().step_by(2) {
        *outside = match outside.contains(quoted) {
            true => outside.replace(quoted, "{}"),
            false => words(outside).map(|word| if word == column { "{}" } else { word }).collect(),
        };
    }
    parts.join("'")
}

/// The text in pieces: words, and what stands between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split_inclusive(move |c| !part_of_word(c)).flat_map(move |piece| {
        let end = piece.trim_end_matches(|c| !part_of_word(c)).len();
        [&piece[..end], &piece[end..]]
    })
}
