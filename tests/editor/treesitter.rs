//! The grammar for tree-sitter and the compiler read the same words in the same classes.

use chartc::ide::tokens::{TokenKind, tokens};
use chartc::load::Memory;
use chartc::span::FileId;
use std::path::{Path, PathBuf};
use tree_sitter::{Node, Parser, Tree};

/// What a byte of a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Keyword,
    Name,
    Number,
    Text,
    /// The brace of a placeholder.
    Brace,
    Comment,
    Doc,
    /// A sign, a bracket, or a blank.
    Other,
}

fn class(kind: TokenKind) -> Class {
    match kind {
        TokenKind::Keyword => Class::Keyword,
        TokenKind::Number | TokenKind::Duration => Class::Number,
        TokenKind::String => Class::Text,
        TokenKind::Brace => Class::Brace,
        TokenKind::Comment => Class::Comment,
        TokenKind::Doc => Class::Doc,
        TokenKind::Operator => Class::Other,
        TokenKind::State
        | TokenKind::Event
        | TokenKind::Variable
        | TokenKind::Parameter
        | TokenKind::Property
        | TokenKind::Type
        | TokenKind::Enum
        | TokenKind::EnumMember
        | TokenKind::Function
        | TokenKind::Tool
        | TokenKind::Step
        | TokenKind::Option
        | TokenKind::Client
        | TokenKind::Component
        | TokenKind::Chart => Class::Name,
    }
}

/// What the compiler says of each byte.
fn compiler(text: &str) -> Vec<Class> {
    let mut found = vec![Class::Other; text.len()];
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", text));
    for token in tokens(&done, FileId(0)) {
        found[token.span.start as usize..token.span.end as usize].fill(class(token.kind));
    }
    found
}

fn tree(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_chart::LANGUAGE.into()).expect("the language fits");
    parser.parse(text, None).expect("nothing stops it")
}

/// What a node without nodes in it is.
fn leaf(node: Node<'_>) -> Class {
    let inside = node.parent().map_or("", |parent| parent.kind());
    match (node.kind(), inside) {
        ("identifier", "bound") if node.next_sibling().is_none() => Class::Keyword,
        ("identifier" | "quoted_identifier", _) => Class::Name,
        // Names that are words of the grammar, as there are no others in their places.
        ("error" | "limit", "machine_event") | ("in", "call") => Class::Name,
        ("ok" | "partial" | "stuck" | "limit" | "canceled" | "error", "told_ended") => Class::Name,
        // The compiler leaves these without a colour.
        ("any", "tool_pattern") | ("start" | "end" | "replace", "insertion") => Class::Other,
        ("integer" | "float" | "duration", _) => Class::Number,
        ("comment", _) => Class::Comment,
        ("doc_comment", _) => Class::Doc,
        ("{" | "}", "interpolation") => Class::Brace,
        (
            "string_content" | "escape_sequence" | "brace_escape" | "stray_brace" | "format" | "\""
            | "\"\"\"",
            _,
        ) => Class::Text,
        (word, _) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => Class::Keyword,
        _ => Class::Other,
    }
}

/// What the grammar says of each byte; nothing of placeholders with escaped quotes, and of keys in `meta`.
fn grammar(text: &str) -> Vec<Option<Class>> {
    let tree = tree(text);
    let mut found = vec![Some(Class::Other); text.len()];
    let mut left_out = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let (node, range) = (cursor.node(), cursor.node().byte_range());
        if node.child_count() == 0 {
            found[range.clone()].fill(Some(leaf(node)));
        }
        let inside = node.parent().map_or("", |parent| parent.kind());
        let is_key = node.kind() == "identifier" && inside == "meta_entry";
        if is_key || node.kind() == "interpolation" && text[range.clone()].contains('\\') {
            left_out.push(range);
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                for range in left_out {
                    found[range].fill(None);
                }
                return found;
            }
        }
    }
}

/// Charts below a folder, without those of `target`.
fn charts(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.ends_with("target") {
            charts(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "chart") {
            found.push(path);
        }
    }
}

#[test]
fn words_of_charts_are_in_the_same_classes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["charts", "examples", "tests"] {
        charts(&root.join(folder), &mut paths);
    }
    paths.sort();
    assert!(paths.len() > 50, "only {} charts", paths.len());
    let (mut words, mut faults) = (0, Vec::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a chart of the project can be read");
        if tree(&text).root_node().has_error() {
            continue;
        }
        let (left, right) = (compiler(&text), grammar(&text));
        words += right.chunk_by(|a, b| a == b).filter(|run| run[0] != Some(Class::Other)).count();
        let apart = (0..text.len())
            .filter(|at| !text.as_bytes()[*at].is_ascii_whitespace())
            .find(|at| right[*at].is_some_and(|class| class != left[*at]));
        if let Some(at) = apart {
            let line = text[..at].matches('\n').count() + 1;
            let shown: String = text.get(at..).unwrap_or_default().chars().take(30).collect();
            faults.push(format!(
                "{}:{line}: {:?}, here {:?}: {shown:?}",
                path.display(),
                left[at],
                right[at]
            ));
        }
    }
    assert!(words > 5000, "only {words} words");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
