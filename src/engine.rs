//! The facts about database engines that the rest of claimsmith decides by, as plain values.
//!
//! `dialect` fills one [`Engine`] per database. A fact enters this list together with the test that shows it on that
//! engine (`tests/it/facts.rs`); nothing outside `dialect` branches on an engine's name.

/// What an engine can and cannot do.
#[derive(Debug, PartialEq, Eq)]
pub struct Engine {
    /// Name on the command line, in the configuration and in paths.
    pub id: &'static str,
    /// Name in messages.
    pub title: &'static str,
    /// Longest identifier.
    pub identifier: Limit,
    /// Identifiers and comments may hold characters beyond U+FFFF.
    pub supplementary_identifiers: bool,
    /// Most bytes of a table's name as a file name, in which letters of Latin, Greek and Cyrillic take 3 bytes and all
    /// other characters beyond ASCII letters, digits and `_` take 5.
    pub table_file_bytes: Option<usize>,
    /// Names that columns cannot have, in lower case.
    pub reserved_columns: &'static [&'static str],
    /// How statements name the number of a row, which a column of this name would hide.
    pub row_number: Option<&'static str>,
    /// What names of tables and indexes cannot begin with, in lower case.
    pub reserved_prefix: Option<&'static str>,
    /// What names of databases (schemas) cannot begin with, in lower case.
    pub reserved_database_prefix: Option<&'static str>,
    /// Column names that differ only by case are the same name.
    pub folds_columns: bool,
    /// Table names that differ only by case are, or on some servers may be, the same name.
    pub folds_tables: bool,
    /// Where an index name must be unique.
    pub index_names: NameScope,
    /// Where the name of a foreign key must be unique among those of others, if anywhere.
    pub foreign_key_names: Option<NameScope>,
    /// A foreign key that no index serves makes one, with its own name.
    pub foreign_key_makes_index: bool,
    /// Most bytes in one key, if that is fixed when the table is created.
    pub key_bytes: Option<usize>,
    /// Most bytes in a row without its TEXT and BLOB columns, if that is fixed when the table is created.
    pub row_bytes: Option<usize>,
    /// What a row keeps in its page, if that is limited when the table is created.
    pub page: Option<Page>,
    /// Most columns of a table.
    pub columns: usize,
    /// Most columns of an index.
    pub index_columns: usize,
    /// A TEXT or BLOB column in a key needs a prefix length.
    pub text_key_needs_length: bool,
    /// A TEXT, BLOB or JSON column takes a plain literal as its default (otherwise only a parenthesised one).
    pub literal_text_default: bool,
    /// `CURRENT_TIMESTAMP` as a default must have the fractional digits of its column.
    pub now_needs_precision: bool,
    /// A TIMESTAMP ends in January 2038, and its literals are in the session's time zone.
    pub timestamp_32_bit: bool,
    /// Integers reach the upper half of the range of an unsigned 64-bit integer.
    pub unsigned_big: bool,
    /// A unique index is a constraint of its table, and has its name among them.
    pub unique_is_constraint: bool,
    /// `ON DELETE SET DEFAULT` is accepted.
    pub set_default: bool,
    /// Where comments on tables and columns are kept.
    pub comments: Comments,
    /// An auto-increment column must be the whole primary key.
    pub auto_increment_is_key: bool,
    /// An auto-increment column must be the first column of some key.
    pub auto_increment_leads_key: bool,
    /// ENUM members may not end in a blank, because the engine cuts it off.
    pub enum_trims: bool,
    /// ENUM members must differ by more than case and accents, unless the column is binary.
    pub enum_folds_accents: bool,
    /// An index can hold only the rows for which a condition is true.
    pub partial_indexes: bool,
    /// Every index ends with the columns of the primary key that it lacks.
    pub appends_primary_key: bool,
    /// What is appended gives an order even where an index has a column of the primary key before one that it lacks.
    pub appended_key_has_gaps: bool,
    /// `column IS NULL` counts as an equality where an index gives the order of what follows.
    pub null_is_equality: bool,
    /// Foreign keys are enforced on every connection, and not only on those that ask for it.
    pub enforces_foreign_keys: bool,
    /// Databases (schemas) can be named in `CREATE TABLE` and are created by the script where they are missing.
    pub databases: bool,
    /// Foreign keys may cross databases (schemas).
    pub foreign_keys_cross_databases: bool,
    /// A locking clause may stand before LIMIT.
    pub lock_before_limit: bool,
    /// A text column that is compared with a number is found through its index; elsewhere the number is refused, or the
    /// column of every row is converted.
    pub text_meets_number: bool,
    /// How a script grants to roles whose names are known only where it runs; none where there are no roles.
    pub roles: Option<Roles>,
}

/// How a script puts a statement together where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// Variables of the session, and statements prepared from them. Taking away what was never given is an error.
    Variables,
    /// Settings of the session, and a block of code.
    Settings,
}

/// A limit on the length of identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Characters.
    Chars(usize),
    /// Bytes of UTF-8.
    Bytes(usize),
    /// None.
    None,
}

impl Limit {
    /// Whether `name` keeps the limit.
    pub fn allows(self, name: &str) -> bool {
        match self {
            Limit::Chars(max) => name.chars().count() <= max,
            Limit::Bytes(max) => name.len() <= max,
            Limit::None => true,
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Chars(max) => write!(f, "{max} characters"),
            Limit::Bytes(max) => write!(f, "{max} bytes"),
            Limit::None => f.write_str("no limit"),
        }
    }
}

/// The part of a row that must stay in its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// It must have fewer bytes than this.
    pub bytes: usize,
    /// Varying columns of fewer bytes count in full.
    pub whole_below: usize,
    /// What of the others counts.
    pub kept: usize,
}

/// Within what a name must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameScope {
    /// Its table.
    Table,
    /// Its schema or database, where that of an index also may not be the name of a table.
    Schema,
}

/// Where an engine keeps comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comments {
    /// As a clause of the definition; longest text in characters on tables, and on columns and indexes.
    Inline {
        /// Most characters on a table.
        table: usize,
        /// Most characters on a column or an index.
        column: usize,
    },
    /// By statements of their own, of any length.
    Statement,
    /// Nowhere but in the text of `CREATE TABLE`, which the engine keeps.
    Text,
}

/// "MySQL", "MySQL and MariaDB", "MySQL, MariaDB and SQLite".
pub fn titles(engines: &[&Engine]) -> String {
    let titles: Vec<&str> = engines.iter().map(|engine| engine.title).collect();
    match titles.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
