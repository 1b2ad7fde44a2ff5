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

use super::text::Text;
use crate::rules::SYNTAX;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{self, FileId, Source};
use chartc_core::expr::Level;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_yaml::granit_parser::{self, Event, Parser, ScalarStyle, Span, StrInput};
use serde_yaml::options::{AliasLimits, DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_yaml::{Location, Options, Spanned};
use std::borrow::Cow;
use std::ops::Range;

/// A key or a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// The value, without tag and anchor.
    pub(super) value: Value,
    /// The place in the file: of a collection from its first to its last character, of a block scalar without the last line end.
    pub(super) span: source::Span,
}

/// The value of a node.
pub(super) type Value = Level<Node, Node, Text>;

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
    let node = read_common(place).or_else(|| read_with_library(place, findings))?;
    (node.value != Value::Null).then_some(node)
}

/// The file that is read.
#[derive(Clone, Copy)]
struct YamlFile<'s> {
    file: FileId,
    text: &'s str,
}

impl YamlFile<'_> {
    /// A value whose first token is at the bytes `range` according to the library.
    fn node(self, level: Level<Node, Node>, range: Range<usize>) -> Node {
        let range = self.whole(range);
        let mut span = source::Span::new(self.file, range.start, range.end);
        let value = match level {
            Level::Null => Value::Null,
            Level::Bool(b) => Value::Bool(b),
            Level::Int(i) => Value::Int(i),
            Level::Float(x) => Value::Float(x),
            Level::Text(text) => {
                let raw = self.text.get(range.clone()).unwrap_or_default();
                span.end = span.start + raw.trim_end().len() as u32;
                Value::Text(Text::new(self.file, self.text, range, text))
            }
            Level::List(items) => {
                span = self.extent(range, items.iter().map(|i| i.span.end).max());
                Value::List(items)
            }
            Level::Map(entries) => {
                let last = entries.iter().map(|(k, v)| k.span.end.max(v.span.end)).max();
                span = self.extent(range, last);
                Value::Map(entries)
            }
        };
        Node { value, span }
    }

    /// Extends a range to whole characters. For an absent value, the library counts some bytes as characters.
    fn whole(self, range: Range<usize>) -> Range<usize> {
        self.text.floor_char_boundary(range.start)..self.text.ceil_char_boundary(range.end)
    }

    /// The span from the first token of a collection to its closing bracket, or to the end of its last item.
    fn extent(self, range: Range<usize>, last: Option<u32>) -> source::Span {
        let Range { start, end } = range;
        // Items from an alias or a merge are elsewhere in the file; they must not move the end before the first token.
        let last = last.map_or(end, |l| (l as usize).max(end));
        let close = match self.text.as_bytes().get(start) {
            Some(b'[') => ']',
            Some(b'{') => '}',
            Some(_) | None => return source::Span::new(self.file, start, last),
        };
        let mut at = last;
        for line in self.text.get(last..).unwrap_or_default().split_inclusive('\n') {
            // A comment may contain brackets. (In a flow collection, nothing but commas and comments follows the last item.)
            let code = line.split('#').next().unwrap_or(line);
            if let Some(found) = code.find(|c: char| !c.is_whitespace() && c != ',') {
                if code[found..].starts_with(close) {
                    return source::Span::new(self.file, start, at + found + 1);
                }
                break;
            }
            at += line.len();
        }
        source::Span::new(self.file, start, last)
    }
}

// A fast reader for the common parts of YAML: texts, numbers, lists and mappings, from the events of the library's parser. It leaves
// everything else to [`super::library`], which reads these with the same result at several times the cost.

/// The maximum length of a file, in bytes. Longer files are left to the library's deserializer, which has limits for them.
const MAX_LEN: usize = 1 << 24;

/// Reads a file with a single document. `None` if it contains an error or anything that this reader does not support.
fn read_common(place: YamlFile<'_>) -> Option<Node> {
    if place.text.len() > MAX_LEN {
        return None;
    }
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let events = Parser::new_from_str_with_options(place.text, options);
    let mut reader = Reader { events, place, nodes: 0 };
    let starts = (reader.next()?, reader.next()?);
    let (Event::StreamStart, Event::DocumentStart(..)) = starts else { return None };
    let node = reader.node(0)??;
    let ends = (reader.next()?, reader.next()?);
    (ends == (Event::DocumentEnd, Event::StreamEnd)).then_some(node)
}

struct Reader<'s> {
    events: Parser<'s, StrInput<'s>>,
    place: YamlFile<'s>,
    nodes: usize,
}

impl<'s> Reader<'s> {
    fn next(&mut self) -> Option<Event<'s>> {
        Some(self.events.next_event()?.ok()?.0)
    }

    /// Counts a node and returns its range.
    fn range(&mut self, at: &Span) -> Option<Range<usize>> {
        self.nodes += 1;
        let (start, end) = (at.start.byte_offset()?, at.end.byte_offset()?);
        // Past the limit, this reader gives up, and the other one reports it.
        (self.nodes <= MAX_NODES).then(|| start..end.max(start))
    }

    /// The next node inside of `depth` collections. `Some(None)` at the end of the innermost one; `None` gives up.
    fn node(&mut self, depth: usize) -> Option<Option<Node>> {
        // Destructured at once, because an event with its place is large to pass on.
        let Some(Ok((event, at))) = self.events.next_event() else { return None };
        if let Event::Scalar(text, style, 0, None) = event {
            return self.scalar(text, style, &at).map(Some);
        }
        if matches!(event, Event::SequenceEnd | Event::MappingEnd) {
            return Some(None);
        }
        let range = self.range(&at).filter(|_| depth < MAX_DEPTH)?;
        if let Event::SequenceStart(_, 0, None) = event {
            let mut items = Vec::new();
            while let Some(item) = self.node(depth + 1)? {
                items.push(item);
            }
            return Some(Some(self.place.node(Level::List(items), range)));
        }
        let Event::MappingStart(_, 0, None) = event else { return None };
        let mut entries = Vec::new();
        while let Some(key) = self.node(depth + 1)? {
            if !is_common_key(&key) {
                return None;
            }
            entries.push((key, self.node(depth + 1)??));
        }
        Some(Some(self.place.node(Level::Map(entries), range)))
    }

    fn scalar(&mut self, text: Cow<'s, str>, style: ScalarStyle, at: &Span) -> Option<Node> {
        let range = self.range(at)?;
        let scalar = if style == ScalarStyle::Plain { plain(&text) } else { None };
        let scalar = scalar.unwrap_or_else(|| Level::Text(text.into_owned()));
        Some(self.place.node(scalar, range))
    }
}

/// Whether a key is neither a collection nor the merge key `<<`.
fn is_common_key(key: &Node) -> bool {
    match &key.value {
        Value::Text(text) => text.value != "<<",
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
        Value::List(_) | Value::Map(_) => false,
    }
}

/// The meaning of a scalar without quotes; `None` if it is plain text.
fn plain(text: &str) -> Option<Level<Node, Node>> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match text.as_bytes() {
        [] | [b'~'] => Some(Level::Null),
        [b'n' | b'N', ..] => is("null").then_some(Level::Null),
        [b't' | b'T', ..] => is("true").then_some(Level::Bool(true)),
        [b'f' | b'F', ..] => is("false").then_some(Level::Bool(false)),
        // All numbers start with one of these. The library decides about all but the most common form.
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => {
            if let ([b'1'..=b'9', ..], Ok(i)) = (text.as_bytes(), text.parse()) {
                return Some(Level::Int(i));
            }
            let in_number = |b: u8| b.is_ascii_alphanumeric() || b"+-._".contains(&b);
            let marker = matches!(text, "---" | "...");
            (!marker && text.bytes().all(in_number)).then(|| scalar(text)).flatten()
        }
        _ => None,
    }
}

// Reads all of YAML with the library's deserializer: anchors and aliases, tags, merge keys. Reports errors.

/// Reads a file, or reports its error.
fn read_with_library(place: YamlFile<'_>, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    match serde_yaml::from_str_with_options(place.text, options()) {
        Ok(raw) => Some(resolve(raw, place)),
        Err(error) => {
            let span = error_span(place.file, place.text, error.location());
            findings.push(error_finding(place.text, span, &error.to_string()));
            None
        }
    }
}

/// The meaning of a text that is a single scalar; `None` for anything else.
fn scalar(text: &str) -> Option<Level<Node, Node>> {
    let level: Level<Raw, Raw> = serde_yaml::from_str_with_options(text, options()).ok()?;
    let is_scalar = !matches!(level, Level::List(_) | Level::Map(_));
    is_scalar.then(|| level_of(level, YamlFile { file: FileId(0), text }))
}

fn options() -> Options {
    let mut options = Options::default();
    options.strict_booleans = true;
    options.with_snippet = false;
    // Keeps duplicate keys in the tree, so that they can be reported.
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    let mut limits = AliasLimits::default();
    // Aliases of aliases grow exponentially.
    limits.max_total_replayed_events = MAX_NODES;
    options.alias_limits = limits;
    if let Some(budget) = &mut options.budget {
        budget.max_depth = MAX_DEPTH;
        budget.flow_nesting_limit = MAX_DEPTH;
        budget.max_nodes = MAX_NODES;
        // Two, so that a second document is an error of its own rather than an exceeded limit.
        budget.max_documents = 2;
    }
    options
}

/// The finding for an error of the library: its message without the place, and help if the mistake is known. Exceeded limits get messages
/// of their own.
fn error_finding(text: &str, span: source::Span, error: &str) -> Diagnostic {
    let line = error.lines().next().unwrap_or_default();
    // The place is underlined in the source, and the library's advice is about its own options.
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
    match yaml_hint(text, span.start as usize, line) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// The span of an error, at least one character if possible. The location may have only a line and a column.
fn error_span(file: FileId, text: &str, location: Option<Location>) -> source::Span {
    let (line, column) = location.map_or((1, 1), |l| (l.line().max(1), l.column().max(1)));
    let start = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum::<usize>();
    let rest = text.get(start..).unwrap_or_default();
    let row = rest.split(['\n', '\r']).next().unwrap_or_default();
    let offset = row.char_indices().nth(column as usize - 1).map_or(row.len(), |(i, _)| i);
    let width = row[offset..].chars().next().map_or(0, char::len_utf8);
    if width == 0 && offset > 0 {
        let back = row.chars().next_back().map_or(1, char::len_utf8);
        return source::Span::new(file, start + offset - back, start + offset);
    }
    source::Span::new(file, start + offset, start + offset + width)
}

/// A value with its place, as the library returns it.
struct Raw {
    value: Level<Raw, Raw>,
    start: usize,
    len: usize,
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Level<Self, Self>>::deserialize(deserializer)?;
        // The value of an alias has its text where the anchor is defined.
        let place = spanned.defined.span();
        let (Some(start), Some(len)) = (place.byte_offset(), place.byte_len()) else {
            return Err(D::Error::custom("a value without a place"));
        };
        Ok(Self { value: spanned.value, start: start as usize, len: len as usize })
    }
}

/// Gives collections their whole spans and texts their offset maps. The library limits the depth of the recursion.
fn resolve(raw: Raw, place: YamlFile<'_>) -> Node {
    place.node(level_of(raw.value, place), raw.start..raw.start + raw.len)
}

fn level_of(level: Level<Raw, Raw>, place: YamlFile<'_>) -> Level<Node, Node> {
    let each = |raw| resolve(raw, place);
    match level {
        Level::Null => Level::Null,
        Level::Bool(b) => Level::Bool(b),
        Level::Int(i) => Level::Int(i),
        Level::Float(x) => Level::Float(x),
        Level::Text(text) => Level::Text(text),
        Level::List(items) => Level::List(items.into_iter().map(each).collect()),
        Level::Map(entries) => {
            Level::Map(entries.into_iter().map(|(k, v)| (each(k), each(v))).collect())
        }
    }
}

// Help for text that is not valid YAML. The library's message names a place and, in terms of YAML's grammar, what it did not expect
// there. Authors make only a few kinds of mistakes, and the line shows which one it is.

/// Returns the help for an error at byte `at` of `text`, given the library's message; `None` if the mistake is not known.
fn yaml_hint(text: &str, at: usize, said: &str) -> Option<String> {
    let spot = ErrorPosition::new(text, at);
    HINTS.iter().find(|(words, _)| said.contains(words)).and_then(|(_, of)| of(&spot))
}

/// A function that finds the help for one kind of error.
type Hint = fn(&ErrorPosition<'_>) -> Option<String>;

/// The hints, each with words that occur in the library's message. The first one that has an answer is used.
const HINTS: &[(&str, Hint)] = &[
    ("tabs", |_| Some("YAML is indented with blanks: replace the tabs".to_owned())),
    ("unexpected character", |s| s.unquoted_start()),
    ("misplaced bracket", |s| s.unquoted_start()),
    ("anchor or alias", |s| s.unquoted_start()),
    ("unknown anchor", |s| s.alias()),
    ("simple key expected", |s| s.key()),
    ("mapping values are not allowed", |s| s.second_colon()),
    ("did not find expected key", |s| s.indented()),
    ("did not find expected '-'", |s| {
        s.indented().or_else(|| Some("each line of this list begins with `- `".to_owned()))
    }),
    ("did not find expected <document start>", |s| s.indented()),
    ("multiple YAML documents", |_| {
        Some("an agent is one document: take the `---` away, or make it two files".to_owned())
    }),
    ("invalid indentation in multiline quoted", |s| s.open_quote()),
    ("unclosed quote", |s| s.open_quote()),
    ("trailing content after", |s| s.behind_quote()),
    ("escape", |_| Some(r"between double quotes `\` begins an escape: write `\\`".to_owned())),
    ("illegal placement of ':'", |s| s.open_bracket()),
    ("unclosed bracket", |s| s.open_bracket()),
    ("flow sequence", |s| s.open_bracket()),
    ("flow mapping", |s| s.open_bracket()),
    ("flow construct", |s| s.open_bracket()),
    ("block sequence entries", |_| {
        Some("a list begins in the line below its key, or is written `[a, b]`".to_owned())
    }),
    ("scanning a block scalar", |_| {
        Some("the text of `|` or `>` begins in the next line, indented".to_owned())
    }),
];

/// The position of an error, with its line.
struct ErrorPosition<'t> {
    text: &'t str,
    at: usize,
    /// The byte at which the line starts.
    start: usize,
    /// The text of the line.
    row: &'t str,
}

impl<'t> ErrorPosition<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        let at = at.min(text.len());
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let row = text[start..].lines().next().unwrap_or_default();
        Self { text, at, start, row }
    }

    /// The number of the line with this byte, from 1.
    fn line(&self, byte: usize) -> usize {
        self.text[..byte].matches('\n').count() + 1
    }

    /// The offset of the value in the line: behind its key or its `- `.
    fn value(&self) -> usize {
        let item = self.row.len() - self.row.trim_start_matches([' ', '-']).len();
        let behind = self.row.find(": ").map_or(item, |colon| colon + 2);
        let rest = &self.row[behind..];
        behind + rest.len() - rest.trim_start().len()
    }

    /// The value that starts at byte `from` of the line, in quotes and after a colon; empty if both kinds of quotes occur in it.
    fn quoted(&self, from: usize) -> String {
        let value = self.row[from..].split(" #").next().unwrap_or_default().trim_end();
        match (value.contains(['"', '\\']), value.contains('\'')) {
            (false, _) => format!(": `\"{value}\"`"),
            (true, false) => format!(": `'{value}'`"),
            (true, true) => String::new(),
        }
    }

    /// Help for text whose first character has a special meaning in YAML.
    fn unquoted_start(&self) -> Option<String> {
        let first = self.text[self.at..].chars().next()?;
        Some(format!(
            "text that begins with `{first}` must be quoted{}",
            self.quoted(self.at - self.start)
        ))
    }

    fn alias(&self) -> Option<String> {
        let value = &self.row[self.at - self.start..];
        let name = value.strip_prefix('*')?.split([' ', ',', ']', '}']).next()?;
        Some(format!(
            "`*{name}` stands for what `&{name}` names above it, and nothing is named so; text that begins with `*` must be quoted{}",
            self.quoted(self.at - self.start)
        ))
    }

    /// Help for a line that is not `key: value`.
    fn key(&self) -> Option<String> {
        let row = self.row.trim();
        Some(match row.split_once(':') {
            Some((key, value)) if !value.is_empty() => {
                format!("behind the `:` of a key stands a blank: `{key}: {}`", value.trim_start())
            }
            Some(_) | None => {
                "a line here is `key: value`, and this one has no `:`; text that goes on is indented".to_owned()
            }
        })
    }

    /// Help for a `:` in a value, or for lines below a value.
    fn second_colon(&self) -> Option<String> {
        let value = self.value();
        if value < self.at - self.start {
            return Some(format!("text with `: ` in it must be quoted{}", self.quoted(value)));
        }
        let (line, above) = self.above().next()?;
        let above = above.trim();
        if !above.contains(": ") && !above.ends_with(':') {
            let blank =
                if above.contains(':') { ": behind its `:` a blank is missing" } else { "" };
            return Some(format!("line {line} is no `key: value`{blank}"));
        }
        let outer = self.above().find(|(_, row)| indent(row) < indent(self.row));
        let (line, _) = outer.filter(|(_, row)| !row.trim_end().ends_with(':'))?;
        Some(format!("line {line} has a value already: nothing can be indented below it"))
    }

    /// Help for a line whose indentation fits no line above, or for text after `{…}`.
    fn indented(&self) -> Option<String> {
        let (own, value) = (indent(self.row), self.value());
        let first = self.row[value..].chars().next();
        if self.at - self.start > value && matches!(first, Some('{' | '[' | '"' | '\'')) {
            let first = first.unwrap_or_default();
            return Some(match first {
                '{' | '[' => {
                    format!("text that begins with `{first}` must be quoted{}", self.quoted(value))
                }
                _ => format!("nothing stands behind the closing `{first}`"),
            });
        }
        if self.row.trim_start().starts_with("- ") && self.at - self.start > own {
            return Some("a list stands below a key of its own, `key:`".to_owned());
        }
        // The indentation levels that are open here, innermost first.
        let mut open: Vec<usize> = Vec::new();
        for (_, row) in self.above() {
            if open.last().is_none_or(|last| indent(row) < *last) {
                open.push(indent(row));
            }
        }
        let levels: Vec<String> = open.iter().rev().map(|level| level.to_string()).collect();
        (!open.is_empty() && !open.contains(&own)).then(|| {
            format!(
                "this line is indented by {own}, and what it may belong to by {}: indent it alike",
                levels.join(" or ")
            )
        })
    }

    /// Help for a quote that is not closed.
    fn open_quote(&self) -> Option<String> {
        let end = self.at + usize::from(self.text[self.at..].starts_with(['"', '\'']));
        let before = &self.text[..end];
        // A quote opens a text only after a blank or a bracket; in `it's` it is an apostrophe.
        let opens = |i: &usize| before[..*i].ends_with([' ', '[', '{', ',', '\n']) || *i == 0;
        let place = before.rmatch_indices(['"', '\'']).map(|(i, _)| i).find(opens)?;
        let quote = before[place..].chars().next()?;
        Some(format!("the `{quote}` of line {} is not closed", self.line(place)))
    }

    /// Help for text after a closing quote.
    fn behind_quote(&self) -> Option<String> {
        let value = self.value();
        let quote = self.row[value..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some(if quote == '"' {
            r#"the quotes go around all of the text; a `"` in it is written `\"`"#.to_owned()
        } else {
            "the quotes go around all of the text; a `'` in it is written `''`".to_owned()
        })
    }

    /// Help that names the innermost bracket that is still open.
    fn open_bracket(&self) -> Option<String> {
        let mut closed = 0;
        let here = self.text[self.at..].starts_with(['[', '{']);
        let end = if here { self.at + 1 } else { self.at };
        for (place, bracket) in self.text[..end].rmatch_indices(['[', ']', '{', '}']) {
            match bracket {
                "]" | "}" => closed += 1,
                _ if closed > 0 => closed -= 1,
                _ => {
                    return Some(format!(
                        "the `{bracket}` of line {} is not closed",
                        self.line(place)
                    ));
                }
            }
        }
        None
    }

    /// The lines above that have content, the nearest first, with their numbers.
    fn above(&self) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let says =
            |(_, row): &(usize, &str)| !row.trim().is_empty() && !row.trim_start().starts_with('#');
        let rows: Vec<(usize, &str)> =
            self.text[..self.start].lines().enumerate().map(|(i, row)| (i + 1, row)).collect();
        rows.into_iter().rev().filter(says)
    }
}

/// The number of blanks at the start of a line.
fn indent(row: &str) -> usize {
    row.len() - row.trim_start_matches(' ').len()
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
        Some((read_common(place)?, read_with_library(place, &mut Vec::new())))
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
