//! A source with hidden characters escaped, and the mapping between positions in both texts.

use chartc_core::visible;
use chartc_text::source::{Position, Source};
use chartc_text::span::Span;
use std::borrow::Cow;

/// A source with hidden characters escaped.
#[derive(Debug)]
pub(super) struct Plain<'s> {
    given: &'s Source,
    /// The source with escapes, and `\n` for every line end.
    pub(super) shown: Cow<'s, Source>,
    /// The offset from the source to the shown text behind each escape, with the position in the source, ascending.
    moved: Vec<(usize, isize)>,
}

impl<'s> Plain<'s> {
    /// Escapes the hidden characters of a source and its name.
    pub(super) fn new(given: &'s Source) -> Self {
        let name = visible::line(&given.name);
        let mut text = String::new();
        let (mut rest, mut moved) = (0, Vec::new());
        for (at, c) in visible::hidden(&given.text) {
            let end = at + c.len_utf8();
            text.push_str(&given.text[rest..at]);
            if !(c == '\r' && given.text[end..].starts_with('\n')) {
                visible::escape(c, &mut text);
            }
            moved.push((end, text.len() as isize - end as isize));
            rest = end;
        }
        let shown = if moved.is_empty() && matches!(name, Cow::Borrowed(_)) {
            Cow::Borrowed(given)
        } else {
            text.push_str(&given.text[rest..]);
            Cow::Owned(Source::new(name, text))
        };
        Self { given, shown, moved }
    }

    /// Maps a span of the source to the shown text.
    pub(super) fn span(&self, span: Span) -> Span {
        let shift = |at: u32| {
            let nth = self.moved.partition_point(|(end, _)| *end <= at as usize);
            let by = nth.checked_sub(1).map_or(0, |nth| self.moved[nth].1);
            (at as isize + by).max(0) as u32
        };
        Span { start: shift(span.start), end: shift(span.end), ..span }
    }

    /// Maps a position in the shown text to the source, as line and column.
    pub(super) fn position(&self, at: usize) -> Position {
        let nth = self.moved.partition_point(|(end, by)| (*end as isize + by) as usize <= at);
        let (floor, by) = nth.checked_sub(1).map_or((0, 0), |nth| self.moved[nth]);
        let next = self.moved.get(nth).map_or(usize::MAX, |(end, _)| *end);
        // A position inside an escape maps to the escaped character.
        let at = ((at as isize - by).max(floor as isize) as usize).min(next.saturating_sub(1));
        self.given.position(self.given.text.floor_char_boundary(at) as u32)
    }
}
