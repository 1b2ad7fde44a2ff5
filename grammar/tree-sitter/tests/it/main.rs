//! The grammar against the compiler's own parser.
#![allow(clippy::disallowed_methods, reason = "tests read the repository and their environment")]

mod accepts;
mod changed;
mod edits;
mod files;
mod queries;

use chartc_compiler::rules;
use chartc_compiler::syntax::diagnostic::Diagnostic;
use chartc_compiler::syntax::source::FileId;
use chartc_compiler::syntax::source::Source;
use tree_sitter::{Node, Parser, Tree};

/// A parser for charts.
fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_chart::LANGUAGE.into()).expect("the language fits");
    parser
}

/// The tree of a text.
fn tree(text: &str) -> Tree {
    parser().parse(text, None).expect("nothing stops it")
}

/// Whether the compiler finds no syntax error in the text and in the placeholders of its strings.
fn compiles(text: &str) -> bool {
    let faults = [rules::SYNTAX.code, rules::UNESCAPED_BRACE.code];
    compiler(text).iter().all(|d| !faults.contains(&d.rule.code))
}

/// What the compiler's parser says of a text.
fn compiler(text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    chartc_compiler::front::parse(FileId(0), &Source::new("it.chart", text), &mut found);
    found
}

/// All nodes of a tree, in document order.
fn nodes(tree: &Tree) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        found.push(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Whether a node stands for something that is against the grammar.
fn is_fault(node: Node<'_>) -> bool {
    node.is_error() || node.is_missing() || node.kind() == "unclosed"
}

/// The first fault of a text: its line and the text there.
fn fault(text: &str) -> Option<String> {
    let tree = tree(text);
    let node = nodes(&tree).into_iter().find(|n| is_fault(*n))?;
    let at = node.start_position();
    let shown: String = text[node.start_byte()..].chars().take(40).collect();
    Some(format!("{}:{}: {} at {shown:?}", at.row + 1, at.column + 1, node.kind()))
}
