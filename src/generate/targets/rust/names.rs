//! Names of tables, columns and values → identifiers of Rust.

use std::collections::BTreeSet;

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};

use crate::schema::load::fnv;
use crate::schema::{Table, TableName};

/// Longest identifier in characters: with longer ones rustfmt would break lines that the templates keep whole.
const LONGEST: usize = 46;

/// Words that an identifier can only be as `r#word`, of all editions.
const KEYWORDS: [&str; 47] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while",
];

/// Words that cannot be an identifier at all.
const NEVER: [&str; 5] = ["self", "Self", "super", "crate", "yield"];

/// Names of files that a system keeps for itself.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];

/// Types that generated modules mention without a path.
pub const TYPES: [&str; 8] = ["Row", "Option", "String", "Vec", "Result", "Ok", "Err", "Some"];

/// The identifiers of one scope: none is given twice.
#[derive(Debug, Default)]
pub struct Idents {
    taken: BTreeSet<String>,
}

impl Idents {
    /// A scope in which these are taken.
    pub fn without(taken: &[&str]) -> Idents {
        Idents { taken: taken.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// A field: the name as it is, where Rust takes it.
    pub fn field(&mut self, name: &str, fallback: &str) -> String {
        let clean = clean(name);
        let field = if clean == name && is_snake(&clean) { clean } else { clean.to_snake_case() };
        let field = self.unique(begin(&again(&field), fallback, "_"), "_");
        if KEYWORDS.contains(&&*field) { format!("r#{field}") } else { field }
    }

    /// A constant.
    pub fn constant(&mut self, name: &str, fallback: &str) -> String {
        let constant = match name.is_ascii() && is_snake(name) {
            // As most names are; the way below gives the same.
            true => again(&name.trim_matches('_').to_ascii_uppercase()),
            false => again(&clean(name).to_shouty_snake_case()),
        };
        self.unique(begin(&constant, &fallback.to_shouty_snake_case(), "_"), "_")
    }

    /// A type or a variant.
    pub fn camel(&mut self, name: &str, fallback: &str) -> String {
        let camel = again(&clean(name).to_upper_camel_case());
        self.unique(begin(&camel, &fallback.to_upper_camel_case(), "_"), "")
    }

    /// A module, which is also the name of a file: of ASCII only, since Rust finds no other file by its module's name.
    pub fn module(&mut self, table: &Table) -> String {
        let TableName { database, name } = &table.name;
        let whole = database.iter().map(|database| format!("{database}_")).collect::<String>() + name;
        let ascii: String = whole.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let fallback = format!("table_{:08x}", fnv(&whole) as u32);
        // Nothing of a name in another script is left but its separators.
        let lost = !whole.is_ascii();
        let module = ascii.to_snake_case();
        let module = match lost {
            true if module.is_empty() => fallback.clone(),
            true => format!("{module}_{:08x}", fnv(&whole) as u32),
            false => module,
        };
        let mut module = begin(&module, &fallback, "t_");
        if KEYWORDS.contains(&&*module) || DEVICES.contains(&&*module) {
            module.push('_');
        }
        self.unique(module, "_")
    }

    fn unique(&mut self, name: String, separator: &str) -> String {
        let mut chosen = name.clone();
        let mut n = 1_usize;
        // Ends after as many turns as there are names.
        while !self.taken.insert(chosen.clone()) {
            n += 1;
            // A digit at the end of the name and one more would look like one number.
            let separator = if name.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { separator };
            chosen = format!("{name}{separator}{n}");
        }
        chosen
    }
}

/// What identifiers hold of the name; everything else becomes `_`. Of other scripts only letters that have one form
/// count, because Rust takes names that differ in their forms only for the same.
fn clean(name: &str) -> String {
    name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect()
}

fn is_kept(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '\u{C0}'..='\u{17F}' if !matches!(c, '×' | '÷' | 'ŀ' | 'Ŀ' | 'ŉ' | 'ſ' | 'ĳ' | 'Ĳ' | 'ı' | 'İ'))
        || matches!(c, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | 'ー' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// The same after a change of case, which can make new characters (`ŉ`, `ß`).
fn again(name: &str) -> String {
    name.chars().filter(|c| *c == '_' || is_kept(*c)).take(LONGEST).collect()
}

/// The name with something before a digit; the fallback where nothing is left.
fn begin(name: &str, fallback: &str, before_digit: &str) -> String {
    match name.trim_matches('_').chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_digit() && !name.starts_with('_') => format!("{before_digit}{name}"),
        Some(_) if NEVER.contains(&name) => format!("{name}_"),
        Some(_) => name.to_owned(),
    }
}

/// Whether the name is one that a field can have without a warning.
fn is_snake(name: &str) -> bool {
    let core = name.trim_matches('_');
    !core.contains("__") && core.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use heck::ToShoutySnakeCase;

    use super::{Idents, again, begin, clean};

    #[test]
    fn names_become_identifiers() {
        let cases = [
            ("app_code", "app_code", "APP_CODE", "AppCode"),
            ("__sys_gen_id", "__sys_gen_id", "SYS_GEN_ID", "SysGenId"),
            ("type", "r#type", "TYPE", "Type"),
            ("self", "self_", "SELF", "Self_"),
            ("ExternalID", "external_id", "EXTERNAL_ID", "ExternalId"),
            ("1st-place", "_1st_place", "_1ST_PLACE", "_1stPlace"),
            ("a__b", "a_b", "A_B", "AB"),
            ("客户", "客户", "客户", "客户"),
            ("e\u{301}!", "e", "E", "E"),
            ("***", "column_4", "COLUMN_4", "Column4"),
            ("", "column_4", "COLUMN_4", "Column4"),
        ];
        for (name, field, constant, camel) in cases {
            assert_eq!(Idents::default().field(name, "column_4"), field, "{name}");
            assert_eq!(Idents::default().constant(name, "column_4"), constant, "{name}");
            assert_eq!(Idents::default().camel(name, "column_4"), camel, "{name}");
        }
    }

    #[test]
    fn the_short_way_to_a_constant_is_the_long_way() {
        for name in ["app_code", "__sys_gen_id", "a1_b2", "x", "_", "next_retry_at_ms", "a_", "ids"] {
            assert_eq!(
                Idents::default().constant(name, "f"),
                begin(&again(&clean(name).to_shouty_snake_case()), "F", "_")
            );
        }
    }

    #[test]
    fn no_identifier_is_given_twice() {
        let mut idents = Idents::default();
        let names = ["Name", "name", "NAME", "name_2", "n1", "N1"];
        let given: Vec<String> = names.iter().map(|name| idents.field(name, "x")).collect();
        assert_eq!(given, ["name", "name_2", "name_3", "name_2_2", "n1", "n1_2"]);
    }
}
