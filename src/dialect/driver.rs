//! How sqlx's driver of a database holds values: what generated Rust code decides by.

/// sqlx's driver of a database. Two databases may share one.
#[derive(Debug, PartialEq, Eq)]
pub struct Driver {
    /// The feature of sqlx, which names the driver too.
    pub feature: &'static str,
    /// The path of its `Database`.
    pub database: &'static str,
    /// The path of its rows.
    pub row: &'static str,
    /// How it holds times in UTC.
    pub times: &'static [HeldTime],
    /// The path of its errors.
    pub error: &'static str,
    /// Whether `error`, which is one of those, says that the same may succeed in a new transaction.
    pub is_retryable: &'static str,
    /// What `error` says would be broken: the name of a constraint, or what comes closest to it.
    pub violated: &'static str,
}

/// How a driver holds times in UTC.
#[derive(Debug, PartialEq, Eq)]
pub struct HeldTime {
    /// Those of TIMESTAMP columns, those of DATETIME columns, or both alike.
    pub zoned: Option<bool>,
    /// The type of the driver's that it is.
    pub ty: &'static str,
    /// `self` as a value that the driver writes.
    pub encode: &'static str,
    /// `value`, which the driver has read, as a `chrono::NaiveDateTime`.
    pub decode: &'static str,
}

/// Of a driver that tells a time with a zone from one without.
pub const TWO_TIMES: [HeldTime; 2] = [
    HeldTime { zoned: Some(false), ty: "chrono::NaiveDateTime", encode: "self.naive()", decode: "value" },
    HeldTime {
        zoned: Some(true),
        ty: "chrono::DateTime<chrono::Utc>",
        encode: "self.naive().and_utc()",
        decode: "value.naive_utc()",
    },
];

/// A type that the driver reads and writes for a column in the place of the column's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wire {
    /// The column's own type.
    Same,
    /// A signed integer of so many bits.
    Integer(u8),
    /// A decimal number without a fraction.
    Numeric,
    /// Text.
    Text,
    /// The column's own type, with blanks behind the value that do not belong to it.
    Padded,
}
