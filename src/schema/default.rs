//! Column defaults: raw SQL text → a value that every engine can be told.

use super::json;
use super::types::{ColumnType, unquote};

/// A default, as the definition says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultValue {
    /// What it is.
    pub value: Literal,
    /// It stands in parentheses, as MySQL asks for on TEXT, BLOB and JSON columns.
    pub parenthesised: bool,
}

/// A literal, or the current time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Bool(bool),
    /// Digits with an optional sign, point and fraction, as written.
    Number(String),
    /// `'text'`, unescaped.
    Text(String),
    /// `CURRENT_TIMESTAMP`, with its fractional digits.
    Now(u8),
    /// `CURRENT_DATE`.
    Today,
}

/// What is taken as a default, for messages.
pub const EXPECTED: &str =
    "a default is NULL, TRUE, FALSE, a number, 'text', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP(3) or CURRENT_DATE";

/// The value as it stands in a definition.
pub fn sql_text(value: &Literal) -> String {
    match value {
        Literal::Null => "NULL".to_owned(),
        Literal::Bool(true) => "TRUE".to_owned(),
        Literal::Bool(false) => "FALSE".to_owned(),
        Literal::Number(number) => number.clone(),
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::Now(0) => "CURRENT_TIMESTAMP".to_owned(),
        Literal::Now(digits) => format!("CURRENT_TIMESTAMP({digits})"),
        Literal::Today => "CURRENT_DATE".to_owned(),
    }
}

impl DefaultValue {
    /// Reads raw SQL text. Anything but a literal or the current time is refused: it could not be the same on all engines.
    pub fn parse(text: &str) -> Result<DefaultValue, String> {
        let text = text.trim();
        if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            // One pair, and no more: a pair in it would only be nesting.
            let bare = (!inner.trim_start().starts_with('(')).then(|| DefaultValue::parse(inner)).transpose()?;
            return match bare {
                Some(bare) => Ok(DefaultValue { value: bare.value, parenthesised: true }),
                None => Err("parentheses in parentheses are not understood as a default".to_owned()),
            };
        }
        let upper = text.to_uppercase();
        let value = match upper.as_str() {
            "NULL" => Literal::Null,
            "TRUE" => Literal::Bool(true),
            "FALSE" => Literal::Bool(false),
            "CURRENT_DATE" | "CURRENT_DATE()" => Literal::Today,
            _ => match (now(&upper), unquote(text)) {
                (Some(digits), _) => Literal::Now(digits),
                (None, Some(string)) => Literal::Text(string),
                _ if is_number(text) => Literal::Number(text.to_owned()),
                _ => return Err(format!("`{text}` is not understood as a default")),
            },
        };
        Ok(DefaultValue { value, parenthesised: false })
    }

    /// Why `ty` cannot take the value, if it cannot.
    pub fn fault(&self, ty: &ColumnType) -> Option<String> {
        use ColumnType as T;
        match (&self.value, ty) {
            (Literal::Null, _) => None,
            (Literal::Bool(_), T::Bool) => None,
            (Literal::Number(number), T::Bool) if matches!(number.as_str(), "0" | "1") => None,
            (_, T::Bool) => Some("a boolean column takes 0, 1, TRUE or FALSE".to_owned()),
            (Literal::Number(number), T::Int { .. }) => integer(number, ty),
            (Literal::Number(number), T::Decimal { precision, scale, unsigned }) => {
                decimal(number, *precision, *scale, *unsigned)
            }
            (Literal::Number(_), T::Float | T::Double) => None,
            (_, T::Int { .. } | T::Decimal { .. } | T::Float | T::Double) => {
                Some(format!("a {ty} column takes a number"))
            }
            (Literal::Text(text), T::Char(most) | T::Varchar(most)) => {
                let length = text.chars().count();
                (length > *most as usize)
                    .then(|| format!("the default has {length} characters, the column holds {most}"))
            }
            (Literal::Text(text), T::Enum(members)) => {
                (!members.contains(text)).then(|| format!("'{text}' is not a member of the ENUM"))
            }
            (Literal::Text(text), T::Json) => {
                json::fault(text).map(|what| format!("the default is not valid JSON: {what}"))
            }
            (Literal::Text(_), T::Text(_)) => None,
            (Literal::Text(_), T::Binary(_) | T::Varbinary(_) | T::Blob(_)) => {
                Some("a binary column takes no default but NULL".to_owned())
            }
            (Literal::Now(_), T::DateTime(_) | T::Timestamp(_)) | (Literal::Today, T::Date) => None,
            (Literal::Text(text), T::DateTime(digits) | T::Timestamp(digits)) => {
                let fraction = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                (!is_moment(text) || fraction > *digits as usize)
                    .then(|| "a time literal is written 'YYYY-MM-DD HH:MM:SS'".to_owned())
            }
            (Literal::Text(text), T::Date) => {
                (!is_date(text)).then(|| "a date literal is written 'YYYY-MM-DD'".to_owned())
            }
            (Literal::Text(text), T::Time(_)) => {
                (!is_clock(text)).then(|| "a time literal is written 'HH:MM:SS'".to_owned())
            }
            (Literal::Number(number), T::Char(_) | T::Varchar(_) | T::Text(_) | T::Enum(_)) => {
                Some(format!("a {ty} column takes a text: write `'{number}'`, in single quotes"))
            }
            _ => Some(format!("a {ty} column cannot have this default")),
        }
    }
}

/// The fractional digits of `CURRENT_TIMESTAMP(n)` and of the names that mean the same.
fn now(upper: &str) -> Option<u8> {
    let name =
        ["CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "LOCALTIME", "NOW"].into_iter().find(|name| upper.starts_with(name))?;
    let digits = match upper[name.len()..].trim() {
        "" if name != "NOW" => "0",
        "()" => "0",
        rest => rest.strip_prefix('(')?.strip_suffix(')')?.trim(),
    };
    digits.parse().ok().filter(|digits| *digits <= 6)
}

fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(fraction) && text.len() <= 100
}

fn integer(number: &str, ty: &ColumnType) -> Option<String> {
    let (least, most) = ty.range()?;
    match number.parse::<i128>() {
        Ok(value) if (least..=most).contains(&value) => None,
        _ => Some(format!("a {ty} column takes a whole number from {least} to {most}")),
    }
}

fn decimal(number: &str, precision: u8, scale: u8, unsigned: bool) -> Option<String> {
    let digits = number.trim_start_matches(['-', '+']);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fits =
        whole.trim_start_matches('0').len() <= usize::from(precision - scale) && fraction.len() <= usize::from(scale);
    match fits && !(unsigned && number.starts_with('-')) {
        true => None,
        false => Some(format!(
            "the default does not fit DECIMAL({precision},{scale}){}",
            if unsigned { " UNSIGNED" } else { "" }
        )),
    }
}

/// Whether `text` has the shape of `pattern` (`0` a digit, everything else itself), and every part its range.
fn shaped(text: &str, pattern: &str, parts: &[(usize, usize, u32, u32)]) -> bool {
    let shape = |(a, b): (u8, u8)| if b == b'0' { a.is_ascii_digit() } else { a == b };
    let in_range = |&(from, to, least, most): &(usize, usize, u32, u32)| {
        text[from..to].parse().is_ok_and(|value| (least..=most).contains(&value))
    };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(shape) && parts.iter().all(in_range)
}

fn is_date(text: &str) -> bool {
    // The year 0 and dates such as 0000-00-00 are refused by strict MySQL and by PostgreSQL.
    if !shaped(text, "0000-00-00", &[(0, 4, 1, 9999), (5, 7, 1, 12), (8, 10, 1, 31)]) {
        return false;
    }
    let part = |from: usize, to: usize| text[from..to].parse::<u32>().unwrap_or_default();
    let (year, month, day) = (part(0, 4), part(5, 7), part(8, 10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    day <= match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_clock(text: &str) -> bool {
    shaped(text, "00:00:00", &[(0, 2, 0, 23), (3, 5, 0, 59), (6, 8, 0, 59)])
}

fn is_moment(text: &str) -> bool {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let Some((date, clock)) = seconds.split_once(' ') else { return false };
    let digits = !fraction.is_empty() && fraction.len() <= 6 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_date(date) && is_clock(clock) && digits
}

#[cfg(test)]
mod tests {
    use super::{DefaultValue, Literal};
    use crate::schema::types::ColumnType;

    fn parse(text: &str) -> Literal {
        DefaultValue::parse(text).expect(text).value
    }

    #[test]
    fn reads_raw_sql() {
        assert_eq!(parse("'pending'"), Literal::Text("pending".into()));
        assert_eq!(parse("'it''s'"), Literal::Text("it's".into()));
        assert_eq!(parse(" 0 "), Literal::Number("0".into()));
        assert_eq!(parse("false"), Literal::Bool(false));
        assert_eq!(parse("CURRENT_TIMESTAMP"), Literal::Now(0));
        assert_eq!(parse("now(3)"), Literal::Now(3));
        assert_eq!(
            DefaultValue::parse("('{}')"),
            Ok(DefaultValue { value: Literal::Text("{}".into()), parenthesised: true })
        );
        for wrong in
            ["", "'", "'a'b'", "pending", "UUID()", "0); DROP TABLE t; --", "1e5", "NOW", "CURRENT_TIMESTAMP(9)"]
        {
            assert!(DefaultValue::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn compares_with_the_type() {
        for (ty, text, fits) in [
            ("TINYINT", "127", true),
            ("TINYINT", "128", false),
            ("BIGINT UNSIGNED", "18446744073709551615", true),
            ("BIGINT UNSIGNED", "-1", false),
            ("INT", "1.5", false),
            ("INT", "'1'", false),
            ("VARCHAR(3)", "'abc'", true),
            ("VARCHAR(3)", "'abcd'", false),
            ("VARCHAR(3)", "5", false),
            ("ENUM('a','b')", "'b'", true),
            ("ENUM('a','b')", "'c'", false),
            ("DECIMAL(5,2)", "999.99", true),
            ("DECIMAL(5,2)", "1000", false),
            ("JSON", "'{}'", true),
            ("JSON", "'{'", false),
            ("DATETIME", "'1970-01-01 00:00:00'", true),
            ("DATETIME", "'0000-00-00 00:00:00'", false),
            ("DATETIME", "'2023-02-29 00:00:00'", false),
            ("DATETIME", "'2023-02-28 00:00:00.5'", false),
            ("BOOLEAN", "2", false),
            ("BLOB", "NULL", true),
        ] {
            let ty = ColumnType::parse(ty).expect(ty);
            let fault = DefaultValue::parse(text).expect(text).fault(&ty);
            assert_eq!(fault.is_none(), fits, "{ty} default {text}: {fault:?}");
        }
    }
}
