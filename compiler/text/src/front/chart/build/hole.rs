//! Parses the placeholders of texts: finds their closing braces, and reads their contents.

use super::{Cx, Origin};
use crate::front::chart::grammar::{Grammar, Rule};
use crate::front::chart::recover;
use crate::front::chart::scan::{plain, scan, too_deep};
use crate::span::Spanned;
use crate::syntax::{Expr, ExprKind, is_lower_snake, is_reserved};
use pest::Parser;
use pest::iterators::Pair;

/// The maximum depth to which texts may nest in placeholders of texts.
const MAX_INSIDE: usize = 8;

/// All braces of a line, paired without regard to quotes. Used once a brace of the line was found unclosed, so that the line is not
/// scanned again for each further brace.
pub(super) struct Paired {
    /// The offset at which the line ends.
    pub(super) end: usize,
    /// The offsets at which each pair opens and closes, sorted.
    pairs: Vec<(usize, usize)>,
}

/// Reads the expression and the format of a placeholder. `Err` is the reason why it is not one.
pub(super) fn read_hole(
    inner: &str,
    origin: Origin<'_>,
) -> Result<(Expr, Spanned<String>), String> {
    if inner.trim().is_empty() {
        return Err("this placeholder is empty".to_owned());
    }
    // `chartc convert` marks text with `!"` that was no placeholder in its source.
    if inner.starts_with("!\"") {
        return Err("this was no placeholder before it was converted".to_owned());
    }
    if origin.inside > MAX_INSIDE {
        return Err(format!("texts are nested deeper than {MAX_INSIDE}"));
    }
    let mut cx = Cx::new(inner, origin, &[]);
    let name = inner.split(':').next().unwrap_or(inner);
    // Most placeholders are a name. They need no parser.
    if is_plain_name(name) {
        let expr = Expr { kind: ExprKind::Name(name.to_owned()), span: cx.range(0, name.len()) };
        let from = inner.len().min(name.len() + 1);
        return spec(&cx, from).map(|spec| (expr, spec));
    }
    if too_deep(inner) {
        return Err("brackets nest too deep in this placeholder".to_owned());
    }
    let plain = plain(inner, origin.file);
    let mut pairs = Grammar::parse(Rule::hole_body, &plain)
        .map_err(|error| recover::placeholder_message(inner, &error))?;
    let mut parts = pairs.next().into_iter().flat_map(Pair::into_inner);
    let expr = parts.next().map(|p| cx.expr(p)).ok_or("this placeholder is empty")?;
    let from = parts
        .find(|p| p.as_rule() == Rule::format)
        .map_or(inner.len(), |p| p.as_span().start() + 1);
    if let Some(fault) = cx.diagnostics.first() {
        return Err(fault.message.clone());
    }
    if inner[..from].contains("//")
        && !scan(&inner[..from], origin.file, &mut Vec::new()).comments.is_empty()
    {
        return Err("`//` begins a comment: whole division is `div`".to_owned());
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

/// Whether an expression is constant, and thus meant as text: `{"action": "wait"}` and `{ {"k": 1} }` are JSON, `{3}` is part of a pattern.
fn is_literal(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        ExprKind::None
            | ExprKind::Bad
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Map(_)
    )
}

fn is_plain_name(text: &str) -> bool {
    is_lower_snake(text) && !is_reserved(text)
}

/// The offset of the brace that closes the first one on the same line. Braces in quotes do not count.
pub(super) fn close_of(bytes: &[u8], escaped: bool) -> Option<usize> {
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
    /// Pairs the braces of a line, starting at `from`.
    pub(super) fn new(bytes: &[u8], from: usize) -> Self {
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

    /// The offset of the brace that closes the one at `at`, if there is one.
    pub(super) fn close(&self, at: usize) -> Option<usize> {
        let found = self.pairs.binary_search_by_key(&at, |p| p.0).ok()?;
        Some(self.pairs[found].1)
    }
}

/// Undoes the escapes `\"` and `\\` in a placeholder of a one-line string. Also returns the original offset of each byte and of the end.
pub(super) fn unescape(text: &str, escaped: bool) -> (String, Vec<usize>) {
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
