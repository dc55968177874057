//! What programs are told of a statement's parameters: what each means, and where a list of keys stands.

use claimsmith::dialect;
use claimsmith::statement::query::{Meaning, queries};

use super::case::committed;

#[test]
fn a_meaning_says_what_the_name_says() {
    let catalog = committed();
    let mut words = std::collections::BTreeSet::new();
    for dialect in dialect::ALL {
        for of_table in queries(&catalog, dialect) {
            let table = &catalog.tables[of_table.table];
            for query in &of_table.queries {
                for (at, parameter) in query.parameters.iter().enumerate() {
                    let what = format!("{} of {} of {}", parameter.name, query.name, table.name);
                    assert_eq!(parameter.placeholder, dialect.placeholder(at + 1), "{what}");
                    match (parameter.meaning, parameter.meaning.word()) {
                        (Meaning::Column(at), None) => assert_eq!(parameter.name, table.columns[at].name, "{what}"),
                        (_, Some(word)) => {
                            let number = parameter.name.strip_prefix(word).map(|rest| rest.trim_start_matches('_'));
                            assert!(number.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit())), "{what}");
                            words.insert(word);
                        }
                        other => panic!("{what}: {other:?}"),
                    }
                }
            }
        }
    }
    assert!(words.len() >= 15, "{words:?}");
}

#[test]
fn a_list_of_keys_stands_where_it_is_said_to() {
    let catalog = committed();
    let mut lists = 0;
    for dialect in dialect::ALL {
        for of_table in queries(&catalog, dialect) {
            let table = &catalog.tables[of_table.table];
            for query in &of_table.queries {
                let what = format!("{} of {} on {}: {}", query.name, table.name, dialect.engine().title, query.sql);
                let of_keys: Vec<usize> =
                    (0..query.parameters.len()).filter(|at| query.parameters[*at].meaning == Meaning::Keys).collect();
                let Some(at) = query.keys_at else {
                    assert!(of_keys.is_empty() && query.key_columns.is_empty(), "{what}");
                    continue;
                };
                lists += 1;
                // The last one, so that the numbers of its parameters take none away from others.
                assert_eq!(of_keys, [query.parameters.len() - 1], "{what}");
                let placeholder = &query.parameters[of_keys[0]].placeholder;
                assert!(query.sql[at..].starts_with(&**placeholder), "{what}");
                // What stands before the list names the columns: before IN, or as those of a list that has a name.
                let names: Vec<String> =
                    query.key_columns.iter().map(|at| dialect.ident(&table.columns[*at].name)).collect();
                let columns = names.join(", ");
                let before = query.sql[..at].replace("t.", "");
                let (several, one) = (format!("({columns})"), format!("{columns} "));
                let named = if names.len() == 1 { one } else { several };
                assert!(before.rsplit_once(&named).is_some_and(|(_, rest)| rest.lines().count() <= 2), "{what}");
                assert!(table.primary_key.iter().all(|key| query.key_columns.contains(key) || is_pinned(query, *key)));
            }
        }
    }
    assert!(lists > 50, "only {lists}");
}

/// Whether a parameter of its own pins the column.
fn is_pinned(query: &claimsmith::statement::query::Query, column: usize) -> bool {
    query.parameters.iter().any(|parameter| parameter.meaning == Meaning::Column(column))
}
