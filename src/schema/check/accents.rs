//! What the default collations of MySQL and MariaDB take for the same, as far as Latin letters go.

use std::collections::BTreeMap;

/// Letters, and how they compare: as the servers say, on which the two agree.
const PLAIN: [(&str, &str); 32] = [
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("ae", "æǣǽ"),
    ("b", "ḃḅḇ"),
    ("c", "çćĉċčḉ"),
    ("d", "ðďđḋḍḏḑḓ"),
    ("dz", "ǆǳ"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥħȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįǐȉȋḭḯỉị"),
    ("ij", "ĳ"),
    ("j", "ĵǰ"),
    ("k", "ķǩḱḳḵ"),
    ("l", "ĺļľŀłḷḹḻḽ"),
    ("lj", "ǉ"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňǹṅṇṉṋ"),
    ("nj", "ǌ"),
    ("o", "òóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ("oe", "œ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšſșṡṣṥṧṩẛ"),
    ("ss", "ß"),
    ("t", "ţťțṫṭṯṱẗ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
];

/// What texts are compared by.
pub struct Letters(BTreeMap<char, &'static str>);

impl Letters {
    /// The table of all letters.
    pub fn new() -> Self {
        Letters(PLAIN.iter().flat_map(|(plain, letters)| letters.chars().map(|c| (c, *plain))).collect())
    }

    /// The text in lower case, without accents and with ligatures spelt out.
    pub fn fold(&self, text: &str) -> String {
        let mut folded = String::new();
        for c in text.chars().flat_map(char::to_lowercase).filter(|c| !matches!(c, '\u{300}'..='\u{36F}')) {
            match self.0.get(&c) {
                Some(plain) => folded.push_str(plain),
                None => folded.push(c),
            }
        }
        folded
    }
}
