//! YAML as a tree with the exact span of every key and value. No other module knows the YAML library.
//!
//! The problem: findings must point at a key, a value or a few characters of a text, but deserializers do not return places, and the
//! library returns only the first token of a collection. The idea: a fast reader of parser events (`events`) builds the tree for common
//! files, the library's deserializer (`library`) does so for all others, and both give each node its whole span. For example:
//!
//! ```text
//! steps: [           Map, from `steps` to `]`
//!   a,               Text "a"
//!   b, # last        Text "b"
//! ]                  the list ends after its bracket, which is found behind the last item
//! ```

mod events;
mod library;
mod yaml_hints;

use super::scalar::Text;
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::{FileId, Span};
use std::ops::Range;

/// A key or a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// The value, without tag and anchor.
    pub(super) value: Value,
    /// The place in the file: of a collection from its first to its last character, of a block scalar without the last line end.
    pub(super) span: Span,
}

/// The kinds of YAML values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Text),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The kind in words, with an article, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The text of a mapping's key. A key that is null or a collection is `none`.
    pub(super) fn key(&self) -> String {
        match &self.value {
            Value::Text(text) => text.value.clone(),
            Value::Bool(b) => b.to_string(),
            Value::Int(i) => i.to_string(),
            Value::Float(x) => x.to_string(),
            Value::Null | Value::List(_) | Value::Map(_) => "none".to_owned(),
        }
    }
}

/// The maximum depth of nested collections: each level takes about 30 KB of stack in an unoptimized build.
const MAX_DEPTH: usize = 24;
/// The maximum number of nodes of a file; each use of an alias counts.
const MAX_NODES: usize = 200_000;

/// Reads a file. `None` if it has no content or a syntax error, which is reported.
pub(super) fn read(id: FileId, source: &Source, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    let place = YamlFile { file: id, text: &source.text };
    let node = events::read(place).or_else(|| library::read(place, findings))?;
    (node.value != Value::Null).then_some(node)
}

/// The meaning of a scalar in YAML.
enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// The file that is read.
#[derive(Clone, Copy)]
struct YamlFile<'s> {
    file: FileId,
    text: &'s str,
}

impl YamlFile<'_> {
    /// A scalar at the bytes `range` according to the library.
    fn scalar(self, scalar: Scalar, range: Range<usize>) -> Node {
        let range = self.whole(range);
        let mut span = Span::new(self.file, range.start, range.end);
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(b) => Value::Bool(b),
            Scalar::Int(i) => Value::Int(i),
            Scalar::Float(x) => Value::Float(x),
            Scalar::Text(text) => {
                let raw = self.text.get(range.clone()).unwrap_or_default();
                span.end = span.start + raw.trim_end().len() as u32;
                Value::Text(Text::new(self.file, self.text, range, text))
            }
        };
        Node { value, span }
    }

    /// A list whose first token is at `range`.
    fn list(self, items: Vec<Node>, range: Range<usize>) -> Node {
        let last = items.iter().map(|i| i.span.end).max();
        Node { value: Value::List(items), span: self.extent(range, last) }
    }

    /// A mapping whose first token is at `range`.
    fn map(self, entries: Vec<(Node, Node)>, range: Range<usize>) -> Node {
        let last = entries.iter().map(|(k, v)| k.span.end.max(v.span.end)).max();
        Node { value: Value::Map(entries), span: self.extent(range, last) }
    }

    /// Extends a range to whole characters. For an absent value, the library counts some bytes as characters.
    fn whole(self, range: Range<usize>) -> Range<usize> {
        self.text.floor_char_boundary(range.start)..self.text.ceil_char_boundary(range.end)
    }

    /// The span from the first token of a collection to its closing bracket, or to the end of its last item.
    fn extent(self, range: Range<usize>, last: Option<u32>) -> Span {
        let Range { start, end } = self.whole(range);
        // Items from an alias or a merge are elsewhere in the file; they must not move the end before the first token.
        let last = last.map_or(end, |l| (l as usize).max(end));
        let close = match self.text.as_bytes().get(start) {
            Some(b'[') => ']',
            Some(b'{') => '}',
            Some(_) | None => return Span::new(self.file, start, last),
        };
        let mut at = last;
        for line in self.text.get(last..).unwrap_or_default().split_inclusive('\n') {
            // A comment may contain brackets. (In a flow collection, nothing but commas and comments follows the last item.)
            let code = line.split('#').next().unwrap_or(line);
            if let Some(found) = code.find(|c: char| !c.is_whitespace() && c != ',') {
                if code[found..].starts_with(close) {
                    return Span::new(self.file, start, at + found + 1);
                }
                break;
            }
            at += line.len();
        }
        Span::new(self.file, start, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn tree(text: &str) -> (Option<Node>, Vec<Diagnostic>, Source) {
        let source = Source::new("a.yaml", text);
        let mut findings = Vec::new();
        let node = read(FileId(0), &source, &mut findings);
        (node, findings, source)
    }

    fn spans(node: &Node, source: &Source, out: &mut Vec<String>) {
        out.push(source.slice(node.span).to_owned());
        match &node.value {
            Value::List(items) => items.iter().for_each(|i| spans(i, source, out)),
            Value::Map(entries) => entries.iter().for_each(|(k, v)| {
                spans(k, source, out);
                spans(v, source, out);
            }),
            _ => {}
        }
    }

    #[test]
    fn spans_of_block_and_flow() {
        let (node, findings, source) =
            tree("a:\n  b: {x: [1, yes], y: 'z'}  # note\nc:\n- |\n  one\n  two\n\nd: ~\n");
        assert!(findings.is_empty());
        let mut out = Vec::new();
        spans(&node.expect("a tree"), &source, &mut out);
        assert_eq!(
            out[1..],
            [
                "a",
                "b: {x: [1, yes], y: 'z'}",
                "b",
                "{x: [1, yes], y: 'z'}",
                "x",
                "[1, yes]",
                "1",
                "yes",
                "y",
                "'z'",
                "c",
                "|\n  one\n  two",
                "one\n  two",
                "d",
                "~"
            ]
        );
    }

    #[test]
    fn errors_have_a_place() {
        for (text, place) in
            [("a: [1, 2\nb: 3\n", (2, 2)), ("a:\n\tb: 1\n", (2, 2)), ("a: &x\n  b: *x\n", (2, 6))]
        {
            let (node, findings, source) = tree(text);
            assert!(node.is_none());
            let at = source.position(findings[0].span.start);
            assert_eq!((at.line, at.column), place, "{text:?}: {}", findings[0].message);
            assert!(findings[0].span.end > findings[0].span.start);
        }
    }

    #[test]
    fn hostile_files_are_refused() {
        let deep = "[".repeat(100_000);
        let nested = format!("a: {}{}", "[".repeat(500), "]".repeat(500));
        let mut blocks = String::new();
        for depth in 0..300 {
            blocks.push_str(&format!("{}a:\n", " ".repeat(depth)));
        }
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for i in 1..12 {
            let refs = vec![format!("*a{}", i - 1); 9].join(", ");
            bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
        }
        for text in [deep, nested, blocks, bomb, "a: \"".to_owned(), "\u{0}".to_owned()] {
            let (node, findings, _) = tree(&text);
            assert!(node.is_none() && findings.len() == 1, "{:.40}", text);
        }
    }

    #[test]
    fn no_content() {
        for text in ["", "# only a comment\n", "~\n"] {
            let (node, findings, _) = tree(text);
            assert!(node.is_none() && findings.is_empty());
        }
    }

    /// The results of both readers, if the fast one supports the text.
    fn both(text: &str) -> Option<(Node, Option<Node>)> {
        let place = YamlFile { file: FileId(0), text };
        Some((events::read(place)?, library::read(place, &mut Vec::new())))
    }

    const PIECES: &[&str] = &[
        "a",
        "b: ",
        "c:\n",
        "é: ",
        "? ",
        "- ",
        "-",
        "\n",
        "\n",
        "\n\n",
        "\n  ",
        "\n    ",
        " ",
        "\t",
        "\r\n",
        " # n\n",
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        ":",
        "'",
        "''",
        "'it''s'",
        "\"",
        "\"x\"",
        "\"\\u00e9\\n\\\n  z\"",
        "|\n",
        "|2-\n",
        ">\n",
        ">+\n",
        "---\n",
        "---",
        "...",
        "&k ",
        "*k",
        "<<: ",
        "!t ",
        "!!str ",
        "~",
        "null",
        "NULL",
        "true",
        "False",
        "yes",
        "on",
        "0",
        "-1",
        "+1",
        "017",
        "0x1F",
        "1_000",
        "1e3",
        "1e999",
        ".INF",
        "-.inf",
        ".nan",
        "inf",
        "0.1",
        "1.2.3",
        "2024-01-01",
        "12345678901234567890",
        "\u{feff}",
        "\u{2028}",
        "😀",
        "\\",
        "%YAML 1.2\n",
        "@",
        "x y\n  z\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
        /// Both readers give the same values.
        #[test]
        fn both_readings_are_one(picks in vec(0..PIECES.len(), 0..12)) {
            let text: String = picks.iter().map(|p| PIECES[*p]).collect();
            if let Some((quick, whole)) = both(&text) {
                assert_eq!(Some(quick), whole, "{text:?}");
            }
        }
    }

    #[test]
    fn what_is_read_from_events() {
        let common = "# n\na: [x, 'y', \"z\", 1, -0.5, 1e999, ~, true]\nb:\n- c: |\n    d\n\n     e\n  f: >-\n   g\n   h\n";
        for text in ["a: b\n", "--- [1]\n...\n", common, "a: 1\na: 2\n", "\u{feff}a:\n", "a: ---\n"]
        {
            let (quick, whole) = both(text).unwrap_or_else(|| panic!("{text:?} is left out"));
            assert_eq!(Some(quick), whole, "{text:?}");
        }
        for text in
            ["a: &x 1\n", "a: !!str 1\n", "<<: {a: 1}\n", "[a]: 1\n", "a: 1\n---\n", "a: [\n", ""]
        {
            assert!(both(text).is_none(), "{text:?}");
        }
    }
}
