//! What an engine's catalogue should hold of a [`Catalog`].

use claimsmith::schema::names::{self, TableNames};
use claimsmith::schema::{Catalog, Column, ColumnType, ForeignKey, Table};
use claimsmith::workload;

use crate::servers::Server;

use super::model::Object;
use super::types;

/// Everything that the definitions say, the indexes of their workload, and what the engine adds by itself.
pub fn objects(catalog: &Catalog, server: Server) -> Vec<Object> {
    let catalog = &workload::indexed(catalog, server.engine());
    let names = names::assign(catalog, server.engine());
    let mut objects = Vec::new();
    for (table, names) in catalog.tables.iter().zip(&names) {
        let name = table.name.to_string();
        objects.push(Object::Table {
            name: name.clone(),
            comment: match server {
                Server::Sqlite => String::new(),
                _ => kept(table.description.as_deref(), 2048, server),
            },
            collation: table_collation(server).to_owned(),
        });
        for (at, column) in table.columns.iter().enumerate() {
            objects.push(self::column(table, at, column, server));
            if let Some(condition) = types::check(column, server) {
                // MariaDB's own check of a JSON column is named like the column.
                let of_type = server == Server::MariaDb && column.ty == ColumnType::Json;
                let name = if of_type { column.name.clone() } else { names::check(table, names, at, server.engine()) };
                objects.push(Object::Check { table: table.name.to_string(), name, condition });
            }
        }
        if !table.primary_key.is_empty() {
            objects.push(Object::PrimaryKey {
                table: name.clone(),
                columns: key_parts(table, &table.primary_key, server),
            });
        }
        for (index, index_name) in table.indexes.iter().zip(&names.indexes) {
            objects.push(Object::Index {
                table: name.clone(),
                name: index_name.clone(),
                columns: key_parts(table, &index.columns, server),
                unique: index.unique,
                predicate: index.predicate.as_ref().map_or_else(String::new, |predicate| {
                    types::predicate(&table.columns[predicate.column].ty, &predicate.value, server)
                }),
                comment: kept(index.description.as_deref(), 1024, server),
            });
        }
        objects.extend(foreign_keys(table, names, server));
    }
    objects
}

fn column(table: &Table, at: usize, column: &Column, server: Server) -> Object {
    let said = [&column.label, &column.description].into_iter().flatten().filter(|text| !text.is_empty());
    let said: Vec<&str> = said.map(String::as_str).collect();
    let mut comment = kept(Some(&said.join(": ")), 1024, server);
    if server == Server::Sqlite && at == 0 {
        // The table's comment stands above that of its first column.
        let both = [kept(table.description.as_deref(), 0, server), comment];
        comment = both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    }
    let expression = column.default.as_ref().is_some_and(|default| {
        use claimsmith::schema::Literal::{Now, Null, Today};
        let is_long = matches!(column.ty, ColumnType::Text(_) | ColumnType::Blob(_) | ColumnType::Json);
        matches!(default.value, Now(_) | Today) || is_long && default.value != Null
    });
    Object::Column {
        table: table.name.to_string(),
        position: at + 1,
        name: column.name.clone(),
        ty: types::type_name(column, server),
        // SQLite does not say of a numbered key that it is NOT NULL.
        nullable: column.nullable || column.auto_increment && server == Server::Sqlite,
        default: types::default(column, server),
        extra: match (column.auto_increment, server) {
            (true, Server::MySql | Server::MariaDb) => "auto_increment",
            (true, Server::Postgres) => "identity d",
            (true, Server::Sqlite) => "AUTOINCREMENT",
            (false, Server::MySql) if expression => "DEFAULT_GENERATED",
            (false, _) => "",
        }
        .to_owned(),
        collation: column_collation(column, server),
        comment,
    }
}

/// The comment as the engine keeps it.
fn kept(text: Option<&str>, most: usize, server: Server) -> String {
    let text = text.unwrap_or_default();
    match server {
        Server::MySql | Server::MariaDb if text.chars().count() > most => {
            types::in_catalogue(&(text.chars().take(most - 1).collect::<String>() + "…"), server)
        }
        Server::MySql | Server::MariaDb | Server::Postgres => types::in_catalogue(text, server),
        Server::Sqlite => {
            let lines = text.split(['\n', '\r', '\u{B}', '\u{C}', '\u{85}', '\u{2028}', '\u{2029}']);
            lines.map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
        }
    }
}

fn table_collation(server: Server) -> &'static str {
    match server {
        Server::MySql => "InnoDB utf8mb4_0900_ai_ci",
        Server::MariaDb => "InnoDB utf8mb4_unicode_520_ci",
        Server::Postgres | Server::Sqlite => "",
    }
}

fn column_collation(column: &Column, server: Server) -> Option<String> {
    use ColumnType::{Char, Enum, Json, Text, Varchar};
    let text = matches!(column.ty, Char(_) | Varchar(_) | Text(_) | Enum(_));
    let name = match (server, column.binary) {
        (Server::MariaDb, _) if column.ty == Json => "utf8mb4_bin",
        _ if !text => return None,
        (Server::MySql, true) => "utf8mb4_0900_bin",
        (Server::MariaDb, true) => "utf8mb4_nopad_bin",
        (Server::MySql, false) => "utf8mb4_0900_ai_ci",
        (Server::MariaDb, false) => "utf8mb4_unicode_520_ci",
        (Server::Postgres, true) => "C",
        (Server::Postgres, false) => "default",
        (Server::Sqlite, _) => return None,
    };
    Some(name.to_owned())
}

/// The columns of a key; MySQL and MariaDB take a prefix of the long ones.
fn key_parts(table: &Table, columns: &[usize], server: Server) -> Vec<String> {
    let part = |at: &usize| {
        let column = &table.columns[*at];
        match (&column.ty, column.key_length, server) {
            (ColumnType::Text(_) | ColumnType::Blob(_), Some(length), Server::MySql | Server::MariaDb) => {
                format!("{}({length})", column.name)
            }
            _ => column.name.clone(),
        }
    };
    columns.iter().map(part).collect()
}

fn foreign_keys(table: &Table, names: &TableNames, server: Server) -> Vec<Object> {
    let mut objects = Vec::new();
    let keys = || table.foreign_keys.iter().zip(&names.foreign_keys);
    for (at, (key, name)) in keys().enumerate() {
        objects.push(foreign_key(table, key, name, server));
        // MySQL and MariaDB index the columns of a foreign key, unless an index begins with them, or another foreign key
        // that has more columns or comes later.
        let declared = table.indexes.iter().map(|index| &index.columns).chain([&table.primary_key]);
        let others = keys().enumerate().map(|(other, (key, _))| (other, &key.columns));
        let mut others = others.filter(|(other, columns)| columns.len() > key.columns.len() || *other > at);
        let indexed = declared.into_iter().any(|columns| columns.starts_with(&key.columns))
            || others.any(|(_, columns)| columns.starts_with(&key.columns));
        if server.is_mysql_like() && !indexed {
            objects.push(Object::Index {
                table: table.name.to_string(),
                name: name.clone(),
                columns: key_parts(table, &key.columns, server),
                unique: false,
                predicate: String::new(),
                comment: String::new(),
            });
        }
    }
    objects
}

fn foreign_key(table: &Table, key: &ForeignKey, name: &str, server: Server) -> Object {
    let without = if server == Server::MariaDb { "RESTRICT" } else { "NO ACTION" };
    let action = |action: Option<claimsmith::schema::Action>| action.map_or(without, |action| action.sql()).to_owned();
    Object::ForeignKey {
        table: table.name.to_string(),
        name: name.to_owned(),
        columns: table.names(&key.columns).map(str::to_owned).collect(),
        target: key.target.to_string(),
        target_columns: key.target_columns.clone(),
        on_delete: action(key.on_delete),
        on_update: action(key.on_update),
    }
}
