//! One pass over the characters before parsing. It finds comments, other blanks, too deep nesting and unclosed brackets.
//!
//! It agrees with the grammar on strings, back-quoted names and comments. It takes linear time and uses an explicit stack, so that
//! deeply nested text is refused before any recursion.

use super::lex::{block_end, line_end, quoted_end};
use crate::diagnostic::Diagnostic;
use crate::rules::SYNTAX;
use crate::span::{FileId, Span};
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
    /// Whether brackets nest too deeply for the parser, which is reported.
    pub(super) too_deep: bool,
}

impl Scan {
    /// The text for the grammar: its `blanks` are replaced by spaces, so that offsets stay the same.
    pub(super) fn plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.blanks.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut plain = String::with_capacity(text.len());
        for blank in &self.blanks {
            plain.push_str(&text[plain.len()..blank.start]);
            plain.extend(std::iter::repeat_n(' ', blank.len()));
        }
        plain.push_str(&text[plain.len()..]);
        Cow::Owned(plain)
    }
}

/// Prepares a part of the text of `file` for the grammar. The part begins outside of texts.
pub(super) fn plain(text: &str, file: FileId) -> Cow<'_, str> {
    if text.bytes().any(|b| matches!(b, b'/' | b'\t' | b'\r' | MARK_START)) {
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
        let (end, closed) = quoted_end(self.bytes, at);
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
