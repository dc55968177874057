//! Names of exports: TypeScript's own style, each taken once.

use std::collections::BTreeSet;

use heck::{ToLowerCamelCase, ToUpperCamelCase};
use unicode_ident::{is_xid_continue, is_xid_start};

/// What the template exports or declares whatever the tables are.
const FIXED: [&str; 15] = [
    "BigIntString",
    "Column",
    "ColumnType",
    "DateString",
    "DecimalString",
    "EpochMillis",
    "HexString",
    "JsonValue",
    "Rows",
    "Table",
    "TableName",
    "TimeString",
    "UtcString",
    "isOneOf",
    "tables",
];

/// Words that a constant of a module cannot be called: those of the language, and those that TypeScript or a CommonJS
/// module has for itself.
const RESERVED: [&str; 53] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "exports",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "globalThis",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "module",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "require",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// The names of one table's exports.
pub struct TableNames {
    /// Of the constant, such as `walletOutbox`.
    pub constant: String,
    /// Of the list of column names, such as `walletOutboxColumns`.
    pub columns: String,
    /// Of the row type, such as `WalletOutboxRow`.
    pub row: String,
    /// What the names of its exports begin with, with a capital and with a small letter.
    base: [String; 2],
}

/// The names of the exports of a closed set of values.
pub struct UnionNames {
    /// Of the list, such as `walletOutboxStatuses`.
    pub list: String,
    /// Of the type, such as `WalletOutboxStatus`.
    pub ty: String,
    /// Of the type guard, such as `isWalletOutboxStatus`.
    pub guard: String,
}

/// The names of the exports of a table's events.
pub struct EventNames {
    /// Of the object of all types' names, such as `walletOutboxEventType`.
    pub types: String,
    /// Of the union of all events, such as `WalletOutboxEvent`.
    pub union: String,
    /// Of the object of the groups of consumers, such as `walletOutboxConsumers`.
    pub consumers: String,
    /// Of the constant of the legacy tag, such as `walletOutboxLegacyTag`.
    pub legacy: String,
    /// What the names of its other exports begin with.
    pub base: TableNames,
}

/// Gives each name once: what is taken gets `_2`, `_3` and so on.
pub struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// Nothing is taken but what the template declares itself.
    pub fn new() -> Names {
        Names { taken: FIXED.into_iter().map(str::to_owned).collect() }
    }

    /// Nothing is taken but what the template of events declares itself.
    pub fn of_events() -> Names {
        Names { taken: BTreeSet::from(["Envelope".to_owned()]) }
    }

    /// Nothing is taken: names of properties.
    pub fn empty() -> Names {
        Names { taken: BTreeSet::new() }
    }

    /// The names for a table's events.
    pub fn events(&mut self, name: &str) -> EventNames {
        let [upper, lower] = camel(name, ["Table", "table"]);
        let bases = |suffix: &str| [format!("{upper}{suffix}"), format!("{lower}{suffix}")];
        let (suffix, [types, union, consumers, legacy]) = self.take(|suffix| {
            let [upper, lower] = bases(suffix);
            let lower = |word: &str| format!("{lower}{word}");
            [lower("EventType"), format!("{upper}Event"), lower("Consumers"), lower("LegacyTag")]
        });
        let base =
            TableNames { constant: String::new(), columns: String::new(), row: String::new(), base: bases(&suffix) };
        EventNames { types, union, consumers, legacy, base }
    }

    /// The name of a type that belongs to a table, made of words.
    pub fn below(&mut self, table: &TableNames, words: &[&str]) -> String {
        let name: String = words.iter().map(|word| continued(word)).collect();
        let (_, [name]) = self.take(|suffix| [format!("{}{name}{suffix}", table.base[0])]);
        name
    }

    /// The name of a property that stands for a text.
    pub fn key(&mut self, text: &str) -> String {
        let [_, lower] = camel(text, ["Event", "event"]);
        let (_, [name]) = self.take(|suffix| [format!("{lower}{suffix}")]);
        name
    }

    /// The names for a table.
    pub fn table(&mut self, name: &str) -> TableNames {
        let [upper, lower] = camel(name, ["Table", "table"]);
        let bases = |suffix: &str| [format!("{upper}{suffix}"), format!("{lower}{suffix}")];
        let (suffix, [constant, columns, row]) = self.take(|suffix| {
            let [upper, lower] = bases(suffix);
            [constant(&lower), format!("{lower}Columns"), format!("{upper}Row")]
        });
        TableNames { constant, columns, row, base: bases(&suffix) }
    }

    /// The names for a set of values, `one` of which is called so, and `all` of which are called so.
    pub fn union(&mut self, table: &TableNames, one: &str, all: &str) -> UnionNames {
        let [upper, lower] = &table.base;
        let [one, _] = camel(one, NO_COLUMN);
        let (_, [list, ty, guard]) = self.take(|suffix| {
            [format!("{lower}{all}{suffix}"), format!("{upper}{one}{suffix}"), format!("is{upper}{one}{suffix}")]
        });
        UnionNames { list, ty, guard }
    }

    /// The names for a column's set of values: its type is called like the column.
    pub fn column(&mut self, table: &TableNames, column: &str) -> UnionNames {
        let [upper, _] = camel(column, NO_COLUMN);
        self.union(table, column, &format!("{upper}Values"))
    }

    /// The first of the sets of names of which none is taken, and the suffix that made it so.
    fn take<const N: usize>(&mut self, names: impl Fn(&str) -> [String; N]) -> (String, [String; N]) {
        let mut suffix = String::new();
        let mut number = 1;
        loop {
            let names = names(&suffix);
            if names.iter().all(|name| !self.taken.contains(name)) {
                self.taken.extend(names.iter().cloned());
                return (suffix, names);
            }
            number += 1;
            suffix = format!("_{number}");
        }
    }
}

/// What a column is called whose name has nothing that an identifier can have.
const NO_COLUMN: [&str; 2] = ["Column", "column"];

/// The name with a capital at the beginning of each word, the first word with a capital and with a small letter; `none`
/// where it has nothing that an identifier can have.
fn camel(name: &str, none: [&str; 2]) -> [String; 2] {
    let words: String = name.chars().map(|c| if is_xid_continue(c) { c } else { ' ' }).collect();
    let upper = identifier(&words.to_upper_camel_case(), none[0]);
    [upper, identifier(&words.to_lower_camel_case(), none[1])]
}

/// The word as a further part of a name, with a capital at the beginning.
fn continued(word: &str) -> String {
    let words: String = word.chars().map(|c| if is_xid_continue(c) { c } else { ' ' }).collect();
    words.to_upper_camel_case().chars().filter(|c| is_xid_continue(*c)).collect()
}

fn identifier(name: &str, none: &str) -> String {
    // Changing the case may have brought characters in.
    let name: String = name.chars().filter(|c| is_xid_continue(*c)).collect();
    match name.chars().next() {
        None => none.to_owned(),
        Some(first) if is_xid_start(first) => name,
        Some(_) => format!("_{name}"),
    }
}

fn constant(name: &str) -> String {
    if RESERVED.contains(&name) { format!("{name}Table") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::Names;

    fn constants(names: &[&str]) -> Vec<String> {
        let mut taken = Names::new();
        names.iter().map(|name| taken.table(name).constant).collect()
    }

    #[test]
    fn odd_names_become_identifiers() {
        for (name, constant, row) in [
            ("wallet_outbox", "walletOutbox", "WalletOutboxRow"),
            ("__sys_gen_id", "sysGenId", "SysGenIdRow"),
            ("_System_AI_Conversation", "systemAiConversation", "SystemAiConversationRow"),
            ("billing.orders", "billingOrders", "BillingOrdersRow"),
            ("delete", "deleteTable", "DeleteRow"),
            ("tables", "tables_2", "Tables_2Row"),
            ("2fa_codes", "_2faCodes", "_2faCodesRow"),
            ("größe", "größe", "GrößeRow"),
            ("订单", "订单", "订单Row"),
            ("x²", "x", "XRow"),
            ("\"; */ --", "table", "TableRow"),
            ("😀", "table", "TableRow"),
        ] {
            let names = Names::new().table(name);
            assert_eq!((&*names.constant, &*names.row), (constant, row), "{name}");
        }
    }

    #[test]
    fn what_is_taken_gets_a_number() {
        assert_eq!(constants(&["a_b", "aB", "A-b", "a_b_2"]), ["aB", "aB_2", "aB_3", "aB2"]);
        // A type of one table may be called like the row of another.
        let mut names = Names::new();
        let order = names.table("order");
        assert_eq!(names.table("order_row").row, "OrderRowRow");
        assert_eq!(names.column(&order, "row").ty, "OrderRow_2");
        assert_eq!(names.union(&order, "Status", "Statuses").list, "orderStatuses");
        assert_eq!(names.column(&order, "status").guard, "isOrderStatus_2");
    }
}
