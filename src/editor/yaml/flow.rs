//! Reads flow collections, `{a: b}` and `[a, b]`, complete or not.

use super::tree::{DEPTH, Entry, YamlKind, YamlNode, unquoted};

/// Reads the collection that begins at `start`. It ends before `limit` in any case.
pub(super) fn flow(text: &str, start: usize, limit: usize) -> YamlNode {
    let limit = limit.min(text.len());
    let mut reader = Reader { text: text.get(..limit).unwrap_or(text), at: start, depth: 0 };
    reader.value()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
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
