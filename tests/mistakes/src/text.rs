//! A source as operators see it: lines, and what of them is code, text and comment.

use std::ops::Range;

/// The two notations that are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    Chart,
    Yaml,
}

/// A text with its parts.
pub(crate) struct Text<'t> {
    pub(crate) all: &'t str,
    pub(crate) notation: Notation,
    /// The same bytes, with blanks for whatever is not code: comments, and what stands in quotes.
    pub(crate) code: String,
    /// Byte ranges of lines with their ends.
    pub(crate) lines: Vec<Range<usize>>,
    /// Byte ranges inside of quotes, for a chart; of prompts, for an agent.
    pub(crate) texts: Vec<Range<usize>>,
}

impl<'t> Text<'t> {
    pub(crate) fn of(all: &'t str, notation: Notation) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for (i, _) in all.match_indices('\n') {
            lines.push(start..i + 1);
            start = i + 1;
        }
        if start < all.len() {
            lines.push(start..all.len());
        }
        let (code, texts) = match notation {
            Notation::Chart => chart(all),
            Notation::Yaml => yaml(all, &lines),
        };
        Self { all, notation, code, lines, texts }
    }

    /// The code of a line, without blanks around it.
    pub(crate) fn line(&self, i: usize) -> &str {
        self.code[self.lines[i].clone()].trim()
    }

    /// How far a line is indented.
    pub(crate) fn indent(&self, i: usize) -> usize {
        let line = &self.code[self.lines[i].clone()];
        line.len() - line.trim_start().len()
    }

    /// Whether as many braces open in a line as close.
    pub(crate) fn is_whole(&self, i: usize) -> bool {
        let mut depth = 0_i32;
        for c in self.line(i).chars() {
            depth += match c {
                '{' | '(' | '[' => 1,
                '}' | ')' | ']' => -1,
                _ => 0,
            };
            if depth < 0 {
                return false;
            }
        }
        depth == 0 && !self.all[self.lines[i].clone()].contains("\"\"\"")
    }

    /// The words of the code with their places.
    pub(crate) fn words(&self) -> Vec<Range<usize>> {
        words_in(&self.code, 0..self.code.len())
    }
}

/// Words with their places in a range.
pub(crate) fn words_in(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        if letter(bytes[at]) {
            let start = at;
            while at < range.end && letter(bytes[at]) {
                at += 1;
            }
            if bytes[start].is_ascii_alphabetic() || bytes[start] == b'_' {
                found.push(start..at);
            }
        } else {
            at += 1;
        }
    }
    found
}

fn blank(code: &mut [u8], range: Range<usize>) {
    for byte in &mut code[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn chart(all: &str) -> (String, Vec<Range<usize>>) {
    let mut code = all.as_bytes().to_vec();
    let mut texts = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let rest = &all.as_bytes()[at..];
        if rest.starts_with(b"//") {
            let end = all[at..].find('\n').map_or(all.len(), |i| at + i);
            blank(&mut code, at..end);
            at = end;
        } else if rest.starts_with(b"\"\"\"") {
            let start = at + 3;
            let end = all[start..].find("\"\"\"").map_or(all.len(), |i| start + i);
            texts.push(start..end);
            blank(&mut code, start..end);
            at = (end + 3).min(all.len());
        } else if rest[0] == b'"' {
            let start = at + 1;
            let mut end = start;
            while end < all.len() && !matches!(all.as_bytes()[end], b'"' | b'\n') {
                end += if all.as_bytes()[end] == b'\\' { 2 } else { 1 };
            }
            let end = end.min(all.len());
            texts.push(start..end);
            blank(&mut code, start..end);
            at = end + 1;
        } else {
            at += 1;
        }
    }
    (String::from_utf8(code).unwrap_or_default(), texts)
}

fn yaml(all: &str, lines: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let mut code = all.as_bytes().to_vec();
    let mut texts: Vec<Range<usize>> = Vec::new();
    // The block scalar that is open, by the indent of its key.
    let mut prompt: Option<usize> = None;
    for line in lines {
        let text = &all[line.clone()];
        let indent = text.len() - text.trim_start().len();
        let is_empty = text.trim().is_empty();
        if let Some(key) = prompt {
            if is_empty || indent > key {
                blank(&mut code, line.clone());
                if let Some(last) = texts.last_mut() {
                    last.end = line.end;
                }
                continue;
            }
            prompt = None;
        }
        if let Some(hash) = text.find(" #").map(|i| i + 1).or(text.starts_with('#').then_some(0)) {
            blank(&mut code, line.start + hash..line.end);
        }
        let Some(key) = ["prompt:", "text:", "inject_text:"].iter().find_map(|k| text.find(k))
        else {
            continue;
        };
        let value = line.start + key + text[key..].find(':').unwrap_or(0) + 1;
        if text[value - line.start..].trim_start().starts_with(['|', '>']) {
            prompt = Some(key);
            texts.push(line.end..line.end);
        } else {
            texts.push(value..line.end - usize::from(text.ends_with('\n')));
            blank(&mut code, value..line.end);
        }
    }
    (String::from_utf8(code).unwrap_or_default(), texts)
}
