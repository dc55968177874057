//! How a dialect writes strings, names and comments, as far as the dialects disagree.

/// The disagreements. The default is what standard SQL says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syntax {
    /// `\'` does not end a string.
    pub backslash: bool,
    /// `#` begins a comment, and `--` only does before a blank.
    pub hash_comment: bool,
    /// `||` and `&&` are OR and AND.
    pub logical_pipes: bool,
    /// `"text"` is a string wherever a value can stand.
    pub double_quoted_strings: bool,
    /// `/* /* */ */` is one comment.
    pub nested_comments: bool,
}
