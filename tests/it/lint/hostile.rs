//! Texts that nobody wrote in good faith: each ends, in time and without a panic.

use std::time::{Duration, Instant};

use claimsmith::lint::files;

use super::{cases, lint_all, lint_text, rules};

/// Longer than any of them takes, even unoptimized on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn claim(condition: &str) -> String {
    format!(
        "SELECT event_id FROM order_outbox WHERE app_code = ? AND ({condition}) ORDER BY created_at_ms LIMIT 1 FOR UPDATE SKIP LOCKED;"
    )
}

#[test]
fn hostile_texts_end() {
    let many = 100_000;
    for (name, text) in [
        ("OR chain", claim(&format!("status = 'a'{}", " OR lock_until_ms < 1".repeat(many)))),
        ("AND chain", claim(&format!("status = 'a'{}", " AND lock_until_ms < 1".repeat(many)))),
        ("parentheses", claim(&format!("{}1{}", "(".repeat(many), ")".repeat(many)))),
        ("open parentheses", claim(&"(".repeat(many))),
        ("closed parentheses", claim(&")".repeat(many))),
        ("calls", claim(&format!("{}1{} = 1", "f(".repeat(many), ")".repeat(many)))),
        ("queries", claim(&format!("{}1{}", "(SELECT (".repeat(many), "))".repeat(many)))),
        ("NOT", claim(&format!("{}status = 'a'", "NOT ".repeat(many)))),
        ("signs", claim(&format!("retry_count = {}1", "- ".repeat(many)))),
        ("comparisons", claim(&format!("1{}", " = 1".repeat(many)))),
        ("IS NULL", claim(&format!("status{}", " IS NULL".repeat(many)))),
        ("sum", claim(&format!("retry_count = 1{}", " + 1".repeat(many)))),
        ("CASE", claim(&"CASE WHEN ".repeat(many))),
        ("assignments", claim(&format!("1 = {}1", "@a := ".repeat(many)))),
        ("UNION", format!("{}SELECT 1;", "SELECT 1 FROM order_outbox UNION ALL ".repeat(many))),
        ("WITH", format!("{}SELECT 1 FROM order_outbox", "WITH a AS (".repeat(many))),
        ("joins", format!("SELECT 1 FROM order_outbox{}", " JOIN (order_outbox".repeat(many))),
        ("list", claim(&format!("event_id IN ('a'{})", ", 'a'".repeat(many)))),
        ("literal", claim(&format!("status = '{}'", "x".repeat(1_000_000)))),
        ("open string", claim(&format!("status = '{}", "x OR ".repeat(many)))),
        ("open comment", format!("/* {} order_outbox", "/*".repeat(many))),
        ("dollars", format!("order_outbox {}", "$a$ ".repeat(many))),
        ("braces", format!("order_outbox {}", "{{".repeat(many))),
        ("semicolons", format!("order_outbox {}", ";".repeat(many))),
        ("NUL", format!("SELECT\u{0} 1 FROM order_outbox\u{0}{}", "\u{0}".repeat(many))),
        ("verbs", format!("{} order_outbox", "BEGIN UPDATE ".repeat(many))),
        ("columns", format!("CREATE TABLE a_queue ({}", "a INT(".repeat(many))),
        ("keys", format!("CREATE TABLE a_queue (a INT{})", ", KEY (a)".repeat(1_000))),
    ] {
        let begin = Instant::now();
        let report = lint_text(&text, "sql");
        let took = begin.elapsed();
        assert!(took < PATIENCE, "{name} took {took:?}");
        assert!(report.findings.len() < 1_000_000, "{name}");
    }
}

/// Found by `fuzz/`: a parser that tries everything in order to make sense of a program does not end, in time or in memory.
#[test]
fn programs_that_no_parser_makes_sense_of_are_named() {
    let begin = Instant::now();
    let folder = cases().with_file_name("tangled");
    let inputs = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let (name, text) = (path.file_name().unwrap().to_str().unwrap(), std::fs::read_to_string(&path).unwrap());
        files::input(name, text, path.extension().unwrap().to_str().unwrap())
    });
    let inputs: Vec<_> = inputs.collect();
    let report = lint_all(&inputs);
    assert_eq!((inputs.len(), report.tangled.len()), (3, 3));
    let took = begin.elapsed();
    assert!(took < PATIENCE, "took {took:?}");
}

#[test]
fn a_long_chain_is_judged_as_a_short_one() {
    let text = claim(&format!("status = 'pending'{}", " OR lock_until_ms < 1".repeat(50_000)));
    assert_eq!(rules(&lint_text(&text, "sql")), ["claim-or-branch"]);
}

#[test]
fn hostile_programs_end() {
    let many = 20_000;
    let sql = "SELECT 1 FROM order_outbox";
    for (extension, text) in [
        ("rs", format!("fn f() {{ let a = {}\"{sql}\"{}; }}", "(".repeat(many), ")".repeat(many))),
        ("go", format!("package a\nvar x = \"{sql}\"{}", " + \" OR 1 = 1\"".repeat(many))),
        ("ts", format!("const a = `{sql} ${{{}1{}}}`", "`${".repeat(many), "}`".repeat(many))),
        ("py", format!("q = \"{sql}\"\n").repeat(many)),
        ("java", format!("class A {{ String a = \"{sql} {}\"; }}", "x".repeat(1_000_000))),
        (
            "xml",
            format!(
                "<mapper><select id=\"a\">{}{sql}{}</select></mapper>",
                "<if test=\"1\">".repeat(500),
                "</if>".repeat(500)
            ),
        ),
        (
            "xml",
            format!(
                "<mapper><sql id=\"a\">{}</sql><select id=\"b\">{sql} <include refid=\"a\"/></select></mapper>",
                "<include refid=\"a\"/> x ".repeat(20)
            ),
        ),
        ("xml", format!("<mapper><select id=\"a\">{sql} {}</select></mapper>", "<if test=\"1\"> x </if>".repeat(many))),
        (
            "go",
            (0..100).fold(format!("package a\nconst a0 = \"{sql} \"\n"), |text, at| {
                format!("{text}const a{} = a{at} + \" \" + a{at}\n", at + 1)
            }),
        ),
        ("go", format!("package a\nconst a = \"{sql} {}\"\nvar b = \"\"{}\n", "x".repeat(60_000), " + a".repeat(many))),
    ] {
        let begin = Instant::now();
        lint_text(&text, extension);
        assert!(begin.elapsed() < PATIENCE, "{extension} took {:?}", begin.elapsed());
    }
}
