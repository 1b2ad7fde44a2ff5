//! Completion of names, and hovers, in an `agent.yaml`, a component or a run file.
//!
//! The keys of these files are in tables ([`crate::keys`]), and the text may be broken, so a reader that never fails makes a tree of it
//! first. The JSON Schema of the file offers its keys and words. This module offers names, which no schema knows. With the cursor at
//! `|` in
//!
//! ```yaml
//! workflow:
//!   state_machine: {states: [looking, selling]}
//!   steps:
//!     - name: look
//!       in_state: |
//! ```
//!
//! 1. [`read`] reads a mapping with the entries `name` and `in_state`, the second of which has no value yet.
//! 2. [`spot`] follows the tables from `workflow` to `steps`, and finds that the value of `in_state` is the name of a state.
//! 3. [`complete`] offers `looking` and `selling`.

use super::outline::SymbolKind;
use super::{known, notation};
use crate::Compilation;
use crate::keys::{AGENT, COMPONENT, Key, Mapping, Names, RUN, Shape};
use chartc_compiler::front::agent::context;
use chartc_compiler::syntax::source::FileId;
use std::collections::BTreeSet;
use std::ops::Range;

/// The format of a YAML file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An agent, such as `agent.yaml`.
    Agent,
    /// A component of agents, in a folder `_components`.
    Component,
    /// A run file.
    Run,
}

impl Format {
    /// Determines the format from the path of a file or, if that says nothing, from its text.
    pub fn from_path(path: &str, text: &str) -> Option<Self> {
        let path = path.replace('\\', "/");
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"))?;
        if path.split('/').any(|folder| folder == "_components") {
            return Some(Self::Component);
        }
        let begins = |words: &[&str]| text.lines().any(|l| words.iter().any(|w| l.starts_with(w)));
        if stem == "agent" || stem.ends_with(".agent") || begins(&["workflow:"]) {
            return Some(Self::Agent);
        }
        (stem == "run" || begins(&["execution:", "agents:"])).then_some(Self::Run)
    }

    /// The table of the format's keys.
    pub const fn table(self) -> &'static Mapping {
        match self {
            Self::Agent => &AGENT,
            Self::Component => &COMPONENT,
            Self::Run => &RUN,
        }
    }
}

// Computes the names that can be written at an offset. The JSON Schemas of these files list their keys and words.

/// The completions at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The range of the word at the cursor, which an item replaces.
    pub replace: Range<usize>,
    /// The items, the best first.
    pub items: Vec<CompletionItem>,
}

/// An item that can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionItem {
    /// The label that is shown.
    pub label: String,
    /// Documentation as Markdown; may be empty.
    pub doc: String,
    /// The snippet to insert: `$1` and `${1:name}` are placeholders. Lines after the first are indented relative to it.
    pub insert: String,
}

/// A private-use character that stands for the word being written, so that the text has a word there in any case.
const MARK: &str = "\u{f8ff}";

/// The answers of the record of an agent, for a step whose call fails.
const RECORD: [(&str, &str); 3] = [
    ("continue", "The answer of the record where the call fails and nothing else holds."),
    (
        "pivot",
        "The answer of the record where the call fails and the last three actions were on one artifact.",
    ),
    ("ship", "The answer of the record where the call fails after successes without failures."),
];

/// Computes the completions at an offset of a text that may be broken.
pub fn complete(format: Format, text: &str, offset: usize) -> Completion {
    let replace = word(text, offset);
    let (before, behind) = (&text[..replace.start], &text[replace.end..]);
    let marked = [before, MARK, behind].concat();
    let tree = read(&marked);
    let items = match spot(&tree, format.table(), &marked, replace.start) {
        Some(YamlPosition::Key { instead: Some(shapes), word, .. }) if word == MARK => {
            values(shapes, &tree)
        }
        Some(YamlPosition::Name { key, around, there, .. }) => offer_names(key, around, there),
        Some(YamlPosition::Value { shapes, word, .. }) if word == MARK => values(shapes, &tree),
        _ => Vec::new(),
    };
    Completion { replace, items }
}

/// The range of the word around an offset.
fn word(text: &str, offset: usize) -> Range<usize> {
    let offset = text.floor_char_boundary(offset.min(text.len()));
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..offset].trim_end_matches(|c: char| is_inner(c) || c == '-');
    // The `-` of a list item is not part of the word.
    let start = offset - text[before.len()..offset].trim_start_matches('-').len();
    let behind = text[offset..].trim_start_matches(is_inner);
    start..text.len() - behind.len()
}

/// The possible values of these shapes.
fn values(shapes: &'static [Shape], tree: &YamlNode) -> Vec<CompletionItem> {
    let mut items = Vec::new();
    for shape in shapes {
        match shape {
            Shape::Name(Names::State) => items.extend(states(tree)),
            Shape::Name(Names::StateOrAll) => {
                items.extend(states(tree));
                items.push(CompletionItem { insert: "\"*\"".into(), ..plain("*", "Every state.") });
            }
            _ => {}
        }
    }
    // Where only a list is expected, offer a list with each possible first item.
    let of = shapes
        .iter()
        .find_map(|shape| if let Shape::List { of, .. } = shape { Some(of) } else { None });
    if items.is_empty()
        && let Some(of) = of
    {
        for item in values(of.alternatives(), tree) {
            items.push(CompletionItem { insert: format!("[{}$0]", item.insert), ..item });
        }
    }
    items
}

fn plain(word: &str, doc: &str) -> CompletionItem {
    let (label, doc) = (word.to_owned(), doc.to_owned());
    let mut insert = String::new();
    for c in word.chars() {
        // These characters have a meaning in snippets.
        if matches!(c, '$' | '}' | '\\') {
            insert.push('\\');
        }
        insert.push(c);
    }
    CompletionItem { label, doc, insert }
}

/// The names of an agent's states.
fn states(tree: &YamlNode) -> Vec<CompletionItem> {
    let machine = tree.get("workflow").and_then(|workflow| workflow.get("state_machine"));
    let list = machine.and_then(|machine| machine.get("states"));
    let names = list.into_iter().flat_map(YamlNode::items).filter_map(YamlNode::text);
    names.filter(|name| !name.contains(MARK)).map(|name| plain(name, "")).collect()
}

/// The answers that a `transition_map` does not have yet: the fallback of its source, and those of the record.
fn offer_names(key: &'static Key, around: &[Entry], there: &[Entry]) -> Vec<CompletionItem> {
    if key.name != "transition_map" {
        return Vec::new();
    }
    let source = around.iter().find(|entry| entry.key == "transition_source");
    let fallback = source.and_then(|entry| entry.value.get("fallback")).and_then(YamlNode::text);
    let decided = "The decision where the source fails.";
    let all = fallback.map(|name| (name, decided)).into_iter().chain(RECORD);
    let mut items: Vec<CompletionItem> = Vec::new();
    for (name, doc) in all {
        let is_there = there.iter().any(|entry| entry.key == name);
        if !is_there && items.iter().all(|item| item.label != name) {
            items.push(plain(name, doc));
        }
    }
    items
}

// Reads flow collections, `{a: b}` and `[a, b]`, complete or not.

/// Reads the collection that begins at `start`. It ends before `limit` in any case.
fn flow(text: &str, start: usize, limit: usize) -> YamlNode {
    let limit = limit.min(text.len());
    let mut reader = FlowReader { text: text.get(..limit).unwrap_or(text), at: start, depth: 0 };
    reader.value()
}

struct FlowReader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> FlowReader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks, line ends and comments.
    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let content = rest.trim_start();
            let blanks = rest.len() - content.len();
            self.at += blanks;
            if !content.starts_with('#') {
                return;
            }
            self.at += content.find('\n').unwrap_or(content.len());
        }
    }

    fn value(&mut self) -> YamlNode {
        self.blanks();
        let start = self.at;
        if self.depth == DEPTH {
            // Skip the rest: deeper values are not read, and the callers' loops end.
            self.at = self.text.len();
            return YamlNode::nothing(start);
        }
        self.depth += 1;
        let kind = match self.rest().chars().next() {
            Some('{') => self.map(),
            Some('[') => self.list(),
            Some(_) | None => self.scalar(),
        };
        self.depth -= 1;
        YamlNode { kind, span: start..self.at }
    }

    fn list(&mut self) -> YamlKind {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks();
            match self.rest().chars().next() {
                None => break,
                Some(']') => {
                    self.at += 1;
                    break;
                }
                // The brace closes a mapping around the list, whose own bracket is missing.
                Some('}') => break,
                Some(',' | ':') => self.at += 1,
                Some(_) => items.push(self.value()),
            }
        }
        YamlKind::List(items)
    }

    fn map(&mut self) -> YamlKind {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.blanks();
            match self.rest().chars().next() {
                None => break,
                Some('}') => {
                    self.at += 1;
                    break;
                }
                Some(']') => break,
                Some(',' | ':') => self.at += 1,
                Some('{' | '[') => {
                    self.value();
                }
                Some(_) => entries.push(self.entry()),
            }
        }
        YamlKind::Map(entries)
    }

    fn entry(&mut self) -> Entry {
        let start = self.at;
        let key = self.scalar();
        let at = start..self.at;
        let key = if let YamlKind::Scalar(key) = key { key } else { String::new() };
        self.blanks();
        if !self.rest().starts_with(':') {
            return Entry { key, value: YamlNode::nothing(at.end), at, has_colon: false };
        }
        self.at += 1;
        let behind = self.at;
        self.blanks();
        let value = match self.rest().chars().next() {
            None | Some(',' | '}' | ']') => YamlNode::nothing(behind),
            Some(_) => self.value(),
        };
        Entry { key, at, value, has_colon: true }
    }

    /// Reads a text in quotes, or a plain one up to a separator. It consumes at least one character, so that callers make progress.
    fn scalar(&mut self) -> YamlKind {
        let rest = self.rest();
        let mut len = rest.chars().next().map_or(0, char::len_utf8);
        if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
            let line = rest.find('\n').unwrap_or(rest.len());
            len = rest[1..].find(quote).map_or(line, |end| end + 2);
        } else {
            let ends = |(at, c): &(usize, char)| {
                let after = rest[at + c.len_utf8()..].chars().next();
                matches!(c, ',' | '[' | ']' | '{' | '}' | '\n')
                    || *c == ':' && after.is_none_or(|c| c.is_whitespace() || c == ',' || c == '}')
            };
            let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
            len = len.max(rest[..end].trim_end().len());
        }
        let text = unquoted(&rest[..len]);
        self.at += len;
        YamlKind::Scalar(text)
    }
}

// Completes names in the placeholders of prompts, in conditions and in code of an agent file.

/// The content of a value in which names can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A text with placeholders.
    Prompt,
    /// Code in the subset of Python that agent files use.
    Code,
}

/// The keys whose values contain names.
const KEYS: [(&str, Holds); 5] = [
    ("prompt", Holds::Prompt),
    ("prompt_fragment", Holds::Prompt),
    ("run_if", Holds::Code),
    ("condition", Holds::Code),
    ("code", Holds::Code),
];

/// The names that can be written at an offset, if it is in a placeholder, a condition or code.
pub fn names_in_hole(done: &Compilation, file: FileId, offset: usize) -> Option<Completion> {
    let source = done.sources.get(file);
    let text = source.text.as_str();
    let before = text.get(..offset)?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = before.trim_end_matches(is_word).len();
    let end = offset + text[offset..].find(|c| !is_word(c)).unwrap_or(text.len() - offset);
    let fits = match holds_hole(&read(text), offset)? {
        // Only the name itself is completed, not the fields and the format that follow it.
        Holds::Prompt => opens(&before[..start]),
        Holds::Code => !before[..start].ends_with(['.', '"', '\'']),
    };
    let items = if fits { all(done, file, &text[start..end]) } else { Vec::new() };
    Some(Completion { replace: start..end, items })
}

/// Whether the text ends with the brace that opens a placeholder. A doubled brace is a literal one.
fn opens(before: &str) -> bool {
    let braces = before.len() - before.trim_end_matches('{').len();
    braces % 2 == 1
}

/// The content of the value at an offset, if names can be completed in it.
fn holds_hole(node: &YamlNode, offset: usize) -> Option<Holds> {
    let touches = |node: &YamlNode| node.span.start <= offset && offset <= node.span.end;
    match &node.kind {
        YamlKind::Map(entries) => {
            entries.iter().filter(|entry| touches(&entry.value)).find_map(|entry| {
                let known = KEYS.iter().find(|(key, _)| *key == entry.key);
                match (&entry.value.kind, known) {
                    (YamlKind::Scalar(_) | YamlKind::Block, Some((_, holds))) => Some(*holds),
                    (YamlKind::Map(_) | YamlKind::List(_), _) => holds_hole(&entry.value, offset),
                    (YamlKind::Scalar(_) | YamlKind::Block | YamlKind::Nothing, _) => None,
                }
            })
        }
        YamlKind::List(items) => {
            items.iter().filter(|item| touches(item)).find_map(|item| holds_hole(item, offset))
        }
        YamlKind::Nothing | YamlKind::Scalar(_) | YamlKind::Block => None,
    }
}

/// The data of the agent, the rest of what the host provides, and the answers of its steps. `word`, which is being written, is left out.
fn all(done: &Compilation, file: FileId, word: &str) -> Vec<CompletionItem> {
    let of = |own: bool| {
        let charts = known::charts(done).filter(move |(_, id)| !own || *id == file);
        charts.flat_map(|(chart, _)| known::inside(chart)).collect::<Vec<_>>()
    };
    let mut decls = of(true);
    if decls.is_empty() {
        // A component has no chart of its own: offer the names of all agents that were compiled with it.
        decls = of(false);
    }
    let is_data = |kind: SymbolKind| {
        matches!(kind, SymbolKind::Param | SymbolKind::Input | SymbolKind::Variable)
    };
    let data = decls.iter().filter(|decl| is_data(decl.kind)).map(|decl| {
        let ty = decl.ty.map(notation::type_expr).unwrap_or_default();
        (decl.name.as_str(), format!("`{}: {ty}`\n\n{}", decl.name, decl.doc).trim_end().to_owned())
    });
    let given = context().map(|(name, ty)| (name, format!("`{name}: {ty}`, from the host.")));
    let steps = decls.iter().filter(|decl| decl.kind == SymbolKind::Step);
    let steps = steps.map(|decl| (decl.name.as_str(), "The answer of the step.".to_owned()));
    let mut seen = BTreeSet::new();
    data.chain(given)
        .chain(steps)
        .filter(|(name, _)| *name != word && seen.insert(name.to_string()))
        .map(|(name, doc)| plain(name, &doc))
        .collect()
}

// Describes the keys and words of YAML files.

/// The description of a key or a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The range of the key or word, in bytes.
    pub at: Range<usize>,
    /// The description, as Markdown.
    pub text: String,
}

/// Describes the key or word at an offset; `None` if there is neither.
pub fn hover(format: Format, text: &str, offset: usize) -> Option<Hover> {
    let tree = read(text);
    match spot(&tree, format.table(), text, offset)? {
        YamlPosition::Key { table, word, at, .. } => {
            Some(Hover { at, text: of_key(table.key(word)?) })
        }
        YamlPosition::Value { shapes, word, at } => {
            let word = shapes.iter().find_map(|shape| {
                let Shape::Words(words) = shape else { return None };
                words.iter().find(|known| known.word == word)
            })?;
            Some(Hover { at, text: format!("`{}`: {}", word.word, word.doc) })
        }
        YamlPosition::Name { .. } => None,
    }
}

/// Describes a key, its default, and the words that its value may be.
fn of_key(key: &Key) -> String {
    let mut text = format!("`{}`: {}", key.name, key.doc);
    if let Some(default) = key.default {
        text.push_str(&format!("\n\nDefault: `{default}`"));
    }
    if let Some(instead) = key.instead {
        text.push_str(&format!("\n\nAn older form: write `{instead}`."));
    }
    if let Shape::Words(words) = &key.shape {
        text.push('\n');
        for word in *words {
            text.push_str(&format!("\n- `{}`: {}", word.word, word.doc));
        }
    }
    text
}

// Finds what an offset of a file is in: a key of a mapping or a value, according to the table of the format.

/// The part of a file at an offset.
#[derive(Debug)]
enum YamlPosition<'n> {
    /// A key, or a word that may become one.
    Key {
        table: &'static Mapping,
        word: &'n str,
        at: Range<usize>,
        /// The shapes of values that may stand here instead, if the mapping has not been begun yet.
        instead: Option<&'static [Shape]>,
    },
    /// A name that is a key in a mapping of names.
    Name { key: &'static Key, around: &'n [Entry], there: &'n [Entry] },
    /// A value, or the beginning of one, that must have one of these shapes.
    Value { shapes: &'static [Shape], word: &'n str, at: Range<usize> },
}

/// Finds the part at an offset of a file with this table.
fn spot<'n>(
    node: &'n YamlNode,
    table: &'static Mapping,
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    if node.kind == YamlKind::Nothing {
        return None;
    }
    mapping(node, table, text, offset)
}

/// Searches a mapping with this table, or a text that may become one.
fn mapping<'n>(
    node: &'n YamlNode,
    table: &'static Mapping,
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    match &node.kind {
        YamlKind::Map(entries) => {
            let entry = entries.iter().find(|entry| is_inside(entry, offset))?;
            if touches(&entry.at, offset) {
                let (word, at) = (entry.key.as_str(), entry.at.clone());
                return Some(YamlPosition::Key { table, word, at, instead: None });
            }
            value(&entry.value, table.key(&entry.key)?, entries, text, offset)
        }
        YamlKind::Scalar(word) if touches(&node.span, offset) => {
            let at = node.span.clone();
            Some(YamlPosition::Key { table, word, at, instead: None })
        }
        _ => None,
    }
}

/// Searches the value of `key`. `around` has the entries of the mapping that contains the key.
fn value<'n>(
    node: &'n YamlNode,
    key: &'static Key,
    around: &'n [Entry],
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    let shapes = key.shape.alternatives();
    if let YamlKind::Map(entries) = &node.kind {
        for shape in shapes {
            if let Shape::Mapping(table) = shape {
                return mapping(node, table, text, offset);
            }
            if let Shape::ByName { of, .. } = shape {
                let entry = entries.iter().find(|entry| is_inside(entry, offset))?;
                if touches(&entry.at, offset) {
                    return Some(YamlPosition::Name { key, around, there: entries });
                }
                return item(&entry.value, of.alternatives(), text, offset);
            }
        }
        return None;
    }
    item(node, shapes, text, offset)
}

/// Searches a value of one of these shapes.
fn item<'n>(
    node: &'n YamlNode,
    shapes: &'static [Shape],
    text: &str,
    offset: usize,
) -> Option<YamlPosition<'n>> {
    match &node.kind {
        YamlKind::Map(_) => {
            let table = shapes.iter().find_map(Shape::mapping)?;
            mapping(node, table, text, offset)
        }
        YamlKind::List(items) => {
            let of = shapes.iter().find_map(|shape| {
                if let Shape::List { of, .. } = shape { Some(*of) } else { None }
            })?;
            let found = items.iter().find(|item| touches(&item.span, offset))?;
            item(found, of.alternatives(), text, offset)
        }
        YamlKind::Scalar(word) if touches(&node.span, offset) => {
            let at = node.span.clone();
            if let Some(table) = shapes.iter().find_map(Shape::mapping)
                && begins_line(text, at.start)
            {
                let instead = Some(shapes);
                return Some(YamlPosition::Key { table, word, at, instead });
            }
            Some(YamlPosition::Value { shapes, word, at })
        }
        YamlKind::Scalar(_) | YamlKind::Nothing | YamlKind::Block => None,
    }
}

fn is_inside(entry: &Entry, offset: usize) -> bool {
    touches(&entry.at, offset) || touches(&entry.value.span, offset)
}

fn touches(span: &Range<usize>, offset: usize) -> bool {
    span.start <= offset && offset <= span.end
}

/// Whether only blanks and `-` precede the offset in its line.
fn begins_line(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().all(|c| matches!(c, ' ' | '\t' | '-'))
}

// Reads YAML that is being written into a tree with the span of every key and value.
//
// A YAML parser rejects most texts that are being written. This reader never fails, and takes the structure from the indentation:
//
// ```text
// workflow:          entry `workflow`, its value is a mapping
//   states:          entry `states`, its value is a list
//     - open
//   ste              entry `ste` without a colon: perhaps a key that is being written
//  bad: 1            indented like nothing above: belongs to the mapping of `workflow`
// ```

/// A value with its span in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct YamlNode {
    kind: YamlKind,
    span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum YamlKind {
    Nothing,
    /// A text on one line or in quotes. The quotes are removed.
    Scalar(String),
    /// A text of several lines behind `|` or `>`.
    Block,
    List(Vec<YamlNode>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    key: String,
    at: Range<usize>,
    /// The value; [`YamlKind::Nothing`] if there is no colon yet.
    value: YamlNode,
    has_colon: bool,
}

impl YamlNode {
    const fn nothing(at: usize) -> Self {
        Self { kind: YamlKind::Nothing, span: at..at }
    }

    fn entries(&self) -> &[Entry] {
        if let YamlKind::Map(entries) = &self.kind { entries } else { &[] }
    }

    fn items(&self) -> &[Self] {
        if let YamlKind::List(items) = &self.kind { items } else { &[] }
    }

    fn text(&self) -> Option<&str> {
        if let YamlKind::Scalar(text) = &self.kind { Some(text) } else { None }
    }

    /// The value of a key.
    fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }
}

/// The maximum depth of nesting. Deeper values are left out, so that the recursion is bounded.
const DEPTH: usize = 40;

/// Reads a text.
fn read(text: &str) -> YamlNode {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        lines.push(start..start + content.len());
        start += line.len();
    }
    let mut reader = TreeReader { text, lines, line: 0, column: 0, depth: 0 };
    let mut top = YamlNode::nothing(0);
    while let Some((column, rest)) = reader.next() {
        if rest.starts_with("---") || rest.starts_with("...") || rest.starts_with('%') {
            reader.skip();
            continue;
        }
        let node = reader.node(column, None);
        top = match (top.kind, node.kind) {
            // A line that ends the mapping of the file too early must not hide what follows: add it to the mapping.
            (YamlKind::Map(mut entries), YamlKind::Map(more)) => {
                entries.extend(more);
                YamlNode { kind: YamlKind::Map(entries), span: top.span.start..node.span.end }
            }
            (YamlKind::Nothing, kind) => YamlNode { kind, span: node.span },
            (kind, _) => YamlNode { kind, span: top.span },
        };
    }
    top
}

struct TreeReader<'t> {
    text: &'t str,
    /// The range of each line without its end.
    lines: Vec<Range<usize>>,
    line: usize,
    /// The column in bytes from which the rest of the line is read.
    column: usize,
    depth: usize,
}

impl<'t> TreeReader<'t> {
    /// The next column with content from here on, and the rest of its line. Skips blank lines and comments.
    fn next(&mut self) -> Option<(usize, &'t str)> {
        while let Some(line) = self.lines.get(self.line) {
            let rest = self.text.get(line.start + self.column..line.end).unwrap_or_default();
            let content = rest.trim_start_matches([' ', '\t']);
            if content.is_empty() || content.starts_with('#') {
                self.skip();
                continue;
            }
            return Some((self.column + rest.len() - content.len(), content));
        }
        None
    }

    /// Moves to the next line.
    fn skip(&mut self) {
        self.line += 1;
        self.column = 0;
    }

    /// The offset of a column of the current line.
    fn offset(&self, column: usize) -> usize {
        self.lines.get(self.line).map_or(self.text.len(), |line| line.start + column)
    }

    /// Reads the value that begins at `column`. `above` is the column of the key or dash that it belongs to.
    fn node(&mut self, column: usize, above: Option<usize>) -> YamlNode {
        let at = self.offset(column);
        let Some((_, rest)) = self.next() else { return YamlNode::nothing(at) };
        if self.depth == DEPTH {
            self.skip();
            return YamlNode::nothing(at);
        }
        self.depth += 1;
        let node = if is_item(rest) {
            self.list(column)
        } else if key(rest).is_some() || !rest.starts_with(['{', '[', '"', '\'', '|', '>']) {
            self.map(column)
        } else {
            self.inline(column, above)
        };
        self.depth -= 1;
        node
    }

    fn list(&mut self, column: usize) -> YamlNode {
        let start = self.offset(column);
        let (mut items, mut end) = (Vec::new(), start);
        while let Some((at, rest)) = self.next() {
            if at < column || at == column && !is_item(rest) {
                break;
            }
            if at > column {
                // The line is indented like nothing above it.
                self.skip();
                continue;
            }
            let (line, dash) = (self.line, self.offset(column + 1));
            self.column = column + 1;
            let item = match self.next() {
                Some((at, _)) if self.line == line || at > column => self.node(at, Some(column)),
                Some(_) | None => YamlNode::nothing(dash),
            };
            end = end.max(item.span.end).max(dash);
            items.push(item);
        }
        YamlNode { kind: YamlKind::List(items), span: start..end }
    }

    fn map(&mut self, column: usize) -> YamlNode {
        let start = self.offset(column);
        let (mut entries, mut end) = (Vec::<Entry>::new(), start);
        while let Some((at, rest)) = self.next() {
            if at < column || at == column && is_item(rest) || rest.starts_with("---") {
                break;
            }
            let entry = self.entry(at, rest);
            end = end.max(entry.value.span.end).max(entry.at.end);
            match entries.last_mut() {
                // The line is indented like nothing above it: it belongs to the mapping that ended before, if there is one.
                Some(last) if at > column => {
                    last.value.span.end = last.value.span.end.max(end);
                    if let YamlKind::Map(inner) = &mut last.value.kind {
                        inner.push(entry);
                    } else if last.value.kind == YamlKind::Nothing || entry.has_colon {
                        entries.push(entry);
                    }
                }
                Some(_) | None => entries.push(entry),
            }
        }
        // A single word without a colon is a value, perhaps the beginning of a key.
        if let [Entry { has_colon: false, key, at, .. }] = &entries[..] {
            return YamlNode { kind: YamlKind::Scalar(unquoted(key)), span: at.clone() };
        }
        YamlNode { kind: YamlKind::Map(entries), span: start..end }
    }

    fn entry(&mut self, column: usize, rest: &'t str) -> Entry {
        let start = self.offset(column);
        let Some((name, behind)) = key(rest) else {
            let word = uncommented(rest);
            let at = start..start + word.len();
            self.skip();
            return Entry {
                key: word.to_owned(),
                value: YamlNode::nothing(at.end),
                at,
                has_colon: false,
            };
        };
        let (line, colon) = (self.line, start + behind);
        self.column = column + behind;
        let value = match self.next() {
            Some((at, _)) if self.line == line => self.inline(at, Some(column)),
            Some((at, rest)) if at > column || at == column && is_item(rest) => {
                self.node(at, Some(column))
            }
            Some(_) | None => YamlNode::nothing(colon),
        };
        Entry { key: unquoted(name), at: start..start + name.len(), value, has_colon: true }
    }

    /// Reads a value on the line of its key or behind a `-`. It may continue on the lines below.
    fn inline(&mut self, column: usize, above: Option<usize>) -> YamlNode {
        let start = self.offset(column);
        let end = self.lines.get(self.line).map_or(start, |line| line.end);
        let rest = self.text.get(start..end).unwrap_or_default();
        if rest.starts_with(['&', '!']) {
            // An anchor or a tag precedes the value.
            let behind = rest.find([' ', '\t']).unwrap_or(rest.len());
            let line = self.line;
            self.column = column + behind;
            return match self.next() {
                Some((at, _)) if self.line == line => self.inline(at, above),
                Some((at, _)) if above.is_none_or(|above| at > above) => self.node(at, above),
                Some(_) | None => YamlNode::nothing(start + behind),
            };
        }
        self.skip();
        let last = self.below(above);
        if rest.starts_with(['|', '>']) {
            self.line = self.line.max(last);
            return YamlNode { kind: YamlKind::Block, span: start..self.end_of(last).max(end) };
        }
        if rest.starts_with(['{', '[']) {
            let limit = self.end_of(last).max(end);
            let node = flow(self.text, start, limit);
            while self.lines.get(self.line).is_some_and(|line| line.start < node.span.end) {
                self.line += 1;
            }
            return node;
        }
        let mut word = uncommented(rest);
        if rest.starts_with(['"', '\'']) && !is_closed(rest) {
            // A text in quotes continues on the lines below.
            self.line = self.line.max(last);
            word = self.text.get(start..self.end_of(last).max(end)).unwrap_or(rest);
        } else {
            // A plain text does, too, as long as its lines are not keys or items.
            while let Some((_, rest)) = self.next() {
                if self.line >= last || key(rest).is_some() || is_item(rest) {
                    break;
                }
                self.skip();
            }
        }
        YamlNode { kind: YamlKind::Scalar(unquoted(word)), span: start..start + word.len() }
    }

    /// The line behind the last consecutive one, from the current line on, that is empty or indented deeper than `above`.
    fn below(&self, above: Option<usize>) -> usize {
        let belongs = |line: &&Range<usize>| {
            let row = self.text.get(line.start..line.end).unwrap_or_default();
            let content = row.trim_start_matches([' ', '\t']);
            let indent = row.len() - content.len();
            content.is_empty()
                || above.is_none_or(|above| indent > above)
                || content.starts_with([']', '}']) && above.is_some_and(|above| indent >= above)
        };
        self.line + self.lines[self.line.min(self.lines.len())..].iter().take_while(belongs).count()
    }

    /// The end of the line before `line`.
    fn end_of(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|line| self.lines.get(line)).map_or(0, |line| line.end)
    }
}

fn is_item(rest: &str) -> bool {
    rest == "-" || rest.starts_with("- ") || rest.starts_with("-\t")
}

/// The key that a line begins with, as written, and the length up to and including its colon.
fn key(rest: &str) -> Option<(&str, usize)> {
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let end = rest[1..].find(quote)? + 2;
        let colon = rest[end..].trim_start_matches(' ');
        let behind = rest.len() - colon.len() + 1;
        return is_colon(colon).then_some((&rest[..end], behind));
    }
    if rest.starts_with(['{', '[', '#', '|', '>', '&', '*', '!', '%', '@', '`', ',', ']', '}']) {
        return None;
    }
    let plain = uncommented(rest);
    let colon = plain.match_indices(':').find(|(at, _)| is_colon(&plain[*at..]))?.0;
    Some((plain[..colon].trim_end(), colon + 1))
}

/// Whether the text begins with a colon that ends a key.
fn is_colon(rest: &str) -> bool {
    rest.strip_prefix(':').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// A plain text without the comment behind it.
fn uncommented(rest: &str) -> &str {
    let end = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => rest[1..].find(quote).map_or(0, |end| end + 2),
        Some(_) | None => 0,
    };
    let comment = rest[end..].find(" #").map_or(rest.len(), |at| end + at);
    rest[..comment].trim_end()
}

fn is_closed(rest: &str) -> bool {
    rest.chars().next().is_some_and(|quote| rest[1..].contains(quote))
}

/// Removes the quotes around a text.
fn unquoted(word: &str) -> String {
    let word = word.trim();
    let inner =
        ['"', '\''].into_iter().find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(word).to_owned()
}
