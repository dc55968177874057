//! Reads the catalogue of PostgreSQL.

use crate::servers::Session;

use super::model::{Object, grouped, without_column};
use super::{Scope, texts};

/// Tables with their labels, for the other queries.
const WITH_TABLES: &str = "
    WITH t AS (
        SELECT c.oid, CASE n.nspname WHEN '{main}' THEN '' ELSE n.nspname || '.' END || c.relname AS name
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND n.nspname IN ({schemas}))";

const TABLES: &str = "
    SELECT name, coalesce(obj_description(oid, 'pg_class'), '') FROM t";

const COLUMNS: &str = "
    SELECT t.name, row_number() OVER (PARTITION BY t.oid ORDER BY attnum)::text, attname,
        format_type(atttypid, atttypmod), (NOT attnotnull)::text,
        CASE attidentity WHEN '' THEN '' ELSE 'identity ' || attidentity::text END || attgenerated::text,
        coalesce(col_description(t.oid, attnum), ''), pg_get_expr(d.adbin, d.adrelid), l.collname
    FROM t JOIN pg_attribute a ON a.attrelid = t.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = attnum
    LEFT JOIN pg_collation l ON l.oid = attcollation";

/// An index that is invalid or no B-tree, or a column that is descending or of another collation than the
/// table's, says so in the column's name.
const INDEXES: &str = "
    SELECT t.name, c.relname, indisprimary::text, indisunique::text,
        a.attname || CASE WHEN i.indoption[k] <> 0 THEN ' DESC' ELSE '' END
            || CASE WHEN i.indcollation[k] <> a.attcollation THEN ' COLLATE' ELSE '' END
            || CASE WHEN i.indisvalid THEN '' ELSE ' INVALID' END
            || CASE m.amname WHEN 'btree' THEN '' ELSE m.amname END,
        coalesce(obj_description(i.indexrelid, 'pg_class'), ''), coalesce(pg_get_expr(i.indpred, i.indrelid), '')
    FROM t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am m ON m.oid = c.relam
    CROSS JOIN generate_subscripts(i.indkey, 1) k
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[k]
    ORDER BY t.name, c.relname, k";

const FOREIGN_KEYS: &str = "
    SELECT t.name, c.conname, a.attname, other.name, b.attname,
        c.confdeltype::text || CASE WHEN c.condeferrable OR NOT c.convalidated THEN ' weak' ELSE '' END,
        c.confupdtype::text || CASE c.confmatchtype WHEN 's' THEN '' ELSE ' match' END
    FROM t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype = 'f'
    JOIN t other ON other.oid = c.confrelid
    CROSS JOIN generate_subscripts(c.conkey, 1) k
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[k]
    JOIN pg_attribute b ON b.attrelid = other.oid AND b.attnum = c.confkey[k]
    ORDER BY t.name, c.conname, k";

const CHECKS: &str = "
    SELECT t.name, c.conname, pg_get_constraintdef(c.oid), a.attname, quote_ident(a.attname)
    FROM t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype = 'c'
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]";

/// Everything in the schemas of `scope`.
pub fn read(session: &mut Session, scope: &Scope) -> Vec<Object> {
    let schemas: Vec<String> = scope.schemas.iter().map(|name| format!("'{name}'")).collect();
    let with_tables = WITH_TABLES.replace("{main}", &scope.schemas[0]).replace("{schemas}", &schemas.join(", "));
    let mut query = |sql: &str| session.rows(&format!("{with_tables} {sql}"));
    let mut objects = Vec::new();
    for row in query(TABLES) {
        let [name, comment] = texts(&row);
        objects.push(Object::Table { name, comment, collation: String::new() });
    }
    for row in query(COLUMNS) {
        let [table, position, name, ty, nullable, extra, comment] = texts(&row);
        objects.push(Object::Column {
            table,
            position: position.parse().unwrap(),
            name,
            ty,
            nullable: nullable == "true",
            default: row[7].as_deref().and_then(default),
            extra,
            collation: row[8].clone(),
            comment,
        });
    }
    let rows: Vec<[String; 7]> = query(INDEXES).iter().map(texts).collect();
    for group in grouped(rows, |[table, name, ..]| (table.clone(), name.clone())) {
        let columns = group.iter().map(|row| row[4].clone()).collect();
        let [table, name, primary, unique, _, comment, condition] = group[0].clone();
        // The condition's column stands first in it: `((status)::text = 'pending'::text)`, `("Status" = …)`.
        let column = condition.trim_start_matches('(').split([')', ' ']).next().unwrap_or_default();
        let plain = column.trim_matches('"').to_owned();
        let predicate = without_column(&condition, &plain, &format!("\"{plain}\""));
        objects.push(match primary.as_str() {
            "true" => Object::PrimaryKey { table, columns },
            _ => Object::Index { table, name, columns, unique: unique == "true", predicate, comment },
        });
    }
    let rows: Vec<[String; 7]> = query(FOREIGN_KEYS).iter().map(texts).collect();
    for group in grouped(rows, |[table, name, ..]| (table.clone(), name.clone())) {
        let columns = group.iter().map(|row| row[2].clone()).collect();
        let target_columns = group.iter().map(|row| row[4].clone()).collect();
        let [table, name, _, target, _, on_delete, on_update] = group[0].clone();
        let [on_delete, on_update] = [on_delete, on_update].map(action);
        objects.push(Object::ForeignKey { table, name, columns, target, target_columns, on_delete, on_update });
    }
    for row in query(CHECKS) {
        let [table, name, condition, column, quoted] = texts(&row);
        // An unquoted name is replaced as a whole word.
        let quoted = if quoted == column { format!("\"{column}\"") } else { quoted };
        objects.push(Object::Check { table, name, condition: without_column(&condition, &column, &quoted) });
    }
    objects
}

/// The default as the value that it is, or as the expression: `'it''s'::character varying` is `it's`.
fn default(text: &str) -> Option<String> {
    let (escaped, inner) = match (text.strip_prefix("E'"), text.strip_prefix('\'')) {
        (Some(inner), _) => (true, inner),
        (None, Some(inner)) => (false, inner),
        _ if text.starts_with("NULL::") => return None,
        _ => return Some(text.to_owned()),
    };
    let (string, cast) = inner.rsplit_once("'::").unwrap();
    assert!(!cast.contains('\''), "{text}");
    let string = string.replace("''", "'");
    Some(if escaped { string.replace("\\\\", "\\") } else { string })
}

fn action(letter: String) -> String {
    match letter.as_str() {
        "a" => "NO ACTION".to_owned(),
        "r" => "RESTRICT".to_owned(),
        "c" => "CASCADE".to_owned(),
        "n" => "SET NULL".to_owned(),
        "d" => "SET DEFAULT".to_owned(),
        _ => letter,
    }
}
