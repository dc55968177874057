//! The version that a template says it was written for, in a comment at its very start: `{# version 1 #}`.

use std::ops::Range;

const WORD: &str = "version";

/// Where the template says its version; `None` if it does not. Other comments may speak of versions of other things.
pub fn stated(text: &str) -> Option<Range<usize>> {
    let text_start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let comment = text_start.strip_prefix("{#")?.trim_start_matches(['-', '+']).trim_start();
    let (word, rest) = comment.split_at_checked(WORD.len())?;
    let number = rest.trim_start_matches([' ', '\t', ':']);
    if !word.eq_ignore_ascii_case(WORD) || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = number.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(number.len());
    let start = text.len() - number.len();
    Some(start..start + number[..end].trim_end_matches('.').len())
}

#[cfg(test)]
mod tests {
    use super::stated;

    #[test]
    fn a_version_is_the_number_behind_the_word_in_the_first_comment() {
        for (text, version) in [
            ("{# version 1 #}", Some("1")),
            ("{#- version 12 -#}\n", Some("12")),
            ("{#Version: 3#}", Some("3")),
            ("\u{feff}\n{#\n  version 4: mine, of größe 5 #}\n", Some("4")),
            ("{# version 2. Mine. #}", Some("2")),
            ("{# version 1.0 #}", Some("1.0")),
            ("{# version 7", Some("7")),
            ("{# version 1b #}", Some("1b")),
            ("{# versions 1 and 2 #}", None),
            ("{# version of mine #}", None),
            ("{# for MySQL, version 8 #}", None),
            ("{# größe #}", None),
            ("{# versio", None),
            ("{# version", None),
            ("-- {# version 1 #}", None),
            ("{# mine #}{# version 1 #}", None),
            ("", None),
        ] {
            assert_eq!(stated(text).map(|range| &text[range]), version, "{text:?}");
        }
    }
}
