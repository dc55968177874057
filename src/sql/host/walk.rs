//! A syntax tree → the texts of SQL in it.

use std::cell::Cell;
use std::collections::BTreeSet;

use tree_sitter::{Node, Tree};

use super::Grammar;
use super::literal::{self, Constants};
use crate::sql::Fragment;
use crate::sql::split::looks_like_sql;

/// Nodes that join two operands.
const BINARY: [&str; 4] = ["binary_expression", "binary_operator", "binary", "additive_expression"];

/// What a callee or macro ends with that goes on with its text elsewhere.
const BUILDERS: [&str; 10] = [
    "QueryBuilder::new",
    "StringBuilder",
    "StringBuffer",
    ".push",
    ".push_str",
    ".append",
    ".Append",
    ".WriteString",
    "AppendLine",
    "buildString",
];

/// Bytes that constants add to the texts of a file at most.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the longest text that a name is known to stand for.
const LONGEST: usize = 64 * 1024;

/// The texts that begin as statements do.
pub fn fragments(text: &str, tree: &Tree, grammar: &Grammar, shared: Constants) -> Vec<Fragment> {
    let mut walk =
        Walk { text, grammar, constants: Constants::new(), shared, grown: grown(text), left: Cell::new(MOST_BYTES) };
    // Constants first, in the order of the file: one may be made of others.
    visit(tree.root_node(), |node| {
        if grammar.declarations.contains(&node.kind()) {
            walk.declare(node);
        }
        true
    });
    let mut fragments = Vec::new();
    visit(tree.root_node(), |node| {
        let Some(mut fragment) = walk.text_of(node) else { return true };
        if looks_like_sql(&fragment.text) {
            if walk.goes_on(node) {
                let end = node.end_byte();
                fragment.hole(end.saturating_sub(1)..end);
            }
            fragments.push(fragment);
        }
        false
    });
    fragments
}

/// The constants of a file that other files see.
pub fn constants(text: &str, tree: &Tree, grammar: &Grammar, shared: Constants) -> Constants {
    let mut walk = Walk {
        text,
        grammar,
        constants: Constants::new(),
        shared,
        grown: BTreeSet::new(),
        left: Cell::new(MOST_BYTES),
    };
    let root = tree.root_node();
    let mut cursor = root.walk();
    for declaration in root.children(&mut cursor).filter(|node| grammar.shared.contains(&node.kind())) {
        visit(declaration, |node| {
            if grammar.declarations.contains(&node.kind()) {
                walk.declare(node);
            }
            true
        });
    }
    walk.constants
}

/// Visits nodes in the order of the text; below a node only if `enter` says so.
fn visit<'a>(root: Node<'a>, mut enter: impl FnMut(Node<'a>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if enter(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

struct Walk<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    /// Names of this file.
    constants: Constants,
    /// Names of other files, as this file writes them.
    shared: Constants,
    grown: BTreeSet<&'a str>,
    /// Bytes that constants may still add to the texts of this file.
    left: Cell<usize>,
}

impl Walk<'_> {
    fn of(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// What a name stands for, with what stands before its last point.
    fn constant(&self, name: &str) -> Option<&Fragment> {
        let name = name.trim();
        let last = name.rsplit(['.', ':']).next().unwrap_or_default();
        let qualified = self.shared.get(name).filter(|_| name.contains('.'));
        let constant = qualified.or_else(|| self.constants.get(last)).or_else(|| self.shared.get(name))?;
        // Constants of constants double with each line.
        let left = self.left.get().checked_sub(constant.text.len());
        self.left.set(left.unwrap_or_default());
        left.map(|_| constant)
    }

    /// `NAME = "…"`.
    fn declare(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let is_name =
            |child: &Node<'_>| child.kind().contains("identifier") || matches!(child.kind(), "constant" | "name");
        let named = node.child_by_field_name("name").or_else(|| node.children(&mut cursor).find(is_name));
        let Some(named) = named else {
            // Kotlin and others put the name one level deeper.
            return self.declare_inside(node);
        };
        self.bind(named, node);
    }

    fn declare_inside(&mut self, node: Node<'_>) {
        let mut found = None;
        visit(node, |inner| {
            if found.is_none() && inner.kind().contains("identifier") {
                found = Some(inner);
            }
            found.is_none()
        });
        if let Some(named) = found {
            self.bind(named, node);
        }
    }

    fn bind(&mut self, named: Node<'_>, node: Node<'_>) {
        let mut value = None;
        visit(node, |inner| {
            if value.is_some() || inner.id() == node.id() {
                return value.is_none();
            }
            value = self.text_of(inner);
            // A literal inside a call is not what the name stands for.
            value.is_none() && !inner.kind().contains("call") && !inner.kind().contains("function")
        });
        if let Some(value) = value.filter(|value| value.text.len() <= LONGEST) {
            let name = self.of(named).to_owned();
            self.constants.entry(name).or_insert(value);
        }
    }

    /// The text that a node stands for, if it is a literal or joins literals.
    fn text_of(&self, node: Node<'_>) -> Option<Fragment> {
        let mut fragment = Fragment::default();
        let kind = node.kind();
        if self.grammar.literals.contains(&kind) {
            literal::add(&mut fragment, node, self.text, &|name| self.constant(name));
            self.format(node, &mut fragment);
            self.bare(&mut fragment);
            return Some(fragment);
        }
        let joins = self.is_chain(node) || self.grammar.adjacent.contains(&kind) || self.is_concat(node);
        if !joins {
            return None;
        }
        // Chains nest to the left, as deep as they are long.
        let mut stack = vec![node];
        let mut literals = 0;
        let lines = node.kind() == "element_value_array_initializer";
        while let Some(node) = stack.pop() {
            let kind = node.kind();
            if self.grammar.literals.contains(&kind) {
                literal::add(&mut fragment, node, self.text, &|name| self.constant(name));
                literals += 1;
                // MyBatis joins an array of lines with blanks.
                if lines {
                    let end = node.end_byte();
                    fragment.written(" ", end.saturating_sub(1)..end);
                }
            } else if self.is_chain(node)
                || self.grammar.adjacent.contains(&kind)
                || self.is_concat(node)
                || kind == "token_tree"
                || kind == "parenthesized_expression"
            {
                let mut cursor = node.walk();
                let mut children: Vec<Node<'_>> = node.children(&mut cursor).collect();
                children.reverse();
                // The name of `concat!` is no operand. (To ask a node for its parent costs as much as it is deep.)
                let is_name = |child: &Node<'_>| child.kind() == "identifier" && self.is_concat(node);
                let operands = children.into_iter().filter(|child| child.is_named() && child.kind() != "comment");
                stack.extend(operands.filter(|child| !is_name(child)));
            } else {
                match self.constant(self.of(node)) {
                    Some(constant) => fragment.written(&constant.text, node.byte_range()),
                    None => fragment.hole(node.byte_range()),
                }
            }
        }
        (literals > 0).then_some(fragment)
    }

    /// `a + b`, `a . b`.
    fn is_chain(&self, node: Node<'_>) -> bool {
        if !BINARY.contains(&node.kind()) {
            return false;
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| matches!(child.kind(), "+" | "."))
    }

    /// `concat!(…)` of Rust.
    fn is_concat(&self, node: Node<'_>) -> bool {
        node.kind() == "macro_invocation" && self.of(node).starts_with("concat!")
    }

    /// `fmt.Sprintf("… %s …", name)` and its like: what the arguments stand for, or holes.
    fn format(&self, node: Node<'_>, fragment: &mut Fragment) {
        if !fragment.text.contains('%') {
            return;
        }
        let call = node.parent().and_then(|list| list.parent());
        let callee = call.and_then(|call| call.child(0)).map(|callee| self.of(callee).to_ascii_lowercase());
        let formats = ["printf", "string.format", "format"];
        let is_format = callee.is_some_and(|callee| formats.iter().any(|format| callee.ends_with(format)));
        let joined =
            node.parent().is_some_and(|parent| parent.kind() == "binary_operator" && self.of(parent).contains('%'));
        if !is_format && !joined {
            return;
        }
        let arguments: Vec<Node<'_>> = match node.parent() {
            Some(list) if is_format => {
                let mut cursor = list.walk();
                list.named_children(&mut cursor).filter(|child| child.start_byte() > node.start_byte()).collect()
            }
            _ => Vec::new(),
        };
        let name = |at: usize| arguments.get(at).map(|node| self.of(*node));
        let mut nth = 0;
        fragment.replace(
            |rest| {
                let mark = rest.strip_prefix('%')?;
                let length = mark.find(|c: char| c.is_ascii_alphabetic())? + 2;
                (length <= 6 && !mark.starts_with([' ', '\'', '%'])).then_some(length)
            },
            |_| {
                nth += 1;
                name(nth - 1).and_then(|name| self.constant(name)).map(|constant| constant.text.clone())
            },
        );
    }

    /// `{NAME}` of `format!`, `$name` of Kotlin: what the name stands for. Braces of other names are holes anyway.
    fn bare(&self, fragment: &mut Fragment) {
        let Some(mark) = self.grammar.bare.filter(|mark| fragment.text.contains(*mark)) else { return };
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let name = |text: &str| text.trim_matches(|c| !is_name(c)).to_owned();
        fragment.replace(
            |rest| {
                let inside = rest.strip_prefix(mark)?;
                let length = inside.find(|c| !is_name(c)).unwrap_or(inside.len());
                let named = length > 0 && !inside.starts_with(|c: char| c.is_ascii_digit());
                match mark {
                    '{' => {
                        let closed = named && inside[length..].starts_with('}');
                        (closed && self.constants.contains_key(&inside[..length])).then_some(length + 2)
                    }
                    _ => named.then_some(length + 1),
                }
            },
            |found| self.constant(&name(found)).map(|constant| constant.text.clone()),
        );
    }

    /// Whether the program adds to the text elsewhere.
    fn goes_on(&self, node: Node<'_>) -> bool {
        let mut at = node;
        for _ in 0..6 {
            let Some(parent) = at.parent() else { return false };
            let before = self.text.get(parent.start_byte()..node.start_byte()).unwrap_or_default();
            let callee = before.trim_end().trim_end_matches('(').trim_end();
            if BUILDERS.iter().any(|builder| callee.ends_with(builder)) {
                return true;
            }
            let kind = parent.kind();
            let declares = kind.contains("declarat") || kind.contains("assignment") || kind == "property_declaration";
            if declares || kind.ends_with("_spec") {
                return self.is_added_to(parent);
            }
            at = parent;
        }
        false
    }

    /// Whether the variable that is declared here gets more text later.
    fn is_added_to(&self, declaration: Node<'_>) -> bool {
        let head = self.of(declaration).split('=').next().unwrap_or_default().split(':').next().unwrap_or_default();
        head.split(|c: char| !is_name(c)).rfind(|word| !word.is_empty()).is_some_and(|name| self.grown.contains(name))
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The names to which text is added somewhere: `x += …`, `x.push_str(…)`, `x = x + …`.
fn grown(text: &str) -> BTreeSet<&str> {
    let last_name =
        |before: &'_ str| before.trim_end().rsplit(|c: char| !is_name(c)).next().map(str::len).unwrap_or_default();
    let mut names = BTreeSet::new();
    for line in text.lines() {
        for add in ["+=", ".push_str(", ".append(", ".=", "<<", ".concat(", ".push("] {
            if let Some(at) = line.find(add) {
                let before = line[..at].trim_end();
                names.insert(&before[before.len() - last_name(before)..]);
            }
        }
        if let Some((before, after)) = line.split_once('=') {
            let before = before.trim_end();
            let name = &before[before.len() - last_name(before)..];
            let again = after.trim_start().strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_name));
            if !name.is_empty() && again {
                names.insert(name);
            }
        }
    }
    names
}
