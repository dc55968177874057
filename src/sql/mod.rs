//! SQL as others wrote it: text → tokens → statements, with the byte range of everything.
//!
//! The reader takes every dialect at once and refuses nothing. It understands what decides which rows a statement reads
//! (tables, predicates, order, limit, locks) and steps over the rest, noting where it did ([`Statement::doubt`]). A parser
//! that stops at the first clause it does not know would drop exactly the statements that matter: index hints, `DELETE …
//! LIMIT`, user variables, procedure bodies, text with holes in it.
//!
//! A *hole* is text that is known only when the program runs: an interpolation, a template variable. What could hide in
//! one is kept as a [`Gaps`], so that nothing is called missing that may be there.

pub mod ast;
pub mod ddl;
pub mod fragment;
#[cfg(feature = "host")]
pub mod host;
#[cfg(feature = "mybatis")]
pub mod mybatis;
mod parse;
pub mod split;
pub mod syntax;
pub mod token;

pub use ast::{Block, Expr, ExprKind, Gaps, Statement, Verb};
pub use fragment::Fragment;
pub use syntax::Syntax;
pub use token::{HOLE, Kind, Token, Tokens};

use split::Piece;

/// What one piece of a text holds.
#[derive(Debug)]
pub enum Item {
    /// A statement about rows.
    Statement(Statement),
    /// A statement about tables or indexes.
    Ddl(ddl::Ddl),
}

/// What the pieces of a text hold, in their order.
pub fn read(text: &str, tokens: &[Token], pieces: &[Piece], syntax: &Syntax) -> Vec<Item> {
    let mut items = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Rows(range) => {
                let statements = parse::statements(text, &tokens[range.clone()], syntax);
                items.extend(statements.into_iter().map(Item::Statement));
            }
            Piece::Ddl(range) => items.extend(ddl::read(text, &tokens[range.clone()], syntax).map(Item::Ddl)),
        }
    }
    items
}
