//! Column types: SQL text such as `VARCHAR(255)` ↔ [`ColumnType`].

use std::collections::BTreeSet;
use std::fmt;

/// What a column holds, the same for every engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// `TINYINT(1)`, `BOOLEAN`, `BOOL`.
    Bool,
    /// Integers.
    Int {
        /// Width in bytes: 1, 2, 3, 4 or 8.
        bytes: u8,
        /// From 0 instead of from the negative minimum.
        unsigned: bool,
    },
    /// `DECIMAL(precision, scale)`.
    Decimal {
        /// All digits, at most 65.
        precision: u8,
        /// Digits after the point, at most 30.
        scale: u8,
        /// Not negative.
        unsigned: bool,
    },
    /// `FLOAT`, 4 bytes.
    Float,
    /// `DOUBLE`, 8 bytes.
    Double,
    /// `CHAR(characters)`.
    Char(u32),
    /// `VARCHAR(characters)`.
    Varchar(u32),
    /// `TINYTEXT`, `TEXT`, `MEDIUMTEXT`, `LONGTEXT`.
    Text(Size),
    /// `BINARY(bytes)`.
    Binary(u32),
    /// `VARBINARY(bytes)`.
    Varbinary(u32),
    /// `TINYBLOB`, `BLOB`, `MEDIUMBLOB`, `LONGBLOB`.
    Blob(Size),
    /// `DATE`.
    Date,
    /// `TIME(digits)`.
    Time(u8),
    /// `DATETIME(digits)`: without a zone, UTC.
    DateTime(u8),
    /// `TIMESTAMP(digits)`: a moment.
    Timestamp(u8),
    /// `JSON`.
    Json,
    /// `ENUM('a', 'b')`.
    Enum(Vec<String>),
}

/// Size class of a TEXT or BLOB column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 255 bytes.
    Tiny,
    /// 65,535 bytes.
    Normal,
    /// 16 MiB.
    Medium,
    /// 4 GiB.
    Long,
}

impl Size {
    /// Most bytes; those of LONG are more than a key can ever hold.
    pub fn bytes(self) -> usize {
        match self {
            Size::Tiny => 255,
            Size::Normal => 65_535,
            Size::Medium => 16_777_215,
            Size::Long => 4_294_967_295,
        }
    }

    /// The prefix of the type's name.
    pub fn prefix(self) -> &'static str {
        match self {
            Size::Tiny => "TINY",
            Size::Normal => "",
            Size::Medium => "MEDIUM",
            Size::Long => "LONG",
        }
    }
}

/// Type names and aliases, for parsing and for "did you mean".
const NAMES: [&str; 41] = [
    "BOOL",
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "MEDIUMINT",
    "INT",
    "INTEGER",
    "BIGINT",
    "DECIMAL",
    "NUMERIC",
    "DEC",
    "FIXED",
    "FLOAT",
    "REAL",
    "DOUBLE",
    "DOUBLE PRECISION",
    "CHAR",
    "CHARACTER",
    "VARCHAR",
    "CHARACTER VARYING",
    "TINYTEXT",
    "TEXT",
    "MEDIUMTEXT",
    "LONGTEXT",
    "BINARY",
    "VARBINARY",
    "TINYBLOB",
    "BLOB",
    "MEDIUMBLOB",
    "LONGBLOB",
    "DATE",
    "TIME",
    "DATETIME",
    "TIMESTAMP",
    "JSON",
    "JSONB",
    "ENUM",
    "INT2",
    "INT4",
    "INT8",
    "BYTEA",
];

/// Why a type text is not understood.
#[derive(Debug, PartialEq, Eq)]
pub struct TypeError {
    /// One sentence.
    pub message: String,
    /// The closest type name, if that was the fault.
    pub closest: Option<&'static str>,
}

fn fault<T>(message: impl Into<String>) -> Result<T, TypeError> {
    Err(TypeError { message: message.into(), closest: None })
}

impl ColumnType {
    /// Reads SQL text, in upper or lower case.
    pub fn parse(text: &str) -> Result<ColumnType, TypeError> {
        let (head, arguments, tail) = split(text)?;
        let mut words: Vec<String> = format!("{head} {tail}").split_whitespace().map(str::to_uppercase).collect();
        let count = words.len();
        words.retain(|word| word != "UNSIGNED" && word != "SIGNED");
        let unsigned = words.len() < count && !text.to_uppercase().split_whitespace().any(|word| word == "SIGNED");
        let name = words.join(" ");
        let bound = |what: &str, most: u32| number(&name, &arguments, what, most);
        let digits = || match arguments.as_slice() {
            [] => Ok(0),
            _ => bound("fractional digits", 6).map(|digits| digits as u8),
        };
        let int = |bytes| Ok(ColumnType::Int { bytes, unsigned });
        let parsed = match name.as_str() {
            "BOOL" | "BOOLEAN" => Ok(ColumnType::Bool),
            "TINYINT" if arguments == ["1"] && !unsigned => Ok(ColumnType::Bool),
            "TINYINT" => int(1),
            "SMALLINT" | "INT2" => int(2),
            "MEDIUMINT" => int(3),
            "INT" | "INTEGER" | "INT4" => int(4),
            "BIGINT" | "INT8" => int(8),
            "DECIMAL" | "NUMERIC" | "DEC" | "FIXED" => decimal(&name, &arguments, unsigned),
            "FLOAT" | "REAL" => Ok(ColumnType::Float),
            "DOUBLE" | "DOUBLE PRECISION" => Ok(ColumnType::Double),
            "CHAR" | "CHARACTER" => bound("characters", 255).map(ColumnType::Char),
            "VARCHAR" | "CHARACTER VARYING" => bound("characters", 16_383).map(ColumnType::Varchar),
            "TINYTEXT" => Ok(ColumnType::Text(Size::Tiny)),
            "TEXT" => Ok(ColumnType::Text(Size::Normal)),
            "MEDIUMTEXT" => Ok(ColumnType::Text(Size::Medium)),
            "LONGTEXT" => Ok(ColumnType::Text(Size::Long)),
            "BINARY" => bound("bytes", 255).map(ColumnType::Binary),
            "VARBINARY" => bound("bytes", 65_532).map(ColumnType::Varbinary),
            "TINYBLOB" => Ok(ColumnType::Blob(Size::Tiny)),
            "BLOB" => Ok(ColumnType::Blob(Size::Normal)),
            "MEDIUMBLOB" => Ok(ColumnType::Blob(Size::Medium)),
            "LONGBLOB" | "BYTEA" => Ok(ColumnType::Blob(Size::Long)),
            "DATE" => Ok(ColumnType::Date),
            "TIME" => digits().map(ColumnType::Time),
            "DATETIME" => digits().map(ColumnType::DateTime),
            "TIMESTAMP" => digits().map(ColumnType::Timestamp),
            "JSON" | "JSONB" => Ok(ColumnType::Json),
            "ENUM" => members(&arguments).map(ColumnType::Enum),
            _ => Err(unknown(text, &name)),
        }?;
        match unsigned && !matches!(parsed, ColumnType::Int { .. } | ColumnType::Decimal { .. }) {
            true => fault(format!("{name} cannot be UNSIGNED")),
            false => without_arguments(&name, &parsed, &arguments).map(|()| parsed),
        }
    }

    /// Strings that have a collation.
    pub fn is_text(&self) -> bool {
        matches!(self, ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Text(_) | ColumnType::Enum(_))
    }

    /// TEXT and BLOB, which MySQL keeps outside the row and indexes by a prefix only.
    pub fn is_long(&self) -> bool {
        matches!(self, ColumnType::Text(_) | ColumnType::Blob(_) | ColumnType::Json)
    }

    /// DATETIME and TIMESTAMP.
    pub fn is_time(&self) -> bool {
        matches!(self, ColumnType::DateTime(_) | ColumnType::Timestamp(_))
    }

    /// Whether a value equals itself after it was read and written: then it can say which row is meant.
    pub fn is_exact(&self) -> bool {
        !matches!(self, ColumnType::Float | ColumnType::Double | ColumnType::Json)
    }

    /// The least and the greatest value of an integer type.
    pub fn range(&self) -> Option<(i128, i128)> {
        match *self {
            ColumnType::Int { bytes, unsigned: true } => Some((0, (1 << (8 * u32::from(bytes))) - 1)),
            ColumnType::Int { bytes, unsigned: false } => {
                let half = 1 << (8 * u32::from(bytes) - 1);
                Some((-half, half - 1))
            }
            _ => None,
        }
    }
}

/// `head(arguments) tail`, with the arguments separated at commas outside quotes.
fn split(text: &str) -> Result<(&str, Vec<String>, &str), TypeError> {
    let Some(open) = text.find('(') else { return Ok((text, Vec::new(), "")) };
    let mut arguments = vec![String::new()];
    let mut quoted = false;
    for (at, c) in text[open + 1..].char_indices() {
        match c {
            '\'' => quoted = !quoted,
            ')' if !quoted => {
                let tail = &text[open + 1 + at + 1..];
                let trimmed = arguments.iter().map(|argument| argument.trim().to_owned()).collect();
                return Ok((&text[..open], trimmed, tail));
            }
            ',' if !quoted => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(c);
        }
    }
    fault(if quoted { "a quote is not closed" } else { "a parenthesis is not closed" })
}

fn number(name: &str, arguments: &[String], what: &str, most: u32) -> Result<u32, TypeError> {
    let number = match arguments {
        [one] => one.parse().ok(),
        _ => None,
    };
    let least = u32::from(what != "fractional digits");
    match number {
        Some(number) if (least..=most).contains(&number) => Ok(number),
        _ => {
            fault(format!("{name} needs its number of {what}, from {least} to {most}, as in {name}({})", most.min(64)))
        }
    }
}

fn decimal(name: &str, arguments: &[String], unsigned: bool) -> Result<ColumnType, TypeError> {
    let numbers: Option<Vec<u8>> = arguments.iter().map(|argument| argument.parse().ok()).collect();
    let (precision, scale) = match numbers.as_deref() {
        Some([]) => (10, 0),
        Some([precision]) => (*precision, 0),
        Some([precision, scale]) => (*precision, *scale),
        _ => (0, 0),
    };
    match (1..=65).contains(&precision) && scale <= 30 && scale <= precision {
        true => Ok(ColumnType::Decimal { precision, scale, unsigned }),
        false => fault(format!("{name} takes 1 to 65 digits, of which at most 30 after the point, as in {name}(18,4)")),
    }
}

fn members(arguments: &[String]) -> Result<Vec<String>, TypeError> {
    let members: Option<Vec<String>> = arguments.iter().map(|argument| unquote(argument)).collect();
    let members = members.unwrap_or_default();
    if members.is_empty() {
        return fault("ENUM needs its members in single quotes, as in ENUM('a', 'b')");
    }
    let mut seen = BTreeSet::new();
    for member in &members {
        if member.chars().count() > 255 {
            return fault("an ENUM member has at most 255 characters");
        }
        if !seen.insert(member.to_lowercase()) {
            return fault(format!("the ENUM member '{member}' occurs twice (upper and lower case count as the same)"));
        }
    }
    Ok(members)
}

/// The text in single quotes, `''` standing for one quote.
pub(super) fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let unescaped = inner.replace("''", "\u{0}");
    match unescaped.contains('\'') || inner.contains('\u{0}') {
        true => None,
        false => Some(unescaped.replace('\u{0}', "'")),
    }
}

/// Refuses arguments where the type has none; a display width such as INT(11) says nothing and is taken.
fn without_arguments(name: &str, parsed: &ColumnType, arguments: &[String]) -> Result<(), TypeError> {
    use ColumnType::{Blob, Bool, Date, Double, Float, Int, Json, Text};
    let width = matches!(arguments, [one] if one.parse::<u8>().is_ok());
    match parsed {
        Int { .. } if arguments.is_empty() || width => Ok(()),
        Bool if arguments.is_empty() || name == "TINYINT" => Ok(()),
        Float | Double | Text(_) | Blob(_) | Date | Json | Bool | Int { .. } if !arguments.is_empty() => {
            fault(format!("{name} takes nothing in parentheses"))
        }
        _ => Ok(()),
    }
}

fn unknown(text: &str, name: &str) -> TypeError {
    let text = text.trim();
    match text.char_indices().nth(100) {
        // Nothing that long is a slip.
        Some((end, _)) => TypeError { message: format!("unknown type `{}…`", &text[..end]), closest: None },
        None => {
            let closest = crate::diagnostic::suggest::closest(name, NAMES);
            TypeError { message: format!("unknown type `{text}`"), closest }
        }
    }
}

impl fmt::Display for ColumnType {
    /// The SQL text in the spelling of MySQL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |unsigned: &bool| if *unsigned { " UNSIGNED" } else { "" };
        let digits = |f: &mut fmt::Formatter<'_>, name: &str, digits: &u8| match digits {
            0 => f.write_str(name),
            _ => write!(f, "{name}({digits})"),
        };
        match self {
            ColumnType::Bool => f.write_str("BOOLEAN"),
            ColumnType::Int { bytes, unsigned } => {
                let name = match bytes {
                    1 => "TINYINT",
                    2 => "SMALLINT",
                    3 => "MEDIUMINT",
                    4 => "INT",
                    _ => "BIGINT",
                };
                write!(f, "{name}{}", sign(unsigned))
            }
            ColumnType::Decimal { precision, scale, unsigned } => {
                write!(f, "DECIMAL({precision},{scale}){}", sign(unsigned))
            }
            ColumnType::Float => f.write_str("FLOAT"),
            ColumnType::Double => f.write_str("DOUBLE"),
            ColumnType::Char(length) => write!(f, "CHAR({length})"),
            ColumnType::Varchar(length) => write!(f, "VARCHAR({length})"),
            ColumnType::Text(size) => write!(f, "{}TEXT", size.prefix()),
            ColumnType::Binary(length) => write!(f, "BINARY({length})"),
            ColumnType::Varbinary(length) => write!(f, "VARBINARY({length})"),
            ColumnType::Blob(size) => write!(f, "{}BLOB", size.prefix()),
            ColumnType::Date => f.write_str("DATE"),
            ColumnType::Time(count) => digits(f, "TIME", count),
            ColumnType::DateTime(count) => digits(f, "DATETIME", count),
            ColumnType::Timestamp(count) => digits(f, "TIMESTAMP", count),
            ColumnType::Json => f.write_str("JSON"),
            ColumnType::Enum(members) => {
                let quoted: Vec<String> =
                    members.iter().map(|member| format!("'{}'", member.replace('\'', "''"))).collect();
                write!(f, "ENUM({})", quoted.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnType, Size};

    #[test]
    fn reads_the_spellings_found_in_the_wild() {
        let int = |bytes, unsigned| ColumnType::Int { bytes, unsigned };
        for (text, expected) in [
            ("VARCHAR(255)", ColumnType::Varchar(255)),
            ("varchar( 36 )", ColumnType::Varchar(36)),
            ("Text", ColumnType::Text(Size::Normal)),
            ("TINYINT(1)", ColumnType::Bool),
            ("BOOLEAN", ColumnType::Bool),
            ("TINYINT(4)", int(1, false)),
            ("INT(11)", int(4, false)),
            ("BIGINT UNSIGNED", int(8, true)),
            ("UNSIGNED BIGINT", int(8, true)),
            ("BIGINT(20) unsigned", int(8, true)),
            ("TINYINT(1) UNSIGNED", int(1, true)),
            ("DECIMAL(18,4)", ColumnType::Decimal { precision: 18, scale: 4, unsigned: false }),
            ("double precision", ColumnType::Double),
            ("DATETIME(6)", ColumnType::DateTime(6)),
            ("ENUM('a', 'b,c)', 'it''s')", ColumnType::Enum(vec!["a".into(), "b,c)".into(), "it's".into()])),
        ] {
            assert_eq!(ColumnType::parse(text), Ok(expected.clone()), "{text}");
            assert_eq!(ColumnType::parse(&expected.to_string()), Ok(expected), "{text} printed");
        }
    }

    #[test]
    fn refuses_what_it_cannot_keep() {
        for (text, part) in [
            ("VARCHAR", "needs its number of characters"),
            ("VARCHAR(0)", "from 1 to 16383"),
            ("VARCHAR(20", "parenthesis is not closed"),
            ("ENUM('a", "quote is not closed"),
            ("ENUM(a)", "single quotes"),
            ("ENUM('a','A')", "occurs twice"),
            ("DECIMAL(70,2)", "1 to 65 digits"),
            ("DATETIME(7)", "from 0 to 6"),
            ("TEXT(20)", "nothing in parentheses"),
            ("VARCHAR(20) UNSIGNED", "cannot be UNSIGNED"),
            ("GEOMETRY", "unknown type"),
            ("INT; DROP TABLE t", "unknown type"),
            ("", "unknown type"),
        ] {
            let error = ColumnType::parse(text).expect_err(text);
            assert!(error.message.contains(part), "{text}: {}", error.message);
        }
        assert_eq!(ColumnType::parse("VARHCAR(20)").expect_err("typo").closest, Some("VARCHAR"));
    }
}
