//! Names of Go: exported, in Go's own style, each taken once.

use std::collections::BTreeSet;

use heck::ToSnakeCase;

use super::text::is_letter;

/// What the templates declare whatever the tables are.
const FIXED: [&str; 8] = ["Date", "Decimal", "Envelope", "ErrUnknownEvent", "Hex", "ParseEnvelope", "TimeOfDay", "UTC"];

/// Words that Go writes in capitals.
const INITIALISMS: [&str; 20] = [
    "acl", "api", "css", "dns", "html", "http", "https", "id", "ip", "json", "sql", "ssh", "tcp", "tls", "ttl", "udp",
    "ui", "url", "utc", "uuid",
];

/// Gives each name once: what is taken gets `_2`, `_3` and so on.
pub struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// Nothing is taken but what the templates declare themselves.
    pub fn of_package() -> Names {
        Names { taken: FIXED.into_iter().map(str::to_owned).collect() }
    }

    /// Nothing is taken but the methods that a struct may get.
    pub fn of_struct() -> Names {
        Names { taken: BTreeSet::new() }
    }

    /// The first of `name` with and without a number that is not taken.
    pub fn take(&mut self, name: &str) -> String {
        let numbered = |number: u32| if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
        let mut number = 1;
        while !self.taken.insert(numbered(number)) {
            number += 1;
        }
        numbered(number)
    }

    /// The first of a table's bases of which all names are free, and these names, which are now taken.
    pub fn base<const N: usize>(&mut self, name: &str, names: impl Fn(&str) -> [String; N]) -> (String, [String; N]) {
        let base = exported(name, "Table");
        let mut number = 1;
        loop {
            let base = if number == 1 { base.clone() } else { format!("{base}_{number}") };
            let names = names(&base);
            if names.iter().all(|name| !self.taken.contains(name)) {
                self.taken.extend(names.iter().cloned());
                return (base, names);
            }
            number += 1;
        }
    }
}

/// The name as an exported identifier; `none` where it has nothing that an identifier can have.
pub fn exported(name: &str, none: &str) -> String {
    let words = words(name);
    match words.chars().next() {
        None => none.to_owned(),
        Some(first) if first.is_uppercase() => words,
        // A digit, or a letter that has no capital.
        Some(_) => format!("X{words}"),
    }
}

/// The name as a further part of an identifier: a capital at the beginning of each word.
pub fn words(name: &str) -> String {
    let held: String = name.chars().map(|c| if is_letter(c) || c.is_ascii_digit() { c } else { ' ' }).collect();
    let word = |word: &str| match INITIALISMS.contains(&word) {
        true => word.to_uppercase(),
        false => {
            let mut letters = word.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
        }
    };
    let joined: String = held.to_snake_case().split('_').map(word).collect();
    // Changing the case may have brought characters in.
    joined.chars().filter(|c| is_letter(*c) || c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Names, exported, words};

    #[test]
    fn odd_names_become_exported_identifiers() {
        for (name, expected) in [
            ("wallet_outbox", "WalletOutbox"),
            ("event_id", "EventID"),
            ("lock_until_ms", "LockUntilMs"),
            ("billing.orders", "BillingOrders"),
            ("2fa_codes", "X2faCodes"),
            ("größe", "Größe"),
            ("订单", "X订单"),
            ("\"; */ --", "Table"),
            ("😀", "Table"),
            ("type", "Type"),
        ] {
            assert_eq!(exported(name, "Table"), expected, "{name}");
        }
        assert_eq!(words("chat.history.persist_requested"), "ChatHistoryPersistRequested");
    }

    #[test]
    fn what_is_taken_gets_a_number() {
        let mut names = Names::of_package();
        let all = ["A", "A", "A_2", "Envelope"].map(|name| names.take(name));
        assert_eq!(all, ["A", "A_2", "A_2_2", "Envelope_2"]);
        let rows = |base: &str| [format!("{base}Row")];
        assert_eq!(names.base("a", rows).1, ["ARow"]);
        assert_eq!(names.base("A", rows).1, ["A_2Row"]);
    }
}
