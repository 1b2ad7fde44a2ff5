//! Splits a `.chart`, also a broken one, into tokens: for colours, folding and completion.
//!
//! The parser has no tokens of its own, as the grammar reads characters. The ends of texts, back-quoted names and comments are defined
//! here once, for this pass and for `scan`.

use std::ops::Range;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// `// …`.
    Comment,
    /// `/// …`.
    Doc,
    /// `"…"`, with its quotes; the closing one may be missing.
    Text,
    /// `"""…"""`, with its quotes; the closing ones may be missing.
    Block,
    /// `` `…` ``, with its quotes; the closing one may be missing.
    Quoted,
    /// A keyword or a name.
    Word,
    /// `42`.
    Int,
    /// `0.5`, `1e9`.
    Float,
    /// `30s`.
    Duration,
    /// `->`, `==`, `,` and the like.
    Sign,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// A character that begins nothing in the language, or a malformed number.
    Other,
}

/// Whether a word is a keyword in some place. In other places, most keywords are names.
pub fn is_keyword(word: &str) -> bool {
    super::expected::keywords().any(|known| known == word)
}

/// A token, as a range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The kind of the token.
    pub kind: TokenKind,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
}

impl Token {
    /// The text of the token in `text`, from which it was read.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// The range of the token, in bytes.
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Splits a text into tokens. Every byte that is no blank (space, tab, line end, byte order mark) belongs to exactly one token.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        if matches!(first, b' ' | b'\n' | b'\t' | b'\r') {
            at += 1;
            continue;
        }
        if text[at..].starts_with('\u{feff}') {
            at += '\u{feff}'.len_utf8();
            continue;
        }
        let (kind, end) = token(text, at);
        all.push(Token { kind, start: at, end });
        at = end;
    }
    all
}

fn token(text: &str, at: usize) -> (TokenKind, usize) {
    let bytes = text.as_bytes();
    let rest = &text[at..];
    match bytes[at] {
        b'/' if rest.starts_with("//") => {
            let doc = rest.starts_with("///") && !rest.starts_with("////");
            let end = at + text[at..line_end(bytes, at)].trim_end_matches('\r').len();
            (if doc { TokenKind::Doc } else { TokenKind::Comment }, end)
        }
        b'"' if rest.starts_with("\"\"\"") => (TokenKind::Block, block_end(bytes, at).0),
        b'"' => (TokenKind::Text, within_line(text, quoted_end(bytes, at).0)),
        b'`' => (TokenKind::Quoted, within_line(text, quoted_end(bytes, at).0)),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => (TokenKind::Word, word_end(bytes, at)),
        b'0'..=b'9' => number(bytes, at),
        b'(' | b'[' | b'{' => (TokenKind::Open, at + 1),
        b')' | b']' | b'}' => (TokenKind::Close, at + 1),
        _ => {
            const LONG: [&str; 8] = ["->", "==", "!=", "<=", ">=", "??", "**", ".."];
            const SHORT: &[u8] = b"=<>+-*/%,:.|?";
            if LONG.iter().any(|sign| rest.starts_with(sign)) {
                return (TokenKind::Sign, at + 2);
            }
            let kind = if SHORT.contains(&bytes[at]) { TokenKind::Sign } else { TokenKind::Other };
            (kind, at + rest.chars().next().map_or(1, char::len_utf8))
        }
    }
}

/// Moves an end out of the middle of a character, and before the carriage return of a line end.
fn within_line(text: &str, end: usize) -> usize {
    let end = text.ceil_char_boundary(end);
    if text[end..].starts_with('\n') && text[..end].ends_with('\r') { end - 1 } else { end }
}

fn number(bytes: &[u8], at: usize) -> (TokenKind, usize) {
    let digits = |from: usize| {
        bytes[from..].iter().position(|b| !b.is_ascii_digit()).map_or(bytes.len(), |n| from + n)
    };
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let mut end = digits(at);
    let mut kind = TokenKind::Int;
    // In `1..5`, the points are a sign.
    if byte(end) == b'.' && byte(end + 1).is_ascii_digit() {
        (kind, end) = (TokenKind::Float, digits(end + 1));
    }
    let sign = usize::from(matches!(byte(end + 1), b'+' | b'-'));
    if matches!(byte(end), b'e' | b'E') && byte(end + 1 + sign).is_ascii_digit() {
        (kind, end) = (TokenKind::Float, digits(end + 1 + sign));
    }
    let whole = word_end(bytes, end);
    match &bytes[end..whole] {
        [] => (kind, end),
        b"ms" | b"s" | b"m" | b"h" | b"d" if kind == TokenKind::Int => (TokenKind::Duration, whole),
        _ => (TokenKind::Other, whole),
    }
}

/// The end of the word characters that begin at `at`.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    bytes[at..].iter().position(|b| !is_word(b)).map_or(bytes.len(), |n| at + n)
}

/// The next line end from `from` on, or the end of the text.
pub(super) fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n)
}

/// The end of the block string that opens at `at`, and whether it is closed. An unclosed one takes the rest of the text.
pub(super) fn block_end(bytes: &[u8], at: usize) -> (usize, bool) {
    let found = bytes[at + 3..].windows(3).position(|three| three == b"\"\"\"");
    found.map_or((bytes.len(), false), |n| (at + 3 + n + 3, true))
}

/// The end of the text or name that opens at `at` with a quote and ends with the same quote on its line, and whether it is closed.
pub(super) fn quoted_end(bytes: &[u8], at: usize) -> (usize, bool) {
    let mut i = at + 1;
    while i < bytes.len() && bytes[i] != b'\n' {
        if bytes[i] == bytes[at] {
            return (i + 1, true);
        }
        let escape = bytes[i] == b'\\' && bytes.get(i + 1).is_some_and(|b| *b != b'\n');
        i += if escape { 2 } else { 1 };
    }
    (i.min(bytes.len()), false)
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, tokens};

    #[test]
    fn tokens_are_told_apart() {
        let text =
            "on `a b` -> c.d // no\n/// yes\n1..2 0.5 1e9 30s 12x \"\\\"\" \"\"\"{a}\n\"\"\" §";
        let found: Vec<_> = tokens(text).iter().map(|t| (t.kind, t.text(text))).collect();
        use TokenKind::{
            Block, Comment, Doc, Duration, Float, Int, Other, Quoted, Sign, Text, Word,
        };
        assert_eq!(
            found,
            [
                (Word, "on"),
                (Quoted, "`a b`"),
                (Sign, "->"),
                (Word, "c"),
                (Sign, "."),
                (Word, "d"),
                (Comment, "// no"),
                (Doc, "/// yes"),
                (Int, "1"),
                (Sign, ".."),
                (Int, "2"),
                (Float, "0.5"),
                (Float, "1e9"),
                (Duration, "30s"),
                (Other, "12x"),
                (Text, "\"\\\"\""),
                (Block, "\"\"\"{a}\n\"\"\""),
                (Other, "§"),
            ]
        );
    }
}
