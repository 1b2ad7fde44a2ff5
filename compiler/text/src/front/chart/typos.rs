//! Finds misspelled first words within an unreadable item. Recovery skips the lines after an error, so they are checked here.

use super::build::Cx;
use super::fault::push;
use super::recover::{BodyKind, MAX_ERRORS, first_word, misplaced};
use crate::diagnostic::nearest;
use crate::span::Span;

/// Reports each line of an unreadable item, except the first, whose first word resembles one that begins items.
pub(super) fn report(cx: &mut Cx<'_>, place: BodyKind, bad: Span) {
    let known = place.first_words();
    if known.is_empty() {
        return;
    }
    let text = &cx.text[bad.start as usize..bad.end as usize];
    for at in lines(text) {
        if cx.diagnostics.len() >= MAX_ERRORS {
            return;
        }
        let word = first_word(&text[at..]);
        let slip = !known.contains(&word) && nearest(word, known.iter().copied()).is_some();
        if slip && let Some(fault) = misplaced(place, &text[at..], &known, true) {
            push(cx, bad.start as usize + at, fault);
        }
    }
}

/// The beginnings of lines, except the first, outside of braces, texts and comments.
fn lines(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let quote = ["\"\"\"", "\""].into_iter().find(|q| rest.starts_with(q));
        at += if let Some(quote) = quote {
            let inside = &rest[quote.len()..];
            // A text in single `"` ends with its line.
            let most = if quote.len() == 1 { inside.find('\n') } else { None };
            let inside = &inside[..most.unwrap_or(inside.len())];
            inside.find(quote).map_or(quote.len() + inside.len(), |end| end + 2 * quote.len())
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with('\n') {
            let next = rest.trim_start();
            if depth == 0 && !next.is_empty() {
                found.push(at + rest.len() - next.len());
            }
            rest.len() - next.len()
        } else {
            match rest.as_bytes()[0] {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    found
}
