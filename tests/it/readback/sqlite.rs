//! Reads the catalogue of SQLite: the pragmas, and the text of `CREATE TABLE` for what only that text holds, which is
//! comments, checks and the names of foreign keys.

use crate::servers::Session;

use super::model::{Object, grouped, without_column};
use super::sqlite_text::{self, Entry};
use super::{Scope, texts};

const TABLES: &str = "
    SELECT name, sql FROM {schema}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

const COLUMNS: &str = "
    SELECT name, type, CASE \"notnull\" WHEN 0 THEN '1' ELSE '0' END, pk, hidden, dflt_value
    FROM pragma_table_xinfo({table}, {schema}) ORDER BY cid";

/// A column that is descending or of another collation, says so in the column's name.
const INDEXES: &str = "
    SELECT l.name, l.origin, l.\"unique\",
        x.name || CASE WHEN x.desc THEN ' DESC' ELSE '' END || CASE x.coll WHEN 'BINARY' THEN '' ELSE x.coll END,
        coalesce((SELECT sql FROM {database}.sqlite_schema WHERE type = 'index' AND name = l.name), '')
    FROM pragma_index_list({table}, {schema}) l JOIN pragma_index_xinfo(l.name, {schema}) x
    WHERE x.key ORDER BY l.name, x.seqno";

const FOREIGN_KEYS: &str = "
    SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list({table}, {schema})
    ORDER BY id, seq";

/// Everything in the databases of `scope`.
pub fn read(session: &mut Session, scope: &Scope) -> Vec<Object> {
    let mut objects = Vec::new();
    for schema in &scope.schemas {
        let prefix = if *schema == scope.schemas[0] { String::new() } else { format!("{schema}.") };
        for row in session.rows(&TABLES.replace("{schema}", schema)) {
            let [name, sql] = texts(&row);
            let mut query = |sql: &str| {
                let table = format!("'{}'", name.replace('\'', "''"));
                let sql = sql.replace("{database}", schema).replace("{schema}", &format!("'{schema}'"));
                session.rows(&sql.replace("{table}", &table))
            };
            let rows = [query(COLUMNS), query(INDEXES), query(FOREIGN_KEYS)];
            table(&prefix, &name, &sqlite_text::entries(&sql), rows, &mut objects);
        }
    }
    objects
}

fn table(prefix: &str, name: &str, entries: &[Entry], rows: [Vec<Vec<Option<String>>>; 3], objects: &mut Vec<Object>) {
    let [columns, indexes, foreign_keys] = rows;
    let table = format!("{prefix}{name}");
    // The table's own comment and that of its first column stand in one block.
    objects.push(Object::Table { name: table.clone(), comment: String::new(), collation: String::new() });
    let mut key = Vec::new();
    for (at, row) in columns.iter().enumerate() {
        let [name, ty, nullable, pk, hidden] = texts(row);
        let entry = &entries[at];
        assert_eq!(entry.name, name, "the columns of {table} stand in another order in its text");
        if pk != "0" {
            key.push((pk.parse::<usize>().unwrap(), name.clone()));
        }
        if let Some((check, condition)) = &entry.check {
            let condition = without_column(condition, &name, &format!("\"{}\"", name.replace('"', "\"\"")));
            objects.push(Object::Check { table: table.clone(), name: check.clone(), condition });
        }
        objects.push(Object::Column {
            table: table.clone(),
            position: at + 1,
            ty,
            nullable: nullable == "1",
            default: row[5].clone(),
            extra: format!("{}{}", if entry.numbered { "AUTOINCREMENT" } else { "" }, hidden.replace('0', "")),
            collation: None,
            comment: entry.comment.clone(),
            name,
        });
    }
    key.sort();
    let key: Vec<String> = key.into_iter().map(|(_, name)| name).collect();
    if !key.is_empty() {
        objects.push(Object::PrimaryKey { table: table.clone(), columns: key });
    }
    let indexes: Vec<[String; 5]> = indexes.iter().map(texts).collect();
    for group in grouped(indexes, |[name, ..]| name.clone()).into_iter().filter(|group| group[0][1] != "pk") {
        let columns = group.iter().map(|row| row[3].clone()).collect();
        let [name, _, unique, _, sql] = group[0].clone();
        let comment = sqlite_text::comment(&sql);
        let predicate = sqlite_text::predicate(&sql);
        objects.push(Object::Index { table: table.clone(), name, columns, unique: unique == "1", predicate, comment });
    }
    let foreign_keys: Vec<[String; 6]> = foreign_keys.iter().map(texts).collect();
    let groups = grouped(foreign_keys, |[id, ..]| id.clone());
    let named = entries.iter().filter(|entry| entry.foreign_key);
    // The pragma counts them from the last one.
    for (group, entry) in groups.iter().rev().zip(named.clone()) {
        let columns = group.iter().map(|row| row[2].clone()).collect();
        let target_columns = group.iter().map(|row| row[3].clone()).collect();
        let [_, target, _, _, on_delete, on_update] = group[0].clone();
        let (table, name, target) = (table.clone(), entry.name.clone(), format!("{prefix}{target}"));
        objects.push(Object::ForeignKey { table, name, columns, target, target_columns, on_delete, on_update });
    }
    assert_eq!(groups.len(), named.count(), "foreign keys of {table}");
}
