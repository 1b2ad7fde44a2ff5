//! Maps offsets in the text of a YAML scalar to offsets in the file, through block indentation, folds and escapes.
//!
//! The problem: a finding inside of a prompt or of Python code must underline characters of the file, but YAML has changed the text. The
//! idea: walk over the text as written and as read at the same time, and record runs that correspond. For example, a block scalar:
//!
//! ```text
//! file    prompt: |⏎␠␠␠␠Hi⏎␠␠␠␠{nam}⏎       text    Hi⏎{nam}⏎
//!
//! text 0..2    "Hi"       ↔ file, byte by byte
//! text 2..3    "⏎"        ↔ file "⏎␠␠␠␠", only as a whole
//! text 3..8    "{nam}"    ↔ file, byte by byte: an error in the placeholder is underlined at its characters
//! ```

use crate::span::{FileId, Span};
use std::ops::Range;

/// The text of a scalar, and the place of each of its parts in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    /// The text that the scalar means in YAML.
    pub(super) value: String,
    /// The file that contains it.
    file: FileId,
    map: Map,
}

/// The places of the bytes of a text.
#[derive(Debug, Clone, PartialEq)]
enum Map {
    /// The file contains the text unchanged, starting at this byte.
    Straight(usize),
    /// The runs of the text, ascending and without gaps.
    Pieces(Vec<Piece>),
}

/// A run of the text. It maps byte by byte, or only as a whole (an escape, a fold, a text that is not in the file).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    text: usize,
    len: usize,
    file: usize,
    file_len: usize,
    bytewise: bool,
}

impl Text {
    /// Finds how `value` results from the bytes `range` of `source`. If that is not known, each byte maps to the whole range.
    pub(super) fn new(file: FileId, source: &str, range: Range<usize>, value: String) -> Self {
        let raw = source.get(range.clone()).unwrap_or_default();
        if let Some(from) = straight(raw, &value) {
            return Self { value, file, map: Map::Straight(range.start + from) };
        }
        // The style is not known here, so each is tried. Only the one that yields the value is right.
        let mut pieces = flow(raw, &value, Style::Double)
            .or_else(|| flow(raw, &value, Style::Single))
            .or_else(|| flow(raw, &value, Style::Plain))
            .or_else(|| block(raw, &value))
            .unwrap_or_else(|| {
                let (len, file_len) = (value.len(), raw.len());
                vec![Piece { text: 0, len, file: 0, file_len, bytewise: false }]
            });
        for piece in &mut pieces {
            piece.file += range.start;
        }
        Self { value, file, map: Map::Pieces(pieces) }
    }

    /// Creates a text that is not in the file: each byte maps to `span`.
    pub(super) fn at(span: Span, value: &str) -> Self {
        let (file, file_len) = (span.start as usize, (span.end - span.start) as usize);
        let pieces = vec![Piece { text: 0, len: value.len(), file, file_len, bytewise: false }];
        Self { value: value.to_owned(), file: span.file, map: Map::Pieces(pieces) }
    }

    /// The place of the bytes `range` of the text; empty for an empty range.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let start = self.place(range.start, false);
        let end = if range.end <= range.start { start } else { self.place(range.end, true) };
        Span::new(self.file, start, end.max(start))
    }

    /// The place of the whole text, without trailing blanks.
    pub(super) fn whole(&self) -> Span {
        self.span(0..self.value.trim_end().len().max(1))
    }

    fn place(&self, offset: usize, end: bool) -> usize {
        let pieces = match &self.map {
            Map::Straight(from) => return from + offset.min(self.value.len()),
            Map::Pieces(pieces) => pieces,
        };
        let after =
            pieces.partition_point(|p| if end { p.text < offset } else { p.text <= offset });
        let Some(piece) = after.checked_sub(1).and_then(|i| pieces.get(i)) else {
            return pieces.first().map_or(0, |p| p.file);
        };
        if piece.bytewise {
            piece.file + (offset - piece.text).min(piece.len)
        } else if end || offset >= piece.text + piece.len {
            piece.file + piece.file_len
        } else {
            piece.file
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    Single,
    Double,
}

/// A collector of pieces, which joins neighbours that both map byte by byte.
#[derive(Default)]
struct Pieces {
    all: Vec<Piece>,
    text: usize,
}

impl Pieces {
    fn push(&mut self, len: usize, file: usize, file_len: usize) {
        if len == file_len
            && let Some(last) = self.all.last_mut()
            && last.bytewise
            && last.file + last.file_len == file
        {
            last.len += len;
            last.file_len += len;
        } else if len > 0 {
            let bytewise = len == file_len;
            self.all.push(Piece { text: self.text, len, file, file_len, bytewise });
        }
        self.text += len;
    }
}

/// The offset in `raw` at which it contains the text unchanged, with or without quotes.
fn straight(raw: &str, value: &str) -> Option<usize> {
    let quoted = |quote: char| raw.strip_prefix(quote)?.strip_suffix(quote);
    if raw == value {
        return Some(0);
    }
    let inner = quoted('"').filter(|inner| !inner.contains('\\')).or_else(|| quoted('\''))?;
    (inner == value).then_some(1)
}

fn blanks(text: &str) -> usize {
    text.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// The length of the common start of both texts: at least one character, then up to a byte that may be written in another way. `None`
/// if the first characters differ.
fn alike(raw: &str, text: &str) -> Option<usize> {
    let first = raw.chars().next().filter(|c| text.starts_with(*c))?.len_utf8();
    let pairs = raw.bytes().zip(text.bytes()).skip(first);
    let may_differ = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\\' | b'\'');
    let same = pairs.take_while(|(a, b)| a == b && !may_differ(*a)).count();
    Some(raw.floor_char_boundary(first + same))
}

/// Maps plain and quoted scalars: `None` if `raw` in this style does not mean `value` in YAML.
fn flow(raw: &str, value: &str, style: Style) -> Option<Vec<Piece>> {
    let (mut at, end) = match style {
        Style::Plain => (0, raw.len()),
        Style::Single => (raw.starts_with('\'').then_some(1)?, quoted_end(raw, '\'')?),
        Style::Double => (raw.starts_with('"').then_some(1)?, quoted_end(raw, '"')?),
    };
    let mut pieces = Pieces::default();
    while at < end {
        let rest = &raw[at..end];
        let left = &value[pieces.text..];
        let gap = blanks(rest);
        if gap > 0 {
            let lines = rest[..gap].matches('\n').count();
            let text = match lines {
                0 => &rest[..gap],
                1 => " ",
                _ => &"\n".repeat(lines - 1),
            };
            if !left.starts_with(text) {
                return None;
            }
            pieces.push(text.len(), at, gap);
            at += gap;
        } else if style == Style::Double && rest.starts_with('\\') {
            let (len, text) = escape(&rest[1..])?;
            if !text.is_some_and(|c| left.starts_with(c)) && text.is_some() {
                return None;
            }
            pieces.push(text.map_or(0, char::len_utf8), at, 1 + len);
            at += 1 + len;
        } else if style == Style::Single && rest.starts_with("''") {
            left.starts_with('\'').then_some(())?;
            pieces.push(1, at, 2);
            at += 2;
        } else {
            let len = alike(rest, left)?;
            pieces.push(len, at, len);
            at += len;
        }
    }
    (pieces.text == value.len()).then_some(pieces.all)
}

fn quoted_end(raw: &str, quote: char) -> Option<usize> {
    (raw.len() >= 2 && raw.ends_with(quote)).then_some(raw.len() - 1)
}

/// The length of an escape after its backslash, and its meaning; a line continuation has none.
fn escape(rest: &str) -> Option<(usize, Option<char>)> {
    let first = rest.chars().next()?;
    let hex = |digits: usize| {
        let code = u32::from_str_radix(rest.get(1..=digits)?, 16).ok()?;
        Some((1 + digits, Some(char::from_u32(code)?)))
    };
    let plain = match first {
        'n' => '\n',
        't' | '\t' => '\t',
        'r' => '\r',
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        'e' => '\x1b',
        'f' => '\x0c',
        'v' => '\x0b',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => return hex(2),
        'u' => return hex(4),
        'U' => return hex(8),
        '\n' | '\r' => return Some((blanks(rest), None)),
        other => other,
    };
    Some((first.len_utf8(), Some(plain)))
}

/// The length of the first line without its trailing blanks, if the text starts with it.
fn same_line(raw: &str, text: &str) -> Option<usize> {
    let line = raw.split('\n').next()?.trim_end_matches([' ', '\t', '\r']);
    (!line.is_empty() && text.starts_with(line)).then_some(line.len())
}

/// Maps literal and folded blocks: text and file differ in blanks only.
fn block(raw: &str, value: &str) -> Option<Vec<Piece>> {
    let mut pieces = Pieces::default();
    let mut at = 0;
    // Compares whole lines only at their start, so that a long line that differs is not compared again at each word.
    let mut begins = true;
    while pieces.text < value.len() {
        let left = &value[pieces.text..];
        let rest = &raw[at..];
        let (text_gap, file_gap) = (blanks(left), blanks(rest));
        if text_gap > 0 || file_gap > 0 {
            // Indentation that belongs to the text is at the end of the gap; it is mapped exactly.
            let kept = left[..text_gap].len() - left[..text_gap].trim_end_matches(' ').len();
            let kept = if file_gap > kept { kept } else { 0 };
            pieces.push(text_gap - kept, at, file_gap - kept);
            pieces.push(kept, at + file_gap - kept, kept);
            at += file_gap;
            begins = rest[..file_gap].contains('\n');
        } else {
            let line = if begins { same_line(rest, left) } else { None };
            let len = line.or_else(|| alike(rest, left))?;
            begins = false;
            pieces.push(len, at, len);
            at += len;
        }
    }
    Some(pieces.all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the file to which `word` of the text maps.
    fn found<'s>(source: &'s str, raw: &str, value: &str, word: &str) -> &'s str {
        let start = source.find(raw).expect("raw text in source");
        let text = Text::new(FileId(0), source, start..start + raw.len(), value.to_owned());
        let at = value.find(word).expect("word in text");
        let span = text.span(at..at + word.len());
        &source[span.start as usize..span.end as usize]
    }

    #[test]
    fn literal_block_with_deeper_lines_and_leading_blank_lines() {
        let source = "p: |\n\n    é one\n      two {x}\n\n    three\nq: 1\n";
        let raw = "é one\n      two {x}\n\n    three\n";
        let value = "\né one\n  two {x}\n\nthree\n";
        for word in ["é one", "two", "{x}", "three", "  two"] {
            assert_eq!(found(source, raw, value, word), word);
        }
    }

    #[test]
    fn folded_block() {
        let source = "p: >\n  one\n  {a} two\n\n  three\n";
        let raw = "one\n  {a} two\n\n  three\n";
        for word in ["one", "{a}", "two", "three"] {
            assert_eq!(found(source, raw, "one {a} two\nthree\n", word), word);
        }
    }

    #[test]
    fn escapes_of_quoted_scalars() {
        let source = r#"p: "a\n\u00e9 {x} \"q\" z""#;
        let raw = &source[3..];
        assert_eq!(found(source, raw, "a\né {x} \"q\" z", "{x}"), "{x}");
        assert_eq!(found(source, raw, "a\né {x} \"q\" z", "é"), r"\u00e9");
        assert_eq!(found(source, raw, "a\né {x} \"q\" z", "z"), "z");
        let source = "p: 'it''s {x}\n\n  more'";
        assert_eq!(found(source, &source[3..], "it's {x}\nmore", "{x}"), "{x}");
        assert_eq!(found(source, &source[3..], "it's {x}\nmore", "more"), "more");
        let source = "p: \"one \\\n   two {x}\"";
        assert_eq!(found(source, &source[3..], "one two {x}", "{x}"), "{x}");
    }

    #[test]
    fn plain_scalar_over_lines() {
        let source = "p: one\n  two\n  three {x}\n";
        assert_eq!(found(source, "one\n  two\n  three {x}", "one two three {x}", "{x}"), "{x}");
    }

    #[test]
    fn text_of_nothing_stands_between_its_quotes() {
        let source = "p: ''";
        let text = Text::new(FileId(0), source, 3..5, String::new());
        assert_eq!(text.whole(), Span::new(FileId(0), 4, 4));
    }

    #[test]
    fn long_texts() {
        let words = "a word ".repeat(100_000);
        let source = format!("p: >\n  {words}{{x}}\n  {}y\n", words.replace("d ", "d\n  "));
        let value = format!("{words}{{x}} {words}y\n");
        assert_eq!(found(&source, &source[7..], &value, "y"), "y");
        // Escapes of surrogate pairs are not undone here.
        let source = format!("p: \"{words}\\ud83d\\ude00\"");
        let value = format!("{words}😀");
        assert_eq!(found(&source, &source[3..], &value, "😀"), &source[3..]);
    }

    #[test]
    fn block_that_looks_quoted() {
        let source = "p: |\n  \"one\"\n  {x}\"\n";
        assert_eq!(found(source, "\"one\"\n  {x}\"\n", "\"one\"\n{x}\"\n", "{x}"), "{x}");
    }

    #[test]
    fn carriage_returns() {
        let source = "p: |\r\n  a\r\n  {x}\r\n";
        assert_eq!(found(source, "a\r\n  {x}\r\n", "a\n{x}\n", "{x}"), "{x}");
    }
}
