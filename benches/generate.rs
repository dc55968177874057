//! Times parsing, checking and rendering.
fn main() {}
