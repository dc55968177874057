//! Reads the catalogue of MySQL and MariaDB.

use crate::servers::{Server, Session};

use super::model::{Object, grouped, without_column};
use super::{Scope, texts};

// Strings of the catalogue may come without a collation or as VARBINARY, hence the casts.

const TABLES: &str = "
    SELECT CAST({table} AS CHAR), CAST(TABLE_COMMENT AS CHAR), CAST(CONCAT(ENGINE, ' ', TABLE_COLLATION) AS CHAR)
    FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ({schemas})";

const COLUMNS: &str = "
    SELECT CAST({table} AS CHAR), CAST(ORDINAL_POSITION AS CHAR), CAST(COLUMN_NAME AS CHAR),
        CAST(COLUMN_TYPE AS CHAR), IF(IS_NULLABLE = 'YES', '1', '0'), CAST(EXTRA AS CHAR),
        CAST(COLUMN_COMMENT AS CHAR), CAST(COLUMN_DEFAULT AS CHAR), CAST(COLLATION_NAME AS CHAR)
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA IN ({schemas})";

const INDEXES: &str = "
    SELECT CAST({table} AS CHAR), CAST(INDEX_NAME AS CHAR), IF(NON_UNIQUE, '0', '1'),
        CAST(CONCAT(COLUMN_NAME, IF(SUB_PART IS NULL, '', CONCAT('(', SUB_PART, ')')),
            IF(COLLATION <=> 'A', '', ' DESC'), IF(INDEX_TYPE = 'BTREE', '', INDEX_TYPE)) AS CHAR),
        CAST(INDEX_COMMENT AS CHAR)
    FROM information_schema.STATISTICS WHERE TABLE_SCHEMA IN ({schemas})
    ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX";

const FOREIGN_KEYS: &str = "
    SELECT CAST({table} AS CHAR), CAST(r.CONSTRAINT_NAME AS CHAR), CAST(k.COLUMN_NAME AS CHAR),
        CAST(CONCAT(IF(k.REFERENCED_TABLE_SCHEMA = '{main}', '', CONCAT(k.REFERENCED_TABLE_SCHEMA, '.')),
            k.REFERENCED_TABLE_NAME) AS CHAR),
        CAST(k.REFERENCED_COLUMN_NAME AS CHAR), CAST(r.DELETE_RULE AS CHAR), CAST(r.UPDATE_RULE AS CHAR)
    FROM information_schema.REFERENTIAL_CONSTRAINTS r
    JOIN information_schema.KEY_COLUMN_USAGE k ON k.CONSTRAINT_SCHEMA = r.CONSTRAINT_SCHEMA
        AND k.CONSTRAINT_NAME = r.CONSTRAINT_NAME AND k.TABLE_NAME = r.TABLE_NAME
        AND k.REFERENCED_COLUMN_NAME IS NOT NULL
    WHERE r.CONSTRAINT_SCHEMA IN ({schemas})
    ORDER BY k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION";

/// The table of a check stands in another place on each of the two.
const CHECKS_MYSQL: &str = "
    SELECT CAST({table} AS CHAR), CAST(c.CONSTRAINT_NAME AS CHAR), CAST(c.CHECK_CLAUSE AS CHAR)
    FROM information_schema.CHECK_CONSTRAINTS c
    JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA
        AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME
    WHERE c.CONSTRAINT_SCHEMA IN ({schemas}) AND t.ENFORCED = 'YES'";
const CHECKS_MARIADB: &str = "
    SELECT CAST({table} AS CHAR), CAST(CONSTRAINT_NAME AS CHAR), CAST(CHECK_CLAUSE AS CHAR)
    FROM (SELECT c.*, CONSTRAINT_SCHEMA AS TABLE_SCHEMA FROM information_schema.CHECK_CONSTRAINTS c) c
    WHERE CONSTRAINT_SCHEMA IN ({schemas})";

/// Everything in the databases of `scope`.
pub fn read(session: &mut Session, scope: &Scope) -> Vec<Object> {
    let filled = |sql: &str, of: &str| {
        let table = format!(
            "CONCAT(IF({of}TABLE_SCHEMA = '{}', '', CONCAT({of}TABLE_SCHEMA, '.')), {of}TABLE_NAME)",
            scope.schemas[0]
        );
        let schemas: Vec<String> = scope.schemas.iter().map(|name| format!("'{name}'")).collect();
        let sql = sql.replace("{table}", &table).replace("{main}", &scope.schemas[0]);
        sql.replace("{schemas}", &schemas.join(", "))
    };
    let mut objects = Vec::new();
    for row in session.rows(&filled(TABLES, "")) {
        let [name, comment, collation] = texts(&row);
        objects.push(Object::Table { name, comment, collation });
    }
    for row in session.rows(&filled(COLUMNS, "")) {
        let [table, position, name, ty, nullable, extra, comment] = texts(&row);
        objects.push(Object::Column {
            table,
            position: position.parse().unwrap(),
            name,
            ty,
            nullable: nullable == "1",
            default: default(session.server, row[7].clone(), &extra),
            extra,
            collation: row[8].clone(),
            comment,
        });
    }
    let rows: Vec<[String; 5]> = session.rows(&filled(INDEXES, "")).iter().map(texts).collect();
    for group in grouped(rows, |[table, name, ..]| (table.clone(), name.clone())) {
        let columns = group.iter().map(|row| row[3].clone()).collect();
        let [table, name, unique, _, comment] = group[0].clone();
        objects.push(match name.as_str() {
            "PRIMARY" => Object::PrimaryKey { table, columns },
            _ => Object::Index { table, name, columns, unique: unique == "1", predicate: String::new(), comment },
        });
    }
    let rows: Vec<[String; 7]> = session.rows(&filled(FOREIGN_KEYS, "k.")).iter().map(texts).collect();
    for group in grouped(rows, |[table, name, ..]| (table.clone(), name.clone())) {
        let columns = group.iter().map(|row| row[2].clone()).collect();
        let target_columns = group.iter().map(|row| row[4].clone()).collect();
        let [table, name, _, target, _, on_delete, on_update] = group[0].clone();
        objects.push(Object::ForeignKey { table, name, columns, target, target_columns, on_delete, on_update });
    }
    let (checks, of) = match session.server {
        Server::MySql => (CHECKS_MYSQL, "t."),
        _ => (CHECKS_MARIADB, ""),
    };
    for row in session.rows(&filled(checks, of)) {
        let [table, name, condition] = texts(&row);
        let column = condition.split('`').nth(1).unwrap().to_owned();
        let condition = without_column(&condition, &column, &format!("`{column}`"));
        objects.push(Object::Check { table, name, condition });
    }
    objects
}

/// The default as the value that it is, or as the expression.
fn default(server: Server, text: Option<String>, extra: &str) -> Option<String> {
    let text = text?;
    match server {
        // A string of an expression stands escaped in the catalogue: `_utf8mb4\'it\\\'s\'`.
        Server::MySql if extra == "DEFAULT_GENERATED" => {
            let text = unescaped(&text);
            Some(match text.strip_prefix("_utf8mb4'").and_then(|text| text.strip_suffix('\'')) {
                Some(string) => unescaped(string),
                None => text,
            })
        }
        Server::MySql => Some(text),
        _ if text == "NULL" => None,
        _ => Some(match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
            Some(string) => unescaped(string),
            None => text,
        }),
    }
}

/// The text without the backslashes that escape it.
fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next().unwrap() {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            },
            '\'' => chars.next().unwrap(),
            other => other,
        });
    }
    plain
}
