//! Printed charts: they read back as the same syntax, and print as themselves.

use crate::chart_front::{charts, design};
use chartc::front::chart::FRONTEND;
use chartc::print::print;
use chartc::source::Source;
use chartc::span::{FileId, Ident, Span, Spanned};
use chartc::syntax::{
    self, BinaryOp, CompareOp, Entry, Expr, ExprKind, Hole, Template, TemplatePart, UnaryOp,
};
use proptest::prelude::*;

fn parse(text: &str) -> syntax::File {
    let mut found = Vec::new();
    let file = (FRONTEND.parse)(FileId(0), &Source::new("a.chart", text), &mut found);
    let found: Vec<_> = found.iter().map(|d| (&d.message, d.span.start)).collect();
    assert!(found.is_empty(), "{found:?} in\n{text}");
    file
}

/// The tree without its spans.
fn shape(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut parts = text.split("Span { file: ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    out
}

/// The text of a file that reads back as it was and prints as itself.
fn stable(text: &str) -> String {
    let file = parse(text);
    let printed = print(&file);
    let again = parse(&printed);
    assert_eq!(shape(&again), shape(&file), "printed\n{printed}");
    assert_eq!(print(&again), printed);
    printed
}

/// What a chart with these lines prints as, the lines alone.
fn lines(text: &str) -> String {
    let printed = stable(&format!("chart C {{\n{text}\n}}\n"));
    let inner = printed.lines().skip(1).filter(|l| *l != "}");
    inner.map(|l| l.strip_prefix("  ").unwrap_or(l)).collect::<Vec<_>>().join("\n")
}

#[test]
fn shipped_charts_and_those_of_the_design() {
    for path in charts() {
        stable(&std::fs::read_to_string(&path).expect("a chart can be read"));
    }
    for text in design() {
        stable(&text);
    }
}
