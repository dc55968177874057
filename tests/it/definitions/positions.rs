//! Positions: lines and columns count what an editor counts, and the marks stand under the fault itself.

use crate::loaded::load_text;

/// A table of one line, with `extra` behind its columns.
fn table(extra: &str) -> String {
    format!(r#"{{"tableName":"t","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}}]{extra}}}"#)
}

/// The column at which `part` begins in the one line of `text`, counted in characters.
fn column(text: &str, part: &str) -> usize {
    text[..text.find(part).unwrap()].chars().count() + 1
}

#[test]
fn columns_count_characters_and_not_bytes() {
    for before in ["größe", "名前", "smile 😀😀", "e\u{301}", "\\u00e9", "tab\\t"] {
        let text = table(&format!(r#","description":"{before}","colour":1"#));
        let expected = format!("1:{} unknown-key", column(&text, r#""colour""#));
        let mut positions = load_text(&text).positions();
        // Some engines lose characters of comments, which is said at the comment.
        positions.retain(|position| !position.ends_with("engine-difference"));
        assert_eq!(positions, [expected], "after {before}");
    }
}

#[test]
fn a_tab_is_one_column() {
    let text = table(",\t\t\"colour\":1");
    assert_eq!(load_text(&text).positions(), [format!("1:{} unknown-key", column(&text, "\"colour\""))]);
}

#[test]
fn lines_end_in_lf_or_crlf() {
    for end in ["\n", "\r\n"] {
        let loaded = load_text(&table(&[",", "  \"colour\": 1"].join(end)));
        assert_eq!(loaded.positions(), ["2:3 unknown-key"], "{end:?}");
        assert!(loaded.report().contains("\n2 |   \"colour\": 1}\n"), "{}", loaded.report());
    }
}

#[test]
fn a_byte_order_mark_is_no_column() {
    let second = load_text(&format!("\u{feff}{}", table(",\n  \"colour\": 1")));
    assert_eq!(second.positions(), ["2:3 unknown-key"]);
    let text = table(r#","colour":1"#);
    let first = load_text(&format!("\u{feff}{text}"));
    assert_eq!(first.positions(), [format!("1:{} unknown-key", column(&text, r#""colour""#))]);
    assert!(!first.report().contains('\u{feff}'), "the mark is printed");
}

#[test]
fn duplicate_keys_are_found_at_any_depth() {
    let payload = r#"{"a":{"b":[1,{"c":1,"d":2,"c":3}]}}"#;
    let claim = format!(
        r#","claim":{{"global":true,"status":{{"column":"id","pending":"a","done":"b"}},"event":{{"types":[{{"name":"a.b","payload":{payload}}}]}}}}"#
    );
    let text = table(&claim);
    let loaded = load_text(&text);
    let duplicate = loaded.findings.iter().find(|finding| finding.rule.id == "duplicate-key").unwrap();
    assert_eq!(duplicate.place.as_ref().unwrap().line_column(), (1, column(&text, r#""c":3"#)));
    assert_eq!(duplicate.related[0].0.line_column(), (1, column(&text, r#""c":1"#)));
}

#[test]
fn keys_that_look_like_paths_or_are_escaped_are_marked_themselves() {
    for (key, name) in [("a.b", "a.b"), ("", ""), ("columns.0", "columns.0"), ("\\u006fwnr", "ownr"), (".", ".")] {
        let text = table(&format!(r#","{key}":1"#));
        let loaded = load_text(&text);
        assert_eq!(
            loaded.positions(),
            [format!("1:{} unknown-key", column(&text, &format!(r#""{key}":1"#)))],
            "key {key:?}"
        );
        let message = &loaded.findings[0].message;
        assert_eq!(message, &format!("unknown key `{name}` in the table `t`"), "key {key:?}");
    }
}

#[test]
fn a_key_with_a_back_quote_is_named_in_full_and_not_taken_apart() {
    let loaded = load_text(&table(r#","a`b":1"#));
    assert_eq!(loaded.findings[0].message, "unknown key `a`b` in the table `t`");
    assert!(!loaded.help()[0].contains("did you mean"), "{:?}", loaded.help());
    assert!(loaded.help()[0].contains("tableName"), "{:?}", loaded.help());
}

#[test]
fn an_exception_with_a_point_in_its_name_is_marked_itself() {
    let text = table(r#","allow":{"no.such.rule":"r"}"#);
    assert_eq!(load_text(&text).positions(), [format!("1:{} unusable-allow", column(&text, "\"no.such"))]);
}

#[test]
fn of_a_long_line_only_the_position_is_printed() {
    let text = table(&format!(r#","description":"{}","colour":1"#, "x".repeat(1_000)));
    let report = load_text(&text).report();
    assert!(report.contains(&format!("at t.json:1:{}", column(&text, "\"colour\""))), "{report}");
    assert!(!report.contains("xxx"), "{report}");
}

#[test]
fn a_report_holds_no_character_that_moves_or_hides_text() {
    let hidden = "\u{202e}\u{2066}";
    let text = table(&format!(r#","description":"a{hidden}b","colour{hidden}":1"#));
    for line in load_text(&text).report().lines() {
        assert!(!line.contains(['\u{202e}', '\u{2066}']), "{}", line.escape_unicode());
    }
}
