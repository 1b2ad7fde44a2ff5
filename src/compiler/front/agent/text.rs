//! Texts in YAML: the place of each character in the file, and Python's `str.format` in them.
//!
//! The problem: a finding about a placeholder must point at its characters in the file. But the YAML parser returns only the value of a
//! scalar and the range of the whole; in between, quotes, escapes, folded lines and indentation are undone. The idea: go through the file
//! and the value side by side, and record for each run of the value where it comes from (`Piece`). Most runs map byte by byte; an escape or
//! a fold maps only as a whole. The style of the scalar is not known, so `Text::new` tries each: only the right one yields the value. If
//! none does, every byte maps to the whole scalar.
//!
//! The second half splits a text into plain text, placeholders and errors (`parts`), as Python does: `{{` and `}}` are braces, and nested
//! braces are counted. What `str.format` would refuse, or what a chart has no form for, becomes `FormatPart::Bad` with the reason. For
//! example:
//!
//! ```text
//! prompt: "a\n{x:.2f}"      the value is `a`, a line break, `{x:.2f}`
//!
//! a           byte by byte
//! \n          two bytes of the file for one of the value: only as a whole
//! {x:.2f}     byte by byte; a field with the name `x` and the format `.2f`
//! ```

use crate::syntax::source::{FileId, Ident, Span, Spanned};
use std::collections::BTreeMap;
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

/// The style in which a scalar is written on the line of its key.
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

// Parses the templates of Python's `str.format`: prompts and the texts of invocations.

/// A part of a text with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FormatPart {
    /// Text with its braces unescaped.
    Text(String, Span),
    /// `{name.path:spec}`.
    Field(Field),
    /// Text on which `str.format` would fail.
    Bad { text: String, why: String, span: Span },
}

/// `{name.attribute[index]:spec}`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// The first name.
    pub(super) name: Ident,
    /// The accesses after it.
    pub(super) path: Vec<Access>,
    /// The format after the colon; empty without one.
    pub(super) spec: Spanned<String>,
    /// The placeholder with its braces.
    pub(super) span: Span,
}

/// One step of a placeholder's path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Access {
    /// `.name`.
    Attribute(Ident),
    /// `[key]`, without quotes in Python.
    Key(Ident),
    /// `[0]`.
    Index(i64, Span),
}

/// Splits a text into plain text, placeholders and errors.
pub(super) fn parts(text: &Text) -> Vec<FormatPart> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut plain_from = 0;
    let mut at = 0;
    let value = text.value.as_str();
    let braces: Vec<usize> =
        (0..value.len()).filter(|i| matches!(value.as_bytes()[*i], b'{' | b'}')).collect();
    let closings = closings(value, &braces);
    let mut left = braces.into_iter();
    while let Some(brace) = left.find(|brace| *brace >= at) {
        plain.push_str(&value[at..brace]);
        // `{{` and `}}` stand for one brace.
        if value[brace + 1..].starts_with(&value[brace..=brace]) {
            plain.push_str(&value[brace..=brace]);
            at = brace + 2;
            continue;
        }
        if !plain.is_empty() {
            let span = text.span(plain_from..brace);
            parts.push(FormatPart::Text(std::mem::take(&mut plain), span));
        }
        let end = closings.get(&brace).copied();
        let (part, next) = match end {
            Some(end) => (field(text, brace..end), end),
            None => (stray(text, brace), brace + 1),
        };
        parts.push(part);
        at = next;
        plain_from = next;
    }
    plain.push_str(&value[at..]);
    if !plain.is_empty() {
        let span = text.span(plain_from..value.len());
        parts.push(FormatPart::Text(plain, span));
    }
    parts
}

/// For each opening brace: the offset after its closing brace. Nested braces are counted, as in Python.
fn closings(value: &str, braces: &[usize]) -> BTreeMap<usize, usize> {
    let mut open = Vec::new();
    let mut pairs = BTreeMap::new();
    for &i in braces {
        if value.as_bytes()[i] == b'{' {
            open.push(i);
        } else if let Some(start) = open.pop() {
            pairs.insert(start, i + 1);
        }
    }
    pairs
}

fn stray(text: &Text, at: usize) -> FormatPart {
    let brace = &text.value[at..=at];
    let why = if brace == "{" {
        "this `{` opens no placeholder: a brace of the text is written `{{`"
    } else {
        "this `}` closes no placeholder: a brace of the text is written `}}`"
    };
    FormatPart::Bad { text: brace.to_owned(), why: why.to_owned(), span: text.span(at..at + 1) }
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Parses a placeholder; `range` includes its braces.
fn field(text: &Text, range: Range<usize>) -> FormatPart {
    let written = &text.value[range.clone()];
    let bad = |why: String| {
        // An unescaped brace often starts many lines of JSON: the first line is enough to show.
        let line = written.lines().next().unwrap_or(written).trim_end().len();
        let span = text.span(range.start..range.start + line);
        FormatPart::Bad { text: written.to_owned(), why, span }
    };
    let inner = &written[1..written.len() - 1];
    let from = range.start + 1;
    let head_len = head_len(inner);
    let (head, rest) = inner.split_at(head_len);
    let name_len = head.find(['.', '[']).unwrap_or(head.len());
    let name = &head[..name_len];
    if name.trim().is_empty() && rest.is_empty() {
        return bad(format!("`{}` names nothing", shown(written)));
    }
    if name.chars().all(|c| c.is_ascii_digit()) && !name.is_empty() {
        return bad(format!("`{{{name}}}` is a position: prompts have names only"));
    }
    if is_name(name.trim()) && name != name.trim() && !name.contains('\n') {
        return bad(format!(
            "blanks belong to the name in `{}`: write `{{{}}}`",
            shown(written),
            name.trim()
        ));
    }
    if !is_name(name) {
        return bad("braces of the text are doubled: `{{` and `}}`".to_owned());
    }
    let path = match accesses(text, head, from, name_len) {
        Ok(path) => path,
        Err(why) => return bad(why),
    };
    let (conversion, spec) = match rest.strip_prefix('!') {
        Some(after) => {
            let colon = after.find(':').unwrap_or(after.len());
            (Some(&after[..colon]), after[colon..].strip_prefix(':').unwrap_or_default())
        }
        None => (None, rest.strip_prefix(':').unwrap_or_default()),
    };
    if let Some(other) = conversion.filter(|c| *c != "s") {
        return bad(format!("the conversion `!{}` is not available", shown(other)));
    }
    if spec.contains(['{', '}']) {
        return bad("a placeholder inside of a format is not available".to_owned());
    }
    if spec.contains(['\n', '\r', '"']) {
        return bad("braces of the text are doubled: `{{` and `}}`".to_owned());
    }
    let spec_from = range.end - 1 - spec.len();
    FormatPart::Field(Field {
        name: Ident::new(name.to_owned(), text.span(from..from + name_len)),
        path,
        spec: Spanned::new(spec.to_owned(), text.span(spec_from..range.end - 1)),
        span: text.span(range),
    })
}

/// Shortens a text to at most one line and 24 characters, for messages.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(24).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The length of the part before `!` or `:`. Inside of `[…]`, these are text.
fn head_len(inner: &str) -> usize {
    let mut bracket = false;
    for (i, c) in inner.char_indices() {
        match c {
            '[' => bracket = true,
            ']' => bracket = false,
            '!' | ':' if !bracket => return i,
            _ => {}
        }
    }
    inner.len()
}

/// The maximum number of attributes and keys in a placeholder. The expression for it nests as deeply.
const MAX_ACCESSES: usize = 60;

/// Parses `.a[b][0]`; `head` starts at `from` in the text.
fn accesses(text: &Text, head: &str, from: usize, start: usize) -> Result<Vec<Access>, String> {
    let mut path = Vec::new();
    let mut at = start;
    while at < head.len() {
        if path.len() == MAX_ACCESSES {
            return Err(format!("a placeholder goes at most {MAX_ACCESSES} levels into a value"));
        }
        // `get` finds nothing inside of a multibyte character, which starts no access.
        let rest = head.get(at + 1..).unwrap_or_default();
        if head[at..].starts_with('.') {
            let len = rest.find(['.', '[']).unwrap_or(rest.len());
            let word = &rest[..len];
            if !is_name(word) {
                return Err(format!("`.{}` names no attribute", shown(word)));
            }
            let span = text.span(from + at + 1..from + at + 1 + len);
            path.push(Access::Attribute(Ident::new(word.to_owned(), span)));
            at += 1 + len;
        } else if head[at..].starts_with('[') {
            let Some(len) = rest.find(']') else { return Err("this `[` does not end".to_owned()) };
            let key = &rest[..len];
            let span = text.span(from + at + 1..from + at + 1 + len);
            match key.parse::<i64>() {
                Ok(index) if key.chars().all(|c| c.is_ascii_digit()) => {
                    path.push(Access::Index(index, span));
                }
                _ if key.is_empty() => return Err("`[]` names no key".to_owned()),
                _ => path.push(Access::Key(Ident::new(key.to_owned(), span))),
            }
            at += len + 2;
        } else {
            return Err(format!("`{}` does not follow a name", shown(&head[at..])));
        }
    }
    Ok(path)
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

#[cfg(test)]
mod format_tests {
    use super::*;
    use crate::syntax::source::FileId;

    /// Each part as `text`, `<field>` or `!bad!`, with what its span covers.
    fn show(prompt: &str) -> Vec<String> {
        let text = Text::new(FileId(0), prompt, 0..prompt.len(), prompt.to_owned());
        let at = |s: Span| &prompt[s.start as usize..s.end as usize];
        let one = |part: FormatPart| match part {
            FormatPart::Text(text, _) => text,
            FormatPart::Field(f) => {
                assert!(at(f.span).starts_with('{') && at(f.span).ends_with('}'));
                assert_eq!(at(f.name.span), f.name.node);
                assert_eq!(at(f.spec.span), f.spec.node);
                format!("<{} {} {}>", f.name.node, f.path.len(), f.spec.node)
            }
            FormatPart::Bad { why, span, .. } => format!("{}: {why}", at(span)),
        };
        parts(&text).into_iter().map(one).collect()
    }

    #[test]
    fn fields() {
        assert_eq!(
            show("a {b:+.0f} {c[d:e].f[0]!s:>3} {{x}} {y}"),
            ["a ", "<b 0 +.0f>", " ", "<c 3 >3>", " {x} ", "<y 0 >"]
        );
        assert_eq!(show("{{{x}}}"), ["{", "<x 0 >", "}"]);
    }

    #[test]
    fn faults() {
        let doubled = "braces of the text are doubled: `{{` and `}}`";
        assert_eq!(
            show("j {\"x\": {\"y\": 1}} k"),
            ["j ", &format!("{{\"x\": {{\"y\": 1}}}}: {doubled}"), " k"]
        );
        assert_eq!(show("{\n  a\n} b"), [&format!("{{: {doubled}"), " b"]);
        for (prompt, why) in [
            ("a { b", "this `{` opens no placeholder: a brace of the text is written `{{`"),
            ("a } b", "this `}` closes no placeholder: a brace of the text is written `}}`"),
            ("{}", "`{}` names nothing"),
            ("{0}", "`{0}` is a position: prompts have names only"),
            ("{ a }", "blanks belong to the name in `{ a }`: write `{a}`"),
            (
                &format!("{{a{}}}", ".b".repeat(61)),
                "a placeholder goes at most 60 levels into a value",
            ),
            ("{a!r}", "the conversion `!r` is not available"),
            ("{a:{b}}", "a placeholder inside of a format is not available"),
            ("{a.}", "`.` names no attribute"),
            ("{a[]}", "`[]` names no key"),
            ("{a[b}", "this `[` does not end"),
            ("{a[b]c}", "`c` does not follow a name"),
            ("{a-b}", doubled),
        ] {
            let found = show(prompt);
            assert!(found.iter().any(|f| f.ends_with(why)), "{prompt}: {found:?}");
        }
    }
}
