//! The text of `CREATE TABLE` and `CREATE INDEX` as SQLite keeps it.

/// One entry of `CREATE TABLE`: a column or a constraint.
#[derive(Default)]
pub struct Entry {
    /// The column's or the constraint's name.
    pub name: String,
    /// The lines above it.
    pub comment: String,
    /// The check behind a column: its name and its condition.
    pub check: Option<(String, String)>,
    pub numbered: bool,
    pub foreign_key: bool,
}

#[derive(Debug, PartialEq)]
enum Token<'a> {
    Comment(&'a str),
    /// A word, a string or a quoted name, as it stands there.
    Word(&'a str),
    Open,
    Close,
    Comma,
}

/// The tokens, each with where it begins.
fn tokens(sql: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = sql[at..].chars().next() {
        let rest = &sql[at..];
        let length = match c {
            _ if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '\'' | '"' => quoted(rest, c),
            '(' | ')' | ',' => 1,
            _ if c.is_whitespace() => c.len_utf8(),
            _ => rest.find(|c: char| c.is_whitespace() || "()',\"".contains(c)).unwrap_or(rest.len()),
        };
        let text = &rest[..length];
        match c {
            _ if rest.starts_with("--") => {
                tokens.push((at, Token::Comment(text[2..].strip_prefix(' ').unwrap_or(&text[2..]))))
            }
            '(' => tokens.push((at, Token::Open)),
            ')' => tokens.push((at, Token::Close)),
            ',' => tokens.push((at, Token::Comma)),
            _ if c.is_whitespace() => {}
            _ => tokens.push((at, Token::Word(text))),
        }
        at += length;
    }
    tokens
}

/// The length of the string or name in quotes that `text` begins with.
fn quoted(text: &str, quote: char) -> usize {
    let mut end = 1;
    loop {
        end += text[end..].find(quote).unwrap() + 1;
        if !text[end..].starts_with(quote) {
            return end;
        }
        end += 1;
    }
}

fn unquoted(name: &str) -> String {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(name) => name.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

/// The entries between the outer parentheses of `CREATE TABLE`.
pub fn entries(sql: &str) -> Vec<Entry> {
    let tokens = tokens(sql);
    let open = tokens.iter().position(|(_, token)| *token == Token::Open).unwrap();
    let mut entries = vec![Vec::new()];
    let mut depth = 0;
    for (at, token) in &tokens[open + 1..] {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::Comma if depth == 0 => entries.push(Vec::new()),
            _ => {}
        }
        if depth < 0 {
            break;
        }
        entries.last_mut().unwrap().push((*at, token));
    }
    entries.into_iter().map(|tokens| entry(sql, &tokens)).collect()
}

fn entry(sql: &str, tokens: &[(usize, &Token<'_>)]) -> Entry {
    let mut entry = Entry::default();
    let comments =
        tokens.iter().filter_map(|(_, token)| if let Token::Comment(text) = token { Some(*text) } else { None });
    entry.comment = comments.collect::<Vec<_>>().join("\n");
    let tokens: Vec<(usize, &Token<'_>)> =
        tokens.iter().filter(|(_, token)| !matches!(token, Token::Comma | Token::Comment(_))).copied().collect();
    let word = |at: usize| match tokens.get(at) {
        Some((_, Token::Word(word))) => *word,
        _ => "",
    };
    entry.name = unquoted(word(if word(0) == "CONSTRAINT" { 1 } else { 0 }));
    entry.foreign_key = word(0) == "CONSTRAINT" && word(2) == "FOREIGN";
    entry.numbered = (0..tokens.len()).any(|at| word(at) == "AUTOINCREMENT");
    if let Some(at) = (1..tokens.len()).find(|at| word(*at) == "CONSTRAINT" && word(at + 2) == "CHECK") {
        let open = tokens[at + 3].0;
        let condition = &sql[open + 1..closing(&sql[open..]) + open];
        entry.check = Some((unquoted(word(at + 1)), condition.to_owned()));
    }
    entry
}

/// Where the parenthesis closes that `text` begins with.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, token) in tokens(text) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("a parenthesis is not closed: {text}");
}

/// The comment lines inside `CREATE INDEX`.
pub fn comment(sql: &str) -> String {
    let comment = |(_, token)| if let Token::Comment(text) = token { Some(text) } else { None };
    tokens(sql).into_iter().filter_map(comment).collect::<Vec<_>>().join("\n")
}

/// The condition behind the columns of `CREATE INDEX`, `{}` standing for its column.
pub fn predicate(sql: &str) -> String {
    let Some(open) = tokens(sql).into_iter().find(|(_, token)| *token == Token::Open).map(|(at, _)| at) else {
        return String::new();
    };
    let rest = &sql[open + closing(&sql[open..]) + 1..];
    let Some(condition) = rest.strip_prefix(" WHERE ") else { return rest.to_owned() };
    format!("{{}}{}", &condition[quoted(condition, '"')..])
}
