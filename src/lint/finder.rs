//! Bytes of a file → whether it may hold a statement about a queue. Nearly no file does, so this costs what reading costs.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

use crate::schema::Catalog;

use super::Options;
use super::tables::Tables;

/// Finds names of tables that may be queues, and in programs texts that may be statements.
#[derive(Debug)]
pub struct Finder {
    /// One for each letter that is the rarest of some names: such an automaton leaps from one of them to the next, and all
    /// of them together are much faster than one that looks at every byte. `None`: too many names, everything is read.
    names: Option<Vec<AhoCorasick>>,
    verbs: Option<AhoCorasick>,
    ddl: Option<AhoCorasick>,
}

/// Letters of programs, the rarest first.
const RARE: &[u8] = b"qjzxkvwybgfhmpudclsnroiate";

/// So many passes over a file are faster than one that looks at every byte; names beyond share one.
const MOST_PASSES: usize = 6;

/// A word with which a statement begins, the words of which one must follow, and within how many bytes of the program: lists
/// of columns are long.
struct Verb(&'static str, &'static [&'static str], usize);

const VERBS: [Verb; 8] = [
    Verb("select", &["from"], 16_384),
    Verb("update", &["set"], 4_096),
    Verb("delete", &["from"], 4_096),
    Verb("insert", &["into"], 256),
    Verb("replace", &["into"], 256),
    Verb("with", &["as"], 4_096),
    Verb("create", &["table", "index"], 256),
    Verb("alter", &["table", "index"], 256),
];

/// Bytes before a word of SQL that are looked at: what stands between it and the beginning of its literal is short.
const MOST_BEFORE: usize = 400;

impl Finder {
    /// A finder of the defined tables, and of what the patterns of queue names must contain.
    pub(super) fn new(tables: &Tables, options: &Options) -> Finder {
        Finder::of_words(words(tables, options))
    }

    /// A finder for several runs over the same files: each with its definitions and its options.
    pub fn of_all<'a>(runs: impl IntoIterator<Item = (&'a Catalog, &'a Options)>) -> Finder {
        let words = runs.into_iter().flat_map(|(catalog, options)| words(&Tables::of(catalog, options), options));
        Finder::of_words(words.collect())
    }

    fn of_words(mut words: Vec<String>) -> Finder {
        // `*` is in every name.
        let any = words.iter().any(String::is_empty);
        words.sort();
        words.dedup();
        // A name that another one is a part of is found with that one.
        let all = words.clone();
        words.retain(|word| !all.iter().any(|other| other != word && word.contains(&**other)));
        let build = |words: &[&str]| AhoCorasickBuilder::new().ascii_case_insensitive(true).build(words).ok();
        let names = if any { None } else { groups(&words).iter().map(|words| build(words)).collect() };
        let ddl = build(&["create", "alter", "drop", "rename"]);
        Finder { names, verbs: build(&VERBS.map(|Verb(word, ..)| word)), ddl }
    }

    /// Where such names occur; `None`: anywhere.
    pub(super) fn positions(&self, text: &str) -> Option<Vec<usize>> {
        let found = self.names.as_ref()?.iter().flat_map(|names| names.find_iter(text));
        let mut positions: Vec<usize> = found.map(|found| found.start()).collect();
        positions.sort_unstable();
        Some(positions)
    }

    /// Whether a file with this ending may hold SQL about such a table. A program in which no literal begins as a statement
    /// does is not parsed: `queue.update()` and `tokio::select!` are everywhere.
    pub fn is_in(&self, text: &[u8], extension: &str) -> bool {
        self.has_name(text) && (matches!(extension, "sql" | "xml") || self.has_statement(text))
    }

    /// Whether a text may hold a statement that makes or changes a table or an index.
    pub(super) fn has_ddl(&self, text: &[u8]) -> bool {
        self.ddl.as_ref().is_none_or(|ddl| ddl.is_match(text))
    }

    /// Whether a table of this name may be one that statements are judged for.
    pub fn may_name(&self, table: &str) -> bool {
        self.has_name(table.as_bytes())
    }

    fn has_name(&self, text: &[u8]) -> bool {
        self.names.as_ref().is_none_or(|all| all.iter().any(|names| names.is_match(text)))
    }

    fn has_statement(&self, text: &[u8]) -> bool {
        let begins = |start: usize, end: usize, Verb(_, followers, within): &Verb| {
            stands_alone(text, start, end) && !in_comment(text, start) && begins_literal(text, start) && {
                let rest = &text[end..text.len().min(end + within)];
                followers.iter().any(|word| has_word(rest, word.as_bytes()))
            }
        };
        self.verbs.as_ref().is_none_or(|verbs| {
            let mut found = verbs.find_iter(text);
            found.any(|found| begins(found.start(), found.end(), &VERBS[found.pattern().as_usize()]))
        })
    }
}

/// What the names of the tables of a run are, or must contain.
fn words(tables: &Tables, options: &Options) -> Vec<String> {
    let longest = |pattern: &String| pattern.split('*').max_by_key(|part| part.len()).unwrap_or_default().to_owned();
    options.queue_tables.iter().map(longest).chain(tables.defined().iter().cloned()).collect()
}

/// Words by their rarest letters.
fn groups(words: &[String]) -> Vec<Vec<&str>> {
    let rarest = |word: &str| {
        RARE.iter().position(|letter| word.bytes().any(|byte| byte.eq_ignore_ascii_case(letter))).unwrap_or(RARE.len())
    };
    let mut groups: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for word in words {
        groups.entry(rarest(word)).or_default().push(word);
    }
    let mut groups: Vec<Vec<&str>> = groups.into_values().collect();
    if groups.len() > MOST_PASSES {
        let rest = groups.split_off(MOST_PASSES - 1);
        groups.push(rest.concat());
    }
    groups
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the byte before `at` belongs to the word that begins there. The letter of an escape does not: `"\nSELECT"`.
fn continues(text: &[u8], at: usize) -> bool {
    let before = |bytes: usize| at.checked_sub(bytes).map(|at| text[at]);
    before(1).is_some_and(is_name) && !(before(2) == Some(b'\\') && matches!(before(1), Some(b'n' | b'r' | b't')))
}

/// Whether a word stands for itself. A literal may end behind it, and go on in the next line.
fn stands_alone(text: &[u8], start: usize, end: usize) -> bool {
    let after = text.get(end).is_none_or(|byte| byte.is_ascii_whitespace() || b"\\\"'`/*(".contains(byte));
    after && !continues(text, start)
}

fn line_start(text: &[u8], at: usize) -> usize {
    text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

/// Whether the line is nothing but a comment of a program.
fn in_comment(text: &[u8], at: usize) -> bool {
    let line = text[line_start(text, at)..at].trim_ascii_start();
    match line {
        [b'/', b'/', ..] | [b'*', b' ', ..] => true,
        // `#[query("…")]`, `#{name}` and `"#` are none.
        [b'#', next, ..] => next.is_ascii_alphanumeric() || matches!(next, b' ' | b'#' | b'!'),
        _ => false,
    }
}

/// Whether a literal may begin before the word with nothing of the statement between them: white space, parentheses,
/// comments of SQL, and what is filled in when the program runs.
fn begins_literal(text: &[u8], word: usize) -> bool {
    let mut at = word;
    let (mut same_line, mut ended) = (true, false);
    while at > 0 {
        if word - at >= MOST_BEFORE {
            return true;
        }
        let before = text[at - 1];
        match before {
            b'"' | b'\'' | b'`' => return true,
            // The end of another statement in the same literal.
            b';' if same_line => return true,
            // A hole, or a tag of a script inside an annotation.
            b'}' | b'>' if same_line => return true,
            b'/' if at > 1 && text[at - 2] == b'*' => return true,
            b'\n' => (same_line, ended) = (false, true),
            b'n' | b'r' | b't' if at > 1 && text[at - 2] == b'\\' => {
                ended = true;
                at -= 1;
            }
            _ if is_name(before) => {
                let start = text[..at].iter().rposition(|byte| !is_name(*byte)).map_or(0, |other| other + 1);
                let hole = start.checked_sub(1).is_some_and(|mark| matches!(text[mark], b'$' | b'%' | b'@'));
                // The head of a text that begins in the next line, or a comment of SQL before the statement.
                let line = &text[line_start(text, start)..at];
                let opens = |mark: &[u8]| line.windows(mark.len()).any(|window| window == mark);
                return same_line && hole || ended && (opens(b"<<") || opens(b"--"));
            }
            _ => {}
        }
        at -= 1;
    }
    false
}

/// Whether the word, in lower case, stands for itself somewhere.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    let windows = text.windows(word.len()).enumerate();
    let mut found = windows.filter(|(_, window)| window.eq_ignore_ascii_case(word));
    found.any(|(at, _)| !continues(text, at) && !text.get(at + word.len()).copied().is_some_and(is_name))
}

#[cfg(test)]
mod tests {
    use super::Finder;

    #[test]
    fn any_name_is_everywhere_and_no_name_is_nowhere() {
        let (any, none) = (Finder::of_words(vec!["a".to_owned(), String::new()]), Finder::of_words(Vec::new()));
        assert!(any.is_in(b"SELECT", "sql") && any.positions("SELECT").is_none());
        assert!(!none.is_in(b"SELECT", "sql"));
    }

    fn finder() -> Finder {
        Finder::of_words(vec!["_queue".to_owned(), "mail_queue".to_owned(), "jobs".to_owned()])
    }

    #[test]
    fn programs_with_statements_are_read() {
        for text in [
            r#"q("SELECT a FROM mail_queue")"#,
            "q(`\n\tselect a\n\tfrom mail_queue`)",
            "q = \"\"\"\n\n    SELECT a\n    FROM jobs\n\"\"\"",
            "q(r#\"SELECT a FROM jobs\"#)",
            "q = <<~SQL\n  UPDATE jobs\n  SET a = 1\nSQL",
            "$q = <<<SQL\nDELETE FROM jobs\nSQL;",
            "q = <<~SQL, jobs\n  -- takes some\n  DELETE\n  FROM jobs\nSQL",
            "q(\"/* takes some */ SELECT a FROM jobs\")",
            "q(\"-- name: take\\nSELECT a FROM jobs\")",
            "q(\"\\n  \\tSELECT a\\nFROM jobs\")",
            "q(\"(SELECT a FROM jobs) UNION (SELECT 1)\")",
            "q(\"SELECT \" + COLUMNS + \" FROM jobs\")",
            "q(\"UPDATE\" +\n  \" jobs\" +\n  \" SET a = 1\")",
            "q(f\"{hint} SELECT a FROM jobs\")",
            "q(\"${hint}SELECT a FROM jobs\")",
            "q(\"$hint SELECT a FROM jobs\")",
            "q(\"%s SELECT a FROM jobs\")",
            "#[query(\"SELECT a FROM jobs\")]",
            "@Select(\"<script>SELECT a FROM jobs</script>\")",
            "q(\"WITH due AS (SELECT 1 FROM jobs) UPDATE x\")",
            "q(\"INSERT INTO jobs (a) VALUES (1)\")",
            "q(\"SELECT*FROM jobs\")",
            "q(\"SELECT(a) FROM jobs\")",
            "q(\"START TRANSACTION; SELECT a FROM jobs\")",
            "q(\"CREATE TABLE jobs (a INT)\")",
            "s.append(\"UPDATE \").append(name).append(\" SET jobs = 1\")",
        ] {
            assert!(finder().is_in(text.as_bytes(), "py"), "{text}");
        }
    }

    #[test]
    fn programs_without_statements_are_not() {
        for text in [
            "// update the jobs and set them",
            "/// `SELECT` them from jobs",
            " * SELECT a FROM jobs",
            "# select some jobs from them",
            "jobs.update(); from.set()",
            "tokio::select! { jobs => from }",
            "func f() {\n\tselect {\n\tcase <-jobs: // from\n\t}",
            "let update = jobs; set(update);",
            "log(\"update of jobs\")",
            "log(\"cannot select jobs from them\")",
            "for job in jobs {}\nwith open(a) as b: pass",
            "q(\"SELECT a FROM customers\")",
        ] {
            assert!(!finder().is_in(text.as_bytes(), "py"), "{text}");
        }
    }
}
