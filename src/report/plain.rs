//! A source without hidden characters, to be shown, and where its places have gone.

use crate::source::{Position, Source};
use crate::span::Span;
use chartc_core::visible;
use std::borrow::Cow;

/// A source as it is shown.
#[derive(Debug)]
pub(super) struct Plain<'s> {
    given: &'s Source,
    /// With escapes, and each line end as `\n`.
    pub(super) shown: Cow<'s, Source>,
    /// By place in the text given, behind what is escaped: how much further the text shown is. In order.
    moved: Vec<(usize, isize)>,
}

impl<'s> Plain<'s> {
    /// Escapes what a source hides, its name included.
    pub(super) fn of(given: &'s Source) -> Self {
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

    /// A span of the source in what is shown.
    pub(super) fn span(&self, span: Span) -> Span {
        let shift = |at: u32| {
            let nth = self.moved.partition_point(|(end, _)| *end <= at as usize);
            let by = nth.checked_sub(1).map_or(0, |nth| self.moved[nth].1);
            (at as isize + by).max(0) as u32
        };
        Span { start: shift(span.start), end: shift(span.end), ..span }
    }

    /// The place in the source of a place in what is shown, as people count.
    pub(super) fn position(&self, at: usize) -> Position {
        let nth = self.moved.partition_point(|(end, by)| (*end as isize + by) as usize <= at);
        let (floor, by) = nth.checked_sub(1).map_or((0, 0), |nth| self.moved[nth]);
        let next = self.moved.get(nth).map_or(usize::MAX, |(end, _)| *end);
        // Inside of an escape: what is escaped stands there.
        let at = ((at as isize - by).max(floor as isize) as usize).min(next.saturating_sub(1));
        self.given.position(self.given.text.floor_char_boundary(at) as u32)
    }
}
