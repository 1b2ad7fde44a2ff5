//! Reads YAML that is being written into a tree with the span of every key and value.
//!
//! A YAML parser rejects most texts that are being written. This reader never fails, and takes the structure from the indentation:
//!
//! ```text
//! workflow:          entry `workflow`, its value is a mapping
//!   states:          entry `states`, its value is a list
//!     - open
//!   ste              entry `ste` without a colon: perhaps a key that is being written
//!  bad: 1            indented like nothing above: belongs to the mapping of `workflow`
//! ```

use super::flow::flow;
use std::ops::Range;

/// A value with its span in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlNode {
    pub(super) kind: YamlKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum YamlKind {
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
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) at: Range<usize>,
    /// The value; [`YamlKind::Nothing`] if there is no colon yet.
    pub(super) value: YamlNode,
    pub(super) has_colon: bool,
}

impl YamlNode {
    pub(super) const fn nothing(at: usize) -> Self {
        Self { kind: YamlKind::Nothing, span: at..at }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        if let YamlKind::Map(entries) = &self.kind { entries } else { &[] }
    }

    pub(super) fn items(&self) -> &[Self] {
        if let YamlKind::List(items) = &self.kind { items } else { &[] }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let YamlKind::Scalar(text) = &self.kind { Some(text) } else { None }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }
}

/// The maximum depth of nesting. Deeper values are left out, so that the recursion is bounded.
pub(super) const DEPTH: usize = 40;

/// Reads a text.
pub(super) fn read(text: &str) -> YamlNode {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        lines.push(start..start + content.len());
        start += line.len();
    }
    let mut reader = Reader { text, lines, line: 0, column: 0, depth: 0 };
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

struct Reader<'t> {
    text: &'t str,
    /// The range of each line without its end.
    lines: Vec<Range<usize>>,
    line: usize,
    /// The column in bytes from which the rest of the line is read.
    column: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
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
pub(super) fn unquoted(word: &str) -> String {
    let word = word.trim();
    let inner =
        ['"', '\''].into_iter().find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(word).to_owned()
}
