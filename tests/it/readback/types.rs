//! What each engine should say of a column's type, default and check: written down here by hand, and not taken from the
//! code under test.

use claimsmith::schema::{Column, ColumnType as T, Literal, Size};

use crate::servers::Server;

/// The type's names on MySQL, MariaDB, PostgreSQL and SQLite, as their catalogues write them.
fn names(column: &Column) -> [String; 4] {
    let row = |names: [&str; 4]| names.map(str::to_owned);
    match &column.ty {
        T::Bool => row(["tinyint(1)", "tinyint(1)", "boolean", "BOOLEAN"]),
        T::Int { bytes: 1, unsigned: false } => row(["tinyint", "tinyint(4)", "smallint", "INTEGER"]),
        T::Int { bytes: 1, unsigned: true } => row(["tinyint unsigned", "tinyint(3) unsigned", "smallint", "INTEGER"]),
        T::Int { bytes: 2, unsigned: false } => row(["smallint", "smallint(6)", "smallint", "INTEGER"]),
        T::Int { bytes: 2, unsigned: true } => row(["smallint unsigned", "smallint(5) unsigned", "integer", "INTEGER"]),
        T::Int { bytes: 3, unsigned: false } => row(["mediumint", "mediumint(9)", "integer", "INTEGER"]),
        T::Int { bytes: 3, unsigned: true } => {
            row(["mediumint unsigned", "mediumint(8) unsigned", "integer", "INTEGER"])
        }
        T::Int { bytes: 4, unsigned: false } => row(["int", "int(11)", "integer", "INTEGER"]),
        T::Int { bytes: 4, unsigned: true } => row(["int unsigned", "int(10) unsigned", "bigint", "INTEGER"]),
        T::Int { unsigned: false, .. } => row(["bigint", "bigint(20)", "bigint", "INTEGER"]),
        T::Int { unsigned: true, .. } if column.numbered => {
            row(["bigint unsigned", "bigint(20) unsigned", "bigint", "INTEGER"])
        }
        T::Int { unsigned: true, .. } => row(["bigint unsigned", "bigint(20) unsigned", "numeric(20,0)", "INTEGER"]),
        T::Decimal { precision: p, scale: s, unsigned } => {
            let name = format!("decimal({p},{s}){}", if *unsigned { " unsigned" } else { "" });
            [name.clone(), name, format!("numeric({p},{s})"), "TEXT".to_owned()]
        }
        T::Float => row(["float", "float", "real", "REAL"]),
        T::Double => row(["double", "double", "double precision", "REAL"]),
        T::Char(n) => [format!("char({n})"), format!("char({n})"), format!("character({n})"), "TEXT".to_owned()],
        T::Varchar(n) => {
            [format!("varchar({n})"), format!("varchar({n})"), format!("character varying({n})"), "TEXT".to_owned()]
        }
        T::Text(size) => {
            let name = format!("{}text", prefix(*size));
            [name.clone(), name, "text".to_owned(), "TEXT".to_owned()]
        }
        T::Binary(n) => [format!("binary({n})"), format!("binary({n})"), "bytea".to_owned(), "BLOB".to_owned()],
        T::Varbinary(n) => {
            [format!("varbinary({n})"), format!("varbinary({n})"), "bytea".to_owned(), "BLOB".to_owned()]
        }
        T::Blob(size) => {
            let name = format!("{}blob", prefix(*size));
            [name.clone(), name, "bytea".to_owned(), "BLOB".to_owned()]
        }
        T::Date => row(["date", "date", "date", "DATE"]),
        T::Time(digits) => time("time", *digits, "time", "without", "TIME"),
        T::DateTime(digits) => time("datetime", *digits, "timestamp", "without", "DATETIME"),
        T::Timestamp(digits) => time("timestamp", *digits, "timestamp", "with", "DATETIME"),
        T::Json => row(["json", "longtext", "jsonb", "TEXT"]),
        T::Enum(members) => {
            let longest = members.iter().map(|member| member.chars().count()).max().unwrap().max(1);
            let escape =
                |member: &String| in_catalogue(member, Server::MySql).replace('\\', "\\\\").replace('\n', "\\n");
            let escaped: Vec<String> = members.iter().map(escape).collect();
            let name = format!("enum({})", list(&escaped, ","));
            [name.clone(), name, format!("character varying({longest})"), "TEXT".to_owned()]
        }
    }
}

fn prefix(size: Size) -> &'static str {
    match size {
        Size::Tiny => "tiny",
        Size::Normal => "",
        Size::Medium => "medium",
        Size::Long => "long",
    }
}

fn time(name: &str, digits: u8, postgres: &str, zone: &str, sqlite: &str) -> [String; 4] {
    let name = if digits == 0 { name.to_owned() } else { format!("{name}({digits})") };
    // PostgreSQL names all but its default of six digits.
    let postgres = format!("{postgres}({digits}) {zone} time zone");
    [name.clone(), name, postgres, sqlite.to_owned()]
}

/// The text as the catalogue gives it back: those of MySQL and MariaDB know no characters beyond U+FFFF.
pub fn in_catalogue(text: &str, server: Server) -> String {
    let shown = |c: char| if server.is_mysql_like() && c > '\u{FFFF}' { '?' } else { c };
    text.chars().map(shown).collect()
}

/// The members in quotes, with every quote doubled.
fn list(members: &[String], separator: &str) -> String {
    let members: Vec<String> = members.iter().map(|member| format!("'{}'", member.replace('\'', "''"))).collect();
    members.join(separator)
}

/// The column's type in the engine's catalogue.
pub fn type_name(column: &Column, server: Server) -> String {
    let [mysql, mariadb, postgres, sqlite] = names(column);
    // Only a numbered column is an INTEGER: as a primary key that would be the number of the row.
    let sqlite = match (&column.ty, column.auto_increment) {
        (T::Int { .. }, false) => mysql.to_uppercase(),
        _ => sqlite,
    };
    match server {
        Server::MySql => mysql,
        Server::MariaDb => mariadb,
        Server::Postgres => postgres,
        Server::Sqlite => sqlite,
    }
}

/// The default in the engine's catalogue, as the readers put it: strings as their text.
pub fn default(column: &Column, server: Server) -> Option<String> {
    let default = &column.default.as_ref()?.value;
    let digits = match column.ty {
        T::DateTime(digits) | T::Timestamp(digits) => digits,
        _ => 0,
    };
    let text = match (default, server) {
        // On PostgreSQL and MariaDB, NULL is the default of a column without one; SQLite keeps the word.
        (Literal::Null, Server::Sqlite) => "NULL".to_owned(),
        (Literal::Null, _) => return None,
        (Literal::Bool(value), _) => boolean(*value, server),
        (Literal::Number(number), _) if column.ty == T::Bool => boolean(number == "1", server),
        (Literal::Number(number), Server::Sqlite) if matches!(column.ty, T::Decimal { .. }) => format!("'{number}'"),
        (Literal::Number(text) | Literal::Text(text), Server::MySql | Server::MariaDb) => {
            padded(&in_catalogue(text, server), &column.ty)
        }
        (Literal::Number(number), _) => number.clone(),
        (Literal::Text(text), Server::Sqlite) => format!("'{}'", text.replace('\'', "''")),
        (Literal::Text(text), _) => text.clone(),
        (Literal::Now(_), Server::MySql) if digits == 0 => "CURRENT_TIMESTAMP".to_owned(),
        (Literal::Now(_), Server::MySql) => format!("CURRENT_TIMESTAMP({digits})"),
        (Literal::Now(0), Server::MariaDb) => "current_timestamp()".to_owned(),
        (Literal::Now(digits), Server::MariaDb) => format!("current_timestamp({digits})"),
        (Literal::Now(_), Server::Postgres) => {
            let now = match digits {
                0 => "date_trunc('second'::text, CURRENT_TIMESTAMP)".to_owned(),
                3 => "date_trunc('milliseconds'::text, CURRENT_TIMESTAMP)".to_owned(),
                6 => "CURRENT_TIMESTAMP".to_owned(),
                _ => format!("CURRENT_TIMESTAMP({digits})"),
            };
            if matches!(column.ty, T::DateTime(_)) { format!("({now} AT TIME ZONE 'UTC'::text)") } else { now }
        }
        (Literal::Now(_), Server::Sqlite) if digits == 0 => "CURRENT_TIMESTAMP".to_owned(),
        (Literal::Now(_), Server::Sqlite) => "strftime('%Y-%m-%d %H:%M:%f', 'now')".to_owned(),
        (Literal::Today, Server::MySql | Server::MariaDb) => "curdate()".to_owned(),
        (Literal::Today, _) => "CURRENT_DATE".to_owned(),
    };
    Some(text)
}

fn boolean(value: bool, server: Server) -> String {
    match server {
        Server::Postgres => value.to_string(),
        _ => u8::from(value).to_string(),
    }
}

/// MySQL and MariaDB pad decimals and times to their digits.
fn padded(text: &str, ty: &T) -> String {
    match ty {
        T::Decimal { scale: digits, .. } | T::Time(digits) | T::DateTime(digits) | T::Timestamp(digits)
            if *digits > 0 =>
        {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            format!("{whole}.{fraction:0<width$}", width = usize::from(*digits))
        }
        _ => text.to_owned(),
    }
}

/// The check that the engine should have for the column, `{}` standing for it.
pub fn check(column: &Column, server: Server) -> Option<String> {
    let range = |bits: u32, unsigned: bool| match unsigned {
        true => (0, (1_i128 << bits) - 1),
        false => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
    };
    match (&column.ty, server) {
        (T::Decimal { unsigned: true, .. }, Server::Postgres) => Some("CHECK (({} >= (0)::numeric))".to_owned()),
        (T::Decimal { unsigned: true, .. }, Server::Sqlite) => Some("{} NOT LIKE '-%'".to_owned()),
        // MariaDB's own, from the type.
        (T::Json, Server::MariaDb) => Some("json_valid({})".to_owned()),
        (_, Server::MySql | Server::MariaDb) => None,

        (T::Int { bytes: 2 | 4 | 8, unsigned: false }, Server::Postgres) => None,
        (T::Int { bytes: 8, unsigned: true }, Server::Postgres) if column.numbered => {
            Some("CHECK (({} >= 0))".to_owned())
        }
        (T::Int { bytes: 8, unsigned: true }, Server::Postgres) => {
            Some("CHECK ((({} >= (0)::numeric) AND ({} <= '18446744073709551615'::numeric)))".to_owned())
        }
        (T::Int { bytes: 4, .. }, Server::Postgres) => {
            Some("CHECK ((({} >= 0) AND ({} <= '4294967295'::bigint)))".to_owned())
        }
        (T::Int { bytes, unsigned }, Server::Postgres) => {
            let (least, most) = range(u32::from(*bytes) * 8, *unsigned);
            let least = if least < 0 { format!("'{least}'::integer") } else { least.to_string() };
            Some(format!("CHECK ((({{}} >= {least}) AND ({{}} <= {most})))"))
        }
        (T::Binary(n), Server::Postgres) => Some(format!("CHECK ((octet_length({{}}) = {n}))")),
        (T::Varbinary(n), Server::Postgres) => Some(format!("CHECK ((octet_length({{}}) <= {n}))")),
        (T::Enum(members), Server::Postgres) => Some(match members.as_slice() {
            [_] => format!("CHECK ((({{}})::text = {}::text))", list(members, "")),
            _ => {
                let members = list(members, "\0").replace('\0', "::character varying, ");
                format!("CHECK ((({{}})::text = ANY ((ARRAY[{members}::character varying])::text[])))")
            }
        }),
        (_, Server::Postgres) => None,

        (T::Bool, Server::Sqlite) => Some("{} IN (0, 1)".to_owned()),
        (T::Int { bytes, unsigned }, Server::Sqlite) => {
            let kind = match (column.auto_increment, column.nullable) {
                (true, _) => "",
                (false, true) => "typeof({}) IN ('integer', 'null')",
                (false, false) => "typeof({}) = 'integer'",
            };
            let (least, most) = range(u32::from(*bytes) * 8, *unsigned);
            let range = match (bytes, unsigned) {
                (8, false) => String::new(),
                (8, true) => "{} >= 0".to_owned(),
                _ => format!("{{}} BETWEEN {least} AND {most}"),
            };
            let parts: Vec<&str> = [kind, &range].into_iter().filter(|part| !part.is_empty()).collect();
            (!parts.is_empty()).then(|| parts.join(" AND "))
        }
        (T::Date, Server::Sqlite) => Some("{} GLOB '????-??-??'".to_owned()),
        (T::Time(_), Server::Sqlite) => Some("{} GLOB '??:??:??*'".to_owned()),
        (T::DateTime(_) | T::Timestamp(_), Server::Sqlite) => Some("{} GLOB '????-??-?? ??:??:??*'".to_owned()),
        (T::Char(n) | T::Varchar(n) | T::Varbinary(n), Server::Sqlite) => Some(format!("length({{}}) <= {n}")),
        (T::Binary(n), Server::Sqlite) => Some(format!("length({{}}) = {n}")),
        (T::Json, Server::Sqlite) => Some("json_valid({})".to_owned()),
        (T::Enum(members), Server::Sqlite) => Some(format!("{{}} IN ({})", list(members, ", "))),
        (_, Server::Sqlite) => None,
    }
}

/// The condition of a partial index, `{}` standing for the column.
pub fn predicate(ty: &T, value: &str, server: Server) -> String {
    let value = value.replace('\'', "''");
    match server {
        Server::Postgres if matches!(ty, T::Text(_)) => format!("({{}} = '{value}'::text)"),
        Server::Postgres => format!("(({{}})::text = '{value}'::text)"),
        _ => format!("{{}} = '{value}'"),
    }
}
