//! "Did you mean", in every place that has candidates.

use crate::loaded::load_text;
use crate::project::assert_none;

fn table(extra: &str) -> String {
    format!(
        r#"{{"tableName":"notes","columns":[
            {{"name":"id","type":"BIGINT","primaryKey":true}},
            {{"name":"state","type":"VARCHAR(20)"}},
            {{"name":"author","type":"BIGINT"}}]{extra}}}"#
    )
}

fn column(extra: &str) -> String {
    format!(r#"{{"tableName":"notes","columns":[{{"name":"id","type":"BIGINT","primaryKey":true{extra}}}]}}"#)
}

fn claim(extra: &str) -> String {
    table(&format!(r#","claim":{{"status":{{"column":"state","pending":"a","done":"b"}}{extra}}}"#))
}

fn retention(extra: &str) -> String {
    claim(&format!(r#"}},"retention":{{"states":["b"],"age":"id","keep":"1d"{extra}"#))
}

#[test]
fn slips_are_answered_with_the_right_word() {
    let mut faults = Vec::new();
    for (text, word) in [
        (r#"{"tabels":[]}"#.to_owned(), "tables"),
        (table(r#","tabletype":"x""#), "tableType"),
        (table(r#","foreign_keys":[]"#), "foreignKeys"),
        (column(r#","nullabel":true"#), "nullable"),
        (column(r#","isSystem":true"#), "is_system"),
        (table(r#","indices":[{"columns":["id"],"uniqe":true}]"#), "unique"),
        (table(r#","foreignKeys":[{"column":"id","references":"notes(id)","onDelte":"CASCADE"}]"#), "onDelete"),
        (claim(r#","scop":[]"#), "scope"),
        (claim(r#","retry":{"backof":{}}"#), "backoff"),
        (claim(r#","retry":{"backoff":{"bas":"1s"}}"#), "base"),
        (claim(r#","retry":{"max":{"colum":"x"}}"#), "column"),
        (claim(r#","event":{"types":[{"nam":"x"}]}"#), "name"),
        (table(r#","columns":[],"indices":[],"primarykey":[]"#), "primaryKey"),
        (column(r#"},{"name":"x","type":"VARHCAR(36)""#), "VARCHAR"),
        (table(r#","primaryKey":["idd"]"#), "id"),
        (table(r#","indices":[{"columns":["autor"]}]"#), "author"),
        (table(r#","foreignKeys":[{"column":"auhtor","references":"notes(id)"}]"#), "author"),
        (table(r#","foreignKeys":[{"column":"author","references":"notes(idd)"}]"#), "id"),
        (table(r#","foreignKeys":[{"column":"author","references":"note(id)"}]"#), "notes"),
        (table(r#","foreignKeys":[{"column":"author","references":"notes(id)","onDelete":"CASCAD"}]"#), "CASCADE"),
        (column(r#","referenceTo":"Notes""#), "notes"),
        (claim(r#","order":"sate""#), "state"),
        (claim(r#","scope":["autor"]"#), "author"),
        (column(r#","collation":"binray""#), "binary"),
        (claim(r#","indexes":"seeds""#), "seed"),
        (retention(r#","strategy":"archve""#), "archive"),
        (table(r#","publish":{"broker":"kafak","topic":"x"}"#), "kafka"),
        (table(r#","publish":{"broker":"kafka","topic":"x","tag":{"mode":"eventType"}}"#), "event_type"),
        (table(r#","publish":{"broker":"kafka","topic":"x","order":"keys"}"#), "key"),
        (table(r#","bus":{"mode":"brokr"}"#), "broker"),
        (table(r#","allow":{"queue-without-leese":"r"}"#), "queue-without-lease"),
    ] {
        let loaded = load_text(&text);
        let help = loaded.help();
        let plain = format!("did you mean `{word}`?");
        if !help.contains(&&*plain) {
            faults.push(format!("no {plain} in {help:?} for {text}"));
        }
    }
    assert_none(faults);
}

#[test]
fn strangers_are_answered_with_the_list_of_what_there_is() {
    for (text, words) in [
        (table(r#","colour":1"#), &["tableName", "indices", "allow"][..]),
        (column(r#","colour":1"#), &["nullable", "is_system"]),
        (claim(r#","colour":1"#), &["scope", "lease", "times"]),
        (table(r#","indices":[{"columns":["colour"]}]"#), &["id", "state", "author"]),
        (
            table(r#","foreignKeys":[{"column":"id","references":"notes(id)","onDelete":"EXPLODE"}]"#),
            &["CASCADE", "NO ACTION"],
        ),
        (retention(r#","strategy":"burn""#), &["archive", "delete", "partition"]),
        (retention(r#","strategy":"delete","states":["nope"]"#).replacen(r#""states":["b"],"#, "", 1), &["b"]),
    ] {
        let loaded = load_text(&text);
        let report = loaded.report();
        assert!(!report.contains("did you mean"), "{report}");
        words.iter().for_each(|word| assert!(report.contains(word), "no {word} in {report}"));
    }
}

/// People who write JSON have not read the Rust types.
#[test]
fn messages_speak_of_json_and_not_of_rust() {
    let mut faults = Vec::new();
    for text in [
        "[1]".to_owned(),
        r#"{"tables":[1]}"#.to_owned(),
        "[[]]".to_owned(),
        r#"{"tables":{}}"#.to_owned(),
        table(r#","indices":5"#),
        table(r#","indices":["id"]"#),
        table(r#","allow":[]"#),
        table(r#","claim":5"#),
        table(r#","claim":"x""#),
        column(r#","length":-1"#),
        column(r#","length":1.5"#),
        claim(r#","lease":5"#),
        retention(r#","strategy":"burn""#),
    ] {
        let report = load_text(&text).report();
        let words = ["struct ", "Def", "u32", "sequence", " map", "variant", "floating point", "elements"];
        if words.iter().any(|word| report.contains(word)) {
            faults.push(format!("{text}:\n{report}"));
        }
    }
    assert_none(faults);
}

/// The likeliest slip of all: `default` is SQL text, and people write a JSON number.
#[test]
fn a_default_that_is_no_text_is_answered_with_the_text_to_write() {
    for (json, text) in [("0", r#""0""#), ("true", r#""TRUE""#)] {
        let loaded = load_text(&column(&format!(r#"}},{{"name":"x","type":"BOOLEAN","default":{json}"#)));
        assert!(loaded.help().join("\n").contains(text), "{json}: {}", loaded.report());
    }
}
