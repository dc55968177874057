//! What the reader understood of a statement about rows.
//!
//! A statement is a list of blocks: itself, and every query within it, wherever that stands. A block names its parent by
//! position, so that a rule can look at each block alone and around it where it must.

use crate::diagnostic::Span;

/// A statement with all queries inside it.
#[derive(Debug, Default)]
pub struct Statement {
    /// Its bytes.
    pub span: Span,
    /// The statement itself first, then the queries inside it.
    pub blocks: Vec<Block>,
    /// The first thing that was not understood.
    pub doubt: Option<Span>,
}

/// What a block does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// Reads rows.
    #[default]
    Select,
    /// Changes rows.
    Update,
    /// Removes rows.
    Delete,
    /// Adds rows.
    Insert,
}

/// Where a block stands in its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It is the statement.
    #[default]
    Top,
    /// `WITH name AS (…)`.
    Cte(String),
    /// `FROM (…) alias`.
    Derived,
    /// `x IN (…)`, `x = ANY (…)`.
    In,
    /// `EXISTS (…)`.
    Exists,
    /// Anywhere else in an expression, as one value or an array.
    Value,
    /// A further branch of a UNION.
    Branch,
    /// `INSERT … SELECT`.
    Source,
}

/// One SELECT, UPDATE, DELETE or INSERT.
#[derive(Debug, Default)]
pub struct Block {
    /// What it does.
    pub verb: Verb,
    /// Where it stands.
    pub role: Role,
    /// The block around it.
    pub parent: Option<usize>,
    /// Its bytes.
    pub span: Span,
    /// Its first word.
    pub head: Span,
    /// Common table expressions, each with its block.
    pub ctes: Vec<(String, usize)>,
    /// SELECT list, or RETURNING list.
    pub items: Vec<Expr>,
    /// SELECT DISTINCT.
    pub distinct: bool,
    /// Tables; of UPDATE and DELETE the ones that change first.
    pub tables: Vec<TableRef>,
    /// How many of the tables change.
    pub changes: usize,
    /// `USING (a, b)` of joins.
    pub using: Vec<String>,
    /// Join conditions that hold for every row of the result.
    pub joins: Vec<Expr>,
    /// Columns of an INSERT, or of an UPDATE with what they become.
    pub set: Vec<Assignment>,
    /// INSERT IGNORE, INSERT OR IGNORE, REPLACE.
    pub lossy: Option<Span>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY or HAVING.
    pub grouped: bool,
    /// ORDER BY.
    pub order: Vec<OrderItem>,
    /// LIMIT, TOP, FETCH FIRST.
    pub limit: Option<Bound>,
    /// OFFSET, or the first number of `LIMIT a, b`.
    pub offset: Option<Bound>,
    /// FOR UPDATE and its like.
    pub lock: Option<Lock>,
    /// RETURNING, OUTPUT.
    pub returning: bool,
    /// UNION, INTERSECT, EXCEPT: what is ordered and limited is the union.
    pub set_operation: bool,
    /// Where text is unknown.
    pub gaps: Gaps,
}

/// Where a block has holes in which clauses could hide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Joins, hints.
    pub from: bool,
    /// Conditions.
    pub filter: bool,
    /// ORDER BY, LIMIT, locks.
    pub tail: bool,
}

/// A table in FROM.
#[derive(Clone, Debug, Default)]
pub struct TableRef {
    /// Its name; `None` for queries and functions.
    pub name: Option<Name>,
    /// Its alias.
    pub alias: Option<String>,
    /// The query that stands for it.
    pub query: Option<usize>,
    /// FORCE INDEX and its like.
    pub hints: Vec<Hint>,
    /// `WITH (READPAST)` and its like.
    pub lock_hint: Option<Lock>,
    /// Rows without a partner survive: conditions of the join say nothing of the other side.
    pub outer: bool,
    /// Its bytes, alias included.
    pub span: Span,
}

/// A name of a table, with its database.
#[derive(Clone, Debug, Default)]
pub struct Name {
    /// The last part.
    pub name: String,
    /// The part before it.
    pub database: Option<String>,
    /// A part of it is a hole.
    pub partial: bool,
    /// Its bytes.
    pub span: Span,
}

/// FORCE INDEX, USE INDEX, INDEXED BY.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The index must be used.
    pub force: bool,
    /// The index must not be used.
    pub ignore: bool,
    /// Names with their places.
    pub names: Vec<(String, Span)>,
}

/// `column = value` of UPDATE; a column alone of INSERT.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The column, without its table.
    pub column: String,
    /// Its place.
    pub span: Span,
    /// What it becomes.
    pub value: Option<Expr>,
}

/// One item of ORDER BY.
#[derive(Clone, Debug)]
pub struct OrderItem {
    /// What is ordered by.
    pub expr: Expr,
    /// The greatest first.
    pub descending: bool,
}

/// LIMIT or OFFSET.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The clause.
    pub span: Span,
    /// The number, where it is written.
    pub number: Option<u64>,
}

/// A locking clause.
#[derive(Clone, Debug)]
pub struct Lock {
    /// The clause.
    pub span: Span,
    /// `OF` names tables.
    pub of: bool,
    /// What happens with rows that others have locked.
    pub wait: Wait,
}

/// What a locking read does with rows that others have locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It waits.
    Block,
    /// It fails at once, or after a time.
    Fail,
    /// It leaves them out.
    Skip,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its bytes, parentheses included.
    pub span: Span,
    /// It stands in parentheses of its own.
    pub parenthesised: bool,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`, `==`, `<=>`, `IS` with a value.
    Equal,
    /// `<>`, `!=`.
    NotEqual,
    /// `<`, `<=`.
    Below,
    /// `>`, `>=`.
    Above,
    /// LIKE, ILIKE, REGEXP, GLOB, `~`.
    Like,
    /// Anything else.
    Other,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// All of them.
    And(Vec<Expr>),
    /// Any of them.
    Or(Vec<Expr>),
    /// Not it.
    Not(Box<Expr>),
    /// Two values compared.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// `a IN (…)`, `a = ANY (ARRAY[…])`.
    In {
        /// What is compared.
        of: Box<Expr>,
        /// With any of what.
        list: Vec<Expr>,
        /// NOT IN.
        negated: bool,
    },
    /// `a IN (SELECT …)`.
    InQuery {
        /// What is compared.
        of: Box<Expr>,
        /// The block of the query.
        query: usize,
        /// NOT IN.
        negated: bool,
    },
    /// `a = ANY (value)`.
    Any {
        /// What is compared.
        of: Box<Expr>,
        /// With any element of what.
        value: Box<Expr>,
    },
    /// `a BETWEEN b AND c`.
    Between {
        /// What is compared.
        of: Box<Expr>,
        /// With what.
        bounds: Vec<Expr>,
        /// NOT BETWEEN.
        negated: bool,
    },
    /// `a IS NULL`.
    IsNull {
        /// What is tested.
        of: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `EXISTS (SELECT …)`.
    Exists(usize),
    /// `(SELECT …)`.
    Query(usize),
    /// `(a, b)`.
    Row(Vec<Expr>),
    /// `name(…)`.
    Call {
        /// The function, without its schema.
        name: String,
        /// What it is given.
        arguments: Vec<Expr>,
    },
    /// CASE, with all expressions inside it.
    Case(Vec<Expr>),
    /// Arithmetic, concatenation, casts: the operands.
    Calc(Vec<Expr>),
    /// `@v := value`.
    SetVariable(Box<Expr>),
    /// A column.
    Column {
        /// The table or alias before it.
        table: Option<String>,
        /// Its name.
        name: String,
        /// It stands in double quotes, and may be a string on some databases.
        quoted: bool,
    },
    /// `*`, `t.*`.
    Star,
    /// A string.
    Text(String),
    /// A number.
    Number(String),
    /// NULL.
    Null,
    /// TRUE, FALSE, DEFAULT, CURRENT_TIMESTAMP and other words that are values.
    Constant(String),
    /// A parameter.
    Param,
    /// A hole: may be anything.
    Hole,
    /// Not understood.
    Opaque,
}

impl Expr {
    /// An expression that is not understood.
    pub fn opaque(span: Span) -> Expr {
        Expr { kind: ExprKind::Opaque, span, parenthesised: false }
    }

    /// The expressions right inside it; queries have blocks of their own.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::And(list)
            | ExprKind::Or(list)
            | ExprKind::Row(list)
            | ExprKind::Case(list)
            | ExprKind::Calc(list) => list.iter().collect(),
            ExprKind::Call { arguments, .. } => arguments.iter().collect(),
            ExprKind::Not(of) | ExprKind::SetVariable(of) | ExprKind::IsNull { of, .. } => vec![of],
            ExprKind::Compare(_, left, right) => vec![left, right],
            ExprKind::In { of, list, .. } => [&**of].into_iter().chain(list).collect(),
            ExprKind::InQuery { of, .. } => vec![of],
            ExprKind::Any { of, value } => vec![of, value],
            ExprKind::Between { of, bounds, .. } => [&**of].into_iter().chain(bounds).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether `is` holds for it or anything inside it.
    pub fn any(&self, is: &mut impl FnMut(&Expr) -> bool) -> bool {
        is(self) || self.children().into_iter().any(|child| child.any(is))
    }

    /// Whether a hole is in it.
    pub fn has_hole(&self) -> bool {
        self.any(&mut |expr| matches!(expr.kind, ExprKind::Hole))
    }
}
