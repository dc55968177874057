//! What the parameters of a statement are: a column's value, or one of a few words.

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameter {
    /// As it stands in the statement: `?`, `$1`.
    pub placeholder: String,
    /// What it is: a column, or a word such as `limit`, `lease_ms`; with a number, such as `limit_2`, where a column of the
    /// table has the word as its name.
    pub name: String,
    /// The same for programs, whatever the name is.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub meaning: Meaning,
}

/// What a parameter means, and by that its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The value of the column at this position of the table.
    Column(usize),
    /// Most rows of a batch.
    Limit,
    /// Most rows that are counted.
    Cap,
    /// How long a lease lasts, in milliseconds.
    LeaseMs,
    /// How long a row that is taken stays out of sight, in milliseconds.
    VisibilityMs,
    /// How long a row waits for its next attempt, in milliseconds.
    DelayMs,
    /// How long a row stays published before the sweep takes it, in milliseconds.
    SweepMs,
    /// How long a finished row is kept, in milliseconds.
    AgeMs,
    /// A time as the column `retention.age` holds it: rows up to then are meant.
    Cutoff,
    /// A time as the column `retention.age` holds it: rows from then on are meant.
    Since,
    /// A time as the column `retention.age` holds it: rows before then are meant.
    Until,
    /// The text in the column `lease.by`: what a claim writes, and what its holder shows.
    Token,
    /// The number in the column `lease.seq` that the claim gave.
    ClaimSeq,
    /// The number in the column `retry.count` that the claim gave.
    Attempt,
    /// What went wrong, for the column `retry.error`.
    Error,
    /// A list of keys, see [`Query::keys_at`](super::Query::keys_at).
    Keys,
}

/// What is no column.
const WORDS: [(Meaning, &str); 15] = [
    (Meaning::Limit, "limit"),
    (Meaning::Cap, "cap"),
    (Meaning::LeaseMs, "lease_ms"),
    (Meaning::VisibilityMs, "visibility_ms"),
    (Meaning::DelayMs, "delay_ms"),
    (Meaning::SweepMs, "sweep_ms"),
    (Meaning::AgeMs, "age_ms"),
    (Meaning::Cutoff, "cutoff"),
    (Meaning::Since, "since"),
    (Meaning::Until, "until"),
    (Meaning::Token, "token"),
    (Meaning::ClaimSeq, "claim_seq"),
    (Meaning::Attempt, "attempt"),
    (Meaning::Error, "error"),
    (Meaning::Keys, "keys"),
];

impl Meaning {
    /// The word; `None` for a column, which is called as the table calls it.
    pub fn word(self) -> Option<&'static str> {
        WORDS.iter().find(|(meaning, _)| *meaning == self).map(|(_, word)| *word)
    }

    /// A text that [`Meaning::read`] reads: parameters pass through the query builder as such.
    pub(super) fn text(self) -> String {
        match self {
            Meaning::Column(at) => at.to_string(),
            word => word.word().unwrap_or_default().to_owned(),
        }
    }

    /// The opposite of [`Meaning::text`].
    pub(super) fn read(text: &str) -> Option<Meaning> {
        let word = || WORDS.iter().find(|(_, word)| *word == text).map(|(meaning, _)| *meaning);
        text.parse().ok().map(Meaning::Column).or_else(word)
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning, WORDS};

    #[test]
    fn what_is_written_is_read_back() {
        let words = WORDS.iter().map(|(meaning, _)| *meaning);
        for meaning in words.chain([Meaning::Column(0), Meaning::Column(17)]) {
            assert_eq!(Meaning::read(&meaning.text()), Some(meaning));
        }
        assert_eq!(Meaning::read("other"), None);
    }
}
