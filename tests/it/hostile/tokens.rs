//! Generated SQL → kinds of tokens: what a name or a text says does not change them.

use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect};
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

/// The tokens as the database reads them. MariaDB reads like MySQL here.
fn tokens(id: &str, sql: &str) -> Vec<Token> {
    let dialect: &dyn Dialect = if id == "postgres" { &PostgreSqlDialect {} } else { &MySqlDialect {} };
    Tokenizer::new(dialect, sql).tokenize().unwrap_or_else(|error| panic!("{id}: {error}\n{sql}"))
}

/// The kind of each token: keywords and signs themselves, and of names, texts and numbers only that they are one.
///
/// Settings of the session are left out: which of them a script needs is decided by its texts.
pub fn kinds(id: &str, sql: &str) -> Vec<String> {
    let mut statements: Vec<Vec<String>> = vec![Vec::new()];
    for kind in all_kinds(id, sql) {
        let last = statements.last_mut().unwrap();
        let ends = kind == ";";
        last.push(kind);
        if ends {
            statements.push(Vec::new());
        }
    }
    statements.into_iter().filter(|statement| statement.first().is_none_or(|word| word != "SET")).flatten().collect()
}

fn all_kinds(id: &str, sql: &str) -> Vec<String> {
    let mut kinds = Vec::new();
    for token in tokens(id, sql) {
        match token {
            Token::Whitespace(Whitespace::MultiLineComment(_)) => kinds.push("comment".to_owned()),
            Token::Whitespace(_) => {}
            Token::Word(word) if word.quote_style.is_some() => kinds.push("name".to_owned()),
            Token::Word(word) => kinds.push(word.value.to_uppercase()),
            Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) => kinds.push("text".to_owned()),
            // PostgreSQL's ENUM is as wide as its widest member.
            Token::Number(..) => kinds.push("number".to_owned()),
            Token::DollarQuotedString(block) => {
                kinds.push("block".to_owned());
                kinds.extend(all_kinds(id, &block.value));
                kinds.push("end of block".to_owned());
            }
            other => kinds.push(other.to_string()),
        }
    }
    kinds
}

/// What stands in quotes, without them.
pub fn quoted(id: &str, sql: &str) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens(id, sql) {
        match token {
            Token::Word(word) if word.quote_style.is_some() => found.push(word.value),
            Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => found.push(text),
            Token::DollarQuotedString(block) => found.extend(quoted(id, &block.value)),
            _ => {}
        }
    }
    found
}

#[test]
fn a_break_out_is_seen() {
    let plain = "COMMENT ON TABLE \"a\" IS 'x'; -- y";
    for (same, sql) in [
        (true, "COMMENT ON TABLE \"b\"\"c\" IS E'x\\'; y' ; -- z"),
        (false, "COMMENT ON TABLE \"b\" IS 'x'; DROP TABLE c; --'; -- y"),
        (false, "COMMENT ON TABLE \"b\" IS 'x'; -- y\nz"),
        (false, "COMMENT ON TABLE \"b\" IS 'x' /* ; -- y */"),
    ] {
        assert_eq!(kinds("postgres", plain) == kinds("postgres", sql), same, "{sql}");
    }
}
