//! One pass over the characters before parsing. It finds comments, other blanks, too deep nesting and unclosed brackets.
//!
//! It agrees with the grammar on strings, back-quoted names and comments. It takes linear time and uses an explicit stack, so that
//! deeply nested text is refused before any recursion.

use crate::rules::SYNTAX;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::placeholder_end;
use crate::syntax::source::{FileId, Span};
use std::borrow::Cow;
use std::ops::Range;

/// The maximum depth of nested brackets, all kinds together.
pub(super) const MAX_NESTING: usize = 64;

/// The position of a comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment {
    /// The offset of its first slash.
    pub(super) start: usize,
    /// The offset after its last character, without the line end.
    pub(super) end: usize,
    /// The offset where its line begins.
    pub(super) line: usize,
}

impl Comment {
    /// Whether it is documentation: it begins with exactly three slashes.
    pub(super) fn is_doc(self, text: &str) -> bool {
        let body = &text[self.start..self.end];
        body.starts_with("///") && !body.starts_with("////")
    }
}

/// The result of the pass.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The comments, in order.
    pub(super) comments: Vec<Comment>,
    /// The ranges, besides spaces and line ends, that the grammar skips outside of texts: comments, tabs, carriage returns and byte order
    /// marks, in order.
    blanks: Vec<Range<usize>>,
    /// The offsets of the quotes of texts in placeholders of one-line texts, in order.
    inner_quotes: Vec<usize>,
    /// Whether brackets nest too deeply for the parser, which is reported.
    pub(super) too_deep: bool,
}

impl Scan {
    /// The text for the grammar: its `blanks` are replaced by spaces, and the quotes inside of one-line texts by single quotes, so that
    /// offsets stay the same.
    pub(super) fn plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.blanks.is_empty() && self.inner_quotes.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut plain = self.without_blanks(text);
        for at in &self.inner_quotes {
            plain.replace_range(*at..=*at, "'");
        }
        Cow::Owned(plain)
    }

    fn without_blanks(&self, text: &str) -> String {
        let mut plain = String::with_capacity(text.len());
        for blank in &self.blanks {
            plain.push_str(&text[plain.len()..blank.start]);
            plain.extend(std::iter::repeat_n(' ', blank.len()));
        }
        plain.push_str(&text[plain.len()..]);
        plain
    }
}

/// Prepares a part of the text of `file` for the grammar. The part begins outside of texts.
pub(super) fn plain(text: &str, file: FileId) -> Cow<'_, str> {
    if text.bytes().any(|b| matches!(b, b'/' | b'\t' | b'\r' | b'{' | MARK_START)) {
        scan(text, file, &mut Vec::new()).plain(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// The byte order mark; below, its first byte.
const MARK: &[u8] = "\u{feff}".as_bytes();
const MARK_START: u8 = 0xef;

struct Opener {
    at: usize,
    kind: u8,
    indent: usize,
}

struct Scanner<'s> {
    bytes: &'s [u8],
    file: FileId,
    line: usize,
    indent: usize,
    stack: Vec<Opener>,
    suspect: Option<usize>,
    unclosed_text: bool,
    scan: Scan,
}

/// Scans the `text` of `file`. Reports unclosed strings, and unclosed and stray braces.
pub(super) fn scan(text: &str, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Scan {
    let mut s = Scanner {
        bytes: text.as_bytes(),
        file,
        line: 0,
        indent: 0,
        stack: Vec::new(),
        suspect: None,
        unclosed_text: false,
        scan: Scan::default(),
    };
    s.begin_line(0);
    s.run(diagnostics);
    // After an unclosed text, braces are counted wrongly.
    if !s.scan.too_deep && !s.unclosed_text {
        s.report_unclosed(diagnostics);
    }
    s.scan
}

impl Scanner<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn begin_line(&mut self, at: usize) {
        self.line = at;
        self.indent =
            self.bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    }

    fn run(&mut self, diagnostics: &mut Vec<Diagnostic>) {
        let mut i = 0;
        while i < self.bytes.len() {
            match self.bytes[i] {
                b'\n' => {
                    i += 1;
                    self.begin_line(i);
                }
                b'/' if self.bytes.get(i + 1) == Some(&b'/') => {
                    let end = line_end(self.bytes, i);
                    let trimmed =
                        if end > i && self.bytes[end - 1] == b'\r' { end - 1 } else { end };
                    self.scan.comments.push(Comment { start: i, end: trimmed, line: self.line });
                    self.scan.blanks.push(i..end);
                    i = end;
                }
                b'\t' | b'\r' => {
                    self.scan.blanks.push(i..i + 1);
                    i += 1;
                }
                MARK_START if self.bytes[i..].starts_with(MARK) => {
                    self.scan.blanks.push(i..i + MARK.len());
                    i += MARK.len();
                }
                b'"' => i = self.string(i, diagnostics),
                b'`' => i = self.quoted(i, b'`', "this name in back-quotes", diagnostics),
                b'{' | b'(' | b'[' => {
                    if self.stack.len() == MAX_NESTING {
                        self.scan.too_deep = true;
                        diagnostics.push(
                            SYNTAX
                                .at(
                                    self.span(i, i + 1),
                                    format!("brackets nest deeper than {MAX_NESTING}"),
                                )
                                .help("move inner parts out, or give them names"),
                        );
                        return;
                    }
                    self.stack.push(Opener { at: i, kind: self.bytes[i], indent: self.indent });
                    i += 1;
                }
                b'}' => {
                    self.close_brace(i, diagnostics);
                    i += 1;
                }
                closer @ (b')' | b']') => {
                    let kind = if closer == b')' { b'(' } else { b'[' };
                    if self.stack.last().is_some_and(|o| o.kind == kind) {
                        self.stack.pop();
                    }
                    i += 1;
                }
                _ => i += 1,
            }
        }
    }

    /// The end of the string that opens at `at`. Reports it if it is unclosed.
    fn string(&mut self, at: usize, diagnostics: &mut Vec<Diagnostic>) -> usize {
        if !self.bytes[at..].starts_with(b"\"\"\"") {
            return self.quoted(at, b'"', "this text", diagnostics);
        }
        let (end, closed) = block_end(self.bytes, at);
        if let Some(last) = self.bytes[at..end].iter().rposition(|b| *b == b'\n') {
            self.begin_line(at + last + 1);
        }
        if closed {
            return end;
        }
        self.unclosed_text = true;
        diagnostics.push(
            SYNTAX
                .at(self.span(at, at + 3), "this text is never closed")
                .label("opens here, and takes in the rest of the file")
                .help("end it with `\"\"\"`"),
        );
        end
    }

    /// The end of a token that opens at `at` with `quote` and ends with it on the same line. Reports it if it is unclosed.
    fn quoted(
        &mut self,
        at: usize,
        quote: u8,
        what: &str,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> usize {
        let (end, closed) = match quote {
            b'"' => text_end(self.bytes, at, &mut self.scan.inner_quotes),
            _ => quoted_end(self.bytes, at),
        };
        if closed {
            return end;
        }
        // Braces after the quote may be real braces or part of the text, so unclosed braces cannot be reported with certainty.
        self.unclosed_text |= self.bytes[at..end].iter().any(|b| matches!(b, b'{' | b'}'));
        let help = if quote == b'"' {
            "end it with `\"` on the same line; text of several lines stands between `\"\"\"`"
        } else {
            "end it with a back-quote on the same line"
        };
        diagnostics
            .push(SYNTAX.at(self.span(at, at + 1), format!("{what} is never closed")).help(help));
        end
    }

    fn close_brace(&mut self, at: usize, diagnostics: &mut Vec<Diagnostic>) {
        // A brace closes all brackets inside of it: an unclosed `(` rather spoils one line than the file.
        while self.stack.last().is_some_and(|o| o.kind != b'{') {
            self.stack.pop();
        }
        match self.stack.pop() {
            None => diagnostics.push(
                SYNTAX
                    .at(self.span(at, at + 1), "this `}` closes nothing")
                    .help("remove it, or a `}` too many before it"),
            ),
            Some(opener) => {
                // A closing brace to the left of its opener's line closes an outer block: the `}` of the inner one is missing.
                let leads = at == self.line + self.indent;
                if leads && opener.at < self.line && self.indent < opener.indent {
                    self.suspect.get_or_insert(opener.at);
                }
            }
        }
    }

    fn report_unclosed(&self, diagnostics: &mut Vec<Diagnostic>) {
        let Some(open) = self.stack.iter().rfind(|o| o.kind == b'{') else { return };
        let at = self.suspect.unwrap_or(open.at);
        diagnostics
            .push(SYNTAX.at(self.span(at, at + 1), "this `{` is never closed").help("add its `}`"));
    }
}

/// Whether brackets nest too deeply to be parsed.
pub(super) fn too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return true;
        }
    }
    false
}

// Splits a `.chart`, also a broken one, into tokens: for colours, folding and completion.
//
// The parser has no tokens of its own, as the grammar reads characters. The ends of texts, back-quoted names and comments are defined
// here once, for this pass and for `scan`.

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
        b'"' => (TokenKind::Text, within_line(text, text_end(bytes, at, &mut Vec::new()).0)),
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
    let groups = bytes[end..whole].chunks(4);
    if kind == TokenKind::Int && end < whole && end - at <= 3 && groups.clone().all(is_group) {
        return (kind, whole);
    }
    match &bytes[end..whole] {
        [] => (kind, end),
        b"ms" | b"s" | b"m" | b"h" | b"d" if kind == TokenKind::Int => (TokenKind::Duration, whole),
        _ => (TokenKind::Other, whole),
    }
}

/// Whether it is `_000` of `50_000`.
fn is_group(part: &[u8]) -> bool {
    matches!(part, [b'_', digits @ ..] if digits.len() == 3 && digits.iter().all(u8::is_ascii_digit))
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

/// The end of the one-line text that opens at `at`, and whether it is closed. Adds the quotes of texts in its placeholders to `inner`.
fn text_end(bytes: &[u8], at: usize, inner: &mut Vec<usize>) -> (usize, bool) {
    let mut i = at + 1;
    while i < bytes.len() && bytes[i] != b'\n' {
        let pair = bytes.get(i + 1).copied();
        i = match bytes[i] {
            b'"' => return (i + 1, true),
            b'\\' if pair.is_some_and(|b| b != b'\n') => i + 2,
            b'{' if pair == Some(b'{') => i + 2,
            b'{' => placeholder_end(bytes, i, inner).unwrap_or(i + 1),
            _ => i + 1,
        };
    }
    (i.min(bytes.len()), false)
}

/// The end of the name that opens at `at` with a back-quote and ends with one on its line, and whether it is closed.
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
    use super::tokens;

    #[test]
    fn tokens_are_told_apart() {
        let text =
            "on `a b` -> c.d // no\n/// yes\n1..2 0.5 1e9 30s 12x \"\\\"\" \"\"\"{a}\n\"\"\" §";
        let found: Vec<_> = tokens(text).iter().map(|t| (t.kind, t.text(text))).collect();
        use super::TokenKind::{
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
