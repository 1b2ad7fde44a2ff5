//! Builds texts: undoes escapes, removes the indentation of block strings, and finds placeholders.
//!
//! A placeholder is on one line. The builder finds its braces first, then parses the text between them with `hole_body`. An
//! unreadable placeholder becomes `TemplatePart::Bad` with the reason, and the text continues after it.

use super::hole::{Paired, close_of, read_hole, unescape};
use super::{Cx, Origin};
use crate::front::chart::grammar::Rule;
use crate::span::Spanned;
use crate::syntax::{Hole, Template, TemplatePart};
use pest::iterators::Pair;

/// A collector of the parts of a text.
struct Parts {
    done: Vec<TemplatePart>,
    text: String,
    /// The source range of `text`.
    start: usize,
    end: usize,
}

impl Parts {
    fn push(&mut self, text: &str, start: usize, end: usize) {
        if self.text.is_empty() {
            self.start = start;
        }
        self.text.push_str(text);
        self.end = end;
    }

    fn flush(&mut self, cx: &Cx<'_>) {
        if !self.text.is_empty() {
            let span = cx.range(self.start, self.end);
            self.done.push(TemplatePart::Text(std::mem::take(&mut self.text), span));
        }
    }

    fn add(&mut self, cx: &Cx<'_>, part: TemplatePart) {
        self.flush(cx);
        self.done.push(part);
    }
}

impl Cx<'_> {
    /// Builds the text of a `Rule::line_string` or a `Rule::block_string`.
    pub(super) fn template(&mut self, pair: &Pair<'_, Rule>) -> Template {
        let span = self.span(pair);
        let (raw, at) = (pair.as_str(), pair.as_span().start());
        let block = pair.as_rule() == Rule::block_string;
        let mut parts = Parts { done: Vec::new(), text: String::new(), start: at, end: at };
        if block {
            let inner = &raw[3..];
            let inner = inner.strip_suffix("\"\"\"").unwrap_or(inner);
            for (start, line) in dedent(inner) {
                self.line(line, at + 3 + start, true, &mut parts);
            }
        } else {
            let inner = raw[1..].strip_suffix('"').unwrap_or(&raw[1..]);
            self.line(inner, at + 1, false, &mut parts);
        }
        parts.flush(self);
        Template { parts: parts.done, span, block }
    }

    /// Builds a text in which braces have no meaning.
    pub(super) fn plain_text(&mut self, pair: &Pair<'_, Rule>) -> Spanned<String> {
        let span = self.span(pair);
        let (raw, at) = (pair.as_str(), pair.as_span().start());
        if pair.as_rule() == Rule::block_string {
            let inner = raw[3..].strip_suffix("\"\"\"").unwrap_or(&raw[3..]);
            return Spanned::new(dedent(inner).iter().map(|(_, line)| *line).collect(), span);
        }
        let inner = raw[1..].strip_suffix('"').unwrap_or(&raw[1..]);
        let mut out = String::new();
        let mut i = 0;
        while let Some(c) = inner[i..].chars().next() {
            if c == '\\' {
                let (c, length) = self.escape(&inner[i..], at + 1 + i);
                out.extend(c);
                i += inner[i..].chars().take(length).map(char::len_utf8).sum::<usize>();
            } else {
                out.push(c);
                i += c.len_utf8();
            }
        }
        Spanned::new(out, span)
    }

    /// Adds a line of text with its line end; `raw` marks a block string, which has no escapes.
    fn line(&mut self, line: &str, at: usize, raw: bool, parts: &mut Parts) {
        let bytes = line.as_bytes();
        let mut paired: Option<Paired> = None;
        let mut i = 0;
        while i < bytes.len() {
            let plain = bytes[i..]
                .iter()
                .position(|b| matches!(b, b'{' | b'}') || *b == b'\\' && !raw)
                .map_or(bytes.len(), |n| i + n);
            if plain > i {
                parts.push(&line[i..plain], at + i, at + plain);
                i = plain;
                continue;
            }
            let doubled = bytes.get(i + 1) == Some(&bytes[i]);
            match bytes[i] {
                b'\\' => {
                    let (c, length) = self.escape(&line[i..], at + i);
                    let length = line[i..].chars().take(length).map(char::len_utf8).sum::<usize>();
                    let c = c.map(String::from).unwrap_or_default();
                    parts.push(&c, at + i, at + i + length);
                    i += length;
                }
                b'{' | b'}' if doubled => {
                    parts.push(&line[i..=i], at + i, at + i + 2);
                    i += 2;
                }
                b'{' => {
                    let close = match &paired {
                        Some(known) if i < known.end => known.close(i),
                        _ => close_of(&bytes[i..], !raw).map(|n| i + n),
                    };
                    if let Some(close) = close {
                        let part = self.hole(&line[i..=close], at + i, raw);
                        parts.add(self, part);
                        i = close + 1;
                    } else {
                        paired.get_or_insert_with(|| Paired::new(bytes, i));
                        parts.add(self, self.stray("{", raw, at + i));
                        i += 1;
                    }
                }
                _ => {
                    parts.add(self, self.stray("}", raw, at + i));
                    i += 1;
                }
            }
        }
    }

    fn stray(&self, brace: &str, raw: bool, at: usize) -> TemplatePart {
        let end = match (brace, raw) {
            ("{", true) => "opens no placeholder: its line has no `}` for it",
            ("{", false) => {
                "opens no placeholder: the text ends before its `}`; a quote in it is written `\\\"`"
            }
            _ => "closes no placeholder",
        };
        TemplatePart::Bad {
            text: brace.to_owned(),
            why: format!("this `{brace}` {end}"),
            span: self.range(at, at + 1),
        }
    }

    /// Builds a placeholder, `{…}`.
    fn hole(&mut self, text: &str, at: usize, raw: bool) -> TemplatePart {
        let inner = &text[1..text.len() - 1];
        if raw || !inner.contains('\\') {
            let origin = Origin {
                base: self.origin.base + at + 1,
                inside: self.origin.inside + 1,
                ..self.origin
            };
            if self.origin.map.is_none() {
                return self.placeholder(text, at, inner, origin);
            }
        }
        // Inside of another placeholder, offsets go through the map of the enclosing text, too.
        let (inner, map) = unescape(inner, !raw);
        let map: Vec<u32> = map
            .into_iter()
            .map(|offset| {
                let offset = at + 1 + offset;
                self.origin.map.map_or(offset as u32, |m| m[offset])
            })
            .collect();
        let origin = Origin { map: Some(&map), inside: self.origin.inside + 1, ..self.origin };
        self.placeholder(text, at, &inner, origin)
    }

    fn placeholder(&self, text: &str, at: usize, inner: &str, origin: Origin<'_>) -> TemplatePart {
        let span = self.range(at, at + text.len());
        read_hole(inner, origin).map_or_else(
            |why| TemplatePart::Bad { text: format!("{{{inner}}}"), why, span },
            |(expr, spec)| TemplatePart::Hole(Box::new(Hole { expr, spec, span })),
        )
    }
}

/// The lines of a block string with their offsets; each line end is a piece `\n` of its own. Drops the first and the last line if
/// they are blank, and the indentation that all other lines (and the last) share.
fn dedent(inner: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in inner.split('\n') {
        lines.push((at, line));
        at += line.len() + 1;
    }
    let blank = |line: &str| line.trim_matches([' ', '\t', '\r']).is_empty();
    // A block string on a single line has no indentation to remove.
    if lines.len() == 1 {
        return lines;
    }
    let last = lines.len() - 1;
    let mut common: Option<&str> = None;
    for (n, (_, line)) in lines.iter().enumerate().skip(1) {
        // The last line counts even if it is blank, because the closing quotes are in it.
        if n < last && blank(line) {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        common = Some(common.map_or(indent, |known| {
            let same = known.bytes().zip(indent.bytes()).take_while(|(a, b)| a == b).count();
            &known[..same]
        }));
    }
    let common = common.unwrap_or_default();
    let ends_blank = blank(lines[last].1);
    let kept = if ends_blank { last } else { last + 1 };
    let starts_blank = blank(lines[0].1);
    let mut out = Vec::new();
    for (n, (at, line)) in lines.into_iter().enumerate().take(kept).skip(usize::from(starts_blank))
    {
        let cut = if n == 0 {
            0
        } else {
            line.bytes().zip(common.bytes()).take_while(|(a, b)| a == b).count()
        };
        let body = &line[cut..];
        out.push((at + cut, body.strip_suffix('\r').unwrap_or(body)));
        if n + 1 < kept {
            out.push((at + line.len(), "\n"));
        }
    }
    out
}
