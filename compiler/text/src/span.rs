//! Places in sources.

use serde::Serialize;

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
