//! Converts byte offsets to positions of the protocol: lines from 0, and columns in UTF-8, UTF-16 or UTF-32 code units.

use chartc_text::source::{Source, Sources};
use chartc_text::span::Span;
use gen_lsp_types::{Position, PositionEncodingKind, Range};

/// The unit in which a client counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// The unit of clients that do not name one.
    #[default]
    Utf16,
    /// Unicode code points.
    Utf32,
}

impl Encoding {
    /// Selects the unit. Bytes are preferred, because they need no counting.
    pub(super) fn agreed(offered: &[PositionEncodingKind]) -> Self {
        if offered.contains(&PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if offered.contains(&PositionEncodingKind::UTF32)
            && !offered.contains(&PositionEncodingKind::UTF16)
        {
            Self::Utf32
        } else {
            Self::Utf16
        }
    }

    /// The name of the unit in the protocol.
    pub(super) fn name(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    /// The length of a text in this unit.
    pub(super) fn length(self, text: &str) -> u32 {
        match self {
            Self::Utf8 => text.len() as u32,
            // Most lines are ASCII, where bytes and UTF-16 units agree.
            Self::Utf16 if text.is_ascii() => text.len() as u32,
            Self::Utf16 => text.encode_utf16().count() as u32,
            Self::Utf32 => text.chars().count() as u32,
        }
    }

    /// The byte offset after `units` units of a text. A position inside a character maps to its start, one behind the end of the text to
    /// its end.
    fn bytes(self, text: &str, units: u32) -> usize {
        let mut left = units;
        for (at, character) in text.char_indices() {
            let wide = match self {
                Self::Utf8 => character.len_utf8(),
                Self::Utf16 => character.len_utf16(),
                Self::Utf32 => 1,
            } as u32;
            if left < wide {
                return at;
            }
            left -= wide;
        }
        text.len()
    }

    /// The position of a byte offset.
    pub(super) fn position(self, source: &Source, offset: u32) -> Position {
        let offset = (offset as usize).min(source.text.len());
        let line = source.line_of(offset as u32);
        let start = source.line(line).start;
        // An offset between `\r` and `\n` counts as the end of the line.
        let before = source.text.get(start..offset).unwrap_or_default();
        Position { line: line as u32 - 1, character: self.length(before) }
    }

    /// The byte offset of a position. One behind the end of its line maps to the end of the line.
    pub(super) fn offset(self, source: &Source, place: Position) -> u32 {
        let line = source.line((place.line as usize).saturating_add(1));
        let text = &source.text[line.clone()];
        (line.start + self.bytes(text, place.character)) as u32
    }

    /// The range of a span.
    pub(super) fn range(self, sources: &Sources, span: Span) -> Range {
        self.range_in(sources.get(span.file), span)
    }

    /// The range of a span of `source`.
    pub(super) fn range_in(self, source: &Source, span: Span) -> Range {
        Range {
            start: self.position(source, span.start),
            end: self.position(source, span.end.max(span.start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_comes_back() {
        let source = Source::new("a", "x😀é\r\n\n  \"é😀\" y\u{301}z\n");
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (offset, character) in source.text.char_indices() {
                if character == '\n' && source.text[..offset].ends_with('\r') {
                    continue;
                }
                let place = encoding.position(&source, offset as u32);
                assert_eq!(encoding.offset(&source, place), offset as u32, "{encoding:?} {offset}");
            }
        }
        let place = |encoding: Encoding| encoding.position(&source, 5).character;
        assert_eq!([Encoding::Utf8, Encoding::Utf16, Encoding::Utf32].map(place), [5, 3, 2]);
    }

    #[test]
    fn places_that_are_not_there() {
        let source = Source::new("a", "é😀\nab");
        let at = |line, character| {
            Encoding::Utf16.offset(&source, Position { line, character }) as usize
        };
        assert_eq!(at(0, 99), 6, "behind a line");
        assert_eq!(at(0, 2), 2, "between two halves of a character");
        assert_eq!(at(1, u32::MAX), 9);
        assert_eq!(at(u32::MAX, 3), 9, "behind the text");
    }

    #[test]
    fn bytes_are_preferred() {
        let all = [PositionEncodingKind::UTF16, PositionEncodingKind::UTF8];
        assert_eq!(Encoding::agreed(&all), Encoding::Utf8);
        assert_eq!(Encoding::agreed(&[PositionEncodingKind::UTF32]), Encoding::Utf32);
        assert_eq!(Encoding::agreed(&[]), Encoding::Utf16);
    }
}
