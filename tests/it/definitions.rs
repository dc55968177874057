//! What is found in definitions, with its position and its words.
//!
//! One bad and one good file for each rule lie in `tests/cases/definitions/`, each bad one with its report beside it.

mod cases;
mod engines;
mod format;
mod graphs;
mod json_text;
mod once;
mod positions;
mod real;
mod size;
mod suggestions;
