//! Folds of an XML document, by its elements, also where one is not closed.

use super::FoldKind;
use std::ops::Range;

pub(super) fn folds(text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let mut found = Vec::new();
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('<').map(|n| at + n) {
        let rest = &text[next..];
        if rest.starts_with("<!--") {
            at = end_of(text, next, "-->");
            found.push((next..at, FoldKind::Comment));
        } else if rest.starts_with("<![CDATA[") {
            at = end_of(text, next, "]]>");
        } else if rest.starts_with("<?") {
            at = end_of(text, next, "?>");
        } else {
            at = tag_end(text, next);
            let tag = &text[next..at];
            let name = name(tag);
            if tag.starts_with("</") {
                if let Some(nth) = open.iter().rposition(|(known, _)| *known == name) {
                    found.push((open[nth].1..at, FoldKind::Region));
                    open.truncate(nth);
                }
            } else if !tag.ends_with("/>") && !name.is_empty() {
                open.push((name, next));
            } else {
                found.push((next..at, FoldKind::Region));
            }
        }
    }
    found
}

/// The offset after `mark`, or the end of the text.
fn end_of(text: &str, from: usize, mark: &str) -> usize {
    text[from..].find(mark).map_or(text.len(), |n| from + n + mark.len())
}

/// The offset after the `>` of a tag; one in a quoted value does not count.
fn tag_end(text: &str, from: usize) -> usize {
    let mut quote = None;
    for (n, byte) in text.bytes().enumerate().skip(from + 1) {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            (b'>', None) => return n + 1,
            // The tag is not closed: another begins.
            (b'<', None) => return n,
            _ => {}
        }
    }
    text.len()
}

fn name(tag: &str) -> &str {
    let inner = tag.trim_start_matches(['<', '/']);
    let end = inner.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
    &inner[..end.unwrap_or(inner.len())]
}
