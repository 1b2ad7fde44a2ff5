//! Source texts, places in them, and their line tables.

use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// One text to compile.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name, as shown to the user: the path as given, or `<stdin>`.
    pub name: String,
    /// The text: UTF-8, without a byte order mark, with line ends as in the file.
    pub text: String,
    lines: Vec<u32>,
    /// For each block, the number of continuation bytes before it. It makes columns in a line of megabytes as fast as in others.
    continued: Vec<u32>,
}

/// The size of a block, in bytes.
const BLOCK: usize = 4096;

/// A place as people count: line and column from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Source {
    /// Creates a source, and finds the beginnings of its lines.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let ends = text.match_indices('\n').map(|(i, _)| i as u32 + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        let mut sum = 0;
        let continued = text
            .as_bytes()
            .chunks(BLOCK)
            .map(|block| {
                sum += continuations(block) as u32;
                sum - continuations(block) as u32
            })
            .collect();
        Self { name: name.into(), text, lines, continued }
    }

    /// The line and column of a byte offset. An offset after the end of the text counts as the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_of(offset);
        let start = self.lines[line - 1] as usize;
        let offset = offset as usize;
        // Most lines are short, so that counting in the line takes less than counting in blocks.
        let continued = if offset - start <= BLOCK {
            continuations(&self.text.as_bytes()[start..offset])
        } else {
            self.continued(offset) - self.continued(start)
        };
        Position { line, column: offset - start - continued + 1 }
    }

    /// The line of a byte offset, from 1. Takes logarithmic time, less than [`Self::position`].
    pub fn line_of(&self, offset: u32) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// The number of bytes before `offset` that continue a character.
    fn continued(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        let Some(before) = self.continued.get(block) else {
            // `offset` is the end of a text that fills its last block.
            let last = self.continued.len().saturating_sub(1);
            let rest = self.text.as_bytes().get(last * BLOCK..).unwrap_or_default();
            return self.continued.last().map_or(0, |n| *n as usize) + continuations(rest);
        };
        let rest = self.text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        *before as usize + continuations(rest)
    }

    /// The number of lines; at least one.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// The byte range of a line, counted from 1, without its line end. A line that does not exist is empty, at the end of the text.
    pub fn line(&self, line: usize) -> Range<usize> {
        let length = self.text.len();
        let start = self.lines.get(line.wrapping_sub(1)).map_or(length, |s| *s as usize);
        let end = self.lines.get(line).map_or(length, |s| *s as usize - 1);
        start..if self.text[start..end].ends_with('\r') { end - 1 } else { end }
    }

    /// The text of a span of this source.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

fn continuations(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| (**b & 0xC0) == 0x80).count()
}

/// The sources of one compilation; [`FileId`] indexes them.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Arc<Source>>,
}

impl Sources {
    /// Adds a source and returns its id.
    pub fn add(&mut self, source: Source) -> FileId {
        self.files.push(Arc::new(source));
        FileId(self.files.len() as u32 - 1)
    }

    /// The source of `id`.
    pub fn get(&self, id: FileId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// The source of `id`, to be kept while others are added.
    pub fn share(&self, id: FileId) -> Arc<Source> {
        Arc::clone(&self.files[id.0 as usize])
    }

    /// All sources with their ids, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().enumerate().map(|(i, s)| (FileId(i as u32), s.as_ref()))
    }
}

// Places in sources.

/// The number of a source in a compilation, from 0 in the order of loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct FileId(pub u32);

/// The half-open byte range `start..end` of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Span {
    /// The source.
    pub file: FileId,
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end` of `file`.
    pub const fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32 }
    }

    /// The span from the start of `self` to the end of `other`. Both must be of one file.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value with its place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub node: T,
    /// The place.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts `node` at `span`.
    pub const fn new(node: T, span: Span) -> Self {
        Self { node, span }
    }
}

/// A name as written, without back-quotes, with its place.
pub type Ident = Spanned<String>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let source = Source::new("a", "é x\nsecond");
        assert_eq!(source.position(3), Position { line: 1, column: 3 });
        assert_eq!(source.position(5), Position { line: 2, column: 1 });
        assert_eq!(source.position(999), Position { line: 2, column: 7 });
    }

    #[test]
    fn columns_of_a_long_line() {
        let source = Source::new("a", "é".repeat(10_000));
        for column in [0, 1, 2047, 2048, 2049, 4095, 4096, 9_999, 10_000] {
            assert_eq!(
                source.position(2 * column),
                Position { line: 1, column: column as usize + 1 }
            );
        }
        let source = Source::new("a", "x".repeat(2 * BLOCK));
        assert_eq!(source.position(2 * BLOCK as u32).column, 2 * BLOCK + 1);
    }

    #[test]
    fn lines_end_before_their_line_end() {
        let source = Source::new("a", "one\r\ntwo\n");
        assert_eq!(
            (source.lines(), source.line(1), source.line(2), source.line(3)),
            (3, 0..3, 5..8, 9..9)
        );
        assert_eq!(source.line(9), 9..9);
    }
}
