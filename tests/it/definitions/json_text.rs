//! Files that are not what they should be: each gives an error with a position, and none a crash.
//!
//! Run through the program, so that an overflowing stack is seen as what it is.

use std::fs::File;

use crate::project::{Project, Run, assert_none, cut};

fn run(text: impl AsRef<[u8]>) -> Run {
    let project = Project::default();
    project.write("t.json", text);
    project.run(&["generate", "--check", "t.json"])
}

/// The cases that do not end in status 1 with a finding of this kind at this position.
fn faults<'a>(kind: &str, cases: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let fault = |(text, position): (&str, &str)| {
        let shown: String = text.chars().take(300).collect();
        let fault = run(text).fault(1, &[kind, &format!("t.json:{position}")])?;
        Some(format!("{shown:?}: {fault}"))
    };
    cases.into_iter().filter_map(fault).collect()
}

fn table(extra: &str) -> String {
    format!(r#"{{"tableName":"t","columns":[{{"name":"id","type":"BIGINT","primaryKey":true}}]{extra}}}"#)
}

#[test]
fn what_no_strict_reader_takes_is_refused() {
    let cases = [
        ("", "1:1"),
        (" \n\t\r\n ", "1:1"),
        ("\0", "1:1"),
        ("[1,]", "1:3"),
        ("{\"a\":1,}", "1:7"),
        ("// c\n[]", "1:1"),
        ("[] /* c */", "1:4"),
        ("{'a':1}", "1:2"),
        ("{a:1}", "1:2"),
        ("{\"a\" 1}", "1:6"),
        ("{\"a\":1 \"b\":2}", "1:7"),
        ("[] []", "1:4"),
        ("[", "1:1"),
        ("[1", "1:1"),
        ("]", "1:1"),
        ("{", "1:1"),
        ("{\"a\":", "1:"),
        ("\"abc", "1:1"),
        ("[tru]", "1:2"),
        ("[NaN]", "1:2"),
        ("[-Infinity]", "1:"),
        ("[0123]", "1:"),
        ("[-01]", "1:"),
        ("[+1]", "1:2"),
        ("[.5]", "1:2"),
        ("[1.]", "1:2"),
        ("[1e]", "1:4"),
        ("[-]", "1:3"),
        ("[0x1f]", "1:2"),
        ("[\"\\ud800\"]", "1:3"),
        ("[\"\\udc00\\ud800\"]", "1:3"),
        ("[\"\\ud800\\u0041\"]", "1:3"),
        ("[\"\\x41\"]", "1:3"),
        ("[\"\\u12\"]", "1:3"),
        ("\u{feff}\u{feff}[]", "1:"),
        ("[\u{feff}]", "1:2"),
        ("\n\n  tru", "3:3"),
    ];
    assert_none(faults("error[json-syntax]", cases));
}

/// RFC 8259, sections 2 and 7: four characters are blanks, and no control character stands in a string.
#[test]
fn blanks_and_control_characters_that_json_does_not_know_are_refused() {
    let blanks = ["[]\u{a0}", "\u{3000}[]", "\u{c}[]", "\u{b}[]", "[]\u{2028}", "\u{85}[]"].map(str::to_owned);
    let controls = ["\n", "\t", "\0", "\u{1b}", "\u{1f}"].map(|c| table(&format!(",\"description\":\"a{c}b\"")));
    let cases = blanks.iter().chain(&controls).map(|text| (&**text, "1:"));
    assert_none(faults("error[json-syntax]", cases));
}

#[test]
fn numbers_that_no_type_holds_are_no_absence() {
    let with = |number: &str| table("").replace("true}", &format!("true,\"length\":{number}}}"));
    let texts = ["1e999", "-1e999", "1e99999999999999999999", &"9".repeat(400)].map(with);
    assert_none(faults("error[", texts.iter().map(|text| (&**text, "1:"))));
}

#[test]
fn roots_and_elements_of_a_wrong_kind_are_refused() {
    let cases = [
        ("1", "1:1"),
        ("null", "1:1"),
        ("true", "1:1"),
        ("\"x\"", "1:1"),
        ("{}", "1:1"),
        ("[1]", "1:2"),
        ("[[]]", "1:2"),
        ("[null]", "1:2"),
        ("[\"notes\"]", "1:2"),
        ("{\"tables\":[1]}", "1:12"),
        ("{\"tables\":{}}", "1:11"),
        ("{\"tables\":null}", "1:11"),
        ("{\"tables\":[[[]]]}", "1:12"),
        ("{\"tables\":[],\"tableName\":\"t\"}", "1:"),
    ];
    assert_none(faults("error[", cases));
}

/// An object written as a list of its values is a mistake, not a shorthand.
#[test]
fn a_list_is_not_taken_for_an_object() {
    let texts = [
        table(r#","indices":[["idx",["id"],false,null]]"#),
        table(r#","foreignKeys":[["fk","id","t(id)",null,null]]"#),
        table(r#","metrics":[5,null,null,null]"#),
        table(r#","publish":{"broker":"kafka","topic":"x","tag":["none",null]}"#),
        table("").replace(
            "true}",
            r#"true},["x","INT",false,true,false,null,false,null,null,null,null,[],false,false,null,null]"#,
        ),
    ];
    assert_none(faults("error[wrong-value]", texts.iter().map(|text| (&**text, "1:"))));
}

#[test]
fn bytes_that_are_no_utf8_are_refused_with_their_position() {
    for (bytes, position) in [
        (&b"\xff\xfe{}"[..], "line 1, byte 0"),
        (b"{\n\"tableName\":\"\xc3(\"}", "line 2, byte 15"),
        (b"[\xed\xa0\x80]", "line 1, byte 1"),
        (b"{\"tableName\":\"\xc3", "line 1, byte 14"),
    ] {
        run(bytes).assert(2).says(&["`t.json` is not UTF-8", position, "save the file as UTF-8"]);
    }
}

#[test]
fn deep_nesting_ends_in_an_error_and_not_in_a_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        for text in [open.repeat(200_000), open.repeat(200_000) + "1" + &close.repeat(200_000)] {
            run(text).assert(1).says(&["error[json-syntax]", "t.json:1:", "nesting"]);
        }
    }
    // Within the reader's depth nothing is too deep for what comes after it.
    let payload = "{\"a\":".repeat(480) + "1" + &"}".repeat(480);
    let claim = format!(
        r#","claim":{{"global":true,"status":{{"column":"id","pending":"a","done":"b"}},"event":{{"types":[{{"name":"a.b","payload":{payload}}}]}}}}"#
    );
    run(table(&claim)).assert(1).says(&["t.json:1:"]);
}

#[test]
fn parentheses_in_types_and_defaults_end_in_an_error_and_not_in_a_stack() {
    let many = |c: &str| c.repeat(100_000);
    let mut texts = Vec::new();
    for column in [
        format!(r#""type":"INT","default":"{}0{}""#, many("("), many(")")),
        format!(r#""type":"INT","default":"{}""#, many("(")),
        format!(r#""type":"INT{}""#, many("(")),
        format!(r#""type":"ENUM({})""#, many("''")),
    ] {
        let text = table("").replace("}]", &format!("}},{{\"name\":\"x\",{column}}}]"));
        texts.push(text);
    }
    assert_none(faults("error[", texts.iter().map(|text| (&**text, "1:"))));
}

#[test]
fn a_file_over_the_limit_is_refused_before_it_is_read() {
    let project = Project::default();
    File::create(project.path("t.json")).unwrap().set_len(100 * 1024 * 1024).unwrap();
    project.run(&["generate", "t.json"]).assert(2).says(&[
        "`t.json` has 104857600 bytes",
        "at most 64 MiB",
        "split it",
    ]);
}

/// The size of a pipe or a device is not known before it is read.
#[cfg(target_os = "linux")]
#[test]
fn a_file_without_an_end_is_refused() {
    let run = Run::of(
        assert_cmd::Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -v 4000000; exec '{}' generate /dev/zero", env!("CARGO_BIN_EXE_claimsmith")))
            .timeout(std::time::Duration::from_secs(30)),
    );
    run.assert(2).says(&["`/dev/zero`", "at most 64 MiB"]);
}

#[test]
fn a_long_line_is_not_printed() {
    let run = run(table(&format!(",\"description\":\"{}\",\"colour\":1", "x".repeat(5_000_000)))).assert(1);
    assert!(run.stderr.len() < 2_000, "{}", cut(&run.stderr));
    run.says(&["t.json:1:5000095"]);
}
