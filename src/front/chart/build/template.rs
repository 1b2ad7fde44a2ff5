//! Texts: escapes, the indentation of block strings, and placeholders.
//!
//! A placeholder stands on one line. Its braces are found first, then what is between them is read with `hole_body`; what cannot
//! be read becomes `TemplatePart::Bad`, with the reason, and the text goes on behind it.

use super::{Cx, Origin};
use crate::front::chart::grammar::{Grammar, Rule};
use crate::front::chart::recover;
use crate::span::Spanned;
use crate::syntax::{Expr, ExprKind, Hole, Template, TemplatePart, is_lower_snake, is_reserved};
use pest::Parser;
use pest::iterators::Pair;

/// How deep texts may stand in placeholders of texts.
const MAX_INSIDE: usize = 8;

/// Collects the parts of a text.
struct Parts {
    done: Vec<TemplatePart>,
    text: String,
    /// Where the text began and where it ends, in the source.
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

/// The braces of a line, once one of them was found open: then all are paired, blind to quotes, so that a line is not read again
/// for each.
struct Paired {
    end: usize,
    pairs: Vec<(usize, usize)>,
}

impl Cx<'_> {
    /// `Rule::line_string` or `Rule::block_string`.
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

    /// A text without placeholders.
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

    /// A line of text, its line end included; `raw` is a block string's, without escapes.
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
                        paired.get_or_insert_with(|| Paired::of(bytes, i));
                        parts.add(self, self.stray("{", at + i));
                        i += 1;
                    }
                }
                _ => {
                    parts.add(self, self.stray("}", at + i));
                    i += 1;
                }
            }
        }
    }

    fn stray(&self, brace: &str, at: usize) -> TemplatePart {
        let end = if brace == "{" { "opens no placeholder" } else { "closes no placeholder" };
        TemplatePart::Bad {
            text: brace.to_owned(),
            why: format!("this `{brace}` {end}"),
            span: self.range(at, at + 1),
        }
    }

    /// `{…}`.
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

/// The expression and the format of a placeholder, or why it is none.
fn read_hole(inner: &str, origin: Origin<'_>) -> Result<(Expr, Spanned<String>), String> {
    if inner.trim().is_empty() {
        return Err("this placeholder is empty".to_owned());
    }
    // How `convert` keeps what was no placeholder where it comes from.
    if inner.starts_with("!\"") {
        return Err("this was no placeholder before it was converted".to_owned());
    }
    if origin.inside > MAX_INSIDE {
        return Err(format!("texts stand in texts deeper than {MAX_INSIDE}"));
    }
    let mut cx = Cx::new(inner, origin, &[]);
    let name = inner.split(':').next().unwrap_or(inner);
    if is_plain_name(name) {
        let expr = Expr { kind: ExprKind::Name(name.to_owned()), span: cx.range(0, name.len()) };
        let from = inner.len().min(name.len() + 1);
        return spec(&cx, from).map(|spec| (expr, spec));
    }
    if recover::too_deep(inner) {
        return Err("brackets nest too deep in this placeholder".to_owned());
    }
    let mut pairs = Grammar::parse(Rule::hole_body, inner)
        .map_err(|error| recover::placeholder_message(inner, &error))?;
    let mut parts = pairs.next().into_iter().flat_map(Pair::into_inner);
    let expr = parts.next().map(|p| cx.expr(p)).ok_or("this placeholder is empty")?;
    let from = parts
        .find(|p| p.as_rule() == Rule::format)
        .map_or(inner.len(), |p| p.as_span().start() + 1);
    if let Some(fault) = cx.diagnostics.first() {
        return Err(fault.message.clone());
    }
    if is_literal(&expr) {
        return Err(
            "this placeholder shows no value: doubled braces stand for themselves".to_owned()
        );
    }
    spec(&cx, from).map(|spec| (expr, spec))
}

fn spec(cx: &Cx<'_>, from: usize) -> Result<Spanned<String>, String> {
    let text = &cx.text[from..];
    if text.contains(['{', '}']) {
        return Err("a format cannot hold a placeholder".to_owned());
    }
    Ok(Spanned::new(text.to_owned(), cx.range(from, cx.text.len())))
}

/// `{"action": "wait"}` is JSON that was meant as text, `{3}` part of a pattern.
fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::None
        | ExprKind::Bad
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::Duration(_) => true,
        ExprKind::Name(_)
        | ExprKind::Field(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Call(..)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::If(..)
        | ExprKind::Default(..)
        | ExprKind::List(_)
        | ExprKind::Map(_)
        | ExprKind::Record(..)
        | ExprKind::Comprehension { .. } => false,
    }
}

fn is_plain_name(text: &str) -> bool {
    is_lower_snake(text) && !is_reserved(text)
}

/// The offset of the brace that closes the one at the start, on the same line, quotes respected.
fn close_of(bytes: &[u8], escaped: bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut i = 0;
    while i < bytes.len() && bytes[i] != b'\n' {
        let mut byte = bytes[i];
        if escaped && byte == b'\\' && matches!(bytes.get(i + 1), Some(b'"' | b'\\')) {
            i += 1;
            byte = bytes[i];
        }
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => {
                let skipped = if escaped && bytes[i..].starts_with(b"\\\\") { 2 } else { 1 };
                i += skipped;
            }
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

impl Paired {
    /// Pairs the braces of the line from `from` on.
    fn of(bytes: &[u8], from: usize) -> Self {
        let mut pairs = Vec::new();
        let mut open = Vec::new();
        for (i, byte) in bytes.iter().enumerate().skip(from) {
            match byte {
                b'{' => open.push(i),
                b'}' => pairs.extend(open.pop().map(|at| (at, i))),
                _ => {}
            }
        }
        pairs.sort_unstable();
        Self { end: bytes.len(), pairs }
    }

    fn close(&self, at: usize) -> Option<usize> {
        let found = self.pairs.binary_search_by_key(&at, |p| p.0).ok()?;
        Some(self.pairs[found].1)
    }
}

/// The text of a placeholder in a one-line string, `\"` and `\\` undone, with the offset of each byte and of the end.
fn unescape(text: &str, escaped: bool) -> (String, Vec<usize>) {
    let mut out = String::new();
    let mut map = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((i, c)) = rest.next() {
        let mut c = c;
        if escaped
            && c == '\\'
            && let Some((_, next)) = rest.next_if(|(_, n)| matches!(n, '"' | '\\'))
        {
            c = next;
        }
        out.push(c);
        map.extend(std::iter::repeat_n(i, c.len_utf8()));
    }
    map.push(text.len());
    (out, map)
}

/// The lines of a block string, each with its line end as `\n` and its offset: without the first if it is blank, the last if it
/// is blank, and the blanks that all others (and the last) begin with.
fn dedent(inner: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in inner.split('\n') {
        lines.push((at, line));
        at += line.len() + 1;
    }
    let blank = |line: &str| line.trim_matches([' ', '\t', '\r']).is_empty();
    if lines.len() == 1 {
        return lines;
    }
    let last = lines.len() - 1;
    let mut common: Option<&str> = None;
    for (n, (_, line)) in lines.iter().enumerate().skip(1) {
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
