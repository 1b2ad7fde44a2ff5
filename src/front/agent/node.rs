//! YAML as a tree with the exact span of every key and value. The only module that knows the YAML library.

use super::scalar::Text;
use crate::diagnostic::Diagnostic;
use crate::lint::reported::SYNTAX;
use crate::source::Source;
use crate::span::{FileId, Span};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_yaml::options::{AliasLimits, DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_yaml::{Location, Options, Spanned};
use std::fmt;

/// A key or a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// What.
    pub(super) value: Value,
    /// Where: a collection from its first to its last character, a block scalar its lines without the last line end.
    pub(super) span: Span,
}

/// The kinds of YAML.
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
    /// In words, with its article, for messages.
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
}

/// How deep collections may nest: each level costs some 30 KB of stack in an unoptimised build.
const MAX_DEPTH: usize = 24;
/// How many nodes a file may have, aliases counted as often as they are used.
const MAX_NODES: usize = 200_000;

/// Reads a file; a syntax error is reported and gives `None`, as does a file without content.
pub(super) fn read(id: FileId, source: &Source, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    match serde_yaml::from_str_with_options::<Raw>(&source.text, options()) {
        Ok(raw) => {
            let node = resolve(raw, id, &source.text);
            (node.value != Value::Null).then_some(node)
        }
        Err(error) => {
            let span = error_span(id, &source.text, error.location());
            findings.push(error_finding(span, &error.to_string()));
            None
        }
    }
}

fn options() -> Options {
    let mut options = Options::default();
    options.strict_booleans = true;
    options.with_snippet = false;
    // All of them reach the tree, so that every one after the first can be reported.
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    let mut limits = AliasLimits::default();
    limits.max_total_replayed_events = MAX_NODES;
    options.alias_limits = limits;
    if let Some(budget) = &mut options.budget {
        budget.max_depth = MAX_DEPTH;
        budget.flow_nesting_limit = MAX_DEPTH;
        budget.max_nodes = MAX_NODES;
        budget.max_documents = 2;
    }
    options
}

/// What the library says, without its place; in words of our own, with a cure, for what it bounds.
fn error_finding(span: Span, text: &str) -> Diagnostic {
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or(line);
    let line = line.split("; use ").next().unwrap_or(line);
    let said = |words: &str| line.contains(words);
    if said("Depth") || said("recursion limit") {
        return SYNTAX
            .at(span, format!("this nests deeper than {MAX_DEPTH}"))
            .help("an agent needs no more than a handful of levels: is a bracket never closed?");
    }
    if said("alias") && (said("limit") || said("ratio")) {
        return SYNTAX
            .at(span, "the aliases of this file repeat too much")
            .help("write out what `*` stands for, or repeat less of it");
    }
    if said("budget breached") {
        return SYNTAX
            .at(span, format!("this file has more than {MAX_NODES} parts"))
            .help("divide it into several files");
    }
    let finding = SYNTAX.at(span, format!("this is no YAML: {line}"));
    if said("tabs") {
        return finding.help("YAML is indented with blanks: replace the tabs");
    }
    finding
}

/// At least one character at the place of an error, which may have line and column only.
fn error_span(file: FileId, text: &str, location: Option<Location>) -> Span {
    let (line, column) = location.map_or((1, 1), |l| (l.line().max(1), l.column().max(1)));
    let start = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum::<usize>();
    let rest = text.get(start..).unwrap_or_default();
    let row = rest.split(['\n', '\r']).next().unwrap_or_default();
    let offset = row.char_indices().nth(column as usize - 1).map_or(row.len(), |(i, _)| i);
    let width = row[offset..].chars().next().map_or(0, char::len_utf8);
    if width == 0 && offset > 0 {
        let back = row.chars().next_back().map_or(1, char::len_utf8);
        return Span::new(file, start + offset - back, start + offset);
    }
    Span::new(file, start + offset, start + offset + width)
}

/// As the library gives it.
struct Raw {
    value: RawValue,
    start: usize,
    len: usize,
}

enum RawValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Raw>),
    Map(Vec<(Raw, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<RawValue>::deserialize(deserializer)?;
        // An alias stands for what it was defined as: its text is there.
        let place = spanned.defined.span();
        let (Some(start), Some(len)) = (place.byte_offset(), place.byte_len()) else {
            return Err(D::Error::custom("a value without a place"));
        };
        Ok(Self { value: spanned.value, start: start as usize, len: len as usize })
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_none<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawValue, E> {
        Ok(RawValue::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawValue, E> {
        Ok(i64::try_from(value).map_or(RawValue::Float(value as f64), RawValue::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RawValue, E> {
        Ok(RawValue::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawValue, E> {
        Ok(RawValue::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<RawValue, E> {
        Ok(RawValue::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(RawValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(RawValue::Map(entries))
    }
}

/// Gives collections their whole extent and texts their offset maps. As deep as the library allows.
fn resolve(raw: Raw, file: FileId, text: &str) -> Node {
    // Of a value that is not there the library counts some bytes as characters.
    let start = text.floor_char_boundary(raw.start);
    let end = text.ceil_char_boundary(raw.start + raw.len);
    match raw.value {
        RawValue::Null => Node { value: Value::Null, span: Span::new(file, start, end) },
        RawValue::Bool(b) => Node { value: Value::Bool(b), span: Span::new(file, start, end) },
        RawValue::Int(i) => Node { value: Value::Int(i), span: Span::new(file, start, end) },
        RawValue::Float(x) => Node { value: Value::Float(x), span: Span::new(file, start, end) },
        RawValue::Text(value) => {
            let used = text.get(start..end).unwrap_or_default().trim_end().len();
            let value = Text::new(file, text, start..end, value);
            Node { value: Value::Text(value), span: Span::new(file, start, start + used) }
        }
        RawValue::List(items) => {
            let items: Vec<Node> = items.into_iter().map(|i| resolve(i, file, text)).collect();
            let last = items.iter().map(|i| i.span.end as usize).max();
            Node { value: Value::List(items), span: extent(file, text, start, end, last) }
        }
        RawValue::Map(entries) => {
            let entries: Vec<(Node, Node)> = entries
                .into_iter()
                .map(|(k, v)| (resolve(k, file, text), resolve(v, file, text)))
                .collect();
            let last = entries.iter().map(|(k, v)| k.span.end.max(v.span.end) as usize).max();
            Node { value: Value::Map(entries), span: extent(file, text, start, end, last) }
        }
    }
}

/// From the first token of a collection to its closing bracket, or the end of its last item.
fn extent(file: FileId, text: &str, start: usize, end: usize, last: Option<usize>) -> Span {
    // Items that an alias or a merge brings from elsewhere do not stretch the collection backwards.
    let last = last.unwrap_or(end).max(end);
    let close = match text.as_bytes().get(start) {
        Some(b'[') => ']',
        Some(b'{') => '}',
        Some(_) | None => return Span::new(file, start, last),
    };
    let mut at = last;
    for line in text.get(last..).unwrap_or_default().split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or(line);
        if let Some(found) = code.find(|c: char| !c.is_whitespace() && c != ',') {
            if code[found..].starts_with(close) {
                return Span::new(file, start, at + found + 1);
            }
            break;
        }
        at += line.len();
    }
    Span::new(file, start, last)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {}
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
}
